//! What must hold after a fault: an answer or a clear error, every file old or new, and a next run that ends where a run
//! without the fault does.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use serde_json::{Map, Value};

use super::run::{Call, Ran, Target};
use super::snapshot::{File, Snapshot, without_times};
use super::subject::{Kind, Subject};
use crate::sealed::is_copy;

/// What a hook answers when it has nothing to say.
const DEFAULT_ANSWER: &str = "{\"result\":\"\"}\n";

/// The longest line that a hook may print on stderr.
const MAX_COMPLAINT: usize = 400;

/// To take others' permissions away from a file with secrets is never wrong.
const PRIVATE: u32 = 0o600;

/// What a subject does without a fault.
#[derive(Debug)]
pub(super) struct Expected {
    pub subject: Subject,
    pub before: Snapshot,
    pub after: Snapshot,
    /// After a second run.
    pub after_second: Snapshot,
    pub stdout: String,
    /// Whether the second run succeeded; a feature cannot be created twice.
    pub is_repeatable: bool,
}

impl Expected {
    pub(super) fn new(subject: &Subject, before: Snapshot) -> Self {
        let (subject, after, after_second) = (subject.clone(), Snapshot::default(), Snapshot::default());
        Self { subject, before, after, after_second, stdout: String::new(), is_repeatable: true }
    }
}

/// How far files may differ from the old and the new ones.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Tolerance {
    /// The process could not clear up: the end of a log may be incomplete, and so may files that nobody reads yet.
    pub crashed: bool,
    /// The decision may be another one, because something could not be read, or is recorded in two steps.
    pub other_decision: bool,
}

/// What is wrong with a run that had an error, and with the files it left.
pub(super) fn after_error(
    expected: &Expected,
    ran: &Ran,
    left: &Snapshot,
    tolerance: Tolerance,
) -> Vec<String> {
    let mut problems = Vec::new();
    if matches!(ran.code, None | Some(124..)) {
        problems.push(format!("it hangs or was killed: {:?}", ran.code));
    }
    if ran.stderr.contains("panicked") || ran.stdout.contains("panicked") {
        problems.push(format!("it panics: {}", ran.stderr.trim_end()));
    }
    match expected.subject.kind {
        Kind::Hook => problems.extend(hook_problems(expected, ran, left, tolerance)),
        Kind::Review => problems.extend(exit_code(ran).or_else(|| {
            let is_answer = ran.stdout.is_empty() || is_one_object(&ran.stdout);
            (!is_answer).then(|| format!("not one JSON answer: {:?}", ran.stdout))
        })),
        Kind::StatusLine => problems.extend(exit_code(ran).or_else(|| {
            let is_line = ran.stdout.ends_with('\n') && ran.stdout.lines().count() == 1;
            let is_line = is_line || ran.stdout.is_empty() && expected.stdout.is_empty();
            (!is_mute(ran) && !is_line).then(|| format!("not one line: {:?}", ran.stdout))
        })),
        Kind::Command | Kind::Launch => problems.extend(command_problem(expected, ran, left)),
    }
    problems.extend(damage(expected, left, tolerance));
    problems
}

/// What is wrong with a hook's answer: exit code 0, one JSON object, at most one short line on stderr.
pub(super) fn answer_problems(ran: &Ran) -> Vec<String> {
    let mut problems: Vec<String> = exit_code(ran).into_iter().collect();
    if !is_mute(ran) && !is_one_object(&ran.stdout) {
        problems.push(format!("not one JSON answer: {:?}", ran.stdout));
    }
    if ran.stderr.lines().count() > 1 || ran.stderr.len() > MAX_COMPLAINT {
        problems.push(format!("more than one short line on stderr: {:?}", ran.stderr));
    }
    problems
}

