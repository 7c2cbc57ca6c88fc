//! Environments in which no single call is to blame: the files or the machine are unusual from the start.

use std::fs::{self, OpenOptions, Permissions};
use std::io::Write as _;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::process::Command;
use std::time::Duration;

use jiff::Timestamp;
use serde_json::{Map, Value, json};

use super::Case;
use super::judge::{self, Tolerance};
use super::run::{self, Ran};
use super::snapshot::{File, LIVE_FOLDERS, Snapshot, map_times};
use super::subject::{Kind, Subject};
use crate::error::{Error, Result};
use crate::sealed::{is_copy, without_seal};
use crate::shell;

type Members = Map<String, Value>;

/// Its name, the subjects that are run in it, and a function that does so and returns what is wrong.
#[derive(Debug, Clone, Copy)]
pub(super) struct Environment(
    pub &'static str,
    pub fn(&Subject) -> bool,
    pub fn(&Case) -> Result<Vec<String>>,
);

pub(super) const ENVIRONMENTS: [Environment; 13] = [
    // Programs compare the times in their files with now, so the files are set forward.
    Environment("clock-back-1h", is_light, |case| clock_back(case, Duration::from_hours(1))),
    Environment("clock-back-40d", is_light, |case| clock_back(case, Duration::from_hours(24 * 40))),
    Environment("newer-files", is_call_of_client, newer_files),
    Environment("unknown-stage", is_hook, |case| {
        unknown_workflow(case, add_unknown_stage, |_, now| {
            let workflow: Value = serde_json::from_slice(&now.bytes).unwrap_or_default();
            workflow["workflowType"] == "hyperdrive" && workflow["stages"]["HOVER"]["result"]["height"] == 3
        })
    }),
    Environment("unknown-format", is_hook, |case| {
        unknown_workflow(
            case,
            |it| drop(it.insert("stages".into(), json!(["DEV"]))),
            |before, now| before == now,
        )
    }),
    Environment("older-files", is_call_of_client, older_files),
    Environment("read-only", is_call_of_client, |case| without_permissions(case, 0o555, 0o444)),
    Environment("closed", is_call_of_client, |case| without_permissions(case, 0o000, 0o000)),
    // With one or two pages left, some files can be written and others cannot.
    Environment("full-disk-0", is_on_small_disk, |case| full_disk(case, 0)),
    Environment("full-disk-1", is_on_small_disk, |case| full_disk(case, 1)),
    Environment("full-disk-2", is_on_small_disk, |case| full_disk(case, 2)),
    Environment("full-disk-3", is_on_small_disk, |case| full_disk(case, 3)),
    Environment("no-locks", is_light, no_locks),
];

fn is_light(subject: &Subject) -> bool {
    !subject.is_heavy()
}

fn is_call_of_client(subject: &Subject) -> bool {
    !subject.is_command()
}

fn is_hook(subject: &Subject) -> bool {
    subject.kind == Kind::Hook
}

/// Only root may mount a small disk.
fn is_on_small_disk(subject: &Subject) -> bool {
    nix::unistd::geteuid().is_root() && is_call_of_client(subject)
}

/// What is wrong with a run that nothing should hinder.
fn unhealthy(ran: &Ran) -> Option<String> {
    let is_healthy =
        ran.code == Some(0) && !ran.stderr.contains("panicked") && !ran.stderr.contains("[overtone/");
    (!is_healthy).then(|| format!("exit code {:?}: {}{}", ran.code, ran.stdout, ran.stderr.trim_end()))
}

/// The files of the case, with a workflow that may be changed.
fn unsealed(snapshot: &Snapshot) -> Snapshot {
    let mut snapshot = snapshot.clone();
    snapshot.files.retain(|name, _| !is_copy(name));
    for (_, file) in snapshot.files.iter_mut().filter(|(name, _)| name.ends_with("workflow.json")) {
        file.bytes = without_seal(&file.bytes);
    }
    snapshot
}

fn clock_back(case: &Case, ahead: Duration) -> Result<Vec<String>> {
    let mut before = unsealed(&case.expected.before);
    for file in before.files.values_mut() {
        file.bytes = map_times(&file.bytes, |time| later(time, ahead));
    }
    before.restore(case.root())?;
    let mut problems: Vec<String> = unhealthy(&run::plain(case)?).into_iter().collect();
    let left = Snapshot::take(case.root())?;
    for (name, file) in &left.files {
        let text = String::from_utf8_lossy(&file.bytes);
        if ["Ms\":-", "duration\":-", "seconds\":-", "confidence\":-"].iter().any(|it| text.contains(it)) {
            problems.push(format!("a negative time span in {}", name.display()));
        }
    }
    // The copy of the workflow is there only after a hook that writes it.
    let may_be_missing = |name: &Path| judge::is_passing(name) || is_copy(name);
    let lost =
        case.expected.after.files.keys().filter(|name| left.get(name).is_none() && !may_be_missing(name));
    problems.extend(lost.map(|name| format!("lost because it is from the future: {}", name.display())));
    Ok(problems)
}

