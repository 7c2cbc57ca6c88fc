//! The answer on stdout.
//!
//! Found by experiment: the model sees `hookSpecificOutput.additionalContext`, the user sees `systemMessage`, and nobody
//! sees `result`, which the specification requires. An unknown value makes the client discard the whole answer.

use overtone_core::engine::text::{cut, printable_lines};
use overtone_core::engine::{InputPatch, Permission, Reply};
use overtone_core::registry::{Hook, limits};
use serde_json::value::RawValue;
use serde_json::{Map, Value, json};

/// The answer of a hook that has nothing to say.
pub const DEFAULT_OUTPUT: &str = r#"{"result":""}"#;

/// Renders the answer as one line of JSON. `tool_input` is the input of the tool call, which an approval may change.
pub fn render(hook: Hook, reply: Reply, tool_input: Option<&RawValue>) -> Result<String, serde_json::Error> {
    let mut answer = Map::new();
    // The specification requires a `result` after every tool failure, even if it is empty.
    if !reply.result.is_empty() || hook == Hook::PostUseFailure {
        answer.insert("result".into(), sanitized(&reply.result));
    }
    if let Some(reason) = reply.block {
        answer.insert("decision".into(), "block".into());
        answer.insert("reason".into(), sanitized(&reason));
    }
    if let Some(reason) = reply.end_turn {
        answer.insert("continue".into(), false.into());
        answer.insert("stopReason".into(), sanitized(&reason));
    }
    if let Some(text) = reply.system_message {
        answer.insert("systemMessage".into(), sanitized(&text));
    }
    if let Some(specific) = specific_output(hook, reply.permission, reply.model_context, tool_input)? {
        answer.insert("hookSpecificOutput".into(), specific);
    }
    if answer.is_empty() {
        return Ok(DEFAULT_OUTPUT.to_owned());
    }
    serde_json::to_string(&answer)
}

/// Removes control sequences and invisible characters from a text for the terminal or the model. Texts may quote files,
/// reports and names from others, so all of them pass through here.
fn sanitized(text: &str) -> Value {
    printable_lines(text).into()
}

fn specific_output(
    hook: Hook,
    permission: Option<Permission>,
    context: Option<String>,
    tool_input: Option<&RawValue>,
) -> Result<Option<Value>, serde_json::Error> {
    let mut specific = Map::new();
    specific.insert("hookEventName".into(), hook.event().into());
    match permission {
        Some(Permission::Deny { reason }) => {
            specific.insert("permissionDecision".into(), "deny".into());
            specific.insert("permissionDecisionReason".into(), sanitized(&reason));
        }
        Some(Permission::Ask { reason }) => {
            specific.insert("permissionDecision".into(), "ask".into());
            specific.insert("permissionDecisionReason".into(), sanitized(&reason));
        }
        Some(Permission::Allow { reason, patch }) => {
            specific.insert("permissionDecision".into(), "allow".into());
            if let Some(reason) = reason {
                specific.insert("permissionDecisionReason".into(), sanitized(&reason));
            }
            if let Some(patch) = patch {
                specific.insert("updatedInput".into(), updated_input(tool_input, patch)?);
            }
        }
        None => {}
    }
    if takes_context(hook)
        && let Some(text) = context
    {
        // The client puts longer texts into a file and shows the model only the beginning.
        specific.insert("additionalContext".into(), sanitized(cut(&text, limits::MODEL_CONTEXT_UNITS)));
    }
    Ok(if specific.len() > 1 { Some(Value::Object(specific)) } else { None })
}

/// False for hooks where `additionalContext` is invalid, or would keep a sub-agent from stopping.
const fn takes_context(hook: Hook) -> bool {
    !matches!(hook, Hook::PreCompact | Hook::OnSessionEnd | Hook::OnAgentStop)
}

/// `updatedInput` replaces the whole input, so every field of the original is copied.
fn updated_input(tool_input: Option<&RawValue>, patch: InputPatch) -> Result<Value, serde_json::Error> {
    let mut input: Map<String, Value> = match tool_input {
        Some(raw) => serde_json::from_str(raw.get())?,
        None => Map::new(),
    };
    input.insert("prompt".into(), patch.prompt.into());
    if patch.foreground {
        input.insert("run_in_background".into(), json!(false));
    }
    Ok(Value::Object(input))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rendered(hook: Hook, reply: Reply) -> Value {
        serde_json::from_str(&render(hook, reply, None).unwrap()).unwrap()
    }

    #[test]
    fn an_empty_reply_is_the_default_output() {
        assert_eq!(render(Hook::OnStop, Reply::default(), None).unwrap(), DEFAULT_OUTPUT);
    }

    #[test]
    fn context_is_left_out_for_hooks_that_do_not_take_it() {
        for hook in Hook::ALL {
            let reply = Reply { model_context: Some("x".into()), result: "r".into(), ..Reply::default() };
            let specific = &rendered(hook, reply)["hookSpecificOutput"];
            match hook {
                Hook::PreCompact | Hook::OnSessionEnd | Hook::OnAgentStop => assert!(specific.is_null()),
                _ => assert_eq!(*specific, json!({"hookEventName": hook.event(), "additionalContext": "x"})),
            }
        }
    }

    #[test]
    fn context_is_cut_to_the_length_that_the_client_accepts() {
        let reply = Reply { model_context: Some("🧪".repeat(9_000)), ..Reply::default() };
        let answer = rendered(Hook::OnStop, reply);
        let text = answer["hookSpecificOutput"]["additionalContext"].as_str().unwrap();
        assert_eq!(text.encode_utf16().count(), 10_000);
    }

    #[test]
    fn every_field_of_the_input_survives_an_approval() {
        let raw = RawValue::from_string(r#"{"description":"d","prompt":"p","model":"opus","n":1.50}"#.into())
            .unwrap();
        let patch = Some(InputPatch { prompt: "new".into(), foreground: true });
        let reply = Reply { permission: Some(Permission::Allow { reason: None, patch }), ..Reply::default() };
        let answer: Value = serde_json::from_str(&render(Hook::PreTask, reply, Some(&raw)).unwrap()).unwrap();
        let input =
            json!({"description":"d","prompt":"new","model":"opus","n":1.5,"run_in_background":false});
        assert_eq!(answer["hookSpecificOutput"]["updatedInput"], input);
        assert_eq!(answer["hookSpecificOutput"]["permissionDecision"], "allow");
    }

    #[test]
    fn the_end_of_a_turn_has_its_reason() {
        let answer = rendered(Hook::PreTool, Reply { end_turn: Some("over".into()), ..Reply::default() });
        assert_eq!(answer, json!({"continue":false,"stopReason":"over"}));
    }

    #[test]
    fn a_block_has_its_reason() {
        let answer = rendered(Hook::OnStop, Reply { block: Some("go on".into()), ..Reply::default() });
        assert_eq!(answer, json!({"decision":"block","reason":"go on"}));
    }
}