fn hook_problems(expected: &Expected, ran: &Ran, left: &Snapshot, tolerance: Tolerance) -> Vec<String> {
    let mut problems = answer_problems(ran);
    let is_default = ran.stdout == DEFAULT_ANSWER;
    let is_normal = without_times(ran.stdout.as_bytes()) == without_times(expected.stdout.as_bytes());
    // What cannot be looked up may be missing in the text; what cannot be written may not.
    if !is_mute(ran) && !is_default && !is_normal && !tolerance.other_decision {
        problems.push(format!("neither the normal nor the default answer: {:?}", ran.stdout));
    }
    if (is_mute(ran) || (is_default && !is_normal)) && state_changed(&expected.before, left) {
        problems.push("the state changed for an answer that was not given".to_owned());
    }
    if is_normal && !is_default && !tolerance.other_decision {
        problems.extend(undone(expected, ran, left));
    }
    if are_documents_ahead(expected, left) {
        problems.push("the project's documents tell of a state that did not come about".to_owned());
    }
    problems
}

pub(super) fn state_changed(before: &Snapshot, left: &Snapshot) -> bool {
    let is_state = |name: &&PathBuf| name.ends_with("workflow.json") || name.ends_with("loop.json");
    let mut names = before.files.keys().chain(left.files.keys()).filter(is_state);
    names.any(|name| before.get(name) != left.get(name))
}

/// Whether documents were changed although the workflow, which should have been, was not.
fn are_documents_ahead(expected: &Expected, left: &Snapshot) -> bool {
    let Expected { before, after, .. } = expected;
    let stayed = before
        .files
        .keys()
        .filter(|name| name.ends_with("workflow.json"))
        .any(|name| before.get(name) != after.get(name) && before.get(name) == left.get(name));
    let mut documents =
        before.files.keys().chain(left.files.keys()).filter(|name| name.starts_with("project/specs"));
    stayed && documents.any(|name| before.get(name) != left.get(name))
}

fn exit_code(ran: &Ran) -> Option<String> {
    (ran.code != Some(0)).then(|| format!("exit code {:?}: {}", ran.code, ran.stderr.trim_end()))
}

/// Whether the answer could not be given: not one byte of it came out.
fn is_mute(ran: &Ran) -> bool {
    ran.hit(Target::Stdout) && ran.stdout.is_empty()
}

fn is_one_object(text: &str) -> bool {
    let is_object = serde_json::from_str(text).is_ok_and(|value: Value| value.is_object());
    text.ends_with('\n') && text.lines().count() == 1 && is_object
}

fn command_problem(expected: &Expected, ran: &Ran, left: &Snapshot) -> Option<String> {
    match ran.code {
        Some(0) => undone(expected, ran, left),
        // Without stdout or stderr there is little to say, and no way to say it.
        Some(1 | 2) if is_refused(ran) || ran.hit(Target::Stdout) || ran.hit(Target::Stderr) => None,
        Some(1 | 2) => Some(format!("no error with a hint: {:?}", ran.stderr)),
        _ => exit_code(ran),
    }
}

/// Whether a command says what is wrong and what to do.
pub(super) fn is_refused(ran: &Ran) -> bool {
    ran.stderr.contains("error: ") && ran.stderr.contains("hint: ")
}

/// A program that reports success has done everything, or has said what is missing.
fn undone(expected: &Expected, ran: &Ran, left: &Snapshot) -> Option<String> {
    let is_missing = |(name, new): &(&PathBuf, &File)| {
        let is_done =
            left.files.iter().any(|(other, found)| is_same_name(other, name) && is_same(found, new));
        // The folder decides where a feature is; its document only repeats it.
        let is_moved = left.get(name).is_some_and(|found| is_moved_here(expected, name, found));
        // Only the dashboard needs a session's origin, so a session starts without it, too.
        let is_seen = left.get(name).is_some_and(|found| is_work_tree(name, found));
        let is_needed = !is_passing(name) && !name.ends_with("session.json") && !is_seen;
        expected.before.get(name) != Some(*new) && is_needed && !is_done && !is_moved
    };
    let (name, _) = expected.after.files.iter().find(is_missing)?;
    let is_silent = ran.stderr.trim().is_empty() && !ran.hit(Target::Stderr);
    is_silent.then(|| format!("reports success, but {} is not done", name.display()))
}

