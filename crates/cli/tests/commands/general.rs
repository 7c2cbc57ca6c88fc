use std::process::Command;

use serde_json::json;

use crate::world::{World, put};

#[test]
fn alone_it_answers_a_client_or_helps_a_person() {
    let world = World::new();
    world.run("").ok().has(&["Usage: overtone", "Examples:", "/ot:auto"]);
    world.run_with_stdin("", "not json").ok().has(&["Usage: overtone"]);
    let event = json!({ "session_id": "s1", "hook_event_name": "SessionStart", "source": "startup", "cwd": world.project() });
    let answer = world.run_with_stdin("", &event.to_string()).ok().json();
    assert!(answer.get("result").is_some());
    assert!(world.session("s1").join("timeline.jsonl").exists());
}

#[test]
fn every_command_has_help_with_an_example() {
    let world = World::new();
    for command in [
        "up",
        "init",
        "status",
        "stop",
        "resume",
        "message",
        "timeline",
        "replay",
        "top",
        "stats",
        "sessions",
        "specs",
        "instinct",
        "config",
        "validate",
        "completions",
    ] {
        world.run(&format!("{command} --help")).ok().has(&[
            "Usage:",
            "Example",
            &format!("  overtone {command}"),
        ]);
        world.run(&format!("help {command}")).ok();
    }
    world.run("--version").ok().has(&[env!("CARGO_PKG_VERSION")]);
    world.run("stauts").refused_by_parser().stderr_has(&["status"]);
    world.run("--nope").refused_by_parser();
}

#[test]
fn a_reader_that_has_gone_is_no_failure() {
    let world = World::new();
    world.run("init quick").ok();
    let event = r#"{"ts":"2020-01-01T00:00:00.000Z","type":"stage:start"}"#.to_owned() + "\n";
    put(&world.session("s1").join("timeline.jsonl"), &event.repeat(20_000));
    for line in [
        "timeline --limit 0",
        "timeline --json",
        "status",
        "config list",
        "sessions list",
        "--help",
        "help init",
        "completions zsh",
        "stats",
        "",
    ] {
        let words: Vec<_> = line.split_whitespace().collect();
        let mut child = world.command(&words).spawn().unwrap();
        drop(child.stdout.take());
        let output = child.wait_with_output().unwrap();
        assert_eq!(
            (output.status.code(), String::from_utf8_lossy(&output.stderr).as_ref()),
            (Some(0), ""),
            "{line}"
        );
    }
}

#[test]
fn head_gets_its_line() {
    let world = World::new();
    let event = r#"{"ts":"2020-01-01T00:00:00.000Z","type":"stage:start"}"#.to_owned() + "\n";
    put(&world.session("s1").join("timeline.jsonl"), &event.repeat(50_000));
    let mut child = world.command(&["timeline", "--limit", "0"]).spawn().unwrap();
    let head = Command::new("head").arg("-1").stdin(child.stdout.take().unwrap()).output().unwrap();
    assert_eq!(String::from_utf8(head.stdout).unwrap().lines().count(), 1);
    let output = child.wait_with_output().unwrap();
    assert_eq!((output.status.code(), output.stderr.len()), (Some(0), 0));
}

#[test]
fn every_language_is_spoken() {
    for (lang, word) in [
        ("zh-TW", "沒有進行中的工作流"),
        ("zh-CN", "没有进行中的工作流"),
        ("en", "No workflow"),
        ("xx", "沒有進行中的工作流"),
    ] {
        World::new().with("OVERTONE_LANG", lang).run("status").ok().has(&[word]);
    }
    let world = World::new().without("OVERTONE_LANG");
    world.run("status").ok().has(&["沒有進行中的工作流"]);
    put(&world.state().join("config.json"), r#"{"language":"zh-CN"}"#);
    world.run("status").ok().has(&["没有进行中的工作流"]);
}

#[test]
fn without_a_home_nothing_lands_in_the_project() {
    let world = World::new();
    let output = world.command(&["init", "quick"]).env("HOME", "").output().unwrap();
    assert_eq!(output.status.code(), Some(1));
    assert!(String::from_utf8_lossy(&output.stderr).contains("OVERTONE_HOME"));
    assert_eq!(std::fs::read_dir(world.project()).unwrap().count(), 0);
}

#[test]
fn completions() {
    let world = World::new();
    for shell in ["bash", "zsh", "fish"] {
        world.run(&format!("completions {shell}")).ok().has(&["overtone", "timeline"]);
    }
    world.run("completions cmd").refused_by_parser();
}
