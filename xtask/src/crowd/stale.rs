//! Locks whose holder does not come back: killed, stopped, or simply never done.
//!
//! The holder of the session's lock is a real hook that cannot give its answer, because nobody reads it. The other
//! locks are held by this program, which for whoever waits is the same as a process that was stopped.
//!
//! What decides is the order of events: hooks come to their end while the lock is still held. How long that took is a
//! time on this machine and decides only with `--strict`.

use std::fs::{self, File, OpenOptions, TryLockError};
use std::io::{PipeReader, Read as _, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Child, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use overtone_core::registry::Hook;
use serde_json::{Value, json};

use super::story;
use super::traces::read_json;
use crate::error::{Error, Result};
use crate::figures::{Bar, Figure, Report};
use crate::sandbox::{Sandbox, feed};

const SESSION: &str = "stale";

/// What a hook may take while somebody has a lock, in seconds, and how much a loaded machine may add to it.
const BUDGET: f64 = 3.0;
const BUDGET_AT_END: f64 = 1.0;
const SLACK: f64 = 0.5;

/// The end of a wait for a hook that never takes its lock.
const PATIENCE: Duration = Duration::from_mins(10);

/// More than any pipe holds by default.
const PIPE_BYTES: usize = 64 * 1024;

pub(super) fn look(binary: &Path, folder: &Path) -> Result<Report> {
    eprintln!("crowd: locks whose holder was killed or stopped");
    let sandbox = Sandbox::create(folder.to_owned(), binary)?;
    prepare(&sandbox)?;
    let mut report = Report::default();
    report.figures.push(after_a_kill(&sandbox)?);
    report.figures.extend(while_stopped(&sandbox, &mut report.findings)?);
    report.figures.extend(while_others_are_held(&sandbox)?);
    Ok(report)
}

/// A workflow with a feature, in the middle of its tests, which have failed once: what is next takes every lock.
fn prepare(sandbox: &Sandbox) -> Result<()> {
    story::play(sandbox, SESSION, Hook::OnStart, json!({ "source": "startup" }))?;
    sandbox.succeed(&["init", "quick", "--feature", "slow-thing", "--session", SESSION])?;
    for (agent, verdict) in [("developer", "PASS"), ("tester", "FAIL"), ("developer", "PASS")] {
        story::agent(sandbox, SESSION, agent, verdict)?;
    }
    story::play(sandbox, SESSION, Hook::PreTask, story::delegation("tester")).map(drop)
}

/// A hook that has the session's lock and cannot go on.
struct Holder {
    child: Child,
    /// The end that nobody reads.
    answer: PipeReader,
}

impl Holder {
    fn start(sandbox: &Sandbox) -> Result<Self> {
        let broken = |e: std::io::Error| Error::new(format!("cannot make a pipe: {e}"));
        let (answer, mut full) = std::io::pipe().map_err(broken)?;
        full.write_all(&vec![b' '; PIPE_BYTES]).map_err(broken)?;
        let payload = sandbox.event(SESSION, Hook::PreCompact, json!({ "trigger": "auto" }));
        let mut command = sandbox.command(&["hook", Hook::PreCompact.name()]);
        let child = feed(command.stdout(Stdio::from(full)).stderr(Stdio::null()), &payload)?;
        let holder = Self { child, answer };
        holder.wait_for_lock(sandbox)?;
        Ok(holder)
    }

    fn wait_for_lock(&self, sandbox: &Sandbox) -> Result<()> {
        let lock = sandbox.session(SESSION).join(".lock");
        let begun = Instant::now();
        while begun.elapsed() < PATIENCE {
            let file = File::open(&lock).map_err(|e| Error::io("cannot open", &lock, &e))?;
            if matches!(file.try_lock(), Err(TryLockError::WouldBlock)) {
                return Ok(());
            }
            drop(file);
            thread::sleep(Duration::from_millis(5));
        }
        Err(Error::new(format!("process {} does not take the lock", self.child.id())))
    }

    fn signal(&self, signal: Signal) -> Result<()> {
        kill(Pid::from_raw(self.child.id().cast_signed()), signal)
            .map_err(|e| Error::new(format!("cannot send {signal}: {e}")))
    }

    /// Lets it go on, and reads its answer.
    fn release(mut self) -> Result<Value> {
        self.signal(Signal::SIGCONT)?;
        let mut said = String::new();
        self.answer
            .read_to_string(&mut said)
            .map_err(|e| Error::new(format!("cannot read an answer: {e}")))?;
        let lost = |e: std::io::Error| Error::new(format!("a hook is lost: {e}"));
        self.child.wait().map_err(lost)?;
        serde_json::from_str(said.trim()).map_err(|e| Error::new(format!("a late answer is {said:?}: {e}")))
    }
}

fn compactions(sandbox: &Sandbox) -> Result<Value> {
    let path = sandbox.session(SESSION).join("compact-count.json");
    if path.exists() { read_json(&path).map(|counts| counts["count"].clone()) } else { Ok(json!(0)) }
}

/// A killed holder's lock is gone with it: the next hook does its work at once.
fn after_a_kill(sandbox: &Sandbox) -> Result<Figure> {
    let before = compactions(sandbox)?;
    let mut holder = Holder::start(sandbox)?;
    holder.signal(Signal::SIGKILL)?;
    let begun = Instant::now();
    story::play(sandbox, SESSION, Hook::PreCompact, json!({ "trigger": "auto" }))?;
    let took = begun.elapsed().as_secs_f64();
    holder.child.wait().map_err(|e| Error::new(format!("a hook is lost: {e}")))?;
    let after = compactions(sandbox)?;
    if after.as_u64() != before.as_u64().map(|count| count + 1) {
        return Err(Error::new(format!("after a killed holder the count went from {before} to {after}")));
    }
    Ok(Figure::new("hook after a killed holder", took, Bar::AtMostWhenQuiet(SLACK), "s"))
}

/// A stopped holder has the lock as long as it likes; nobody waits for that.
fn while_stopped(sandbox: &Sandbox, findings: &mut Vec<String>) -> Result<Vec<Figure>> {
    let holder = Holder::start(sandbox)?;
    holder.signal(Signal::SIGSTOP)?;
    let before = compactions(sandbox)?;
    let figures = waits(&sandbox.with_real_limits(), "holder stopped", &all_hooks())?;
    holder.release()?;
    let after = compactions(sandbox)?;
    if after.as_u64() != before.as_u64().map(|count| count + 1) {
        findings.push(format!("a stopped holder went on, but the count went from {before} to {after}"));
    }
    story::play(sandbox, SESSION, Hook::PreCompact, json!({ "trigger": "auto" }))?;
    Ok(figures)
}

/// Nothing but the session's lock can be had: the home's, the memory's and the feature's are held.
fn while_others_are_held(sandbox: &Sandbox) -> Result<Vec<Figure>> {
    let held: Vec<File> = other_locks(sandbox)?.iter().map(|path| hold(path)).collect::<Result<_>>()?;
    let figures = waits(&sandbox.with_real_limits(), "other locks held", &needing_others())?;
    drop(held);
    Ok(figures)
}

/// A tester that has not reported yet ticks a box and speaks against a lesson: two locks. The session that starts takes
/// the place of the current one, and that one ends.
fn needing_others() -> Vec<(Hook, Value)> {
    let mut report = story::report("tester", "PASS");
    report["agent_id"] = json!("another-tester");
    let mut start = elsewhere();
    start["session_id"] = json!("another-session");
    vec![
        (Hook::OnAgentStop, report),
        (Hook::OnStart, start),
        (Hook::OnSessionEnd, json!({ "reason": "other" })),
    ]
}

fn other_locks(sandbox: &Sandbox) -> Result<Vec<PathBuf>> {
    let home = sandbox.overtone_home();
    let projects = home.join("projects");
    let memories = fs::read_dir(&projects).map_err(|e| Error::io("cannot read folder", &projects, &e))?;
    let feature = sandbox.project().join("specs/features/in-progress/slow-thing");
    let memories = memories.flatten().map(|entry| entry.path().join(".lock"));
    Ok([home.join(".lock"), feature].into_iter().chain(memories).collect())
}

/// A folder cannot be opened for writing, but locked it can be.
fn hold(path: &Path) -> Result<File> {
    let open = OpenOptions::new().read(true).open(path);
    let file = open.map_err(|e| Error::io("cannot open", path, &e))?;
    file.lock().map_err(|e| Error::io("cannot lock", path, &e))?;
    Ok(file)
}

/// A start from another place, which is to be noted down.
fn elsewhere() -> Value {
    json!({ "source": "resume", "transcript_path": "/nonexistent/elsewhere.jsonl" })
}

fn all_hooks() -> Vec<(Hook, Value)> {
    let mut launch = story::delegation("tester");
    launch["error"] = json!("the agent could not be launched");
    vec![
        (Hook::OnStart, elsewhere()),
        (Hook::OnSubmit, json!({ "prompt": "[workflow:quick] go" })),
        (Hook::PreCompact, json!({ "trigger": "manual" })),
        (Hook::PreTask, story::delegation("tester")),
        (Hook::OnAgentStart, json!({ "agent_id": "x", "agent_type": "ot:tester" })),
        (Hook::OnAgentStop, story::report("tester", "PASS")),
        (Hook::PostUseFailure, launch),
        (Hook::PostUseFailure, story::failure("never stored")),
        (Hook::OnStop, story::stop()),
        (Hook::OnSessionEnd, json!({ "reason": "other" })),
    ]
}

/// Runs hooks at the same time, and tells how long the slowest took: at a session's end, and otherwise.
fn waits(sandbox: &Sandbox, when: &str, hooks: &[(Hook, Value)]) -> Result<Vec<Figure>> {
    let times = thread::scope(|scope| {
        let runs: Vec<_> = hooks
            .iter()
            .map(|(hook, fields)| {
                scope.spawn(move || {
                    let begun = Instant::now();
                    story::play(sandbox, SESSION, *hook, fields.clone())?;
                    Ok((*hook, begun.elapsed().as_secs_f64()))
                })
            })
            .collect();
        let ends = runs.into_iter().map(|run| run.join().unwrap_or_else(|_| Err(Error::new("panicked"))));
        ends.collect::<Result<Vec<_>>>()
    })?;
    let (at_end, others): (Vec<_>, Vec<_>) =
        times.into_iter().partition(|(hook, _)| *hook == Hook::OnSessionEnd);
    Ok([slowest(when, &others, BUDGET), slowest(when, &at_end, BUDGET_AT_END)]
        .into_iter()
        .flatten()
        .collect())
}

fn slowest(when: &str, times: &[(Hook, f64)], budget: f64) -> Option<Figure> {
    let (hook, took) = times.iter().max_by(|a, b| a.1.total_cmp(&b.1))?;
    Some(Figure::new(format!("{when}: {}", hook.name()), *took, Bar::AtMostWhenQuiet(budget + SLACK), "s"))
}
