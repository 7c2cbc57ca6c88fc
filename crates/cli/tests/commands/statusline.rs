use std::io::Read;
use std::process::Stdio;

use serde_json::json;

use crate::context::{TestContext, put, read};

fn input(percent: f64) -> String {
    json!({
        "session_id": "s1", "cwd": "/x", "model": { "id": "m", "display_name": "M" },
        "context_window": { "used_percentage": percent }, "cost": { "total_cost_usd": 1.238 },
    })
    .to_string()
}

#[test]
fn one_line_says_it_all() {
    let context = TestContext::for_commands().with_env("NO_COLOR", "1");
    context.run("init quick").ok();
    context.agent("s1", "developer", Some("PASS"));
    context.agent("s1", "code-reviewer", None);
    context.hook("pre-compact", &json!({ "session_id": "s1", "trigger": "manual" }));
    let line = context.run_with_stdin("statusline", input(41.6)).ok().stdout;
    let (before, after) = line.split_once("code-reviewer ").unwrap();
    assert_eq!(before, "quick · ▶ 🔍 Review 1/5 · ");
    assert!(after.ends_with("s · ctx 42% · $1.24 · ⟲ 1\n"), "{after}");
    assert!(read(&context.session_dir("s1").join("context.json")).contains("42"));
    assert_eq!(context.json("status --json")["contextPercent"], json!(42));
}

/// The part that says what the workflow is doing.
fn state(context: &TestContext) -> String {
    let line = context.run_with_stdin("statusline", r#"{"session_id":"s1"}"#).ok().stdout;
    line.trim_end().split(" · ").nth(1).unwrap().to_owned()
}

#[test]
fn running_paused_waiting_and_finished_look_different() {
    let context = TestContext::for_commands().with_env("NO_COLOR", "1");
    context.run("init quick").ok();
    assert_eq!(state(&context), "▶ 💻 Development 0/5");
    context.run("stop").ok();
    assert_eq!(state(&context), "⏸ paused 0/5");
    context.run("resume").ok();
    for _ in 0..4 {
        context.hook("on-stop", &json!({ "session_id": "s1", "cwd": context.project() }));
    }
    assert_eq!(state(&context), "⏸ paused 0/5", "no progress");
    context.run("init single --force").ok();
    context.agent("s1", "developer", Some("PASS"));
    assert_eq!(state(&context), "✅ finished 1/1");
    context.hook("on-stop", &json!({ "session_id": "s1", "cwd": context.project() }));
    assert_eq!(state(&context), "✅ completed 1/1");
    context.run("config set limits.failures 1").ok();
    context.run("init e2e-only").ok();
    context.agent("s1", "e2e-runner", Some("FAIL"));
    assert_eq!(state(&context), "✋ waiting for you 0/1");
    context.hook("on-stop", &json!({ "session_id": "s1", "cwd": context.project() }));
    assert_eq!(state(&context), "✋ waiting for you 0/1");
}

#[test]
fn without_a_workflow_the_line_is_still_of_use() {
    let context = TestContext::for_commands();
    assert_eq!(context.run_with_stdin("statusline", input(12.0)).ok().stdout, "M · ctx 12% · $1.24\n");
}

#[test]
fn a_narrow_terminal_loses_the_least_important_first() {
    let context = TestContext::for_commands().with_env("NO_COLOR", "1").with_env("COLUMNS", "26");
    context.run("init quick").ok();
    let line = |context: &TestContext| context.run_with_stdin("statusline", input(12.0)).ok().stdout;
    assert_eq!(line(&context), "▶ 💻 Development 0/5\n");
    assert_eq!(
        line(&context.with_env("COLUMNS", "nonsense")),
        "quick · ▶ 💻 Development 0/5 · ctx 12% · $1.24\n"
    );
}

#[test]
fn warnings_are_coloured_although_it_is_a_pipe() {
    let context = TestContext::for_commands();
    let line = |percent| context.run_with_stdin("statusline", input(percent)).ok().stdout;
    assert!(!line(69.0).contains('\u{1b}'));
    assert!(line(70.0).contains("\u{1b}[33mctx 70%"));
    assert!(line(90.0).contains("\u{1b}[31mctx 90%"));
    assert!(!context.session_dir("s1").exists(), "a session that we never met is not made");
}

#[test]
fn whatever_is_wrong_the_line_is_empty() {
    let context = TestContext::for_commands();
    for text in ["", "{", "[]", "null", "7", "\u{0}"] {
        assert_eq!(context.run_with_stdin("statusline", text).ok().stdout, "\n", "{text:?}");
    }
    assert_eq!(context.run_with_stdin("statusline", "{}").ok().stdout, "\n");
    put(&context.session_dir("s1").join("workflow.json"), "{broken");
    assert_eq!(context.run_with_stdin("statusline", input(10.0)).ok().stdout, "\n");
    assert_eq!(read(&context.session_dir("s1").join("workflow.json")), "{broken");
    let odd = r#"{"session_id":"../../x","context_window":{"used_percentage":5}}"#;
    assert_eq!(context.run_with_stdin("statusline", odd).ok().stdout, "ctx 5%\n");
}

#[test]
fn agents_of_the_workflow_get_their_rows() {
    let context = TestContext::for_commands();
    context.run("init quick").ok();
    context.agent("s1", "developer", None);
    context.hook(
        "on-agent-start",
        &json!({ "session_id": "s1", "agent_id": "a1", "agent_type": "ot:developer" }),
    );
    let task =
        |id: &str| json!({ "id": id, "type": "local_agent", "description": "build it", "tokenCount": 1500 });
    let stdin = json!({ "session_id": "s1", "columns": 80, "tasks": [task("a1"), task("b2"), 7] });
    let rows = context.run_with_stdin("subagent-statusline", stdin.to_string()).ok();
    assert_eq!((&rows.json()["id"], rows.stdout.lines().count()), (&json!("a1"), 1));
    let row = rows.json()["content"].as_str().unwrap().to_owned();
    assert!(row.starts_with("💻 Development (developer) · ") && row.ends_with(" · ↓ 1.5k · build it"));
    for text in
        ["", "[]", r#"{"session_id":"s1","tasks":{}}"#, r#"{"session_id":"none","tasks":[{"id":"a1"}]}"#]
    {
        assert_eq!(context.run_with_stdin("subagent-statusline", text).ok().stdout, "\n", "{text:?}");
    }
}

#[test]
fn the_end_of_input_is_not_waited_for() {
    let context = TestContext::for_commands();
    let mut child = context.command(&["statusline"]).stdin(Stdio::piped()).spawn().unwrap();
    let mut pipe = child.stdin.take().unwrap();
    std::io::Write::write_all(&mut pipe, input(5.0).as_bytes()).unwrap();
    let mut line = String::new();
    child.stdout.take().unwrap().read_to_string(&mut line).unwrap();
    // One that had waited for the end would have given up without having read anything.
    assert!(line.contains("ctx 5%"), "{line}");
    drop(pipe);
    child.wait().unwrap();
}

#[test]
fn help_is_still_there() {
    TestContext::for_commands().run("statusline --help").ok().has(&["settings.json"]);
    TestContext::for_commands().run("statusline now").refused_by_parser();
    TestContext::for_commands().run("subagent-statusline --help").ok().has(&["settings.json"]);
}
