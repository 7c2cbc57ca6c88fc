//! Many sessions at once: each must come out exactly as one that is alone.

use std::path::Path;
use std::thread;
use std::time::Instant;

use overtone_core::registry::Hook;
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
    let alone = live(&sandbox, ALONE.to_owned());
    if let Some(problem) = alone.problem {
        return Err(problem);
    }
    let wanted = Picture::take(&sandbox, ALONE)?;
    eprintln!("crowd: {} sessions at once", size.sessions);
    let begun = Instant::now();
    let memory = memory_lock(&sandbox)?;
    let (mut lived, waits) = probe::during(&memory, || everybody(&sandbox, size.sessions));
    let mut findings = Vec::new();
    let gave_up = lived.iter().map(|life| life.gave_up).sum();
    let seconds = begun.elapsed().as_secs_f64();
    // The locks that somebody may have given up are not the sessions' own.
    for Lived { session, problem, .. } in &lived {
        findings.extend(problem.as_ref().map(|problem| format!("session {session}: {problem}")));
        match Picture::take(&sandbox, session) {
            Ok(picture) if picture == wanted => {}
            Ok(picture) => {
                findings.push(format!("session {session} differs: {}", wanted.difference(&picture)));
            }
            Err(error) => findings.push(format!("session {session}: {error}")),
        }
    }
    lived.push(Lived { problem: None, ..alone });
    findings.extend(check_pointer(&sandbox, gave_up));
    findings.extend(check_lesson(&sandbox, &lived)?);
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
fn everybody(sandbox: &Sandbox, sessions: usize) -> Vec<Lived> {
    thread::scope(|scope| {
        let lives: Vec<_> =
            (0..sessions).map(|number| (number, scope.spawn(move || live(sandbox, name(number))))).collect();
        let end = |(number, life): (usize, thread::ScopedJoinHandle<'_, Lived>)| {
            life.join().unwrap_or_else(|_| Lived {
                problem: Some(Error::new("panicked")),
                ..Lived::new(name(number))
            })
        };
        lives.into_iter().map(end).collect()
    })
}

/// How far a session came, and what it did on the way.
#[derive(Debug)]
struct Lived {
    session: String,
    /// Hooks that could not have a lock in time.
    gave_up: usize,
    /// The hook that learns the shared lesson had nothing to complain about.
    has_taught: bool,
    /// What ended it early. What it did before still counts.
    problem: Option<Error>,
}

/// From the start to the end of a session, with a failed test in between.
fn live(sandbox: &Sandbox, session: String) -> Lived {
    let mut lived = Lived::new(session);
    lived.problem = lived.play_all(sandbox).err();
    lived
}

impl Lived {
    const fn new(session: String) -> Self {
        Self { session, gave_up: 0, has_taught: false, problem: None }
    }

    fn play_all(&mut self, sandbox: &Sandbox) -> Result<()> {
        self.play(sandbox, Hook::OnStart, json!({ "source": "startup" }))?;
        sandbox.succeed(&["init", "quick", "--session", &self.session])?;
        self.play(sandbox, Hook::OnSubmit, json!({ "prompt": "go" }))?;
        self.has_taught = self.play(sandbox, Hook::PostUseFailure, story::failure(COMMAND))?;
        for (agent, verdict) in [
            ("developer", "PASS"),
            ("code-reviewer", "PASS"),
            ("tester", "FAIL"),
            ("debugger", "PASS"),
            ("developer", "PASS"),
            ("code-reviewer", "PASS"),
            ("tester", "PASS"),
        ] {
            self.gave_up += story::agent(sandbox, &self.session, agent, verdict)?;
        }
        self.play(sandbox, Hook::PreCompact, json!({ "trigger": "auto" }))?;
        self.play(sandbox, Hook::OnStop, story::stop())?;
        self.play(sandbox, Hook::OnSessionEnd, json!({ "reason": "other" }))?;
        Ok(())
    }

    /// Whether the hook had all the locks that it needed.
    fn play(&mut self, sandbox: &Sandbox, hook: Hook, fields: Value) -> Result<bool> {
        let well = story::attempt(sandbox, &self.session, hook, fields)?;
        self.gave_up += usize::from(!well);
        Ok(well)
    }
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

/// Everybody has ended, so nobody is the current session any more.
fn check_pointer(sandbox: &Sandbox, gave_up: usize) -> Option<String> {
    let current = sandbox.overtone_home().join(".current-session-id");
    let is_stale = gave_up == 0 && current.exists();
    is_stale.then(|| format!("{} names a session that has ended", current.display()))
}

/// What a session says of the shared lesson.
#[derive(Debug)]
struct Noted<'a> {
    session: &'a str,
    /// Its hook had nothing to complain about.
    has_taught: bool,
    /// How often the lesson is in its own log.
    times: usize,
}

/// Which sessions have learned it is read from their own logs: one that was ended early may have learned it before.
fn check_lesson(sandbox: &Sandbox, lived: &[Lived]) -> Result<Vec<String>> {
    let noted = lived.iter().map(|Lived { session, has_taught, .. }| {
        Ok(Noted { session, has_taught: *has_taught, times: times_learned(sandbox, session)? })
    });
    let noted: Vec<_> = noted.collect::<Result<_>>()?;
    let list: Value = serde_json::from_str(&sandbox.succeed(&["instinct", "list", "--json"])?)
        .map_err(|e| Error::new(format!("the list of lessons is no JSON: {e}")))?;
    let lessons = list["lessons"].as_array().cloned().unwrap_or_default();
    let lesson = lessons.iter().find(|lesson| lesson["trigger"] == COMMAND);
    Ok(compare(&noted, lesson.map_or(&Value::Null, |lesson| &lesson["count"])))
}

/// The shared lesson is counted once for each session that has learned it: none is lost and none is doubled.
fn compare(noted: &[Noted], count: &Value) -> Vec<String> {
    let wrong = noted.iter().filter(|one| one.times > 1 || (one.has_taught && one.times == 0));
    let mut findings: Vec<_> = wrong
        .map(|one| format!("session {} has noted the shared lesson {} times", one.session, one.times))
        .collect();
    let learned: usize = noted.iter().map(|one| one.times).sum();
    if *count != learned {
        findings.push(format!("the shared lesson was counted {count} times, but noted {learned} times"));
    }
    findings
}

fn times_learned(sandbox: &Sandbox, session: &str) -> Result<usize> {
    let log = sandbox.session(session).join("observations.jsonl");
    // A session that was ended before its failed command has none.
    let lines = if log.exists() { read_lines(&log)? } else { Vec::new() };
    Ok(lines.iter().filter(|line| line["trigger"] == COMMAND).count())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_session_that_was_ended_early_still_counts() {
        let noted = |has_taught, times| Noted { session: "s", has_taught, times };
        let all = [noted(true, 1), noted(false, 1), noted(false, 0)];
        assert!(compare(&all, &json!(2)).is_empty());
        assert_eq!(compare(&all, &json!(1)), ["the shared lesson was counted 1 times, but noted 2 times"]);
        assert_eq!(compare(&[noted(true, 0)], &json!(0)).len(), 1);
        assert_eq!(compare(&[noted(true, 2)], &json!(2)).len(), 1);
        assert_eq!(compare(&all, &Value::Null).len(), 1);
    }
}
