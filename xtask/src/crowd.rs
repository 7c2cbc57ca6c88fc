//! `cargo xtask proof crowd`: many processes on one session, and many sessions at once.
//!
//! The verdict comes from the files that they leave behind. Times are only printed: they depend on how busy the machine
//! is. What happens while a lock is never released is tested in `crates/cli/tests/concurrency.rs`.

mod many_sessions;
mod one_session;
mod updates;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use overtone_core::registry::Hook;
use overtone_store::files::lock_file;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::process::{Pid, PidfdFlags, pidfd_open};
use serde_json::Value;

use crate::error::{Error, Result};
use crate::measure::{Report, millis_since};
use crate::sandbox::{Sandbox, feed};
use crate::{dist, shell, tree};

#[derive(Debug, clap::Args)]
pub(crate) struct Options {
    /// Fail if a limit is missed, such as the wait for the lock; for a quiet machine
    #[arg(long)]
    strict: bool,
    /// How many processes at once on the one session
    #[arg(long, value_name = "NUMBER", default_value = "64", value_parser = clap::value_parser!(u16).range(1..=1000))]
    processes: u16,
    /// Try this program instead of building the dist binary
    #[arg(long, value_name = "FILE")]
    binary: Option<PathBuf>,
}

#[derive(Debug, Clone, Copy)]
struct Size {
    /// Processes at once on the one session.
    workers: usize,
    /// Processes that each worker starts, one after the other.
    rounds: usize,
    /// Sessions at once.
    sessions: usize,
}

/// Ends a process that hangs. In a sandbox, development programs wait for a lock for up to ten minutes.
const PROCESS_TIMEOUT: Duration = Duration::from_mins(20);

pub(crate) fn run(options: &Options) -> Result<()> {
    let size = Size { workers: usize::from(options.processes), rounds: 200, sessions: 200 };
    run_both(&dist::chosen(options.binary.as_deref())?, size)?.finish(options.strict)
}

/// A small run with the development programs, as a step of CI. In 24 rounds, every worker does everything once.
pub(crate) fn run_ci() -> Result<()> {
    run_both(&shell::dev_binary()?, Size { workers: 64, rounds: 24, sessions: 200 })?.finish(false)
}

/// Homes are below the target folder, on a real file system. They are kept if something is wrong.
fn run_both(binary: &Path, size: Size) -> Result<Report> {
    let folder = shell::target_dir()?.join("crowd");
    tree::remove(&folder)?;
    let mut report = Report::default();
    one_session::run(&Sandbox::create(folder.join("one-session"), binary)?, size, &mut report)?;
    many_sessions::run(&Sandbox::create(folder.join("many-sessions"), binary)?, size.sessions, &mut report)?;
    if report.errors.is_empty() {
        tree::remove(&folder)?;
    }
    Ok(report)
}

/// Runs a hook, which must print one JSON value and no complaint.
fn run_hook(sandbox: &Sandbox, session: &str, hook: Hook, fields: Value) -> Result<Value> {
    let event = sandbox.event(session, hook, fields);
    let output = run_program(&mut sandbox.command(&["hook", hook.name()]), &event)?;
    serde_json::from_slice(&output.stdout)
        .map_err(|e| Error::new(format!("{}: {e}: {output:?}", hook.name())))
}

/// Runs a program, which must succeed without a complaint. One that hangs is killed, and an error. A program that complains
/// that it could not have a lock in time is an error as well: users have three seconds for it, tests ten minutes.
fn run_program(command: &mut Command, input: &Value) -> Result<Output> {
    let failed = |e: std::io::Error| Error::new(format!("cannot wait for a process: {e}"));
    let mut child = feed(command.stdout(Stdio::piped()).stderr(Stdio::piped()), &input.to_string())?;
    let process = pidfd_open(Pid::from_child(&child), PidfdFlags::empty()).map_err(|e| failed(e.into()))?;
    let timeout = Timespec::try_from(PROCESS_TIMEOUT).map_err(|_| Error::new("the timeout is too long"))?;
    let mut end = [PollFd::new(&process, PollFlags::IN)];
    let has_ended = poll(&mut end, Some(&timeout)).map_err(|e| failed(e.into()))? > 0;
    if !has_ended {
        child.kill().map_err(failed)?;
    }
    let output = child.wait_with_output().map_err(failed)?;
    if has_ended && output.status.success() && output.stderr.is_empty() {
        return Ok(output);
    }
    Err(Error::new(format!("{command:?} {}: {output:?}", if has_ended { "failed" } else { "did not end" })))
}