fn is_same(found: &File, other: &File) -> bool {
    // Most are the very same, and some are large.
    let is_equal =
        || found.bytes == other.bytes || without_times(&found.bytes) == without_times(&other.bytes);
    (found.mode == other.mode || found.mode == PRIVATE) && is_equal()
}

/// Whether it is the same workflow, started without some of the state of a project that could not be read. The command said so.
fn is_without_project(found: &File, other: &File, tolerance: Tolerance) -> bool {
    let without_files = |file: &File| {
        let mut members: Map<String, Value> = serde_json::from_slice(&without_times(&file.bytes)).ok()?;
        let files = members.shift_remove("requiredFiles");
        let names: Vec<String> = serde_json::from_value(files.unwrap_or(Value::Array(Vec::new()))).ok()?;
        Some((members, names))
    };
    match (without_files(found), without_files(other)) {
        (Some((found, recorded)), Some((other, required))) => {
            tolerance.other_decision
                && found == other
                && recorded.len() < required.len()
                && recorded.iter().all(|name| required.contains(name))
        }
        _ => false,
    }
}

/// Process ids are part of some names.
fn is_same_name(one: &Path, other: &Path) -> bool {
    let plain = |path: &Path| path.to_string_lossy().replace(|c: char| c.is_ascii_digit(), "");
    one == other || plain(one) == plain(other)
}

/// Files that are neither old nor new, and files that are lost.
pub(super) fn damage(expected: &Expected, left: &Snapshot, tolerance: Tolerance) -> Vec<String> {
    let names: BTreeSet<&PathBuf> = expected.before.files.keys().chain(left.files.keys()).collect();
    let mut problems = Vec::new();
    for name in names {
        match (expected.before.get(name), left.get(name)) {
            (Some(old), None) => problems.extend(lost(expected, left, name, old)),
            (Some(old), Some(found)) if tolerance.other_decision && is_later(old, found) => {}
            (old, Some(found)) if !is_valid(expected, left, name, old, found, tolerance) => {
                let what = if old.is_some() { "damaged" } else { "left behind" };
                problems.push(format!("{what}: {}", difference(name, old, found)));
            }
            _ => {}
        }
    }
    problems
}

fn is_valid(
    expected: &Expected,
    left: &Snapshot,
    name: &Path,
    old: Option<&File>,
    found: &File,
    tolerance: Tolerance,
) -> bool {
    let mut new = expected.after.files.iter().filter(|(other, _)| is_same_name(other, name));
    if is_passing(name)
        || old.is_some_and(|old| is_same(found, old))
        || new.any(|(_, new)| is_same(found, new) || is_without_project(found, new, tolerance))
    {
        return true;
    }
    if is_log(name) {
        return has_grown(old, found, tolerance.crashed || is_counter(name));
    }
    if old.is_none() && is_moved_here(expected, name, found) {
        return true;
    }
    if is_work_tree(name, found) {
        return true;
    }
    tolerance.crashed
        && (is_about_to_move(expected, name, found)
            || is_unnamed_handoff(left, name)
            || is_announcement(expected, name, found))
}

/// A file may be gone if a run without a fault removes or moves it, too. If it is moved, it must have arrived.
fn lost(expected: &Expected, left: &Snapshot, name: &Path, old: &File) -> Option<String> {
    if expected.after.files.contains_key(name) {
        return Some(format!("lost: {}", name.display()));
    }
    let is_new_place = |other: &&PathBuf| {
        !expected.before.files.contains_key(*other) && other.file_name() == name.file_name()
    };
    let to = expected.after.files.keys().find(is_new_place)?;
    let has_arrived = left.get(to).is_some_and(|found| {
        is_same(found, old) || expected.after.get(to).is_some_and(|new| is_same(found, new))
    });
    (!has_arrived && !is_passing(name)).then(|| format!("lost on its way to {}", to.display()))
}

