use std::process::Command;

use serde_json::json;

use crate::context::{TestContext, put};

#[test]
fn without_arguments_it_answers_a_client_or_prints_help() {
    let context = TestContext::for_commands();
    context.run("").ok().has(&["Usage: overtone", "Examples:", "/ot:auto"]);
    context.run_with_stdin("", "not json").ok().has(&["Usage: overtone"]);
    let event = json!({ "session_id": "s1", "hook_event_name": "SessionStart", "source": "startup", "cwd": context.project() });
    let answer = context.run_with_stdin("", event.to_string()).ok().json();
    assert!(answer.get("result").is_some());
    assert!(context.session_dir("s1").join("timeline.jsonl").exists());
}

#[test]
fn every_command_has_help_with_an_example() {
    let context = TestContext::for_commands();
    for command in [
        "up",
        "init",
        "status",
        "stop",
        "resume",
        "message",
        "checks",
        "checks detect",
        "checks run",
        "trust",
        "evidence",
        "timeline",
        "replay",
        "top",
        "stats",
        "cost",
        "budget",
        "sessions",
        "specs",
        "instinct",
        "config",
        "validate",
        "completions",
    ] {
        context.run(&format!("{command} --help")).ok().has(&[
            "Usage:",
            "Example",
            &format!("  overtone {command}"),
        ]);
        context.run(&format!("help {command}")).ok();
    }
    context.run("--version").ok().has(&[env!("CARGO_PKG_VERSION")]);
    context.run("stauts").refused_by_parser().stderr_has(&["status"]);
    context.run("--nope").refused_by_parser();
}

#[test]
fn a_reader_that_has_gone_is_no_failure() {
    let context = TestContext::for_commands();
    context.run("init quick").ok();
    let event = r#"{"ts":"2020-01-01T00:00:00.000Z","type":"stage:start"}"#.to_owned() + "\n";
    put(&context.session_dir("s1").join("timeline.jsonl"), event.repeat(20_000));
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
        "cost",
        "budget",
        "",
    ] {
        let words: Vec<_> = line.split_whitespace().collect();
        let mut child = context.command(&words).spawn().unwrap();
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
    let context = TestContext::for_commands();
    let event = r#"{"ts":"2020-01-01T00:00:00.000Z","type":"stage:start"}"#.to_owned() + "\n";
    put(&context.session_dir("s1").join("timeline.jsonl"), event.repeat(50_000));
    let mut child = context.command(&["timeline", "--limit", "0"]).spawn().unwrap();
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
        TestContext::for_commands().with_env("OVERTONE_LANG", lang).run("status").ok().has(&[word]);
    }
    let context = TestContext::for_commands().without_env("OVERTONE_LANG");
    context.run("status").ok().has(&["沒有進行中的工作流"]);
    put(&context.state().join("config.json"), r#"{"language":"zh-CN"}"#);
    context.run("status").ok().has(&["没有进行中的工作流"]);
}

#[test]
fn without_a_home_nothing_lands_in_the_project() {
    let context = TestContext::for_commands();
    let output = context.command(&["init", "quick"]).env("HOME", "").output().unwrap();
    assert_eq!(output.status.code(), Some(1));
    assert!(String::from_utf8_lossy(&output.stderr).contains("OVERTONE_HOME"));
    assert_eq!(std::fs::read_dir(context.project()).unwrap().count(), 0);
}

#[test]
fn completions() {
    let context = TestContext::for_commands();
    for shell in ["bash", "zsh", "fish"] {
        context.run(&format!("completions {shell}")).ok().has(&["overtone", "timeline"]);
    }
    context.run("completions cmd").refused_by_parser();
}