/// Takes a lock again and again while `act` runs, with the function that hooks use. Returns how long each attempt waited,
/// in milliseconds.
fn measure_lock_waits<T>(lock: &Path, act: impl FnOnce() -> T) -> (T, Vec<f64>) {
    let is_over = AtomicBool::new(false);
    let contend = || {
        let mut waits = Vec::new();
        while !is_over.load(Ordering::Relaxed) {
            let begun = Instant::now();
            if lock_file(lock, PROCESS_TIMEOUT).is_ok() {
                waits.push(millis_since(begun));
            }
            thread::sleep(Duration::from_millis(3));
        }
        waits
    };
    thread::scope(|scope| {
        let contenders: Vec<_> = (0..4).map(|_| scope.spawn(contend)).collect();
        let result = act();
        is_over.store(true, Ordering::Relaxed);
        (result, contenders.into_iter().filter_map(|contender| contender.join().ok()).flatten().collect())
    })
}

/// Reads a file of a session: JSON, a log of one JSON object per line, or text. A torn file is an error.
fn read_state(path: &Path) -> Result<Value> {
    let text = fs::read_to_string(path).map_err(|e| Error::io("cannot read", path, &e))?;
    let torn = |part: &str| Error::new(format!("{} is torn: {part:?}", path.display()));
    let parse = |part: &str| serde_json::from_str(part).map_err(|_| torn(part));
    match path.extension().and_then(|extension| extension.to_str()) {
        Some("json") => parse(&text),
        Some("jsonl") if !text.is_empty() && !text.ends_with('\n') => Err(torn(&text)),
        Some("jsonl") => text.lines().map(parse).collect(),
        _ => Ok(Value::String(text)),
    }
}

/// What was learned in the sandbox's project.
fn read_lessons(sandbox: &Sandbox) -> Result<Vec<Value>> {
    let list = run_program(&mut sandbox.command(&["instinct", "list", "--json"]), &Value::Null)?;
    let mut list: Value = serde_json::from_slice(&list.stdout)
        .map_err(|e| Error::new(format!("the list of lessons is not JSON: {e}")))?;
    Ok(list["lessons"].as_array_mut().map(std::mem::take).unwrap_or_default())
}

/// What the client sends with the events of an agent.
mod payload {
    use serde_json::{Value, json};

    pub(super) fn delegation(agent: &str, id: &str) -> Value {
        let task = json!({ "subagent_type": format!("ot:{agent}"), "description": "d", "prompt": "p" });
        json!({ "tool_name": "Agent", "tool_use_id": id, "tool_input": task })
    }

    pub(super) fn agent_start(agent: &str, id: &str) -> Value {
        json!({ "agent_id": id, "agent_type": format!("ot:{agent}") })
    }

    pub(super) fn agent_stop(agent: &str, id: &str, verdict: &str) -> Value {
        // The projects of these sessions stay as they are, which a developer has to explain.
        let report =
            format!("Done: {id}\n\n<!-- VERDICT: {{\"result\":\"{verdict}\",\"unchanged\":\"a crowd\"}} -->");
        json!({ "agent_id": id, "agent_type": format!("ot:{agent}"), "last_assistant_message": report })
    }

    pub(super) fn failed_command(command: &str, id: &str) -> Value {
        let error = format!("Exit code 1 {id}\ndetail {id}");
        json!({ "tool_name": "Bash", "tool_use_id": id, "tool_input": { "command": command }, "error": error })
    }
}
