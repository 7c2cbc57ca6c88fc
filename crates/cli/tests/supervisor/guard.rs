//! The guards against endless rounds: the variable and the number of rounds.

use std::fs;
use std::os::unix::process::CommandExt;
use std::process::Command;

use serde_json::{Value, json};

use crate::world::{SESSION, World};

const GUARD: &str = r#"{"decision":"","":""}"#;

#[test]
fn s5_07_the_variable_skips_everything() {
    let mut world = World::new();
    world.set("CCC_SUPERVISOR_HOOK", "1");
    assert_eq!(world.stop().stdout, GUARD);
    assert_eq!(world.run("garbage").stdout, GUARD);
    assert_eq!((world.reviews(), world.files().len()), (0, 0));
}

#[test]
fn s5_07_the_binary_named_ccc_is_the_same_hook() {
    let mut world = World::new();
    world.set("CCC_SUPERVISOR_HOOK", "1");
    let mut command = Command::new(env!("CARGO_BIN_EXE_overtone"));
    command.arg0("ccc").arg("supervisor-hook");
    assert_eq!(world.run_as(command, b"{}").stdout, GUARD);
}

#[test]
fn s5_08_the_reviewer_inherits_the_variable() {
    let world = World::new();
    world.reviewer_says(true, "");
    world.stop();
    let environment = fs::read_to_string(world.path("fake/environment")).unwrap();
    assert!(environment.lines().any(|line| line == "CCC_SUPERVISOR_HOOK=1"));
}

#[test]
fn s5_09_the_reviewers_own_stop_is_not_reviewed() {
    let world = World::new();
    world.reviewer_says(false, "go on");
    world.put("fake/hook", env!("CARGO_BIN_EXE_overtone"));
    world.stop().assert_block("go on");
    assert_eq!(fs::read_to_string(world.path("fake/inner")).unwrap(), GUARD);
    assert_eq!(world.reviews(), 1);
}

fn record(world: &World) -> Value {
    serde_json::from_str(&fs::read_to_string(world.state("supervisor-abc123.json")).unwrap()).unwrap()
}

#[test]
fn s5_10_ten_rounds_are_enough() {
    let world = World::new();
    world.reviewer_says(false, "go on");
    world.put("home/.claude/ccc/supervisor-abc123.json", json!({"session_id":SESSION,"count":9}).to_string());
    world.stop().assert_block("go on");
    let output = world.stop();
    assert_eq!(output.stdout, "");
    assert_eq!((record(&world)["count"].clone(), world.reviews()), (json!(10), 1));
}

#[test]
fn s5_11_a_round_is_counted() {
    let world = World::new();
    world.reviewer_says(false, "go on");
    let before = json!({"session_id":SESSION,"count":3,"created_at":"2026-01-01T00:00:00Z","future":{"x":1}});
    world.put("home/.claude/ccc/supervisor-abc123.json", before.to_string());
    let output = world.stop();
    output.assert_told(&["4/10"]);
    let after = record(&world);
    assert_eq!((&after["count"], &after["future"]), (&json!(4), &json!({"x":1})));
    assert_eq!(after["created_at"], "2026-01-01T00:00:00Z");
    assert_eq!(world.reviews(), 1);
}

#[test]
fn rounds_at_once_are_all_counted() {
    let world = World::new();
    world.reviewer_says(false, "go on");
    std::thread::scope(|scope| {
        for _ in 0..8 {
            scope.spawn(|| world.stop());
        }
    });
    assert_eq!(record(&world)["count"], 8);
}

#[test]
fn a_supervisor_that_is_switched_off_leaves_no_trace() {
    let mut world = World::new();
    world.set("CCC_SUPERVISOR", "0");
    assert_eq!(world.stop().json(), json!({}));
    assert_eq!((world.reviews(), world.files().len()), (0, 0));
}
