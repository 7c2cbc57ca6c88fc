//! One Stop decision: the loop and background agents come first.

use std::process::Command;

use serde_json::json;

use crate::world::{SESSION, World};

fn workflow(world: &World, status: &str, looping: &serde_json::Value) {
    let stages = json!({"DEV": {"status": status, "result": null}});
    let workflow = json!({"sessionId":SESSION,"workflowType":"single","currentStage":"DEV","stages":stages});
    world.put("overtone/sessions/abc123/workflow.json", workflow.to_string());
    world.put("overtone/sessions/abc123/loop.json", looping.to_string());
}

#[test]
fn an_unfinished_workflow_has_the_word() {
    let world = World::new();
    world.reviewer_says(false, "go on");
    workflow(&world, "pending", &json!({"iteration":0,"stopped":false}));
    assert_eq!(world.stop().json(), json!({}));
    assert_eq!(world.reviews(), 0);
    workflow(&world, "pending", &json!({"iteration":0,"stopped":true}));
    world.stop().assert_block("go on");
}

#[test]
fn when_the_loop_ends_with_this_stop_the_supervisor_reviews() {
    let world = World::new();
    world.reviewer_says(false, "go on");
    workflow(&world, "completed", &json!({"iteration":0,"stopped":false}));
    let (loops, supervisor) = std::thread::scope(|scope| {
        let supervisor = scope.spawn(|| world.stop());
        let mut command = Command::new(env!("CARGO_BIN_EXE_overtone"));
        command.args(["hook", "on-stop"]);
        (world.run_as(command, World::payload().to_string().as_bytes()), supervisor.join().unwrap())
    });
    assert!(loops.json()["decision"].is_null(), "{}", loops.stdout);
    supervisor.assert_block("go on");
}

#[test]
fn another_sessions_workflow_does_not_count() {
    let world = World::new();
    world.reviewer_says(false, "go on");
    workflow(&world, "pending", &json!({}));
    world.stop_with("session_id", json!("other")).assert_block("go on");
}

#[test]
fn background_agents_are_waited_for() {
    let world = World::new();
    world.reviewer_says(false, "go on");
    let running = json!([{"id":"a","type":"subagent","status":"running"}]);
    assert_eq!(world.stop_with("background_tasks", running).json(), json!({}));
    assert_eq!((world.reviews(), world.files().len()), (0, 0));
}

#[test]
fn a_client_that_shows_context_gets_it() {
    let world = World::new();
    world.reviewer_says(false, "go on");
    let answer = world.stop_with("background_tasks", json!([])).json();
    let specific = json!({"hookEventName":"Stop","additionalContext":"go on"});
    assert_eq!(answer, json!({"hookSpecificOutput": specific}));
}