/// Whether it is a later state of the same file: no member is missing, and no number has fallen.
fn is_later(old: &File, found: &File) -> bool {
    let members = |file: &File| serde_json::from_slice::<Map<String, Value>>(&file.bytes).ok();
    let (Some(old), Some(found)) = (members(old), members(found)) else { return false };
    old.iter().all(|(name, before)| match (before, found.get(name)) {
        (Value::Number(before), Some(Value::Number(now))) => before.as_f64() <= now.as_f64(),
        (_, now) => now.is_some(),
    })
}

/// Locks, and what [`is_litter`] says.
pub(super) fn is_passing(name: &Path) -> bool {
    is_litter(name) || name.ends_with(".lock") || name.ends_with("lock")
}

/// Prepared contents under their fixed names, records of a process about itself, and what is being deleted.
pub(super) fn is_litter(name: &Path) -> bool {
    name.iter().any(|part| {
        let part = part.to_string_lossy();
        let is_prepared =
            part.starts_with('.') && (part.ends_with(".tmp") || part.ends_with(".overtone-tmp"));
        let is_record = ["started-", "isolated-", "edit-", ".removed-"].iter().any(|it| part.starts_with(it));
        is_prepared || is_record
    })
}

pub(super) fn is_log(name: &Path) -> bool {
    name.extension().is_some_and(|extension| ["jsonl", "log", "sh"].iter().any(|log| extension == *log))
        || is_counter(name)
}

/// Every byte counts one thing.
fn is_counter(name: &Path) -> bool {
    name.ends_with("helpers")
}

/// Whether only lines were added, all of them complete unless the writer crashed.
fn has_grown(old: Option<&File>, found: &File, crashed: bool) -> bool {
    let old = old.map_or(&[][..], |file| &file.bytes);
    let added = found.bytes.strip_prefix(old);
    added.is_some_and(|lines| crashed || lines.is_empty() || lines.ends_with(b"\n"))
}

/// Whether the content is that of a file which a run without a fault moves here and then changes.
fn is_moved_here(expected: &Expected, name: &Path, found: &File) -> bool {
    let is_from = |(other, _): &(&PathBuf, &File)| *other != name && other.file_name() == name.file_name();
    let mut from = expected.before.files.iter().filter(is_from);
    expected.after.files.contains_key(name) && from.any(|(_, old)| is_same(found, old))
}

/// A feature's document is changed before its folder is moved.
fn is_about_to_move(expected: &Expected, name: &Path, found: &File) -> bool {
    let mut to = expected.after.files.iter().filter(|(other, _)| other.file_name() == name.file_name());
    !expected.after.files.contains_key(name) && to.any(|(_, new)| is_same(found, new))
}

/// A handoff is written before the state that names it, and nobody reads it until then.
fn is_unnamed_handoff(left: &Snapshot, name: &Path) -> bool {
    let Some(folder) = name.parent().filter(|folder| folder.ends_with("handoffs")) else { return false };
    let file = name.file_name().unwrap_or_default().to_string_lossy();
    let workflow = left.get(&folder.with_file_name("workflow.json"));
    workflow.is_some_and(|workflow| !String::from_utf8_lossy(&workflow.bytes).contains(&*file))
}

/// The state of the project's files says of a file that could not be read only how large and how old it is.
fn is_work_tree(name: &Path, found: &File) -> bool {
    let is_complete =
        || serde_json::from_slice::<Value>(&found.bytes).is_ok_and(|tree| tree["files"].is_object());
    name.ends_with("tree.json") && is_complete()
}

/// While a switch of the provider is under way, `owned.json` has the keys of before and after.
fn is_announcement(expected: &Expected, name: &Path, found: &File) -> bool {
    fn keys(file: &File) -> Option<Vec<Value>> {
        let value: Value = serde_json::from_slice(&file.bytes).ok()?;
        let claims = value.as_object()?.values().filter_map(Value::as_array).flatten();
        Some(claims.map(|claim| claim["path"].clone()).collect())
    }
    let Some(found) = keys(found) else { return false };
    let known =
        [&expected.before, &expected.after].into_iter().filter_map(|it| keys(it.get(name)?)).flatten();
    name.ends_with("owned.json") && known.into_iter().all(|key| found.contains(&key))
}

