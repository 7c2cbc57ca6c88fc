//! What is run with faults: every hook, the status lines, `ccc`, and every command that writes.

use overtone_core::registry::Hook;
use serde_json::{Value, json};

use super::fixture::{DEVELOPER, SESSION, Situation};

/// What is expected of a program when something fails.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    /// One JSON answer, exit code 0.
    Hook,
    /// The same, but a review may say nothing and reports its rounds on stderr.
    Review,
    /// One line of text, exit code 0.
    StatusLine,
    /// Success, or an error with a hint.
    Command,
    /// The same, for a command that becomes the client in the end.
    Launch,
}

/// A program with its arguments, its input and the situation it is run in.
#[derive(Debug, Clone)]
pub(super) struct Subject {
    pub name: String,
    pub kind: Kind,
    pub situation: Situation,
    /// Both may have placeholders, which the fixture fills.
    pub arguments: Vec<&'static str>,
    pub input: Option<String>,
}

impl Subject {
    /// Every subject, the hooks first.
    pub(super) fn all() -> Vec<Self> {
        let mut all = Vec::new();
        for (hook, variant, situation, fields) in hooks() {
            let mut situations = vec![Situation::NoWorkflow, situation];
            if hook == Hook::OnAgentStop {
                situations.push(Situation::LastStage);
            }
            for situation in situations {
                all.push(Self {
                    name: format!("{}{variant}/{}", hook.name(), situation.name()),
                    kind: Kind::Hook,
                    situation,
                    arguments: vec!["hook", hook.name()],
                    input: Some(hook_input(hook, &fields)),
                });
            }
        }
        all.extend(called_by_client());
        all.extend(COMMANDS.iter().map(|(name, situation, line)| Self {
            name: (*name).to_owned(),
            kind: if LAUNCHES.contains(name) { Kind::Launch } else { Kind::Command },
            situation: *situation,
            arguments: line.split(' ').collect(),
            input: (*name == "ccc-add").then(|| "sk-third-0123456789abcdef\n".to_owned()),
        }));
        all
    }

    pub(super) fn is_command(&self) -> bool {
        matches!(self.kind, Kind::Command | Kind::Launch)
    }

    /// Whether it copies the programs themselves, which takes long.
    pub(super) fn is_heavy(&self) -> bool {
        self.situation == Situation::Installed || self.name == "up"
    }
}

const LAUNCHES: [&str; 2] = ["ccc-start", "ccc-run-isolated"];

const COMMANDS: [(&str, Situation, &str); 32] = [
    ("init", Situation::NoWorkflow, "init quick --feature brand-new --session {session}"),
    ("init-force", Situation::Active, "init tdd --feature demo --force --session {session}"),
    ("stop", Situation::Active, "stop --session {session}"),
    ("resume", Situation::Stopped, "resume --session {session}"),
    ("message", Situation::Active, "message please-look --session {session}"),
    ("sessions-rm", Situation::Active, "sessions rm another-session --yes"),
    ("sessions-rm-own", Situation::Active, "sessions rm {session} --yes"),
    ("sessions-gc", Situation::Active, "sessions gc --days 1"),
    ("specs-new", Situation::Active, "specs new brand-new --workflow standard"),
    ("specs-pause", Situation::Active, "specs pause demo"),
    ("specs-resume", Situation::Active, "specs resume put-aside"),
    ("specs-backlog", Situation::Active, "specs backlog demo"),
    ("specs-archive", Situation::Active, "specs archive for-later"),
    ("instinct-confirm", Situation::Active, "instinct confirm {lesson}"),
    ("instinct-contradict", Situation::Active, "instinct contradict {lesson}"),
    ("instinct-rm", Situation::Active, "instinct rm {lesson}"),
    ("instinct-clear", Situation::Active, "instinct clear"),
    ("instinct-decay", Situation::Active, "instinct decay"),
    ("config-set", Situation::Active, "config set loop.maxIterations 7"),
    ("fleet-join", Situation::Active, "fleet join nats://127.0.0.1:9 --offline"),
    ("ccc-use", Situation::Active, "ccc use second"),
    ("ccc-add", Situation::Active, "ccc add third --token-stdin --model m"),
    ("ccc-remove", Situation::Active, "ccc remove first"),
    ("ccc-edit", Situation::Active, "ccc edit"),
    ("ccc-supervise", Situation::Active, "ccc supervise off --session {session}"),
    ("ccc-start", Situation::Active, "ccc second"),
    ("ccc-run-isolated", Situation::Active, "ccc run --isolated second"),
    ("ccc-migrate", Situation::Active, "ccc migrate --name own"),
    ("status", Situation::Active, "status --json --session {session}"),
    ("up", Situation::NoWorkflow, "up"),
    ("down", Situation::Installed, "down"),
    ("uninstall", Situation::Installed, "uninstall"),
];

fn called_by_client() -> Vec<Subject> {
    let status = json!({
        "session_id": SESSION, "cwd": "/x", "model": { "id": "m", "display_name": "M" },
        "context_window": { "used_percentage": 57 }, "cost": { "total_cost_usd": 2.5 },
    });
    let rows = json!({
        "session_id": SESSION, "columns": 96,
        "tasks": [{ "id": DEVELOPER, "type": "local_agent", "status": "running", "label": "ot:developer" }],
    });
    let stop = hook_input(Hook::OnStop, &json!({ "stop_hook_active": false }));
    [
        ("statusline", Kind::StatusLine, Situation::Active, "statusline", status.to_string()),
        ("statusline/none", Kind::StatusLine, Situation::NoWorkflow, "statusline", status.to_string()),
        ("agent-rows", Kind::StatusLine, Situation::Active, "subagent-statusline", rows.to_string()),
        ("review", Kind::Review, Situation::NoWorkflow, "ccc supervisor-hook", stop.clone()),
        ("review/stopped", Kind::Review, Situation::Stopped, "ccc supervisor-hook", stop),
    ]
    .map(|(name, kind, situation, line, input)| Subject {
        name: name.to_owned(),
        kind,
        situation,
        arguments: line.split(' ').collect(),
        input: Some(input),
    })
    .into()
}

