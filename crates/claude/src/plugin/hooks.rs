//! Renders `hooks/hooks.json` in the nested form. The client silently drops all hooks in any other form.

use overtone_core::registry::{Hook, HookBinding, SUPERVISOR_HOOK, limits};
use serde::Serialize;
use serde_json::{Map, Value, json};

pub(crate) const PATH: &str = "hooks/hooks.json";

/// The program, which is started without a shell. The client inserts the plugin's folder.
pub(crate) const COMMAND: &str = "${CLAUDE_PLUGIN_ROOT}/bin/overtone-hook";

/// A review has its own time limit, which a user may set to a day. The client's limit only has to be longer.
const REVIEW_SECONDS: u64 = 86_460;

pub(crate) fn render() -> String {
    let mut events = Map::new();
    for binding in &Hook::BINDINGS {
        let groups = events.entry(binding.event).or_insert_with(|| json!([]));
        if let Value::Array(groups) = groups {
            groups.push(json!(group(binding)));
        }
    }
    if let Some(Value::Array(groups)) = events.get_mut("Stop") {
        groups.push(json!(supervisor_group()));
    }
    format!("{:#}\n", json!({ "hooks": events }))
}

/// Where the client blocks a call because the hook failed, it shows the command with its arguments to the user and to the
/// model, and nothing else. So this one, which the program ignores, says how to continue.
const IF_IT_FAILS: &str = "(if this fails, run: overtone doctor)";

/// The arguments that make the binary run this hook.
pub(crate) fn arguments(hook: Hook) -> Vec<&'static str> {
    let mut arguments = vec!["hook", hook.name()];
    if hook.is_gate() {
        arguments.push(IF_IT_FAILS);
    }
    arguments
}

/// What a client that knows the field does when the hook fails. Older ones ignore it and continue without the hook.
pub(crate) fn on_failure(hook: Hook) -> Option<&'static str> {
    if hook.is_gate() { Some("block") } else { None }
}

/// A list of hooks that run for the tools of a matcher, or for every occurrence of an event without tools.
#[derive(Serialize)]
struct MatcherGroup {
    #[serde(skip_serializing_if = "str::is_empty")]
    matcher: &'static str,
    hooks: [HookEntry; 1],
}

#[derive(Serialize)]
struct HookEntry {
    #[serde(rename = "type")]
    kind: &'static str,
    #[serde(rename = "if", skip_serializing_if = "Option::is_none")]
    condition: Option<&'static str>,
    command: &'static str,
    args: Vec<&'static str>,
    /// In seconds.
    timeout: u64,
    #[serde(rename = "onFailure", skip_serializing_if = "Option::is_none")]
    on_failure: Option<&'static str>,
}

fn group(binding: &HookBinding) -> MatcherGroup {
    let entry = HookEntry {
        kind: "command",
        condition: binding.condition,
        command: COMMAND,
        args: arguments(binding.hook),
        timeout: timeout_seconds(binding.hook),
        on_failure: on_failure(binding.hook),
    };
    MatcherGroup { matcher: binding.matcher, hooks: [entry] }
}

/// The supervisor runs at every Stop together with the loop. They agree on which of the two decides.
fn supervisor_group() -> MatcherGroup {
    let entry = HookEntry {
        kind: "command",
        condition: None,
        command: COMMAND,
        args: SUPERVISOR_HOOK.to_vec(),
        timeout: REVIEW_SECONDS,
        on_failure: None,
    };
    MatcherGroup { matcher: "", hooks: [entry] }
}

/// How long a hook may take besides the project's checks that it runs: waiting for locks and reading the work tree.
const BESIDES_CHECKS_SECONDS: u64 = 300;

/// The client gives all hooks of `SessionEnd` together 1.5 s. Hooks that bring a report, or end a workflow, may run the
/// project's checks, which have their own time limit. The other hooks answer in milliseconds; ten seconds leave room for a
/// slow disk without making a user wait forever.
fn timeout_seconds(hook: Hook) -> u64 {
    match hook {
        Hook::OnSessionEnd => 1,
        Hook::OnAgentStop | Hook::OnHandback | Hook::PostUse | Hook::OnStop => {
            limits::ALL_CHECKS_SECONDS + BESIDES_CHECKS_SECONDS
        }
        _ => 10,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn events() -> Value {
        serde_json::from_str::<Value>(&render()).unwrap()["hooks"].clone()
    }

    #[test]
    fn an_event_without_tools_has_no_matcher() {
        assert_eq!(
            events()["Stop"][0],
            json!({ "hooks": [{
                "type": "command",
                "command": "${CLAUDE_PLUGIN_ROOT}/bin/overtone-hook",
                "args": ["hook", "on-stop"],
                "timeout": 7500,
            }] })
        );
        assert_eq!(events()["Stop"][1]["hooks"][0]["args"], json!(["ccc", "supervisor-hook", "--plugin"]));
        assert_eq!(events()["SessionEnd"][0]["hooks"][0]["timeout"], 1);
        assert_eq!(events()["UserPromptSubmit"][0]["hooks"][0]["timeout"], 10);
        assert_eq!(events()["SubagentStop"][0]["hooks"][0]["timeout"], 7500);
    }

    #[test]
    fn a_condition_is_written_with_its_command() {
        let bash = &events()["PreToolUse"][2];
        assert_eq!(bash["matcher"], "Bash");
        assert_eq!(bash["hooks"][0]["if"], "Bash(overtone *)");
        assert_eq!(bash["hooks"][0]["args"], json!(["hook", "allow-own"]));
    }

    #[test]
    fn gates_fail_closed_and_say_how_to_continue() {
        let expected = json!({
            "type": "command",
            "command": "${CLAUDE_PLUGIN_ROOT}/bin/overtone-hook",
            "args": ["hook", "pre-task", "(if this fails, run: overtone doctor)"],
            "timeout": 10,
            "onFailure": "block",
        });
        assert_eq!(events()["PreToolUse"][0]["hooks"][0], expected);
        let blocking = Hook::ALL.into_iter().filter(|hook| on_failure(*hook).is_some()).map(Hook::name);
        assert_eq!(blocking.collect::<Vec<_>>(), ["pre-task", "on-handback", "pre-write"]);
    }

    #[test]
    fn every_binding_is_rendered() {
        let groups: usize =
            events().as_object().unwrap().values().map(|groups| groups.as_array().unwrap().len()).sum();
        // And the supervisor's.
        assert_eq!(groups, Hook::BINDINGS.len() + 1);
    }
}