fn later(time: &str, ahead: Duration) -> String {
    match time.parse::<Timestamp>().and_then(|time| time.checked_add(ahead)) {
        Ok(later) => later.strftime("%Y-%m-%dT%H:%M:%S%.3fZ").to_string(),
        Err(_) => time.to_owned(),
    }
}

/// With unknown members and events everything works, and none of them gets lost.
fn newer_files(case: &Case) -> Result<Vec<String>> {
    const MARK: &str = "ofAnotherVersion";
    let mut before = unsealed(&case.expected.before);
    for (name, file) in &mut before.files {
        if name.ends_with("timeline.jsonl") {
            let event = json!({ "ts": "2026-01-01T00:00:00.000Z", "type": "quantum:leap", MARK: 1 });
            file.bytes.extend(format!("{event}\n").into_bytes());
        } else if let Ok(Value::Object(mut members)) = serde_json::from_slice(&file.bytes)
            && !judge::is_log(name)
        {
            members.insert(MARK.to_owned(), json!({ "deep": [1, { "er": null }] }));
            file.bytes = Value::Object(members).to_string().into_bytes();
        }
    }
    before.restore(case.root())?;
    let marks = |file: &File| String::from_utf8_lossy(&file.bytes).matches(MARK).count();
    let mut problems = Vec::new();
    // The second run reads what the first one has written.
    for _ in 0..2 {
        problems.extend(unhealthy(&run::plain(case)?));
        let left = Snapshot::take(case.root())?;
        for (name, file) in &before.files {
            if left.get(name).is_some_and(|now| marks(now) < marks(file)) {
                problems.push(format!("forgets unknown members of {}", name.display()));
            }
        }
        problems.extend(judge::unreadable(&left, false));
    }
    Ok(problems)
}

fn add_unknown_stage(workflow: &mut Members) {
    workflow.insert("workflowType".into(), json!("hyperdrive"));
    if let Some(Value::Object(stages)) = workflow.get_mut("stages") {
        stages.insert("HOVER".into(), json!({ "status": "floating", "result": { "height": 3 } }));
    }
}

/// Unknown stages survive; an unknown format is not rewritten.
fn unknown_workflow(
    case: &Case,
    change: fn(&mut Members),
    is_kept: fn(&File, &File) -> bool,
) -> Result<Vec<String>> {
    let before = with_changed(&case.expected.before, "workflow.json", change)?;
    before.restore(case.root())?;
    let mut problems = judge::answer_problems(&run::plain(case)?);
    let left = Snapshot::take(case.root())?;
    for (name, file) in before.files.iter().filter(|(name, _)| name.ends_with("workflow.json")) {
        if !left.get(name).is_some_and(|now| is_kept(file, now)) {
            problems.push(format!("loses what another version wrote to {}", name.display()));
        }
    }
    Ok(problems)
}

/// Without the members and files that came later, everything works.
fn older_files(case: &Case) -> Result<Vec<String>> {
    let before = with_changed(&case.expected.before, "workflow.json", |workflow| {
        for member in ["completedStages", "retroCount", "rejectCount", "featureName"] {
            workflow.remove(member);
        }
    })?;
    let mut before = with_changed(&before, "loop.json", Map::clear)?;
    let is_later =
        |name: &Path| ["session.json", "config.json", "seal.key"].iter().any(|it| name.ends_with(it));
    before.files.retain(|name, _| !is_later(name));
    before.restore(case.root())?;
    let mut problems = Vec::new();
    for _ in 0..2 {
        problems.extend(unhealthy(&run::plain(case)?));
    }
    problems.extend(judge::unreadable(&Snapshot::take(case.root())?, false));
    Ok(problems)
}