/// Where the content begins to differ, for whoever looks for the reason.
fn difference(name: &Path, old: Option<&File>, found: &File) -> String {
    let old = old.map_or(&[][..], |file| &file.bytes);
    let at = old.iter().zip(&found.bytes).take_while(|(a, b)| a == b).count();
    let shown = String::from_utf8_lossy(&found.bytes[at..found.bytes.len().min(at + 80)]);
    format!(
        "{} (mode {:o}): from byte {at} of {} on {shown:?}",
        name.display(),
        found.mode,
        found.bytes.len()
    )
}

/// What is wrong after the next run, which had no fault: it succeeds, and ends where one or two runs without a fault do.
pub(super) fn after_next_run(
    expected: &Expected,
    next: &Ran,
    end: &Snapshot,
    tolerance: Tolerance,
) -> Vec<String> {
    let Expected { subject, before, after, after_second, .. } = expected;
    let mut problems = unreadable(end, tolerance.crashed);
    let may_refuse = subject.is_command() && !expected.is_repeatable && is_refused(next);
    let complains = subject.kind == Kind::Hook && !next.stderr.is_empty();
    if (next.code != Some(0) && !may_refuse) || complains {
        problems.push(format!("the next run fails: {:?} {}", next.code, next.stderr.trim_end()));
    }
    for (name, found) in end.files.iter().filter(|(name, _)| !is_passing(name)) {
        let is_end = [after, after_second].iter().any(|end| {
            let mut same = end.files.iter().filter(|(other, _)| is_same_name(other, name));
            same.any(|(_, file)| is_same(found, file) || is_without_project(found, file, tolerance))
        });
        // A review that could not look at something begins its rounds anew.
        let may_be_other = |old| subject.kind == Kind::Review || is_later(old, found);
        let is_other = tolerance.other_decision && before.get(name).is_some_and(may_be_other);
        let is_log = is_log(name) && has_lines_of_a_run(expected, name, found, tolerance);
        let may_differ = may_lag(expected, name, found) || is_work_tree(name, found);
        if !is_end && !is_other && !is_log && !may_differ {
            problems.push(format!("after the next run: {}", difference(name, before.get(name), found)));
        }
    }
    // A workflow whose project could not be read has started without its checks or the state of its files, and the command
    // said so.
    let is_from_project = |name: &PathBuf| name.ends_with("tree.json") || name.ends_with("checks.json");
    let may_be_missing = |name: &PathBuf| is_passing(name) || (is_from_project(name) && !tolerance.crashed);
    let is_lost = |name: &&PathBuf| {
        after_second.get(name).is_some() && end.get(name).is_none() && !may_be_missing(name) && !is_copy(name)
    };
    problems
        .extend(after.files.keys().filter(is_lost).map(|name| format!("lost after all: {}", name.display())));
    problems
}

/// Whether a log has the lines of a first or of a second run. Which ones they are if the decision was another one, nobody
/// can say.
fn has_lines_of_a_run(expected: &Expected, name: &Path, found: &File, tolerance: Tolerance) -> bool {
    let bytes = |snapshot: &Snapshot| snapshot.get(name).map(|file| file.bytes.clone()).unwrap_or_default();
    let (before, after, second) =
        (bytes(&expected.before), bytes(&expected.after), bytes(&expected.after_second));
    let only_second = [&before[..], second.strip_prefix(&after[..]).unwrap_or_default()].concat();
    has_all_lines(&found.bytes, &after)
        || (second.len() > after.len() && has_all_lines(&found.bytes, &only_second))
        || (tolerance.other_decision && has_grown(expected.before.get(name), found, tolerance.crashed))
}

/// What may stay behind: a feature's document only repeats what the workflow and the folder say, the copy of a workflow counts
/// only if the file was changed, and a pointer to a session that is gone counts as none.
fn may_lag(expected: &Expected, name: &Path, found: &File) -> bool {
    let is_old = expected.before.get(name).is_some_and(|old| is_same(found, old));
    let is_document = expected.subject.kind == Kind::Hook && name.starts_with("project/specs");
    let may_be_old = is_document || is_copy(name) || name.ends_with(".current-session-id");
    (is_old && may_be_old) || is_moved_here(expected, name, found)
}

