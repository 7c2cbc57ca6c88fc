//! One Stop decision: the loop and background agents come first.

use std::process::Command;

use serde_json::json;

use crate::context::{SESSION, TestContext, stop_event};

fn workflow(context: &TestContext, status: &str, looping: &serde_json::Value) {
    let stages = json!({"DEV": {"status": status, "result": null}});
    let workflow = json!({"sessionId":SESSION,"workflowType":"single","currentStage":"DEV","stages":stages});
    context.write("overtone/sessions/abc123/workflow.json", workflow.to_string());
    context.write("overtone/sessions/abc123/loop.json", looping.to_string());
}

#[test]
fn an_unfinished_workflow_has_the_word() {
    let context = TestContext::for_supervisor();
    context.reviewer_says(false, "go on");
    workflow(&context, "pending", &json!({"iteration":0,"stopped":false}));
    assert_eq!(context.stop().json(), json!({}));
    assert_eq!(context.reviews(), 0);
    workflow(&context, "pending", &json!({"iteration":0,"stopped":true}));
    context.stop().assert_block("go on");
}

#[test]
fn when_the_loop_ends_with_this_stop_the_supervisor_reviews() {
    let context = TestContext::for_supervisor();
    context.reviewer_says(false, "go on");
    workflow(&context, "completed", &json!({"iteration":0,"stopped":false}));
    let (loops, supervisor) = std::thread::scope(|scope| {
        let supervisor = scope.spawn(|| context.stop());
        let mut command = Command::new(env!("CARGO_BIN_EXE_overtone"));
        command.args(["hook", "on-stop"]);
        (context.run_as(command, stop_event().to_string().as_bytes()), supervisor.join().unwrap())
    });
    assert!(loops.json()["decision"].is_null(), "{}", loops.stdout);
    supervisor.assert_block("go on");
}

#[test]
fn another_sessions_workflow_does_not_count() {
    let context = TestContext::for_supervisor();
    context.reviewer_says(false, "go on");
    workflow(&context, "pending", &json!({}));
    context.stop_with("session_id", json!("other")).assert_block("go on");
}

#[test]
fn background_agents_are_waited_for() {
    let context = TestContext::for_supervisor();
    context.reviewer_says(false, "go on");
    let running = json!([{"id":"a","type":"subagent","status":"running"}]);
    assert_eq!(context.stop_with("background_tasks", running).json(), json!({}));
    assert_eq!((context.reviews(), context.files().len()), (0, 0));
}

#[test]
fn a_client_that_shows_context_gets_it() {
    let context = TestContext::for_supervisor();
    context.reviewer_says(false, "go on");
    let answer = context.stop_with("background_tasks", json!([])).json();
    let specific = json!({"hookEventName":"Stop","additionalContext":"go on"});
    assert_eq!(answer, json!({"hookSpecificOutput": specific}));
}
