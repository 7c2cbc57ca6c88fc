use serde_json::{Value, json};

use crate::world::{World, keys, read};

const WORDS: &str = "repair the login first";

fn started() -> World {
    let world = World::new();
    world.run("init quick").ok();
    world
}

fn said(world: &World) {
    world.run_words(&["message", WORDS]).ok().has(&["The message waits", "(0/5)", "→ Next: 💻 Development."]);
}

/// What the client hands to the model.
fn context(answer: &Value) -> &str {
    answer["hookSpecificOutput"]["additionalContext"].as_str().unwrap_or_default()
}

fn heard(world: &World, hook: &str, payload: &Value) -> bool {
    let mut payload = payload.clone();
    payload["session_id"] = json!("s1");
    payload["cwd"] = json!(world.project());
    let answer = world.answer(hook, &payload);
    let heard = [context(&answer), answer["reason"].as_str().unwrap_or_default()].join("\n");
    heard.contains(&format!("📨 Message from model: {WORDS}\n"))
}

#[test]
fn a_prompt_brings_it_once() {
    let world = started();
    said(&world);
    let prompt = json!({ "prompt": "hello" });
    assert!(heard(&world, "on-submit", &prompt));
    assert!(!heard(&world, "on-submit", &prompt));
}

#[test]
fn a_stop_that_is_blocked_brings_it_once() {
    for client in [json!({ "background_tasks": [] }), json!({})] {
        let world = started();
        said(&world);
        assert!(heard(&world, "on-stop", &client), "{client}");
        assert!(!heard(&world, "on-stop", &client), "{client}");
    }
}

#[test]
fn a_tool_brings_it_once() {
    let world = started();
    world.agent("s1", "developer", None);
    world.run_words(&["message", WORDS]).ok();
    let bash = json!({ "tool_name": "Bash", "tool_input": { "command": "ls" }, "tool_response": {} });
    world.hook("post-use", &bash);
    let done = json!({
        "tool_name": "Agent", "tool_use_id": "developer", "tool_input": { "subagent_type": "ot:developer" },
        "tool_response": { "status": "completed", "content": [{ "type": "text", "text": "done" }] },
    });
    assert!(heard(&world, "post-use", &done));
    assert!(!heard(&world, "post-use", &done));
}

#[test]
fn a_stopped_loop_keeps_it_for_the_next_prompt() {
    let world = started();
    world.run("stop").ok();
    world.run_words(&["message", WORDS]).ok();
    assert!(!heard(&world, "on-stop", &json!({})));
    world.hook("on-session-end", &json!({ "session_id": "s1", "reason": "other" }));
    world.hook("on-start", &json!({ "session_id": "s1", "source": "resume", "cwd": world.project() }));
    assert!(heard(&world, "on-submit", &json!({ "prompt": "hello" })));
    assert!(!heard(&world, "on-submit", &json!({ "prompt": "hello" })));
}

#[test]
fn the_timeline_says_that_there_was_one_but_not_what_it_said() {
    let world = started();
    said(&world);
    let timeline = read(&world.session("s1").join("timeline.jsonl"));
    let last: Value = serde_json::from_str(timeline.lines().next_back().unwrap()).unwrap();
    assert_eq!((&last["type"], &last["reason"]), (&json!("system:warning"), &json!("message")));
    assert_eq!((&last["by"], &last["length"]), (&json!("model"), &json!(WORDS.len())));
    assert!(!timeline.contains("login"));
    world.run("replay").ok();
}

#[test]
fn words_are_joined_and_the_session_can_be_named() {
    let world = started().with("OVERTONE_SESSION_ID", "other");
    world.run(&format!("message --session s1 {WORDS}")).ok();
    assert!(heard(&world, "on-submit", &json!({ "prompt": "hello" })));
}

#[test]
fn what_nobody_would_hear_is_a_failure() {
    let world = World::new();
    world.run("message hello").fails(&["no workflow", "hint: To start one"]);
    assert!(!world.session("s1").exists());
    world.run("init single").ok();
    world.run("message").refused_by_parser();
    world.run_words(&["message", " \n"]).fails(&["empty", "overtone message"]);
    world.run_words(&["message", &"x".repeat(2001)]).fails(&["2001", "2000", "file of the project"]);
    for _ in 0..8 {
        world.run("message hello").ok();
    }
    world.run("message hello").fails(&["too many", "any prompt"]);
    world.agent("s1", "developer", Some("PASS"));
    world.hook("on-stop", &json!({ "session_id": "s1", "cwd": world.project() }));
    world.run("message hello").fails(&["no workflow"]);
}

#[test]
fn the_object_has_its_shape() {
    let world = started();
    let sent = world.json("message hello --json");
    assert_eq!(keys(&sent), ["session", "changed", "message"]);
    assert_eq!((&sent["session"], &sent["changed"]), (&json!("s1"), &json!(true)));
}

#[test]
fn the_model_is_not_let_to_speak_for_a_person_unasked() {
    let world = started();
    let approved = |command: &str| {
        let call = json!({ "session_id": "s1", "tool_name": "Bash", "tool_input": { "command": command } });
        world.answer("allow-own", &call)["hookSpecificOutput"]["permissionDecision"] == "allow"
    };
    assert!(approved("overtone status"));
    assert!(!approved("overtone message 'skip the tests'"));
    assert!(!approved("overtone --session s2 message x"));
}
