//! Where the state is, what it looks like, and the logs.

use std::fs;
use std::os::unix::fs::PermissionsExt;

use serde_json::Value;

use crate::world::{SESSION, World};

/// `2026-02-23T14:00:00.000Z`.
fn is_iso(text: &str) -> bool {
    let shape: String = text.chars().map(|c| if c.is_ascii_digit() { '0' } else { c }).collect();
    shape == "0000-00-00T00:00:00.000Z"
}

#[test]
fn s5_12_the_state_folder_follows_the_configuration() {
    let mut world = World::new();
    world.reviewer_says(true, "");
    let (custom, other) = (world.path("custom"), world.path("other"));
    world.set("CCC_CONFIG_DIR", custom);
    world.set("CCC_WORK_DIR", other);
    world.stop();
    assert!(world.path("custom/ccc/supervisor-abc123.json").is_file());
    assert!(world.files().iter().all(|name| name.starts_with("custom/ccc/")), "{:?}", world.files());
}

#[test]
fn s5_13_the_state_folder_is_below_home() {
    let world = World::new();
    world.reviewer_says(true, "");
    world.stop();
    assert!(world.files().iter().all(|name| name.starts_with("home/.claude/ccc/")), "{:?}", world.files());
}

#[test]
fn s5_14_the_state_file_has_the_session_in_its_name() {
    let world = World::new();
    world.reviewer_says(true, "");
    world.stop();
    world.stop_with("session_id", "x.y-2".into());
    for name in ["supervisor-abc123.json", "supervisor-x.y-2.json"] {
        assert!(world.files().contains(&format!("home/.claude/ccc/{name}")), "{:?}", world.files());
    }
}

#[test]
fn s5_15_the_state_file_and_its_fields() {
    let world = World::new();
    world.reviewer_says(true, "");
    world.stop();
    let path = world.state("supervisor-abc123.json");
    let state: Value = serde_json::from_str(&fs::read_to_string(&path).unwrap()).unwrap();
    assert_eq!((state["session_id"].as_str(), state["count"].as_u64()), (Some(SESSION), Some(1)));
    for name in ["created_at", "updated_at"] {
        assert!(is_iso(state[name].as_str().unwrap()), "{state}");
    }
    assert_eq!(path.metadata().unwrap().permissions().mode() & 0o777, 0o600);
}

#[test]
fn s5_21_the_work_dir_is_the_second_choice() {
    let mut world = World::new();
    world.reviewer_says(true, "");
    let work = world.path("work");
    world.set("CCC_WORK_DIR", work);
    world.stop();
    assert!(world.path("work/ccc/supervisor-abc123.json").is_file());
}

#[test]
fn s5_26_the_invocation_log() {
    let world = World::new();
    world.reviewer_says(false, "the key is sk-ant-secret");
    world.put("home/.claude/SUPERVISOR.md", "my token is hunter2");
    world.stop();
    let log = fs::read_to_string(world.state("hook-invocation.log")).unwrap();
    let lines: Vec<_> = log.lines().collect();
    for line in &lines {
        let time = line.strip_prefix('[').unwrap().split(']').next().unwrap();
        assert!(is_iso(time), "{line}");
    }
    assert!(lines[0].ends_with("supervisor-hook invoked session_id=abc123 iteration=1"), "{log}");
    assert!(!log.contains("sk-ant") && !log.contains("hunter2"), "{log}");
}

#[test]
fn s5_27_raw_lines_are_kept_and_summed_up() {
    let world = World::new();
    world.reviewer_says(false, "go on");
    world.stop();
    let raw = fs::read_to_string(world.state("supervisor-abc123-output.jsonl")).unwrap();
    assert_eq!(raw, fs::read_to_string(world.path("fake/lines.jsonl")).unwrap());
    let log = fs::read_to_string(world.state("hook-invocation.log")).unwrap();
    assert!(log.contains("supervisor review result session_id=abc123 iteration=1 completed=false"), "{log}");
}
