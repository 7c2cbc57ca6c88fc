//! What one process of the crowd does: hooks of every kind that leaves something behind, and commands.

use std::process::{Command, Output};

use overtone_core::registry::Hook;
use serde_json::{Value, json};

use super::marks::Mark;
use crate::sandbox::Sandbox;

/// One start of the program.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Step {
    Delegate,
    AgentStart,
    AgentStop,
    /// A failed command: a line of the timeline and a lesson, both without the session's lock.
    Failure,
    /// A command that ended badly: a lesson.
    Lesson,
    Compact,
    Submit,
    Statusline,
    /// The main agent would like to stop while agents run.
    StopEarly,
    /// It would like to stop, and nothing runs any more: whoever has not reported is lost.
    Stop,
    Status,
    StopLoop,
    ResumeLoop,
}

/// What else there is between the steps of an agent's life.
const BETWEEN: [Step; 7] = [
    Step::Failure,
    Step::Lesson,
    Step::Compact,
    Step::Submit,
    Step::Statusline,
    Step::StopEarly,
    // Stands for all that is rare.
    Step::Status,
];

const RARE: [Step; 8] = [
    Step::Stop,
    Step::Status,
    Step::StopLoop,
    Step::ResumeLoop,
    Step::Status,
    Step::Stop,
    Step::StopLoop,
    Step::ResumeLoop,
];

/// An agent's life takes ten rounds: its three steps, and seven others in an order that differs by worker.
pub(super) const CYCLE: usize = 10;

pub(super) fn step(worker: usize, round: usize) -> Step {
    let (cycle, place) = (round / CYCLE, round % CYCLE);
    let other = |index: usize| match BETWEEN[(worker + cycle + index) % BETWEEN.len()] {
        Step::Status => RARE[(worker + cycle) % RARE.len()],
        step => step,
    };
    match place {
        0 => Step::Delegate,
        3 => Step::AgentStart,
        7 => Step::AgentStop,
        1..3 => other(place - 1),
        4..7 => other(place - 2),
        _ => other(place - 3),
    }
}

/// A command and what goes to its stdin.
pub(super) struct Start {
    pub(super) command: Command,
    pub(super) payload: Value,
}

/// Everybody works on this session.
pub(super) const SESSION: &str = "crowd";

/// How the agent and its report are named: by the round in which it was delegated.
fn agent_mark(worker: usize, round: usize) -> Mark {
    Mark { worker, round: round - round % CYCLE }
}

pub(super) fn start(sandbox: &Sandbox, step: Step, mark: Mark) -> Start {
    let agent = agent_mark(mark.worker, mark.round);
    let hook = |hook: Hook, fields: Value| Start {
        command: sandbox.command(&["hook", hook.name()]),
        payload: sandbox.event(SESSION, hook, fields),
    };
    let cli = |name: &str| Start {
        command: sandbox.command(&[name, "--json", "--session", SESSION]),
        payload: Value::Null,
    };
    match step {
        Step::Delegate => hook(Hook::PreTask, delegation(agent)),
        Step::AgentStart => {
            hook(Hook::OnAgentStart, json!({ "agent_id": agent.text(), "agent_type": "ot:tester" }))
        }
        Step::AgentStop => hook(Hook::OnAgentStop, report(agent)),
        Step::Failure => hook(Hook::PostUseFailure, failure(mark)),
        Step::Lesson => hook(Hook::PostUse, lesson(mark)),
        Step::Compact => hook(Hook::PreCompact, json!({ "trigger": mark.text(), "custom_instructions": "" })),
        Step::Submit => {
            hook(Hook::OnSubmit, json!({ "prompt": format!("[workflow:quick] {}", mark.text()) }))
        }
        Step::Statusline => {
            Start { command: sandbox.command(&["statusline"]), payload: statusline(sandbox, mark) }
        }
        Step::StopEarly => {
            hook(Hook::OnStop, stop(&json!([{ "type": "subagent", "status": "running", "id": "x" }])))
        }
        Step::Stop => hook(Hook::OnStop, stop(&json!([]))),
        Step::Status => cli("status"),
        Step::StopLoop => cli("stop"),
        Step::ResumeLoop => cli("resume"),
    }
}

fn delegation(mark: Mark) -> Value {
    json!({
        "tool_name": "Agent", "tool_use_id": mark.text(),
        "tool_input": { "subagent_type": "ot:tester", "description": "test it", "prompt": "run the tests" },
    })
}

fn report(mark: Mark) -> Value {
    json!({
        "agent_id": mark.text(), "agent_type": "ot:tester", "stop_hook_active": false,
        // A stage that has passed is not done again, and one that is blocked waits for the user.
        "last_assistant_message": format!("It sticks: {}\n\n<!-- VERDICT: {{\"result\":\"FAIL\"}} -->", mark.text()),
    })
}