/// Whether a log has every line of another one. A line may be there twice if its writer crashed after it.
fn has_all_lines(found: &[u8], expected: &[u8]) -> bool {
    let (found, expected) = (without_times(found), without_times(expected));
    let found: BTreeSet<&[u8]> = found.split(|b| *b == b'\n').collect();
    let mut missing = expected.split(|b| *b == b'\n').filter(|line| !found.contains(line));
    // The next run finds the feature that the crashed one has created, and does not record that.
    missing.all(|line| String::from_utf8_lossy(line).contains("\"specs:init\""))
}

/// State files that are not JSON. A crash may leave one incomplete line in a log, which must stay alone.
pub(super) fn unreadable(left: &Snapshot, crashed: bool) -> Vec<String> {
    let is_value = |bytes: &[u8]| serde_json::from_slice::<Value>(bytes).is_ok();
    let mut problems = Vec::new();
    for (name, file) in left.files.iter().filter(|(name, _)| !is_passing(name)) {
        let broken = match name.extension().and_then(|extension| extension.to_str()) {
            Some("json") => usize::from(!is_value(&file.bytes)) * 2,
            Some("jsonl") => {
                file.bytes.split(|b| *b == b'\n').filter(|line| !line.is_empty() && !is_value(line)).count()
            }
            _ => 0,
        };
        if broken > usize::from(crashed) {
            problems.push(format!("not JSON: {}", name.display()));
        }
    }
    problems
}

/// Files with tokens are brought to the disk before they replace the old ones, or a power cut could leave neither.
pub(super) fn unsynced(calls: &[Call]) -> Vec<String> {
    let is_rename =
        |call: &&Call| call.name.starts_with("rename") && call.arguments.contains(".overtone-tmp\"");
    let is_synced = |rename: &&Call| {
        let path = rename.arguments.split('"').nth(1).unwrap_or_default();
        let earlier = calls.iter().take_while(|call| call != rename);
        let last = earlier.filter(|call| call.arguments.contains(&format!("<{path}>"))).last();
        last.is_some_and(|call| call.name == "fsync" || call.name == "fdatasync")
    };
    let unsynced = calls.iter().filter(is_rename).filter(|rename| !is_synced(rename));
    unsynced.map(|call| format!("renamed before it was brought to the disk: {}", call.arguments)).collect()
}

#[cfg(test)]
mod tests {
    use super::super::run::parse;
    use super::*;

    fn snapshot(files: &[(&str, &str)]) -> Snapshot {
        let file = |text: &str| File { bytes: text.as_bytes().to_vec(), mode: 0o600 };
        Snapshot { files: files.iter().map(|(name, text)| (name.into(), file(text))).collect() }
    }

    fn expected() -> Expected {
        let before = snapshot(&[("s.json", "1"), ("t.jsonl", "1\n"), ("a/tasks.md", "x"), ("gone", "x")]);
        let after = snapshot(&[("s.json", "2"), ("t.jsonl", "1\n2\n"), ("b/tasks.md", "y"), ("n-17", "n")]);
        let stop = Subject::all().into_iter().find(|subject| subject.name == "stop/active").unwrap();
        Expected { after_second: after.clone(), after, ..Expected::new(&stop, before) }
    }

    const CRASHED: Tolerance = Tolerance { crashed: true, other_decision: false };

    fn damage_of(files: &[(&str, &str)], tolerance: Tolerance) -> String {
        damage(&expected(), &snapshot(files), tolerance).join("; ")
    }

