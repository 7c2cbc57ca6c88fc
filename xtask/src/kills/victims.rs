//! Everything that may be killed: hooks of all kinds, commands, and `ccc`.

use std::process::Command;

use overtone_core::engine::instinct::{self, ObservationKind};
use overtone_core::registry::Hook;
use serde_json::{Value, json};

use super::scene::{SESSION, Scene};
use crate::random::Random;

/// Whether a second run has anything to do.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Again {
    /// It succeeds however often it is done.
    Always,
    /// Done once, it is refused: a feature cannot be made or moved twice.
    Once,
}

/// One command with all that it is given.
#[derive(Debug, Clone)]
pub(super) struct Victim {
    /// As a person would call it, for the list of what was killed.
    pub(super) name: String,
    program: Program,
    pub(super) again: Again,
}

#[derive(Debug, Clone)]
enum Program {
    Hook(Hook, Value),
    /// With a payload on stdin, which most do not read.
    Overtone(Vec<String>, Value),
    Ccc(Vec<String>, Value),
}

impl Victim {
    /// The command, and what goes to its stdin.
    pub(super) fn command(&self, scene: &Scene) -> (Command, Value) {
        fn words(all: &[String]) -> Vec<&str> {
            all.iter().map(String::as_str).collect()
        }
        match &self.program {
            Program::Hook(hook, fields) => {
                let payload = scene.sandbox.event(SESSION, *hook, fields.clone());
                (scene.sandbox.command(&["hook", hook.name()]), payload)
            }
            Program::Overtone(arguments, payload) => {
                // As in the client's shell, where a session that is gone is no error.
                let mut command = scene.sandbox.command(&words(arguments));
                command.env("OVERTONE_SESSION_ID", SESSION);
                (command, payload.clone())
            }
            Program::Ccc(arguments, payload) => (scene.ccc(&words(arguments)), payload.clone()),
        }
    }

    /// A hook has one JSON value to say, and nothing to complain about.
    pub(super) const fn is_hook(&self) -> bool {
        matches!(self.program, Program::Hook(..))
    }
}

/// The next one, by chance: hooks, commands and `ccc` in turn.
pub(super) fn next(random: &mut Random) -> Victim {
    match random.below(10) {
        0..5 => hook(random),
        5..8 => command(random),
        _ => ccc(random),
    }
}

fn hook(random: &mut Random) -> Victim {
    let agent = *random.pick(&["developer", "code-reviewer", "tester", "debugger"]);
    let verdict = *random.pick(&["PASS", "PASS", "PASS", "FAIL", "REJECT"]);
    let number = random.below(1000);
    let (hook, fields) = match random.below(11) {
        0 => (Hook::OnStart, start(random)),
        1 => (Hook::OnSubmit, json!({ "prompt": format!("[workflow:quick] please, {number}") })),
        2 | 3 => (Hook::PreTask, delegation(agent, number)),
        4 => (
            Hook::OnAgentStart,
            json!({ "agent_id": format!("id-{number}"), "agent_type": format!("ot:{agent}") }),
        ),
        5 | 6 => (Hook::OnAgentStop, report(agent, verdict, number)),
        7 => (Hook::PostUse, lesson(random)),
        8 => (Hook::PostUseFailure, failure(random)),
        9 => (Hook::PreCompact, json!({ "trigger": *random.pick(&["auto", "manual"]) })),
        _ => ending(random),
    };
    Victim { name: hook.name().to_owned(), program: Program::Hook(hook, fields), again: Again::Always }
}

fn ending(random: &mut Random) -> (Hook, Value) {
    match random.below(3) {
        0 => (Hook::OnSessionEnd, json!({ "reason": "other" })),
        _ => (Hook::OnStop, json!({ "stop_hook_active": false, "background_tasks": [] })),
    }
}

fn start(random: &mut Random) -> Value {
    let source = *random.pick(&["startup", "resume", "compact", "clear"]);
    // Another conversation each time, so that there is something to note down.
    json!({ "source": source, "transcript_path": format!("/nonexistent/{}.jsonl", random.below(1000)) })
}

fn delegation(agent: &str, number: usize) -> Value {
    json!({
        "tool_name": "Agent", "tool_use_id": format!("call-{number}"),
        "tool_input": { "subagent_type": format!("ot:{agent}"), "description": "d", "prompt": "p" },
    })
}

