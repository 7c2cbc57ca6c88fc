//! Many processes on one session: hooks of every kind that changes it, status lines and commands.

use std::process::{Command, Stdio};
use std::time::Instant;

use overtone_core::registry::Hook;
use serde_json::{Value, json};

use super::{Size, measure_lock_waits, payload, run_hook, run_program, updates};
use crate::background::in_parallel;
use crate::dist;
use crate::error::{Error, Result};
use crate::measure::{Limit, Report, millis_since, percentile, to_float};
use crate::sandbox::Sandbox;

pub(super) const SESSION: &str = "crowd";

/// The goal for the wait for the session's lock, at the 99th percentile.
const LOCK_WAIT_MILLIS: f64 = 50.0;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Action {
    Delegate,
    FailCommand,
    StartAgent,
    Compact,
    ShowStatus,
    Submit,
    StopAgent,
    /// Nothing runs any more: agents that have not reported are lost, and the loop sends the main agent on.
    Stop,
    StopLoop,
    ResumeLoop,
}

/// One start of a program.
#[derive(Debug, Clone, Copy)]
pub(super) struct Step {
    pub(super) action: Action,
    pub(super) worker: usize,
    round: usize,
}

impl Step {
    /// Every eight rounds, a worker takes an agent from its delegation to its report, and does the other things in between.
    fn at(worker: usize, round: usize) -> Self {
        let action = match round % 8 {
            0 => Action::Delegate,
            1 => Action::FailCommand,
            2 => Action::StartAgent,
            3 => Action::Compact,
            4 => Action::ShowStatus,
            5 => Action::Submit,
            6 => Action::StopAgent,
            _ => [Action::Stop, Action::StopLoop, Action::ResumeLoop][(worker + round / 8) % 3],
        };
        Self { action, worker, round }
    }

    /// A word by which its traces are found. Short enough not to be taken for a secret.
    pub(super) fn id(self) -> String {
        format!("w{:03}r{:03}", self.worker, self.round)
    }

    /// The agent that the worker has delegated last.
    pub(super) fn agent_id(self) -> String {
        Self { round: self.round - self.round % 8, ..self }.id()
    }

    /// Does it, and returns whether the loop has changed: it goes on, or was stopped or resumed.
    fn perform(self, sandbox: &Sandbox) -> Result<bool> {
        let (id, agent_id) = (self.id(), self.agent_id());
        let (hook, fields) = match self.action {
            Action::Delegate => (Hook::PreTask, payload::delegation("tester", &agent_id)),
            Action::StartAgent => (Hook::OnAgentStart, payload::agent_start("tester", &agent_id)),
            // A stage that has passed is not done again, and a blocked one waits for the user.
            Action::StopAgent => (Hook::OnAgentStop, payload::agent_stop("tester", &agent_id, "FAIL")),
            Action::FailCommand => (
                Hook::PostUseFailure,
                payload::failed_command(&format!("failing{:03} run", self.worker), &id),
            ),
            Action::Compact => (Hook::PreCompact, json!({ "trigger": id, "custom_instructions": "" })),
            Action::Submit => (Hook::OnSubmit, json!({ "prompt": format!("[workflow:quick] {id}") })),
            Action::Stop => (Hook::OnStop, json!({ "stop_hook_active": false, "background_tasks": [] })),
            Action::ShowStatus => return self.show_status(sandbox).map(|()| false),
            Action::StopLoop => return change_loop(sandbox, "stop"),
            Action::ResumeLoop => return change_loop(sandbox, "resume"),
        };
        let answer = run_hook(sandbox, SESSION, hook, fields)?;
        let decision = &answer["hookSpecificOutput"];
        if self.action == Action::Delegate && decision["permissionDecision"] != "allow" {
            return Err(Error::new(format!("a delegation was answered with {answer}")));
        }
        Ok(self.action == Action::Stop && decision["additionalContext"].is_string())
    }

    fn show_status(self, sandbox: &Sandbox) -> Result<()> {
        let percent = (self.worker + self.round) % 90;
        let input = json!({
            "session_id": SESSION, "cwd": sandbox.project(), "model": { "display_name": "Opus" },
            "context_window": { "used_percentage": percent }, "cost": { "total_cost_usd": percent + 1 },
        });
        let program = dist::hook_program(sandbox.binary());
        let output = run_program(&mut sandbox.command_of(&program, &["statusline"]), &input)?;
        let has_workflow = String::from_utf8_lossy(&output.stdout).contains("quick");
        if has_workflow { Ok(()) } else { Err(Error::new(format!("a status line is {output:?}"))) }
    }
}

