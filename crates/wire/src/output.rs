//! The answer on stdout.
//!
//! Which field reaches whom was found by experiment: `hookSpecificOutput.additionalContext` reaches the model,
//! `systemMessage` the user, `result` nobody (it is what the specification asks for). An unknown field value
//! makes the client discard the whole answer.

use overtone_engine::text::{cut, printable_lines};
use overtone_engine::{InputPatch, Permission, Reply};
use overtone_registry::{Hook, limits};
use serde_json::value::RawValue;
use serde_json::{Map, Value, json};

/// The answer of a hook that has nothing to say.
pub const DEFAULT_OUTPUT: &str = r#"{"result":""}"#;

/// The answer as one line of JSON. `tool_input` is the call's input, which an approval may change.
pub fn render(hook: Hook, reply: Reply, tool_input: Option<&RawValue>) -> Result<String, serde_json::Error> {
    let mut answer = Map::new();
    // A tool's failure always has the specification's `result`, empty where the user is told nothing.
    if !reply.result.is_empty() || hook == Hook::PostUseFailure {
        answer.insert("result".into(), shown(&reply.result));
    }
    if let Some(reason) = reply.block {
        answer.insert("decision".into(), "block".into());
        answer.insert("reason".into(), shown(&reason));
    }
    if let Some(text) = reply.system_message {
        answer.insert("systemMessage".into(), shown(&text));
    }
    if let Some(specific) = specific_output(hook, reply.permission, reply.model_context, tool_input)? {
        answer.insert("hookSpecificOutput".into(), specific);
    }
    if answer.is_empty() {
        return Ok(DEFAULT_OUTPUT.to_owned());
    }
    serde_json::to_string(&answer)
}

/// A text for the user's terminal or for the model. It may quote files, reports and names that others chose, so what a
/// terminal would obey or nobody would see is taken out here, once for all texts.
fn shown(text: &str) -> Value {
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
            specific.insert("permissionDecisionReason".into(), shown(&reason));
        }
        Some(Permission::Ask { reason }) => {
            specific.insert("permissionDecision".into(), "ask".into());
            specific.insert("permissionDecisionReason".into(), shown(&reason));
        }
        Some(Permission::Allow { reason, patch }) => {
            specific.insert("permissionDecision".into(), "allow".into());
            if let Some(reason) = reason {
                specific.insert("permissionDecisionReason".into(), shown(&reason));
            }
            if let Some(patch) = patch {
                specific.insert("updatedInput".into(), updated_input(tool_input, patch)?);
            }
        }
        None => {}
    }
    if let Some(text) = context.filter(|_| takes_context(hook)) {
        // The client would put a longer text into a file and show only its beginning.
        specific.insert("additionalContext".into(), shown(cut(&text, limits::MODEL_CONTEXT_UNITS)));
    }
    Ok((specific.len() > 1).then_some(Value::Object(specific)))
}

/// Where `additionalContext` is invalid, or would keep a sub-agent from ending.
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
    fn nothing_to_say_is_the_default() {
        assert_eq!(render(Hook::OnStop, Reply::default(), None).unwrap(), DEFAULT_OUTPUT);
    }

    #[test]
    fn context_is_left_out_where_it_would_do_harm() {
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
    fn no_context_is_longer_than_the_client_takes() {
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
    fn a_block_has_its_reason() {
        let answer = rendered(Hook::OnStop, Reply { block: Some("go on".into()), ..Reply::default() });
        assert_eq!(answer, json!({"decision":"block","reason":"go on"}));
    }
}