/// What the client writes to a hook's stdin.
pub(super) fn hook_input(hook: Hook, fields: &Value) -> String {
    let event = json!({
        "session_id": SESSION, "transcript_path": "{root}/transcript.jsonl", "cwd": "{root}/project",
        "permission_mode": "default", "hook_event_name": hook.event(),
    });
    merged(&event, fields).to_string()
}

/// Every hook with typical input, and where it stands if there is a workflow.
fn hooks() -> Vec<(Hook, &'static str, Situation, Value)> {
    use Situation::{Active, Ready};
    let task = |agent: &str| {
        let input =
            json!({ "subagent_type": agent, "description": "d", "prompt": "Implement the messages." });
        json!({ "tool_name": "Task", "tool_use_id": "toolu_01", "tool_input": input })
    };
    let tool = |name: &str, input: Value| json!({ "tool_name": name, "tool_use_id": "toolu_01", "tool_input": input });
    let result = |name: &str, input: Value, response: Value| json!({ "tool_name": name, "tool_use_id": "toolu_01", "tool_input": input, "tool_response": response });
    let edit = json!({ "file_path": "{root}/project/src/login.rs", "old_string": "a", "new_string": "b" });
    let agent = json!({ "agent_id": DEVELOPER, "agent_type": "ot:developer" });
    let stopped = |verdict: &str| {
        let fields = json!({ "stop_hook_active": false, "last_assistant_message": report(verdict) });
        merged(&agent, &fields)
    };
    let returned = json!({
        "status": "completed", "agentId": DEVELOPER, "content": [{ "type": "text", "text": report("PASS") }],
    });
    let failure = merged(
        &tool("Bash", json!({ "command": "cargo test" })),
        &json!({ "error": "Exit code 101\nerror: test failed", "is_interrupt": false }),
    );
    let output = |text: &str| json!({ "stdout": text, "stderr": "" });
    vec![
        (Hook::OnStart, "", Active, json!({ "source": "startup", "model": "m" })),
        (Hook::OnStart, ".compact", Active, json!({ "source": "compact", "model": "m" })),
        (Hook::OnSubmit, "", Active, json!({ "prompt": "Make the login messages translatable." })),
        (Hook::PreTask, ".foreign", Active, task("Explore")),
        (Hook::PreTask, ".refused", Ready, task("ot:code-reviewer")),
        (Hook::PreTask, ".developer", Ready, task("ot:developer")),
        (Hook::OnAgentStart, "", Active, agent.clone()),
        (Hook::OnAgentStop, "", Active, stopped("PASS")),
        (Hook::OnAgentStop, ".fail", Active, stopped("FAIL")),
        (
            Hook::OnHandback,
            "",
            Active,
            merged(&agent, &tool("SubagentHandback", json!({ "message": report("PASS") }))),
        ),
        (Hook::AllowOwn, "", Active, tool("Bash", json!({ "command": "overtone status" }))),
        (Hook::PreWrite, "", Active, tool("Edit", edit.clone())),
        (Hook::PostUse, ".edit", Active, result("Edit", edit, json!({ "userModified": false }))),
        (Hook::PostUse, ".command", Active, result("Bash", json!({ "command": "ls" }), output("main.rs\n"))),
        (
            Hook::PostUse,
            ".lesson",
            Active,
            result("Bash", json!({ "command": "cat src/main.rs" }), output("fn main() {}\n")),
        ),
        (
            Hook::PostUse,
            ".agent",
            Active,
            merged(&task("ot:developer"), &json!({ "tool_name": "Agent", "tool_response": returned })),
        ),
        (Hook::PostUseFailure, "", Active, failure),
        (Hook::PreCompact, "", Active, json!({ "trigger": "auto", "custom_instructions": "" })),
        (Hook::OnStop, "", Ready, json!({ "stop_hook_active": false, "last_assistant_message": "Done." })),
        (Hook::OnSessionEnd, "", Active, json!({ "reason": "prompt_input_exit" })),
    ]
}

/// Longer than a page, so that it is not written at once.
fn report(verdict: &str) -> String {
    let words = "What was done, and why. ".repeat(250);
    format!(
        "## HANDOFF: developer → code-reviewer\n\n{words}\n\n<!-- VERDICT: {{\"result\":\"{verdict}\"}} -->"
    )
}

fn merged(one: &Value, other: &Value) -> Value {
    let mut all = one.clone();
    if let (Value::Object(all), Value::Object(other)) = (&mut all, other) {
        all.extend(other.clone());
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_hook_is_a_subject_and_every_subject_has_its_own_name() {
        let all = Subject::all();
        for (index, subject) in all.iter().enumerate() {
            assert!(!all[..index].iter().any(|other| other.name == subject.name), "{} twice", subject.name);
        }
        for hook in Hook::ALL {
            let count = all.iter().filter(|subject| subject.name.starts_with(hook.name())).count();
            assert!(count >= 2, "{} is missing", hook.name());
        }
    }
}
