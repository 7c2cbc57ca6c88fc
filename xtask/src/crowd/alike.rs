//! Many sessions at once: each must come out exactly as one that is alone.

use std::path::Path;
use std::thread;
use std::time::Instant;

use overtone_registry::Hook;
use serde_json::{Value, json};

use super::probe;
use super::traces::{read_lines, read_text};
use super::{Size, story};
use crate::error::{Error, Result};
use crate::figures::{Bar, Figure, Report};
use crate::normal::{timeless, timeless_text};
use crate::sandbox::Sandbox;

/// All sessions learn the same from it, so that they meet in the project's memory.
const COMMAND: &str = "shared check";
const ALONE: &str = "alone";

/// The state files of a session that has come to its end.
const STATE: [&str; 4] = ["workflow.json", "loop.json", "compact-count.json", "session.json"];

pub(super) fn look(binary: &Path, folder: &Path, size: Size) -> Result<Report> {
    let sandbox = Sandbox::create(folder.to_owned(), binary)?;
    let alone = live(&sandbox, ALONE)?;
    let wanted = Picture::take(&sandbox, ALONE)?;
    eprintln!("crowd: {} sessions at once", size.sessions);
    let begun = Instant::now();
    let memory = memory_lock(&sandbox)?;
    let (ends, waits) = probe::during(&memory, || everybody(&sandbox, size.sessions));
    let mut findings: Vec<_> =
        ends.iter().filter_map(|end| end.as_ref().err().map(Error::to_string)).collect();
    let lived: Vec<_> = ends.into_iter().flatten().chain([alone]).collect();
    let gave_up = lived.iter().map(|life| life.gave_up).sum();
    let seconds = begun.elapsed().as_secs_f64();
    // The locks that somebody may have given up are not the sessions' own.
    for number in 0..size.sessions {
        let name = name(number);
        match Picture::take(&sandbox, &name) {
            Ok(picture) if picture == wanted => {}
            Ok(picture) => findings.push(format!("session {name} differs: {}", wanted.difference(&picture))),
            Err(error) => findings.push(format!("session {name}: {error}")),
        }
    }
    findings.extend(check_home(&sandbox, lived.iter().filter(|life| life.has_taught).count(), gave_up)?);
    let p99 = Figure::new("lock wait in the project's memory (p99)", waits.percentile(990), Bar::None, "ms");
    let same = Figure::count("sessions at once, all alike", size.sessions, Bar::None);
    let left_out = Figure::count("hooks of theirs that gave a lock up", gave_up, Bar::AtMostWhenQuiet(0.0));
    let note = format!("{} sessions at once, each a whole life, in {seconds:.0} s", size.sessions);
    Ok(Report { notes: vec![note], figures: vec![same, left_out, p99], findings })
}

fn name(number: usize) -> String {
    format!("crowd-{number:03}")
}

/// Every session in a thread of its own, so that each has a process under way all the time.
fn everybody(sandbox: &Sandbox, sessions: usize) -> Vec<Result<Lived>> {
    thread::scope(|scope| {
        let lives: Vec<_> =
            (0..sessions).map(|number| scope.spawn(move || live(sandbox, &name(number)))).collect();
        lives.into_iter().map(|life| life.join().unwrap_or_else(|_| Err(Error::new("panicked")))).collect()
    })
}

/// What a life came to.
#[derive(Debug, Default, Clone, Copy)]
struct Lived {
    /// Hooks that could not have a lock in time.
    gave_up: usize,
    has_taught: bool,
}

