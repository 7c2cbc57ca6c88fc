//! `ccc review`: the verdict as an exit code.

use std::fs;

use serde_json::{Value, json};

use crate::context::TestContext;

#[test]
fn the_exit_code_is_the_verdict() {
    let mut context = TestContext::for_supervisor();
    context.set_env("OVERTONE_LANG", "en");
    context.reviewer_says(true, "fine");
    assert_eq!(context.ccc(&["review", "abc123"]).0, 0);
    assert_eq!(context.option("--resume").as_deref(), Some("abc123"));
    context.reviewer_says(false, "write the tests");
    let (code, out, stderr) = context.ccc(&["review", "abc123"]);
    assert_eq!((code, out.as_str()), (1, ""));
    assert!(stderr.contains("write the tests"), "{stderr}");
    context.write("fake/lines.jsonl", "");
    let (code, _, stderr) = context.ccc(&["review", "abc123"]);
    assert!(code == 2 && stderr.contains("could not review"), "{stderr}");
}

#[test]
fn scripts_get_json_and_the_trail_a_line() {
    let context = TestContext::for_supervisor();
    context.config(&json!({"supervisor": {"checks": ["exit 4"]}}));
    let (code, out, _) = context.ccc(&["review", "abc123", "--json"]);
    let round: Value = serde_json::from_str(&out).unwrap();
    assert_eq!((code, &round["outcome"]), (1, &json!("block")));
    assert_eq!(round["evidence"][0]["exit_code"], 4);
    assert_eq!(context.trail(), [round]);
    assert!(!context.supervisor_file("supervisor-abc123.json").exists(), "it is no round of the session");
}

#[test]
fn the_project_may_be_elsewhere() {
    let mut context = TestContext::for_supervisor();
    context.set_env("OVERTONE_LANG", "en");
    context.reviewer_says(true, "");
    let elsewhere = context.path("overtone");
    assert_eq!(context.ccc(&["review", "abc123", "--project", elsewhere.to_str().unwrap()]).0, 0);
    let folder = fs::read_to_string(context.path("fake/folder")).unwrap();
    assert_eq!(fs::canonicalize(folder.trim()).unwrap(), fs::canonicalize(elsewhere).unwrap());
    let (code, _, stderr) = context.ccc(&["review", "abc123", "--project", "no/such/folder"]);
    assert!(code == 1 && stderr.contains("hint:"), "{stderr}");
    let (code, _, stderr) = context.ccc(&["review", "a/b"]);
    assert!(code == 1 && stderr.contains("hint:"), "{stderr}");
}
