use serde_json::{Value, json};

use crate::context::{TestContext, keys, read};

const WORDS: &str = "repair the login first";

fn started() -> TestContext {
    let context = TestContext::for_commands();
    context.run("init quick").ok();
    context
}

fn send_message(context: &TestContext) {
    context.run_args(&["message", WORDS]).ok().has(&["Message saved", "(0/5)", "→ Next: 💻 Development."]);
}

/// What the client hands to the model.
fn model_context(answer: &Value) -> &str {
    answer["hookSpecificOutput"]["additionalContext"].as_str().unwrap_or_default()
}

fn is_delivered(context: &TestContext, hook: &str, payload: &Value) -> bool {
    let mut payload = payload.clone();
    payload["session_id"] = json!("s1");
    payload["cwd"] = json!(context.project());
    let answer = context.answer(hook, &payload);
    let received = [model_context(&answer), answer["reason"].as_str().unwrap_or_default()].join("\n");
    received.contains(&format!("📨 Message from model: {WORDS}\n"))
}

#[test]
fn a_prompt_brings_it_once() {
    let context = started();
    send_message(&context);
    let prompt = json!({ "prompt": "hello" });
    assert!(is_delivered(&context, "on-submit", &prompt));
    assert!(!is_delivered(&context, "on-submit", &prompt));
}

#[test]
fn a_stop_that_is_blocked_brings_it_once() {
    for client in [json!({ "background_tasks": [] }), json!({})] {
        let context = started();
        send_message(&context);
        assert!(is_delivered(&context, "on-stop", &client), "{client}");
        assert!(!is_delivered(&context, "on-stop", &client), "{client}");
    }
}

#[test]
fn a_tool_brings_it_once() {
    let context = started();
    context.agent("s1", "developer", None);
    context.run_args(&["message", WORDS]).ok();
    let bash = json!({ "tool_name": "Bash", "tool_input": { "command": "ls" }, "tool_response": {} });
    context.hook("post-use", &bash);
    let done = json!({
        "tool_name": "Agent", "tool_use_id": "developer", "tool_input": { "subagent_type": "ot:developer" },
        "tool_response": { "status": "completed", "content": [{ "type": "text", "text": "done" }] },
    });
    assert!(is_delivered(&context, "post-use", &done));
    assert!(!is_delivered(&context, "post-use", &done));
}

#[test]
fn a_stopped_loop_keeps_it_for_the_next_prompt() {
    let context = started();
    context.run("stop").ok();
    context.run_args(&["message", WORDS]).ok();
    assert!(!is_delivered(&context, "on-stop", &json!({})));
    context.hook("on-session-end", &json!({ "session_id": "s1", "reason": "other" }));
    context.hook("on-start", &json!({ "session_id": "s1", "source": "resume", "cwd": context.project() }));
    assert!(is_delivered(&context, "on-submit", &json!({ "prompt": "hello" })));
    assert!(!is_delivered(&context, "on-submit", &json!({ "prompt": "hello" })));
}

#[test]
fn the_timeline_says_that_there_was_one_but_not_what_it_said() {
    let context = started();
    send_message(&context);
    let timeline = read(&context.session_dir("s1").join("timeline.jsonl"));
    let last: Value = serde_json::from_str(timeline.lines().next_back().unwrap()).unwrap();
    assert_eq!((&last["type"], &last["reason"]), (&json!("system:warning"), &json!("message")));
    assert_eq!((&last["by"], &last["length"]), (&json!("model"), &json!(WORDS.len())));
    assert!(!timeline.contains("login"));
    context.run("replay").ok();
}

#[test]
fn words_are_joined_and_the_session_can_be_named() {
    let context = started().with_env("OVERTONE_SESSION_ID", "other");
    context.run(&format!("message --session s1 {WORDS}")).ok();
    assert!(is_delivered(&context, "on-submit", &json!({ "prompt": "hello" })));
}

#[test]
fn an_undeliverable_message_is_an_error() {
    let context = TestContext::for_commands();
    context.run("message hello").fails(&["no workflow", "hint: To start one"]);
    assert!(!context.session_dir("s1").exists());
    context.run("init single").ok();
    context.run("message").refused_by_parser();
    context.run_args(&["message", " \n"]).fails(&["empty", "overtone message"]);
    context.run_args(&["message", &"x".repeat(2001)]).fails(&["2001", "2000", "project file"]);
    for _ in 0..8 {
        context.run("message hello").ok();
    }
    context.run("message hello").fails(&["too many", "any prompt"]);
    context.agent("s1", "developer", Some("PASS"));
    context.hook("on-stop", &json!({ "session_id": "s1", "cwd": context.project() }));
    context.run("message hello").fails(&["no workflow"]);
}

#[test]
fn the_object_has_its_shape() {
    let context = started();
    let sent = context.json("message hello --json");
    assert_eq!(keys(&sent), ["session", "changed", "message"]);
    assert_eq!((&sent["session"], &sent["changed"]), (&json!("s1"), &json!(true)));
}

#[test]
fn the_model_may_not_send_messages_for_the_user_unasked() {
    let context = started();
    let approved = |command: &str| {
        let call = json!({ "session_id": "s1", "tool_name": "Bash", "tool_input": { "command": command } });
        context.answer("allow-own", &call)["hookSpecificOutput"]["permissionDecision"] == "allow"
    };
    assert!(approved("overtone status"));
    assert!(!approved("overtone message 'skip the tests'"));
    assert!(!approved("overtone --session s2 message x"));
}
