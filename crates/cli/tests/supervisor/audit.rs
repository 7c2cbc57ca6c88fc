//! The audit trail.

use std::fs;
use std::os::unix::fs::PermissionsExt;

use serde_json::{Value, json};

use crate::context::TestContext;

#[test]
fn every_round_is_kept() {
    let mut context = TestContext::for_supervisor();
    context.set_env("OVERTONE_LANG", "en");
    context.reviewer_says_for(false, "use sk-ant-api03-abcdefgh", 0.25);
    context.stop();
    context.reviewer_says(true, "well done");
    context.stop();
    let (code, shown, _) = context.ccc(&["audit", "abc123"]);
    assert_eq!(code, 0);
    for part in ["not done", "use ***", "well done", "$0.2500"] {
        assert!(shown.contains(part), "{shown}");
    }
    let (_, all, _) = context.ccc(&["audit"]);
    assert!(all.contains("abc123") && all.contains(" 2 "), "{all}");
    let (_, text, _) = context.ccc(&["audit", "abc123", "--json"]);
    let object: Value = serde_json::from_str(&text).unwrap();
    assert_eq!(object["rounds"][0]["outcome"], "block");
    assert_eq!(object["rounds"][1]["round"], 2);
    let (_, text, _) = context.ccc(&["audit", "--json"]);
    assert_eq!(serde_json::from_str::<Value>(&text).unwrap()[0]["session"], "abc123");
    let mode =
        fs::metadata(context.supervisor_file("supervisor-abc123-audit.jsonl")).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o600);
}

#[test]
fn what_is_not_there_is_said() {
    let mut context = TestContext::for_supervisor();
    context.set_env("OVERTONE_LANG", "en");
    let (code, shown, _) = context.ccc(&["audit"]);
    assert!(code == 0 && shown.contains("/supervisor"), "{shown}");
    let (code, _, stderr) = context.ccc(&["audit", "nobody"]);
    assert!(code == 1 && stderr.contains("never reviewed") && stderr.contains("hint:"), "{stderr}");
    let (code, _, stderr) = context.ccc(&["audit", "../x"]);
    assert!(code == 1 && stderr.contains("hint:"), "{stderr}");
}

#[test]
fn control_characters_do_not_reach_the_terminal() {
    let context = TestContext::for_supervisor();
    context.reviewer_says(false, "red \u{1b}[31m\nand more");
    context.stop();
    let (_, shown, _) = context.ccc(&["audit", "abc123"]);
    assert!(!shown.contains('\u{1b}'), "{shown:?}");
}

#[test]
fn files_of_old_sessions_go() {
    let context = TestContext::for_supervisor();
    context.reviewer_says(true, "");
    context.write("home/.claude/ccc/supervisor-old-audit.jsonl", "{}\n");
    context.write("home/.claude/ccc/supervisor-old.json", "{}");
    context.write("home/.claude/ccc/owned.json", "{}");
    let old = std::time::SystemTime::now() - std::time::Duration::from_hours(31 * 24);
    for name in ["supervisor-old-audit.jsonl", "supervisor-old.json", "owned.json"] {
        fs::File::options()
            .write(true)
            .open(context.supervisor_file(name))
            .unwrap()
            .set_modified(old)
            .unwrap();
    }
    context.stop();
    assert!(!context.supervisor_file("supervisor-old-audit.jsonl").exists());
    assert!(!context.supervisor_file("supervisor-old.json").exists());
    assert!(context.supervisor_file("owned.json").exists(), "what is not a session's stays");
    assert_eq!(context.trail()[0]["outcome"], json!("allow"));
}