fn change_loop(sandbox: &Sandbox, command: &str) -> Result<bool> {
    let output = run_program(&mut sandbox.command(&[command, "--json", "--session", SESSION]), &Value::Null)?;
    let answer: Value = serde_json::from_slice(&output.stdout).unwrap_or_default();
    answer["changed"].as_bool().ok_or_else(|| Error::new(format!("{command} printed {output:?}")))
}

/// Everything that the workers do, worker by worker.
pub(super) fn all_steps(size: Size) -> impl Iterator<Item = Step> {
    (0..size.workers).flat_map(move |worker| (0..size.rounds).map(move |round| Step::at(worker, round)))
}

pub(super) fn run(sandbox: &Sandbox, size: Size, report: &mut Report) -> Result<()> {
    prepare(sandbox)?;
    eprintln!("crowd: {} processes at once on one session, {} rounds each", size.workers, size.rounds);
    let begun = Instant::now();
    let work = |worker: usize| {
        let run = |round: usize| {
            let (step, begun) = (Step::at(worker, round), Instant::now());
            Ok((step.action, step.perform(sandbox)?, millis_since(begun)))
        };
        (0..size.rounds).map(run).collect::<Result<Vec<_>>>()
    };
    let lock = sandbox.session(SESSION).join(".lock");
    let (results, mut lock_waits) = measure_lock_waits(&lock, || in_parallel(size.workers, work));
    let results: Vec<_> = results?.into_iter().flatten().collect();
    let seconds = begun.elapsed().as_secs_f64();
    let mut changes: Vec<Action> = results.iter().filter(|result| result.1).map(|result| result.0).collect();
    // Afterwards nothing is under way any more: agents without a report are given up.
    for action in [Action::ResumeLoop, Action::Stop] {
        if (Step { action, worker: 0, round: 0 }).perform(sandbox)? {
            changes.push(action);
        }
    }
    report.errors.extend(updates::check(sandbox, size, &changes)?);

    let mut times: Vec<f64> = results.iter().map(|result| result.2).collect();
    let mut idle_times = measure_idle_processes(size.workers)?;
    report.add("starts a second on one session", to_float(times.len()) / seconds, "", Limit::None);
    report.add("lock wait (median)", percentile(&mut lock_waits, 50), "ms", Limit::None);
    report.add("lock wait (p99)", percentile(&mut lock_waits, 99), "ms", Limit::Max(LOCK_WAIT_MILLIS));
    report.add("lock wait (longest)", percentile(&mut lock_waits, 100), "ms", Limit::None);
    report.add("start to end (p99)", percentile(&mut times, 99), "ms", Limit::None);
    report.add("/bin/true in such a crowd (p99)", percentile(&mut idle_times, 99), "ms", Limit::None);
    Ok(())
}

/// A workflow in which testers may be sent again and again, and limits that nobody reaches.
fn prepare(sandbox: &Sandbox) -> Result<()> {
    run_hook(sandbox, SESSION, Hook::OnStart, json!({ "source": "startup" }))?;
    for arguments in [
        // The limit is fixed when the workflow starts.
        &["config", "set", "budget.agents", "0"][..],
        &["init", "quick", "--session", SESSION],
        &["config", "set", "loop.maxIterations", "10000"],
        &["config", "set", "loop.maxConsecutiveErrors", "7"],
        &["config", "set", "limits.failures", "10000"],
    ] {
        sandbox.succeed(arguments)?;
    }
    run_hook(sandbox, SESSION, Hook::PreTask, payload::delegation("developer", "developer"))?;
    run_hook(sandbox, SESSION, Hook::OnAgentStart, payload::agent_start("developer", "developer"))?;
    run_hook(sandbox, SESSION, Hook::OnAgentStop, payload::agent_stop("developer", "developer", "PASS"))?;
    Ok(())
}

/// How long as many processes take that do nothing: what hooks wait for a processor, not for a lock.
fn measure_idle_processes(workers: usize) -> Result<Vec<f64>> {
    let run = |_| {
        let begun = Instant::now();
        run_program(Command::new("/bin/true").env_clear().stdin(Stdio::null()), &Value::Null)?;
        Ok(millis_since(begun))
    };
    let times = in_parallel(workers, |_| (0..10).map(run).collect::<Result<Vec<f64>>>())?;
    Ok(times.into_iter().flatten().collect())
}
