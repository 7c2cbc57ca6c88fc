//! Where the state is, what it looks like, and the logs.

use std::fs;
use std::os::unix::fs::PermissionsExt;

use serde_json::Value;

use crate::context::{SESSION, TestContext};

/// `2026-02-23T14:00:00.000Z`.
fn is_iso(text: &str) -> bool {
    let shape: String = text.chars().map(|c| if c.is_ascii_digit() { '0' } else { c }).collect();
    shape == "0000-00-00T00:00:00.000Z"
}

#[test]
fn s5_12_the_state_folder_follows_the_configuration() {
    let mut context = TestContext::for_supervisor();
    context.reviewer_says(true, "");
    let (custom, other) = (context.path("custom"), context.path("other"));
    context.set_env("CCC_CONFIG_DIR", custom);
    context.set_env("CCC_WORK_DIR", other);
    context.stop();
    assert!(context.path("custom/ccc/supervisor-abc123.json").is_file());
    assert!(context.files().iter().all(|name| name.starts_with("custom/ccc/")), "{:?}", context.files());
}

#[test]
fn s5_13_the_state_folder_is_below_home() {
    let context = TestContext::for_supervisor();
    context.reviewer_says(true, "");
    context.stop();
    assert!(
        context.files().iter().all(|name| name.starts_with("home/.claude/ccc/")),
        "{:?}",
        context.files()
    );
}

#[test]
fn s5_14_the_state_file_has_the_session_in_its_name() {
    let context = TestContext::for_supervisor();
    context.reviewer_says(true, "");
    context.stop();
    context.stop_with("session_id", "x.y-2".into());
    for name in ["supervisor-abc123.json", "supervisor-x.y-2.json"] {
        assert!(context.files().contains(&format!("home/.claude/ccc/{name}")), "{:?}", context.files());
    }
}

#[test]
fn s5_15_the_state_file_and_its_fields() {
    let context = TestContext::for_supervisor();
    context.reviewer_says(true, "");
    context.stop();
    let path = context.supervisor_file("supervisor-abc123.json");
    let state: Value = serde_json::from_str(&fs::read_to_string(&path).unwrap()).unwrap();
    assert_eq!((state["session_id"].as_str(), state["count"].as_u64()), (Some(SESSION), Some(1)));
    for name in ["created_at", "updated_at"] {
        assert!(is_iso(state[name].as_str().unwrap()), "{state}");
    }
    assert_eq!(path.metadata().unwrap().permissions().mode() & 0o777, 0o600);
}

#[test]
fn s5_21_the_work_dir_is_the_second_choice() {
    let mut context = TestContext::for_supervisor();
    context.reviewer_says(true, "");
    let work = context.path("work");
    context.set_env("CCC_WORK_DIR", work);
    context.stop();
    assert!(context.path("work/ccc/supervisor-abc123.json").is_file());
}

#[test]
fn s5_26_the_invocation_log() {
    let context = TestContext::for_supervisor();
    context.reviewer_says(false, "the key is sk-ant-secret");
    context.write("home/.claude/SUPERVISOR.md", "my token is hunter2");
    context.stop();
    let log = fs::read_to_string(context.supervisor_file("hook-invocation.log")).unwrap();
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
    let context = TestContext::for_supervisor();
    context.reviewer_says(false, "go on");
    context.stop();
    let raw = fs::read_to_string(context.supervisor_file("supervisor-abc123-output.jsonl")).unwrap();
    assert_eq!(raw, fs::read_to_string(context.path("fake/lines.jsonl")).unwrap());
    let log = fs::read_to_string(context.supervisor_file("hook-invocation.log")).unwrap();
    assert!(log.contains("supervisor review result session_id=abc123 iteration=1 completed=false"), "{log}");
}