/// From the start to the end of a session, with a failed test in between.
fn live(sandbox: &Sandbox, session: &str) -> Result<Lived> {
    let mut lived = Lived::default();
    let mut play = |hook: Hook, fields: Value| -> Result<bool> {
        let well = story::attempt(sandbox, session, hook, fields)?;
        lived.gave_up += usize::from(!well);
        Ok(well)
    };
    play(Hook::OnStart, json!({ "source": "startup" }))?;
    sandbox.succeed(&["init", "quick", "--session", session])?;
    play(Hook::OnSubmit, json!({ "prompt": "go" }))?;
    let has_taught = play(Hook::PostUseFailure, story::failure(COMMAND))?;
    for (agent, verdict) in [
        ("developer", "PASS"),
        ("code-reviewer", "PASS"),
        ("tester", "FAIL"),
        ("debugger", "PASS"),
        ("developer", "PASS"),
        ("code-reviewer", "PASS"),
        ("tester", "PASS"),
    ] {
        lived.gave_up += story::agent(sandbox, session, agent, verdict)?;
    }
    for (hook, fields) in [
        (Hook::PreCompact, json!({ "trigger": "auto" })),
        (Hook::OnStop, story::stop()),
        (Hook::OnSessionEnd, json!({ "reason": "other" })),
    ] {
        lived.gave_up += usize::from(!story::attempt(sandbox, session, hook, fields)?);
    }
    lived.has_taught = has_taught;
    Ok(lived)
}

/// What a session looks like at its end, without its name and its times.
#[derive(Debug, PartialEq)]
struct Picture {
    state: Vec<Value>,
    timeline: Vec<Value>,
    handoffs: Vec<(String, String)>,
}

impl Picture {
    fn take(sandbox: &Sandbox, session: &str) -> Result<Self> {
        let folder = sandbox.session(session);
        let nameless = |text: String| text.replace(session, "<session>");
        let state = STATE.iter().map(|name| {
            let path = folder.join(name);
            let torn = || Error::new(format!("{} is torn", path.display()));
            read_text(&path).and_then(|text| timeless_text(&nameless(text)).ok_or_else(torn))
        });
        let handoffs = crate::tree::files(&folder.join("handoffs"))?.into_keys().map(|name| {
            let text = read_text(&folder.join("handoffs").join(&name))?;
            Ok((name.display().to_string(), text))
        });
        Ok(Self {
            state: state.collect::<Result<_>>()?,
            timeline: read_lines(&folder.join("timeline.jsonl"))?.into_iter().map(timeless).collect(),
            handoffs: handoffs.collect::<Result<_>>()?,
        })
    }

    /// The first thing that is different, for a person.
    fn difference(&self, other: &Self) -> String {
        let states = STATE.iter().zip(self.state.iter().zip(&other.state));
        let state = states.filter(|(_, (a, b))| a != b).map(|(name, (a, b))| format!("{name}: {b}, not {a}"));
        let lines = self.timeline.iter().zip(&other.timeline).filter(|(a, b)| a != b);
        let mut all = state.chain(lines.map(|(a, b)| format!("timeline: {b}, not {a}")));
        let counts = || format!("{} lines, not {}", other.timeline.len(), self.timeline.len());
        all.next().unwrap_or_else(counts)
    }
}

fn memory_lock(sandbox: &Sandbox) -> Result<std::path::PathBuf> {
    let projects = sandbox.overtone_home().join("projects");
    let folder = std::fs::read_dir(&projects).ok().and_then(|mut entries| entries.next()?.ok());
    let folder = folder.ok_or_else(|| Error::new("the session alone has learned nothing"))?;
    Ok(folder.path().join(".lock"))
}

/// What belongs to no session: everybody has ended, and what they have taught is there as often.
fn check_home(sandbox: &Sandbox, taught_by: usize, gave_up: usize) -> Result<Vec<String>> {
    let mut findings = Vec::new();
    let current = sandbox.overtone_home().join(".current-session-id");
    if gave_up == 0 && current.exists() {
        findings.push(format!("{} names a session that has ended", current.display()));
    }
    let list: Value = serde_json::from_str(&sandbox.succeed(&["instinct", "list", "--json"])?)
        .map_err(|e| Error::new(format!("the list of lessons is no JSON: {e}")))?;
    let lessons = list["lessons"].as_array().cloned().unwrap_or_default();
    let taught = lessons.iter().find(|lesson| lesson["trigger"] == COMMAND);
    if taught.is_none_or(|lesson| lesson["count"] != taught_by) {
        let count = taught.map_or(Value::Null, |lesson| lesson["count"].clone());
        findings.push(format!("the shared lesson was seen {count} times, not {taught_by}"));
    }
    Ok(findings)
}
