use serde_json::{Value, json};

use crate::context::{TestContext, keys, read};
use crate::pty::Pty;

#[test]
fn nothing_to_do_is_no_failure_and_makes_nothing() {
    let context = TestContext::for_commands();
    for line in ["stop", "resume"] {
        context.run(line).ok().has(&["No workflow is running."]);
    }
    assert!(!context.session_dir("s1").exists());
    context.run("init single").ok();
    context.run("resume").ok().has(&["nothing to resume"]);
    context.run("stop").ok();
    context.run("stop").ok().has(&["already stopped"]);
}

#[test]
fn that_the_session_cannot_be_looked_up_is_not_that_nothing_runs() {
    let context = TestContext::for_commands();
    context.run("init single").ok();
    let context = context.without_env("CLAUDE_CODE_SESSION_ID").without_env("OVERTONE_SESSION_ID");
    let pointer = context.state().join(".current-session-id");
    let _ = std::fs::remove_file(&pointer);
    std::os::unix::fs::symlink(&pointer, &pointer).unwrap();
    for line in ["stop", "resume"] {
        context.run(line).fails(&[".current-session-id", "hint: check the path"]);
    }
}

#[test]
fn a_stopped_workflow_is_kept_and_goes_on() {
    let context = TestContext::for_commands();
    context.run("init quick").ok();
    context.agent("s1", "developer", Some("PASS"));
    context.run("stop").ok().has(&["stopped", "✅💻Development", "(1/5)", "overtone resume"]);
    assert_eq!(context.json("status --json")["loop"]["stoppedBy"], "user");
    context.run("status").ok().has(&["stopped by the user", "→ The loop is stopped"]);
    context.run("resume").ok().has(&["The workflow continues", "→ Next: 🔍 Review, 🧪 Test."]);
    assert_eq!(context.json("status --json")["loop"]["stopped"], json!(false));
}

#[test]
fn a_complete_workflow_has_nothing_to_stop() {
    let context = TestContext::for_commands();
    context.run("init single").ok();
    context.agent("s1", "developer", Some("PASS"));
    context.hook("on-stop", &json!({ "session_id": "s1", "cwd": context.project() }));
    context.run("status").ok().has(&["completed"]);
    for line in ["stop", "resume"] {
        context.run(line).ok().has(&["already complete"]);
    }
    context.run("init quick").ok();
}

#[test]
fn the_object_has_its_shape() {
    let context = TestContext::for_commands();
    context.run("init single").ok();
    let stopped = context.json("stop --json");
    assert_eq!(keys(&stopped), ["session", "changed", "message"]);
    assert_eq!((&stopped["session"], &stopped["changed"]), (&json!("s1"), &json!(true)));
    assert_eq!(context.json("stop --json")["changed"], json!(false));
    context.run("stop --session other --json").fails(&["no such session: other"]);
    let elsewhere = context.with_env("OVERTONE_SESSION_ID", "other");
    assert_eq!(elsewhere.json("stop --json")["session"], json!(null));
}

#[test]
fn unknown_fields_survive() {
    let context = TestContext::for_commands();
    context.run("init single").ok();
    let file = context.session_dir("s1").join("loop.json");
    let text = crate::context::read(&file).replacen('{', r#"{"future":[1],"#, 1);
    crate::context::put(&file, &text);
    context.run("stop").ok();
    assert!(crate::context::read(&file).contains("future"));
}

/// The `by` of the last stop or resume in the timeline.
fn last_by(context: &TestContext) -> String {
    let timeline = read(&context.session_dir("s1").join("timeline.jsonl"));
    let mut events = timeline.lines().rev().map(|line| serde_json::from_str::<Value>(line).unwrap());
    let by = events.find_map(|event| event["by"].as_str().map(str::to_owned));
    by.unwrap_or_default()
}

#[test]
fn the_timeline_says_who_gave_the_command() {
    let context = TestContext::for_commands().with_env("CLAUDE_CODE_ENTRYPOINT", "cli");
    context.run("init quick").ok();
    assert_eq!(last_by(&context), "model", "in the client, the workflow is the model's choice");
    context.run("stop").ok();
    assert_eq!(last_by(&context), "model");
    let ask =
        json!({ "session_id": "s1", "tool_name": "Bash", "tool_input": { "command": "overtone resume" } });
    assert_eq!(context.answer("allow-own", &ask)["hookSpecificOutput"]["permissionDecision"], "ask");
    context.run("resume").ok();
    assert_eq!(last_by(&context), "user", "the client has asked");
    context.run("stop").ok();
    assert_eq!(last_by(&context), "model", "about something else");

    let outside = context.without_env("CLAUDE_CODE_SESSION_ID").without_env("OVERTONE_SESSION_ID");
    outside.run("resume --session s1").ok();
    assert_eq!(last_by(&outside), "unknown", "a script, for all we know");
    let mut terminal = Pty::start(&outside.command(&["stop", "--session", "s1"]), 100, 30);
    assert!(terminal.ends().success());
    assert_eq!(last_by(&outside), "user");
}

/// The permission hook sees only plain commands, so the program checks too.
#[test]
fn a_tool_of_the_client_runs_a_users_command_only_after_the_question() {
    let context =
        TestContext::for_commands().with_env("CLAUDECODE", "1").with_env("CLAUDE_CODE_ENTRYPOINT", "cli");
    context.run("stop").ok();
    context.run("init quick").ok();
    context.run("status").ok();
    for command in ["stop", "resume", "config set limits.failures 99", "init single --force", "ccc list"] {
        context.run(command).fails(&["is the user's decision, and the user was not asked", "hint: "]);
    }
    assert!(!read(&context.session_dir("s1").join("loop.json")).contains(r#""stopped":true"#));
    let ask =
        json!({ "session_id": "s1", "tool_name": "Bash", "tool_input": { "command": "overtone stop" } });
    context.answer("allow-own", &ask);
    context.run("resume").fails(&["the user was not asked"]);
    context.run("stop").ok();
    assert_eq!(last_by(&context), "user");
}