/// Long enough that writing it takes more than one page.
fn report(agent: &str, verdict: &str, number: usize) -> Value {
    let words = "What was done, and why. ".repeat(400);
    json!({
        "agent_id": format!("id-{number}"), "agent_type": format!("ot:{agent}"),
        "last_assistant_message": format!("{words}\n<!-- VERDICT: {{\"result\":\"{verdict}\"}} -->"),
    })
}

fn lesson(random: &mut Random) -> Value {
    let program = *random.pick(&["npm test", "cargo build", "make all", "go vet"]);
    json!({
        "tool_name": "Bash", "tool_input": { "command": program },
        "tool_response": { "stdout": "", "stderr": "it broke", "exit_code": random.below(2) },
    })
}

fn failure(random: &mut Random) -> Value {
    let program = *random.pick(&["npm test", "cargo build", "make all", "go vet"]);
    let error = format!("Exit code 1\n{}", "something went wrong ".repeat(random.below(40)));
    json!({ "tool_name": "Bash", "tool_input": { "command": program }, "error": error, "is_interrupt": false })
}

fn overtone(line: &str, again: Again) -> Victim {
    let arguments: Vec<String> = line.split(' ').map(str::to_owned).collect();
    let verb = arguments.iter().take(2).filter(|word| !word.starts_with('-')).cloned().collect::<Vec<_>>();
    Victim {
        name: format!("overtone {}", verb.join(" ")),
        program: Program::Overtone(arguments, Value::Null),
        again,
    }
}

fn command(random: &mut Random) -> Victim {
    let feature = *random.pick(&["login", "search", "export"]);
    match random.below(12) {
        0 => overtone(&format!("init quick --force --session {SESSION}"), Again::Always),
        1 => {
            overtone(&format!("init standard --force --feature {feature} --session {SESSION}"), Again::Always)
        }
        2 => overtone("stop", Again::Always),
        3 => overtone("resume", Again::Always),
        4 => overtone("status --json", Again::Always),
        5 => overtone(&format!("config set limits.failures {}", 1 + random.below(50)), Again::Always),
        6 => statusline(random),
        7 => overtone(&format!("specs new {feature} --workflow standard"), Again::Once),
        8 => overtone(
            &format!("specs {} {feature}", random.pick(&["pause", "resume", "backlog"])),
            Again::Once,
        ),
        9 => overtone(&format!("specs archive {feature}"), Again::Once),
        10 => overtone(
            &format!("instinct {} {}", random.pick(&["confirm", "contradict"]), lesson_about("npm test")),
            Again::Once,
        ),
        _ => sessions(random),
    }
}

/// The name of the lesson about a command, whether it has been learned yet or not.
fn lesson_about(command: &str) -> String {
    instinct::id(ObservationKind::ErrorResolutions, command)
}

fn sessions(random: &mut Random) -> Victim {
    match random.below(2) {
        0 => overtone("sessions gc --days 1", Again::Always),
        _ => overtone(&format!("sessions rm --yes {SESSION}"), Again::Once),
    }
}

fn statusline(random: &mut Random) -> Victim {
    let payload = json!({
        "session_id": SESSION, "model": { "display_name": "Opus" },
        "context_window": { "used_percentage": random.below(100) }, "cost": { "total_cost_usd": 1.25 },
    });
    let program = Program::Overtone(vec!["statusline".to_owned()], payload);
    Victim { name: "overtone statusline".to_owned(), program, again: Again::Always }
}

fn ccc(random: &mut Random) -> Victim {
    let provider = *random.pick(&["a", "b"]);
    let (line, again) = match random.below(9) {
        0 | 1 => (format!("use {provider}"), Again::Always),
        2 => ("add c --base-url https://c.example --env ANTHROPIC_MODEL=c".to_owned(), Again::Once),
        3 => ("remove c".to_owned(), Again::Once),
        4 => (format!("run {provider}"), Again::Always),
        5 => (format!("run --isolated {provider}"), Again::Always),
        6 => (format!("supervise {} --session {SESSION}", random.pick(&["on", "off"])), Again::Always),
        7 => ("edit".to_owned(), Again::Always),
        _ => return supervisor(),
    };
    let arguments: Vec<String> = line.split(' ').map(str::to_owned).collect();
    let name = format!("ccc {}", arguments[0]);
    Victim { name, program: Program::Ccc(arguments, Value::Null), again }
}

fn supervisor() -> Victim {
    let payload = json!({ "session_id": SESSION, "hook_event_name": "Stop", "stop_hook_active": false });
    let program = Program::Ccc(vec!["supervisor-hook".to_owned()], payload);
    Victim { name: "ccc supervisor-hook".to_owned(), program, again: Again::Always }
}
