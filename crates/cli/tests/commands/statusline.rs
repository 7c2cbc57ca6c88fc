use std::io::Read;
use std::process::Stdio;
use std::time::{Duration, Instant};

use serde_json::json;

use crate::world::{World, put, read};

fn input(percent: f64) -> String {
    json!({
        "session_id": "s1", "cwd": "/x", "model": { "id": "m", "display_name": "M" },
        "context_window": { "used_percentage": percent }, "cost": { "total_cost_usd": 1.238 },
    })
    .to_string()
}

#[test]
fn one_line_says_it_all() {
    let world = World::new().with("NO_COLOR", "1");
    world.run("init quick").ok();
    world.agent("s1", "developer", Some("PASS"));
    world.agent("s1", "code-reviewer", None);
    world.hook("pre-compact", &json!({ "session_id": "s1", "trigger": "manual" }));
    let line = world.run_with_stdin("statusline", &input(41.6)).ok().stdout;
    assert_eq!(line, "quick 1/5 · 🔍 Review · ▶ code-reviewer · ctx 42% · $1.24 · ⟲ 1\n");
    assert!(read(&world.session("s1").join("context.json")).contains("42"));
    assert_eq!(world.json("status --json")["contextPercent"], json!(42));
}

#[test]
fn warnings_are_coloured_although_it_is_a_pipe() {
    let world = World::new();
    let line = |percent| world.run_with_stdin("statusline", &input(percent)).ok().stdout;
    assert!(!line(69.0).contains('\u{1b}'));
    assert!(line(70.0).contains("\u{1b}[33mctx 70%"));
    assert!(line(90.0).contains("\u{1b}[31mctx 90%"));
    assert!(!world.session("s1").exists(), "a session that we never met is not made");
}

#[test]
fn whatever_is_wrong_the_line_is_empty() {
    let world = World::new();
    for text in ["", "{", "[]", "null", "7", "\u{0}"] {
        assert_eq!(world.run_with_stdin("statusline", text).ok().stdout, "\n", "{text:?}");
    }
    assert_eq!(world.run_with_stdin("statusline", "{}").ok().stdout, "\n");
    put(&world.session("s1").join("workflow.json"), "{broken");
    assert_eq!(world.run_with_stdin("statusline", &input(10.0)).ok().stdout, "\n");
    assert_eq!(read(&world.session("s1").join("workflow.json")), "{broken");
    let odd = r#"{"session_id":"../../x","context_window":{"used_percentage":5}}"#;
    assert_eq!(world.run_with_stdin("statusline", odd).ok().stdout, "ctx 5%\n");
}

#[test]
fn the_end_of_input_is_not_waited_for() {
    let world = World::new();
    let mut child = world.command(&["statusline"]).stdin(Stdio::piped()).spawn().unwrap();
    let mut pipe = child.stdin.take().unwrap();
    std::io::Write::write_all(&mut pipe, input(5.0).as_bytes()).unwrap();
    let start = Instant::now();
    let mut line = String::new();
    child.stdout.take().unwrap().read_to_string(&mut line).unwrap();
    assert!(line.contains("ctx 5%") && start.elapsed() < Duration::from_secs(2));
    drop(pipe);
    child.wait().unwrap();
}

#[test]
fn help_is_still_there() {
    World::new().run("statusline --help").ok().has(&["settings.json"]);
    World::new().run("statusline now").refused_by_parser();
}
