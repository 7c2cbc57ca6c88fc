use serde_json::{Value, json};

use crate::pty::Pty;
use crate::world::{World, keys, read};

#[test]
fn nothing_to_do_is_no_failure_and_makes_nothing() {
    let world = World::new();
    for line in ["stop", "resume"] {
        world.run(line).ok().has(&["No workflow is running."]);
    }
    assert!(!world.session("s1").exists());
    world.run("init single").ok();
    world.run("resume").ok().has(&["nothing to resume"]);
    world.run("stop").ok();
    world.run("stop").ok().has(&["stopped already"]);
}

#[test]
fn that_the_session_cannot_be_looked_up_is_not_that_nothing_runs() {
    let world = World::new();
    world.run("init single").ok();
    let world = world.without("CLAUDE_CODE_SESSION_ID").without("OVERTONE_SESSION_ID");
    let pointer = world.state().join(".current-session-id");
    let _ = std::fs::remove_file(&pointer);
    std::os::unix::fs::symlink(&pointer, &pointer).unwrap();
    for line in ["stop", "resume"] {
        world.run(line).fails(&[".current-session-id", "hint: check the path"]);
    }
}

#[test]
fn a_stopped_workflow_is_kept_and_goes_on() {
    let world = World::new();
    world.run("init quick").ok();
    world.agent("s1", "developer", Some("PASS"));
    world.run("stop").ok().has(&["stopped", "✅💻Development", "(1/5)", "overtone resume"]);
    assert_eq!(world.json("status --json")["loop"]["stoppedBy"], "user");
    world.run("status").ok().has(&["stopped by the user", "→ The loop is stopped"]);
    world.run("resume").ok().has(&["The workflow continues", "→ Next: 🔍 Review, 🧪 Test."]);
    assert_eq!(world.json("status --json")["loop"]["stopped"], json!(false));
}

#[test]
fn a_complete_workflow_has_nothing_to_stop() {
    let world = World::new();
    world.run("init single").ok();
    world.agent("s1", "developer", Some("PASS"));
    world.hook("on-stop", &json!({ "session_id": "s1", "cwd": world.project() }));
    world.run("status").ok().has(&["completed"]);
    for line in ["stop", "resume"] {
        world.run(line).ok().has(&["complete already"]);
    }
    world.run("init quick").ok();
}

#[test]
fn the_object_has_its_shape() {
    let world = World::new();
    world.run("init single").ok();
    let stopped = world.json("stop --json");
    assert_eq!(keys(&stopped), ["session", "changed", "message"]);
    assert_eq!((&stopped["session"], &stopped["changed"]), (&json!("s1"), &json!(true)));
    assert_eq!(world.json("stop --json")["changed"], json!(false));
    world.run("stop --session other --json").fails(&["no such session: other"]);
    let elsewhere = world.with("OVERTONE_SESSION_ID", "other");
    assert_eq!(elsewhere.json("stop --json")["session"], json!(null));
}

#[test]
fn unknown_fields_survive() {
    let world = World::new();
    world.run("init single").ok();
    let file = world.session("s1").join("loop.json");
    let text = crate::world::read(&file).replacen('{', r#"{"future":[1],"#, 1);
    crate::world::put(&file, &text);
    world.run("stop").ok();
    assert!(crate::world::read(&file).contains("future"));
}

/// The `by` of the last stop or resume in the timeline.
fn last_by(world: &World) -> String {
    let timeline = read(&world.session("s1").join("timeline.jsonl"));
    let events = timeline.lines().rev().map(|line| serde_json::from_str::<Value>(line).unwrap());
    let by = events.filter_map(|event| event["by"].as_str().map(str::to_owned)).next();
    by.unwrap_or_default()
}

#[test]
fn the_timeline_says_who_gave_the_command() {
    let world = World::new();
    world.run("init quick").ok();
    assert_eq!(last_by(&world), "model", "in the client, the workflow is the model's choice");
    world.run("stop").ok();
    assert_eq!(last_by(&world), "model");
    let ask =
        json!({ "session_id": "s1", "tool_name": "Bash", "tool_input": { "command": "overtone resume" } });
    assert_eq!(world.answer("allow-own", &ask)["hookSpecificOutput"]["permissionDecision"], "ask");
    world.run("resume").ok();
    assert_eq!(last_by(&world), "user", "the client has asked");
    world.run("stop").ok();
    assert_eq!(last_by(&world), "model", "about something else");

    let outside = world.without("CLAUDE_CODE_SESSION_ID").without("OVERTONE_SESSION_ID");
    outside.run("resume --session s1").ok();
    assert_eq!(last_by(&outside), "unknown", "a script, for all we know");
    let mut terminal = Pty::start(&outside.command(&["stop", "--session", "s1"]), 100, 30);
    assert!(terminal.ends().success());
    assert_eq!(last_by(&outside), "user");
}
