//! Whatever comes in: exit code 0, an answer that lets go, and nothing outside of the state folder.

use std::fs;
use std::os::unix::fs::symlink;

use serde_json::{Value, json};

use crate::context::TestContext;

#[track_caller]
fn assert_nothing(stdin: impl AsRef<[u8]>) {
    let context = TestContext::for_supervisor();
    context.reviewer_says(false, "go on");
    assert_eq!(context.run_supervisor(stdin).stdout, "{}\n");
    assert_eq!((context.reviews(), context.files()), (0, Vec::new()));
}

#[test]
fn payloads_that_are_none() {
    for bad in ["", " \n", "{", "{broken}", "[]", "null", "42", "\"x\"", "{}", "\u{feff}{}"] {
        assert_nothing(bad);
    }
    assert_nothing(b"{\"session_id\":\"\xff\"}");
}

#[test]
fn fifty_megabytes() {
    assert_nothing(format!(r#"{{"x":"{}"}}"#, "a".repeat(50 * 1024 * 1024)));
}

#[test]
fn deep_nesting() {
    assert_nothing(format!(r#"{{"x":{}{}}}"#, "[".repeat(20_000), "]".repeat(20_000)));
}

#[test]
fn odd_session_ids() {
    let (long, longer) = ("a".repeat(129), "a".repeat(300));
    for id in [
        "", ".", "..", "../x", "../../x", "..\\x", "/etc/x", "/tmp", "~", "a/b", "a/../b", "a\0b", "a\nb",
        "-x", ".x", "a b", "测", &long, &longer,
    ] {
        assert_nothing(json!({ "session_id": id }).to_string());
    }
    for id in [json!(7), Value::Null, json!(["x"]), json!({"id":"x"}), json!(true)] {
        assert_nothing(json!({ "session_id": id }).to_string());
    }
}

#[test]
fn a_broken_state_file_is_left_alone_and_lets_go() {
    for broken in ["", "{broken", "[]", r#"{"count":"3"}"#] {
        let context = TestContext::for_supervisor();
        context.reviewer_says(false, "go on");
        context.write("home/.claude/ccc/supervisor-abc123.json", broken);
        context.stop().assert_not_reviewed("supervisor-abc123.json");
        assert_eq!(fs::read_to_string(context.supervisor_file("supervisor-abc123.json")).unwrap(), broken);
        assert_eq!(context.reviews(), 0);
    }
}

#[test]
fn links_are_not_followed() {
    let context = TestContext::for_supervisor();
    context.reviewer_says(false, "go on");
    context.write("precious", "mine");
    context.write("home/.claude/ccc/keep", "");
    for name in ["hook-invocation.log", "supervisor-abc123-output.jsonl"] {
        symlink(context.path("precious"), context.supervisor_file(name)).unwrap();
    }
    context.stop().assert_block("go on");
    assert_eq!(fs::read_to_string(context.path("precious")).unwrap(), "mine");
}

#[test]
fn a_state_folder_that_cannot_be_made_lets_go() {
    let context = TestContext::for_supervisor();
    context.reviewer_says(false, "go on");
    context.write("home/.claude", "a file");
    context.stop().assert_not_reviewed("");
    assert_eq!(context.reviews(), 0);
}

#[test]
fn a_home_that_is_none_writes_nothing() {
    let mut context = TestContext::for_supervisor();
    context.reviewer_says(false, "go on");
    context.set_env("HOME", "");
    assert_eq!(context.stop().json(), json!({}));
    assert_eq!(context.files(), Vec::<String>::new());
}
