//! The guards against endless rounds: the variable and the number of rounds.

use std::fs;
use std::os::unix::process::CommandExt;
use std::process::Command;

use serde_json::{Value, json};

use crate::context::{SESSION, TestContext};

const GUARD: &str = r#"{"decision":"","":""}"#;

#[test]
fn s5_07_the_variable_skips_everything() {
    let mut context = TestContext::for_supervisor();
    context.set_env("CCC_SUPERVISOR_HOOK", "1");
    assert_eq!(context.stop().stdout, GUARD);
    assert_eq!(context.run_supervisor("garbage").stdout, GUARD);
    assert_eq!((context.reviews(), context.files().len()), (0, 0));
}

#[test]
fn s5_07_the_binary_named_ccc_is_the_same_hook() {
    let mut context = TestContext::for_supervisor();
    context.set_env("CCC_SUPERVISOR_HOOK", "1");
    let mut command = Command::new(env!("CARGO_BIN_EXE_overtone"));
    command.arg0("ccc").arg("supervisor-hook");
    assert_eq!(context.run_as(command, b"{}").stdout, GUARD);
}

#[test]
fn s5_08_the_reviewer_inherits_the_variable() {
    let context = TestContext::for_supervisor();
    context.reviewer_says(true, "");
    context.stop();
    let environment = fs::read_to_string(context.path("fake/environment")).unwrap();
    assert!(environment.lines().any(|line| line == "CCC_SUPERVISOR_HOOK=1"));
}

#[test]
fn s5_09_the_reviewers_own_stop_is_not_reviewed() {
    let context = TestContext::for_supervisor();
    context.reviewer_says(false, "go on");
    context.write("fake/hook", env!("CARGO_BIN_EXE_overtone"));
    context.stop().assert_block("go on");
    assert_eq!(fs::read_to_string(context.path("fake/inner")).unwrap(), GUARD);
    assert_eq!(context.reviews(), 1);
}

fn record(context: &TestContext) -> Value {
    serde_json::from_str(&fs::read_to_string(context.supervisor_file("supervisor-abc123.json")).unwrap())
        .unwrap()
}

#[test]
fn s5_10_ten_rounds_are_enough() {
    let context = TestContext::for_supervisor();
    context.reviewer_says(false, "go on");
    context.write(
        "home/.claude/ccc/supervisor-abc123.json",
        json!({"session_id":SESSION,"count":9}).to_string(),
    );
    context.stop().assert_block("go on");
    let output = context.stop();
    assert_eq!(output.stdout, "");
    assert_eq!((record(&context)["count"].clone(), context.reviews()), (json!(10), 1));
}

#[test]
fn s5_11_a_round_is_counted() {
    let context = TestContext::for_supervisor();
    context.reviewer_says(false, "go on");
    let before = json!({"session_id":SESSION,"count":3,"created_at":"2026-01-01T00:00:00Z","future":{"x":1}});
    context.write("home/.claude/ccc/supervisor-abc123.json", before.to_string());
    let output = context.stop();
    output.assert_stderr_has(&["4/10"]);
    let after = record(&context);
    assert_eq!((&after["count"], &after["future"]), (&json!(4), &json!({"x":1})));
    assert_eq!(after["created_at"], "2026-01-01T00:00:00Z");
    assert_eq!(context.reviews(), 1);
}

#[test]
fn rounds_at_once_are_all_counted() {
    let context = TestContext::for_supervisor();
    context.reviewer_says(false, "go on");
    std::thread::scope(|scope| {
        for _ in 0..8 {
            scope.spawn(|| context.stop());
        }
    });
    assert_eq!(record(&context)["count"], 8);
}

#[test]
fn a_supervisor_that_is_switched_off_leaves_no_trace() {
    let mut context = TestContext::for_supervisor();
    context.set_env("CCC_SUPERVISOR", "0");
    assert_eq!(context.stop().json(), json!({}));
    assert_eq!((context.reviews(), context.files().len()), (0, 0));
}
