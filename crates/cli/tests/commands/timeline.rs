use std::fs::{self, OpenOptions};
use std::io::{BufRead, BufReader, Write};
use std::process::{Child, ChildStdout};
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

use serde_json::Value;

use crate::context::{Output, TestContext, put};

const PATIENCE: Duration = Duration::from_mins(10);

fn event(kind: &str, ts: &str) -> String {
    format!(r#"{{"ts":"{ts}","type":"{kind}","category":"x","label":"y","stage":"DEV"}}"#) + "\n"
}

fn types(output: &Output) -> Vec<String> {
    let events = output.stdout.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
    events.map(|event| event["type"].as_str().unwrap().to_owned()).collect()
}

#[test]
fn no_events_is_an_answer() {
    let context = TestContext::for_commands();
    context.run("timeline").ok().has(&["No events"]);
    assert_eq!(context.run("timeline --json").ok().stdout, "");
    context.run("timeline --session nope").fails(&["no such session"]);
    context.without_env("OVERTONE_SESSION_ID").run("timeline").fails(&["no session"]);
}

#[test]
fn events_are_shown_in_order_and_in_the_language() {
    let context = TestContext::for_commands();
    context.run("init quick").ok();
    context.agent("s1", "developer", Some("PASS"));
    let shown = context.run("timeline").ok().has(&[
        "workflow started",
        "quick",
        "stage complete",
        "DEV · developer · pass",
    ]);
    assert!(shown.stdout.lines().all(|line| line.as_bytes()[19] == b'Z'), "times are UTC: {}", shown.stdout);
    let order = types(&context.run("timeline --json").ok());
    assert_eq!(order[..3], ["workflow:start", "loop:start", "stage:start"]);
    context.with_env("OVERTONE_LANG", "zh-TW").run("timeline").ok().has(&["工作流啟動", "階段完成"]);
}

#[test]
fn filters_work_together() {
    let context = TestContext::for_commands();
    let now = overtone_store::clock::to_iso(overtone_store::clock::now());
    let lines = [
        event("stage:start", "2020-01-01T00:00:00.000Z"),
        event("stage:complete", "2020-01-02T00:00:00.000Z"),
        event("tool:failure", &now),
        event("stage:start", &now),
    ];
    put(&context.session_dir("s1").join("timeline.jsonl"), lines.concat());
    let seen = |line: &str| types(&context.run(&format!("timeline --json {line}")).ok());
    assert_eq!(seen("--type stage:start"), ["stage:start", "stage:start"]);
    assert_eq!(seen("--type stage:start --limit 1 --since 1h"), ["stage:start"]);
    assert_eq!(
        seen("--category tool --category stage --since 2020-01-02"),
        ["stage:complete", "tool:failure", "stage:start"]
    );
    assert_eq!(seen("--since 10m"), ["tool:failure", "stage:start"]);
    assert_eq!(seen("--limit 2"), ["tool:failure", "stage:start"]);
    assert_eq!(seen("--limit 0").len(), 4);
}

#[test]
fn only_the_newest_are_shown_unless_all_are_asked_for() {
    let context = TestContext::for_commands();
    put(
        &context.session_dir("s1").join("timeline.jsonl"),
        event("stage:start", "2020-01-01T00:00:00.000Z").repeat(20_000),
    );
    assert_eq!(context.run("timeline").ok().stdout.lines().count(), 50);
    assert_eq!(context.run("timeline --limit 0").ok().stdout.lines().count(), 20_000);
}

#[test]
fn an_unknown_type_is_refused_in_every_language() {
    let context = TestContext::for_commands();
    context.run("timeline --type stage:started").fails(&[
        "未知的 timeline 事件類型",
        "did you mean stage:start?",
        "tool:failure",
    ]);
    let context = context.with_env("OVERTONE_LANG", "zh-TW");
    context.run("timeline --type session:unknown").fails(&["未知的 timeline 事件類型: session:unknown"]);
    context.run("timeline --category nope").refused_by_parser();
    context.run("timeline --since yesterday").refused_by_parser();
    context.run("timeline --limit many").refused_by_parser();
}

#[test]
fn broken_lines_are_skipped_and_reported() {
    let context = TestContext::for_commands();
    let file = context.session_dir("s1").join("timeline.jsonl");
    put(
        &file,
        &(event("stage:start", "2020-01-01T00:00:00.000Z")
            + "{torn\n\n\u{1b}[2J\n"
            + "{\"type\":\"future:thing\",\"a\":\"\\u001b[2J\"}\n{unfinished"),
    );
    let shown = context.run("timeline");
    assert_eq!(shown.code, Some(0));
    assert_eq!(shown.stdout.lines().count(), 2);
    assert!(shown.stdout.contains("future:thing") && !shown.stdout.contains('\u{1b}'));
    shown.stderr_has(&["warning: skipped 2 unreadable lines: ", "timeline.jsonl"]);
    fs::remove_file(&file).unwrap();
    fs::create_dir(&file).unwrap();
    context.run("timeline").fails(&["timeline.jsonl"]);
}

#[test]
fn two_sessions_do_not_mix() {
    let context = TestContext::for_commands();
    context.run("init quick --session a").ok();
    context.run("init debug --session b").ok();
    assert!(!context.run("timeline --session a").ok().stdout.contains("debug"));
}

/// A command that goes on, and its lines.
struct Following {
    child: Child,
    lines: mpsc::Receiver<String>,
}

impl Following {
    fn start(context: &TestContext, line: &str) -> Self {
        let words: Vec<_> = line.split_whitespace().collect();
        let mut child = context.command(&words).spawn().unwrap();
        let lines = read_lines(child.stdout.take().unwrap());
        Self { child, lines }
    }

    #[track_caller]
    fn next_type(&self) -> String {
        let line = self.lines.recv_timeout(PATIENCE).expect("a line in time");
        serde_json::from_str::<Value>(&line).unwrap()["type"].as_str().unwrap().to_owned()
    }
}

impl Drop for Following {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn read_lines(pipe: ChildStdout) -> mpsc::Receiver<String> {
    let (sender, lines) = mpsc::channel();
    thread::spawn(move || {
        for line in BufReader::new(pipe).lines().map_while(Result::ok) {
            if sender.send(line).is_err() {
                return;
            }
        }
    });
    lines
}

#[test]
fn following_survives_what_happens_to_the_file() {
    let context = TestContext::for_commands();
    let file = context.session_dir("s1").join("timeline.jsonl");
    let following = Following::start(&context, "timeline --follow --json --category stage");
    let append = |text: &str| {
        let mut file = OpenOptions::new().append(true).create(true).open(&file).unwrap();
        file.write_all(text.as_bytes()).unwrap();
    };
    // Not there yet, then made, then a line in two parts, then cut short, then replaced.
    fs::create_dir_all(context.session_dir("s1")).unwrap();
    append(&event("stage:start", "x"));
    assert_eq!(following.next_type(), "stage:start");
    let (half, rest) = (r#"{"type":"tool:failure"}"#.to_owned() + "\n{\"type\":", "\"stage:retry\"}\n");
    append(&half);
    thread::sleep(Duration::from_millis(300));
    append(rest);
    assert_eq!(following.next_type(), "stage:retry");
    fs::write(&file, "").unwrap();
    thread::sleep(Duration::from_millis(500));
    append(&event("stage:complete", "x"));
    assert_eq!(following.next_type(), "stage:complete");
    put(&context.session_dir("s1").join("new"), event("stage:start", "x"));
    fs::rename(context.session_dir("s1").join("new"), &file).unwrap();
    assert_eq!(following.next_type(), "stage:start");
}

#[test]
fn following_begins_with_the_past_and_ends_with_its_reader() {
    let context = TestContext::for_commands();
    context.run("init quick").ok();
    let mut child = context.command(&["timeline", "--follow", "--json", "--limit", "1"]).spawn().unwrap();
    let mut first = String::new();
    let mut pipe = BufReader::new(child.stdout.take().unwrap());
    pipe.read_line(&mut first).unwrap();
    assert!(first.contains("loop:start"));
    drop(pipe);
    assert_eq!(child.wait().unwrap().code(), Some(0));
}