    #[test]
    fn old_and_new_are_good_in_any_mixture_and_everything_else_is_damage() {
        let (log, moved, stays) = (("t.jsonl", "1\n"), ("b/tasks.md", "x"), ("a/tasks.md", "x"));
        for (files, problem) in [
            (&[("s.json", "1"), log, stays, ("gone", "x")][..], ""),
            (&[("s.json", "2"), log, moved, (".s.json.tmp", "{")], ""),
            (&[("s.json", "2"), ("t.jsonl", "1\n2\n3\n"), ("b/tasks.md", "y"), ("n-4711", "n")], ""),
            (&[("s.json", "{"), log, stays], "damaged: s.json"),
            (&[log, stays], "lost: s.json"),
            (&[("s.json", "1"), log], "lost on its way to b/tasks.md"),
            (&[("litter", ""), ("s.json", "1"), log, stays], "left behind: litter"),
            (&[("s.json", "1"), ("t.jsonl", "2\n"), stays], "damaged: t.jsonl"),
        ] {
            let found = damage_of(files, CRASHED);
            assert!(
                found.starts_with(problem) && found.is_empty() == problem.is_empty(),
                "{files:?}: {found}"
            );
        }
    }

    #[test]
    fn only_a_crash_may_leave_something_incomplete() {
        for files in [
            [("s.json", "1"), ("t.jsonl", "1\n2"), ("a/tasks.md", "x")],
            [("s.json", "1"), ("t.jsonl", "1\n"), ("a/tasks.md", "y")],
        ] {
            assert_eq!(damage_of(&files, CRASHED), "");
            assert!(damage_of(&files, Tolerance::default()).starts_with("damaged: "), "{files:?}");
        }
        let workflow = snapshot(&[("s/workflow.json", "{\"handoff\":\"01.md\"}")]);
        let is_unnamed = |name| is_unnamed_handoff(&workflow, Path::new(name));
        assert!(is_unnamed("s/handoffs/02.md") && !is_unnamed("s/handoffs/01.md") && !is_unnamed("s/02.md"));
    }

    #[test]
    fn the_next_run_ends_where_runs_without_a_fault_do() {
        let next = Ran { code: Some(0), ..Ran::default() };
        let rest = [("b/tasks.md", "y"), ("n-1", "n"), ("n-17", "n")];
        for (state, log, problem) in [
            ("2", "1\n2\n", ""),
            ("2", "1\n{\"to\n2\n", ""),
            ("1", "1\n2\n", "after the next run: s.json"),
            ("2", "1\n{\"to2\n", "after the next run: t.jsonl"),
        ] {
            let end = snapshot(&[&rest[..], &[("s.json", state), ("t.jsonl", log)]].concat());
            let found = after_next_run(&expected(), &next, &end, CRASHED).join("; ");
            assert!(found.starts_with(problem) && found.is_empty() == problem.is_empty(), "{log:?}: {found}");
        }
        let refused = Ran { code: Some(1), ..Ran::default() };
        assert!(!after_next_run(&expected(), &refused, &expected().after, CRASHED).is_empty());
    }

    #[test]
    fn a_later_state_keeps_its_members_and_counts_upwards() {
        let file = |text: &str| File { bytes: text.as_bytes().to_vec(), mode: 0o600 };
        let later = |text: &str| is_later(&file(r#"{"count":3,"unknown":"kept"}"#), &file(text));
        assert!(later(r#"{"count":3,"unknown":"other","new":1}"#));
        for worse in [r#"{"count":2,"unknown":""}"#, r#"{"count":4}"#, "{", "[]"] {
            assert!(!later(worse), "{worse}");
        }
    }

    #[test]
    fn a_rename_needs_the_disk_first() {
        let log = |names: &[&str]| {
            let calls = names.iter().map(|name| match *name {
                "rename" => "rename(\"/box/.a.overtone-tmp\", \"/box/a\") = 0\n".to_owned(),
                other => format!("{other}(3</box/.a.overtone-tmp>) = 0\n"),
            });
            unsynced(&parse(&calls.collect::<String>(), Path::new("/box"))).len()
        };
        assert_eq!(log(&["write", "fsync", "rename"]), 0);
        assert_eq!([log(&["write", "rename"]), log(&["fsync", "write", "rename"])], [1, 1]);
    }
}