fn failure(mark: Mark) -> Value {
    let command = format!("{} run", mark.failing());
    json!({
        "tool_name": "Bash", "tool_use_id": mark.text(), "is_interrupt": false,
        "tool_input": { "command": command },
        "error": format!("Exit code 1 {0}\ndetail {0}", mark.text()),
    })
}

fn lesson(mark: Mark) -> Value {
    json!({
        "tool_name": "Bash", "tool_use_id": mark.text(),
        "tool_input": { "command": format!("{} go", mark.breaking()) },
        "tool_response": { "stdout": "", "stderr": format!("broken {}", mark.text()), "exit_code": 2 },
    })
}

fn stop(background: &Value) -> Value {
    json!({ "stop_hook_active": false, "last_assistant_message": "", "background_tasks": background })
}

fn statusline(sandbox: &Sandbox, mark: Mark) -> Value {
    json!({
        "session_id": SESSION, "cwd": sandbox.project(), "model": { "display_name": "Opus" },
        "context_window": { "used_percentage": mark.percent() }, "cost": { "total_cost_usd": mark.dollars() },
    })
}

/// What an answer says about what was done.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Said {
    /// As it always has to be.
    Well,
    /// The loop goes on, or the loop was stopped or resumed.
    Changed,
    /// There was nothing to change, which is as good.
    Nothing,
    /// A lock could not be had in time, so nothing or only a part was done, and it said so.
    GaveUp,
}

/// How a program says that it did not get the session's lock, in any language, or the memory's.
const LOCKED: [&str; 2] = ["/.lock", "locked by another process"];

/// Whether a complaint is about a lock that could not be had in time.
pub(super) fn gave_up(complaint: &str) -> bool {
    complaint.lines().any(|line| LOCKED.iter().any(|end| line.trim_end().ends_with(end)))
}

/// Reads an answer; the error says what is wrong with it.
pub(super) fn read(step: Step, output: &Output) -> Result<Said, String> {
    let complaint = String::from_utf8_lossy(&output.stderr);
    if gave_up(&complaint) {
        return Ok(Said::GaveUp);
    }
    if !output.status.success() || !complaint.is_empty() {
        return Err(format!("{step:?} ended with {} and said: {}", output.status, complaint.trim()));
    }
    let said = String::from_utf8_lossy(&output.stdout);
    if step == Step::Statusline {
        return if said.contains("quick") { Ok(Said::Well) } else { Err(format!("status line: {said:?}")) };
    }
    let answer: Value =
        serde_json::from_str(&said).map_err(|e| format!("{step:?} answered {said:?}: {e}"))?;
    judge(step, &answer).ok_or_else(|| format!("{step:?} answered {answer}"))
}

fn judge(step: Step, answer: &Value) -> Option<Said> {
    let of_hook = &answer["hookSpecificOutput"];
    let changed = |yes: bool| if yes { Said::Changed } else { Said::Nothing };
    match step {
        Step::Delegate => (of_hook["permissionDecision"] == "allow").then_some(Said::Well),
        Step::Stop => Some(changed(of_hook["additionalContext"].is_string())),
        Step::StopLoop | Step::ResumeLoop => answer["changed"].as_bool().map(changed),
        Step::Status => answer.is_object().then_some(Said::Well),
        _ => Some(Said::Well),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_agent_is_delegated_then_started_then_reports() {
        for worker in 0..64 {
            let life: Vec<_> = (0..CYCLE).map(|round| step(worker, round)).collect();
            let at = |wanted: Step| life.iter().position(|step| *step == wanted);
            assert!(at(Step::Delegate) < at(Step::AgentStart) && at(Step::AgentStart) < at(Step::AgentStop));
            for wanted in [Step::Failure, Step::Lesson, Step::Compact, Step::Submit, Step::Statusline] {
                assert_eq!(life.iter().filter(|step| **step == wanted).count(), 1, "{wanted:?}");
            }
        }
    }

    #[test]
    fn every_step_happens() {
        let all: Vec<_> = (0..64).flat_map(|worker| (0..20).map(move |round| step(worker, round))).collect();
        for wanted in BETWEEN.iter().chain(&RARE) {
            assert!(all.contains(wanted), "{wanted:?}");
        }
    }

    #[test]
    fn an_agent_keeps_its_name() {
        assert_eq!(agent_mark(3, 20), agent_mark(3, 27));
        assert_ne!(agent_mark(3, 20), agent_mark(3, 30));
    }
}
