//! A hook's payload and its answer: fields are read as any JSON reader would, and the answer is one line that says
//! what it was given. The same bytes are also read as a line of a conversation.

use overtone_claude::wire::{HookInput, read_transcript_usage, render};
use overtone_core::engine::{
    InputPatch, Permission, Reply,
    text::{printable_lines, units},
};
use overtone_core::registry::{Hook, limits};
use serde_json::{Map, Value};

pub fn check(data: &[u8]) {
    a_message_in_a_conversation_is_counted_within_bounds(data);
    let value = serde_json::from_slice::<Map<String, Value>>(data).ok();
    match HookInput::parse(data) {
        Ok(input) => {
            odd_values_do_no_harm(&input);
            if let Some(value) = &value {
                fields_are_read_as_they_are(&input, value);
                answers_say_what_they_were_given(&input, value);
            }
        }
        // A field that is there twice cannot be resolved: either value may be the intended one.
        Err(error) => assert!(value.is_none() || error.to_string().contains("duplicate field"), "{error}"),
    }
}

fn a_message_in_a_conversation_is_counted_within_bounds(line: &[u8]) {
    if let Some(message) = read_transcript_usage(line) {
        assert!(message.tokens.cache_write_1h <= message.tokens.cache_write);
    }
}

fn odd_values_do_no_harm(input: &HookInput<'_>) {
    assert!(input.context_percent().is_none_or(|percent| percent <= 100));
    assert!(input.bash_error().is_none_or(|text| !text.trim().is_empty()));
    assert!(input.agent_result().agent_id.is_none_or(|id| !id.is_empty()));
    let _ = (input.written_text(), input.background_agents(), input.is_interrupt());
}

fn fields_are_read_as_they_are(input: &HookInput<'_>, value: &Map<String, Value>) {
    let text = |name: &str| value.get(name).and_then(Value::as_str).unwrap_or_default();
    for (name, found) in [
        ("session_id", input.session_id()),
        ("transcript_path", input.transcript_path()),
        ("cwd", input.cwd()),
        ("hook_event_name", input.hook_event_name()),
        ("source", input.source()),
        ("reason", input.reason()),
        ("trigger", input.trigger()),
        ("prompt", input.prompt()),
        ("tool_name", input.tool_name()),
        ("tool_use_id", input.tool_use_id()),
        ("agent_id", input.agent_id()),
        ("agent_type", input.agent_type()),
        ("last_assistant_message", input.last_assistant_message()),
        ("error", input.error()),
    ] {
        assert_eq!(found, text(name), "{name}");
    }
    let is_true = |name: &str| value.get(name) == Some(&Value::Bool(true));
    assert_eq!(input.is_interrupt(), is_true("is_interrupt"));
    assert_eq!(input.is_stop_hook_active(), is_true("stop_hook_active"));
    let of_tool =
        |name: &str| value.get("tool_input").and_then(|tool| tool.get(name)).and_then(Value::as_str);
    for name in ["command", "file_path", "subagent_type", "prompt", "skill"] {
        assert_eq!(input.input_text(name), of_tool(name).unwrap_or_default(), "{name}");
    }
}

fn answers_say_what_they_were_given(input: &HookInput<'_>, value: &Map<String, Value>) {
    let named = Hook::ALL.into_iter().find(|hook| hook.event() == input.hook_event_name());
    let hook = named.unwrap_or(Hook::ALL[input.prompt().len() % Hook::ALL.len()]);
    let reply = reply_from(input);
    let tool_input = value.get("tool_input").filter(|tool| !tool.is_null());
    let Ok(line) = render(hook, reply.clone(), input.tool_input()) else {
        return assert!(tool_input.is_some_and(|tool| !tool.is_object()), "an answer is possible");
    };
    assert!(!line.contains('\n'), "one line");
    let answer: Map<String, Value> = serde_json::from_str(&line).expect("an object");
    let text = |name: &str| answer.get(name).and_then(Value::as_str).map(str::to_owned);
    // Without what could control a terminal or hide text.
    let shown = |text: &Option<String>| text.as_deref().map(|text| printable_lines(text).into_owned());
    assert_eq!(text("systemMessage"), shown(&reply.system_message));
    assert_eq!(text("reason"), shown(&reply.block));
    assert_eq!(text("result").unwrap_or_default(), printable_lines(&reply.result));
    if let Some(specific) = answer.get("hookSpecificOutput") {
        assert_eq!(specific["hookEventName"], hook.event());
        check_specific(specific, &reply, tool_input);
    }
}

fn check_specific(specific: &Value, reply: &Reply, tool_input: Option<&Value>) {
    if let Some(context) = specific["additionalContext"].as_str() {
        assert!(units(context) <= limits::MODEL_CONTEXT_UNITS);
        assert!(
            reply.model_context.as_deref().is_some_and(|whole| printable_lines(whole).starts_with(context))
        );
    }
    if let Some(updated) = specific["updatedInput"].as_object() {
        let mut expected = tool_input.and_then(Value::as_object).cloned().unwrap_or_default();
        expected.insert("prompt".into(), "new".into());
        expected.insert("run_in_background".into(), false.into());
        assert_eq!(*updated, expected, "every field of the call survives");
    }
}

/// Which of the fields an answer has depends on the payload, so that every combination comes up.
fn reply_from(input: &HookInput<'_>) -> Reply {
    let some = |text: &str| Some(text.to_owned()).filter(|text| !text.is_empty());
    let patch = InputPatch { prompt: "new".into(), foreground: true };
    Reply {
        result: input.prompt().into_owned(),
        system_message: some(&input.error()),
        model_context: some(&input.last_assistant_message()),
        permission: match &*input.tool_name() {
            "" => None,
            "Agent" | "Task" => Some(Permission::Allow { reason: some(&input.reason()), patch: Some(patch) }),
            name => Some(Permission::Deny { reason: name.to_owned() }),
        },
        end_turn: some(&input.trigger()),
        block: some(&input.reason()),
    }
}
