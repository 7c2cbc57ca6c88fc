//! One session is switched on or off; the plugin's hook acts for those that are on.

use std::process::Command;

use serde_json::json;

use crate::context::{Output, TestContext, stop_event};

/// The plugin's call of the hook.
fn plugin_stop(context: &TestContext) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_overtone"));
    command.args(["ccc", "supervisor-hook", "--plugin"]);
    context.run_as(command, stop_event().to_string().as_bytes())
}

#[test]
fn a_session_that_is_off_is_not_reviewed() {
    let mut context = TestContext::for_supervisor();
    context.set_env("CCC_SUPERVISOR", "1");
    context.reviewer_says(false, "go on");
    assert_eq!(context.ccc(&["supervise", "off", "--session", "abc123"]).0, 0);
    assert_eq!(context.stop().stdout, "{}\n");
    context.stop_with("session_id", json!("other")).assert_block("go on");
    context.ccc(&["supervise", "on", "--session", "abc123"]);
    context.stop().assert_block("go on");
}

#[test]
fn a_session_that_is_on_is_reviewed_by_the_plugins_hook() {
    let context = TestContext::for_supervisor();
    context.reviewer_says(false, "go on");
    assert_eq!(plugin_stop(&context).stdout, "");
    assert_eq!(context.files().len(), 0, "nothing is written for others");
    context.ccc(&["supervise", "on", "--session", "abc123"]);
    plugin_stop(&context).assert_block("go on");
    context.ccc(&["supervise", "off", "--session", "abc123"]);
    assert_eq!(plugin_stop(&context).stdout, "");
}

#[test]
fn there_is_one_review_when_the_settings_have_the_hook_too() {
    let mut context = TestContext::for_supervisor();
    context.reviewer_says(false, "go on");
    context.ccc(&["supervise", "on", "--session", "abc123"]);
    let hook = json!({"type": "command", "command": "/usr/local/bin/ccc supervisor-hook"});
    context.write("home/.claude/settings.json", json!({"hooks": {"Stop": [{"hooks": [hook]}]}}).to_string());
    assert_eq!(plugin_stop(&context).stdout, "");
    context.stop().assert_block("go on");
    assert_eq!(context.reviews(), 1);
    context.write("home/.claude/settings.json", "{}");
    context.set_env("CCC_ISOLATED_SUPERVISOR", "1");
    assert_eq!(plugin_stop(&context).stdout, "");
}

#[test]
fn the_plugins_hook_is_silent_inside_of_a_review() {
    let mut context = TestContext::for_supervisor();
    context.ccc(&["supervise", "on", "--session", "abc123"]);
    context.set_env("CCC_SUPERVISOR_HOOK", "1");
    assert_eq!(plugin_stop(&context).stdout, "");
    assert_eq!(context.reviews(), 0);
}

#[test]
fn switching_on_begins_anew() {
    let context = TestContext::for_supervisor();
    context.write("home/.claude/ccc/supervisor-abc123.json", r#"{"count":10,"cost_usd":5.0,"future":1}"#);
    assert_eq!(context.stop().stdout, "");
    context.ccc(&["supervise", "on", "--session", "abc123"]);
    let record = context.record();
    assert_eq!((&record["count"], &record["future"]), (&json!(0), &json!(1)));
    context.reviewer_says(false, "go on");
    context.stop().assert_block("go on");
}

#[test]
fn the_session_comes_from_the_client_or_from_the_user() {
    let mut context = TestContext::for_supervisor();
    context.set_env("OVERTONE_LANG", "en");
    let (code, _, stderr) = context.ccc(&["supervise", "on"]);
    assert!(code == 1 && stderr.contains("hint:") && stderr.contains("--session"), "{stderr}");
    let (code, _, stderr) = context.ccc(&["supervise", "on", "--session", "../../x"]);
    assert!(code == 1 && stderr.contains("session id"), "{stderr}");
    assert_eq!(context.files().len(), 0);
    context.set_env("CLAUDE_CODE_SESSION_ID", "abc123");
    assert!(context.ccc(&["supervise", "status"]).1.contains("no setting of its own"));
    assert!(context.ccc(&["supervise", "on"]).1.contains("on for this session"));
    assert!(context.ccc(&["supervise", "status"]).1.contains("on for this session"));
}

#[test]
fn the_turn_in_which_it_is_switched_on_is_not_reviewed() {
    let context = TestContext::for_supervisor();
    context.reviewer_says(false, "go on");
    context.ccc(&["supervise", "on", "--inside", "--session", "abc123"]);
    assert_eq!(plugin_stop(&context).stdout, "{}\n");
    plugin_stop(&context).assert_block("go on");
}

/// The hook is in settings that all sessions share. The client tells a hook its project.
#[test]
fn a_session_without_supervision_may_stop() {
    let mut context = TestContext::for_supervisor();
    context.reviewer_says(false, "go on");
    let project = context.path("project");
    context.set_env("CLAUDE_PROJECT_DIR", &project);
    assert_eq!(context.stop().stdout, "{}\n");
    assert_eq!(context.reviews(), 0);
    context.set_env("CCC_SUPERVISOR", "1");
    context.stop().assert_block("go on");
    context.set_env("CCC_SUPERVISOR", "");
    context.ccc(&["supervise", "on", "--session", "abc123"]);
    context.stop().assert_block("go on");
    context.config(&json!({"supervisor": {"enabled": true}}));
    context.stop_with("session_id", json!("other")).assert_block("go on");
}