fn with_changed(snapshot: &Snapshot, name: &str, change: fn(&mut Members)) -> Result<Snapshot> {
    let mut snapshot = unsealed(snapshot);
    for (path, file) in snapshot.files.iter_mut().filter(|(path, _)| path.ends_with(name)) {
        let mut members = serde_json::from_slice(&file.bytes)
            .map_err(|e| Error::new(format!("not an object: {}: {e}", path.display())))?;
        change(&mut members);
        file.bytes = Value::Object(members).to_string().into_bytes();
    }
    Ok(snapshot)
}

/// Some network file systems have no locks. Hooks that would change a session refuse, because two of them at once could
/// tear the state. What is decided by comparing and renaming (settings, a feature's folder) works without.
fn no_locks(case: &Case) -> Result<Vec<String>> {
    let ran = run::traced(case, Some("inject=flock:error=ENOLCK:when=1+"), &[])?;
    let left = Snapshot::take(case.root())?;
    let mut problems = judge::after_error(&case.expected, &ran, &left, Tolerance::default());
    problems.extend(judge::unreadable(&left, false));
    if is_hook(&case.expected.subject) && judge::state_changed(&case.expected.before, &left) {
        problems.push("the state changed without a lock".to_owned());
    }
    Ok(problems)
}

fn without_permissions(case: &Case, folders: u32, files: u32) -> Result<Vec<String>> {
    // Root is not asked for permissions, so it has to become somebody else.
    let as_nobody = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups", "--"];
    let wrapper = if nix::unistd::geteuid().is_root() { &as_nobody[..] } else { &[] };
    // A copy that everybody may run, and a way to it. Another process writes it: a program that is still open for writing
    // in a process which another thread has just forked from this one cannot be started.
    let program = case.root().join("bin/program");
    shell::run(Command::new("cp").arg(case.program()).arg(&program))?;
    for path in case.root().ancestors().take(2).chain([program.as_path()]) {
        set_mode(path, 0o755)?;
    }
    set_modes(case, folders, files)?;
    let ran = run::through(case, wrapper, &program);
    set_modes(case, 0o755, 0o644)?;
    let mut left = Snapshot::take(case.root())?;
    for (name, file) in &mut left.files {
        file.mode = case.expected.before.get(name).map_or(file.mode, |old| old.mode);
    }
    let mut problems = judge::after_error(&case.expected, &ran?, &left, Tolerance::default());
    if left != case.expected.before {
        problems.push("something changed without permission".to_owned());
    }
    Ok(problems)
}

fn set_modes(case: &Case, folders: u32, files: u32) -> Result<()> {
    LIVE_FOLDERS.iter().try_for_each(|folder| set_modes_below(&case.root().join(folder), folders, files))
}

fn set_modes_below(folder: &Path, folders: u32, files: u32) -> Result<()> {
    set_mode(folder, 0o755)?;
    for entry in fs::read_dir(folder).map_err(|e| Error::io("cannot read folder", folder, &e))?.flatten() {
        if entry.path().is_dir() {
            set_modes_below(&entry.path(), folders, files)?;
        } else {
            set_mode(&entry.path(), files)?;
        }
    }
    set_mode(folder, folders)
}

fn set_mode(path: &Path, mode: u32) -> Result<()> {
    fs::set_permissions(path, Permissions::from_mode(mode))
        .map_err(|e| Error::io("cannot set mode", path, &e))
}

fn full_disk(case: &Case, pages: u64) -> Result<Vec<String>> {
    let home = case.fixture.sandbox.home();
    shell::run(Command::new("mount").args(["-t", "tmpfs", "-o", "size=256k", "tmpfs"]).arg(&home))?;
    let outcome = on_full_disk(case, pages, &home.join("filler"));
    // Lazily, so that nothing that still looks at it keeps the folder from being removed.
    shell::run(Command::new("umount").arg("-l").arg(&home))?;
    outcome
}

fn on_full_disk(case: &Case, pages: u64, filler: &Path) -> Result<Vec<String>> {
    case.expected.before.write(case.root(), "home")?;
    let failed = |e: std::io::Error| Error::io("cannot fill", filler, &e);
    let mut file = OpenOptions::new().create(true).append(true).open(filler).map_err(failed)?;
    while file.write_all(&[0; 4096]).is_ok() {}
    let length = file.metadata().map_err(failed)?.len();
    file.set_len(length.saturating_sub(pages * 4096)).map_err(failed)?;
    let ran = run::plain(case)?;
    let mut left = Snapshot::take(case.root())?;
    left.files.retain(|name, _| !name.ends_with("filler"));
    let mut problems = judge::after_error(&case.expected, &ran, &left, Tolerance::default());
    problems.extend(judge::unreadable(&left, false));
    Ok(problems)
}
