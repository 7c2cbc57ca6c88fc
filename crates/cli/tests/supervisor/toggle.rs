//! One session is switched on or off; the plugin's hook acts for those that are on.

use std::process::Command;

use serde_json::json;

use crate::world::{Output, World};

/// The plugin's call of the hook.
fn plugin_stop(world: &World) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_overtone"));
    command.args(["ccc", "supervisor-hook", "--plugin"]);
    world.run_as(command, World::payload().to_string().as_bytes())
}

#[test]
fn a_session_that_is_off_is_not_reviewed() {
    let mut world = World::new();
    world.set("CCC_SUPERVISOR", "1");
    world.reviewer_says(false, "go on");
    assert_eq!(world.ccc(&["supervise", "off", "--session", "abc123"]).0, 0);
    assert_eq!(world.stop().stdout, "{}\n");
    world.stop_with("session_id", json!("other")).assert_block("go on");
    world.ccc(&["supervise", "on", "--session", "abc123"]);
    world.stop().assert_block("go on");
}

#[test]
fn a_session_that_is_on_is_reviewed_by_the_plugins_hook() {
    let world = World::new();
    world.reviewer_says(false, "go on");
    assert_eq!(plugin_stop(&world).stdout, "");
    assert_eq!(world.files().len(), 0, "nothing is written for others");
    world.ccc(&["supervise", "on", "--session", "abc123"]);
    plugin_stop(&world).assert_block("go on");
    world.ccc(&["supervise", "off", "--session", "abc123"]);
    assert_eq!(plugin_stop(&world).stdout, "");
}

#[test]
fn there_is_one_review_when_the_settings_have_the_hook_too() {
    let mut world = World::new();
    world.reviewer_says(false, "go on");
    world.ccc(&["supervise", "on", "--session", "abc123"]);
    let hook = json!({"type": "command", "command": "/usr/local/bin/ccc supervisor-hook"});
    world.put("home/.claude/settings.json", json!({"hooks": {"Stop": [{"hooks": [hook]}]}}).to_string());
    assert_eq!(plugin_stop(&world).stdout, "");
    world.stop().assert_block("go on");
    assert_eq!(world.reviews(), 1);
    world.put("home/.claude/settings.json", "{}");
    world.set("CCC_ISOLATED_SUPERVISOR", "1");
    assert_eq!(plugin_stop(&world).stdout, "");
}

#[test]
fn the_plugins_hook_is_silent_inside_of_a_review() {
    let mut world = World::new();
    world.ccc(&["supervise", "on", "--session", "abc123"]);
    world.set("CCC_SUPERVISOR_HOOK", "1");
    assert_eq!(plugin_stop(&world).stdout, "");
    assert_eq!(world.reviews(), 0);
}

#[test]
fn switching_on_begins_anew() {
    let world = World::new();
    world.put("home/.claude/ccc/supervisor-abc123.json", r#"{"count":10,"cost_usd":5.0,"future":1}"#);
    assert_eq!(world.stop().stdout, "");
    world.ccc(&["supervise", "on", "--session", "abc123"]);
    let record = world.record();
    assert_eq!((&record["count"], &record["future"]), (&json!(0), &json!(1)));
    world.reviewer_says(false, "go on");
    world.stop().assert_block("go on");
}

#[test]
fn the_session_comes_from_the_client_or_from_the_person() {
    let mut world = World::new();
    world.set("OVERTONE_LANG", "en");
    let (code, _, told) = world.ccc(&["supervise", "on"]);
    assert!(code == 1 && told.contains("hint:") && told.contains("--session"), "{told}");
    let (code, _, told) = world.ccc(&["supervise", "on", "--session", "../../x"]);
    assert!(code == 1 && told.contains("session id"), "{told}");
    assert_eq!(world.files().len(), 0);
    world.set("CLAUDE_CODE_SESSION_ID", "abc123");
    assert!(world.ccc(&["supervise", "status"]).1.contains("no setting of its own"));
    assert!(world.ccc(&["supervise", "on"]).1.contains("on for this session"));
    assert!(world.ccc(&["supervise", "status"]).1.contains("on for this session"));
}

#[test]
fn the_turn_in_which_it_is_switched_on_is_not_reviewed() {
    let world = World::new();
    world.reviewer_says(false, "go on");
    world.ccc(&["supervise", "on", "--inside", "--session", "abc123"]);
    assert_eq!(plugin_stop(&world).stdout, "{}\n");
    plugin_stop(&world).assert_block("go on");
}

/// The hook is in settings that all sessions share. The client tells a hook its project.
#[test]
fn a_session_that_nobody_wanted_supervised_is_let_go() {
    let mut world = World::new();
    world.reviewer_says(false, "go on");
    let project = world.path("project");
    world.set("CLAUDE_PROJECT_DIR", &project);
    assert_eq!(world.stop().stdout, "{}\n");
    assert_eq!(world.reviews(), 0);
    world.set("CCC_SUPERVISOR", "1");
    world.stop().assert_block("go on");
    world.set("CCC_SUPERVISOR", "");
    world.ccc(&["supervise", "on", "--session", "abc123"]);
    world.stop().assert_block("go on");
    world.config(&json!({"supervisor": {"enabled": true}}));
    world.stop_with("session_id", json!("other")).assert_block("go on");
}
