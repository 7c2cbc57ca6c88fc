//! `hooks/hooks.json` in the nested official form; the client silently drops every hook of any other form.

use overtone_core::registry::{Hook, HookBinding, SUPERVISOR_HOOK};
use serde_json::{Map, Value, json};

pub(crate) const PATH: &str = "hooks/hooks.json";

/// Run without a shell; the client puts the plugin's folder in.
pub(crate) const COMMAND: &str = "${CLAUDE_PLUGIN_ROOT}/bin/overtone-hook";

/// A review keeps its own time, which a user may set to a day; the client's limit only has to come later.
const REVIEW_SECONDS: u32 = 86_460;

pub(crate) fn render() -> String {
    let mut events = Map::new();
    for binding in &Hook::BINDINGS {
        let groups = events.entry(binding.event).or_insert_with(|| json!([]));
        if let Value::Array(groups) = groups {
            groups.push(group(binding));
        }
    }
    if let Some(Value::Array(groups)) = events.get_mut("Stop") {
        groups.push(supervisor());
    }
    format!("{:#}\n", json!({ "hooks": events }))
}

/// The arguments that make the binary run this hook.
pub(crate) fn arguments(hook: Hook) -> [&'static str; 2] {
    ["hook", hook.name()]
}

fn group(binding: &HookBinding) -> Value {
    let mut group = Map::new();
    if !binding.matcher.is_empty() {
        group.insert("matcher".to_owned(), json!(binding.matcher));
    }
    group.insert("hooks".to_owned(), json!([entry(binding)]));
    Value::Object(group)
}

/// Beside the loop; which of the two has the word is settled between them.
fn supervisor() -> Value {
    let entry =
        json!({"type": "command", "command": COMMAND, "args": SUPERVISOR_HOOK, "timeout": REVIEW_SECONDS});
    json!({ "hooks": [entry] })
}

fn entry(binding: &HookBinding) -> Value {
    let mut entry = Map::new();
    entry.insert("type".to_owned(), json!("command"));
    if let Some(condition) = binding.condition {
        entry.insert("if".to_owned(), json!(condition));
    }
    entry.insert("command".to_owned(), json!(COMMAND));
    entry.insert("args".to_owned(), json!(arguments(binding.hook)));
    entry.insert("timeout".to_owned(), json!(timeout_seconds(binding.hook)));
    Value::Object(entry)
}

/// All hooks of `SessionEnd` together get 1.5 s from the client; the others answer in milliseconds, and ten
/// seconds leave room for a slow disk without making a user wait for ever.
fn timeout_seconds(hook: Hook) -> u32 {
    match hook {
        Hook::OnSessionEnd => 1,
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
                "timeout": 10,
            }] })
        );
        assert_eq!(events()["Stop"][1]["hooks"][0]["args"], json!(["ccc", "supervisor-hook", "--plugin"]));
        assert_eq!(events()["SessionEnd"][0]["hooks"][0]["timeout"], 1);
    }

    #[test]
    fn a_condition_stands_beside_its_command() {
        let bash = &events()["PreToolUse"][2];
        assert_eq!(bash["matcher"], "Bash");
        assert_eq!(bash["hooks"][0]["if"], "Bash(overtone *)");
        assert_eq!(bash["hooks"][0]["args"], json!(["hook", "allow-own"]));
    }

    #[test]
    fn every_binding_is_there() {
        let groups: usize =
            events().as_object().unwrap().values().map(|groups| groups.as_array().unwrap().len()).sum();
        // And the supervisor's.
        assert_eq!(groups, Hook::BINDINGS.len() + 1);
    }
}
