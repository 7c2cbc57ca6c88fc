//! Files that are torn, foreign, empty, missing or very long.

use std::io::Write;
use std::process::{Command, Stdio};
use std::thread;

use super::story::Story;
use crate::context::{BINARY, Output, TestContext, put, read};

/// It could not be read, said why and how to go on, and printed nothing.
#[track_caller]
fn unreadable(output: Output, parts: &[&str]) {
    assert_eq!((output.code, output.stdout.as_str()), (Some(2), ""), "{}", output.stderr);
    assert!(output.stderr.starts_with("error: ") && output.stderr.contains("\nhint: "), "{}", output.stderr);
    output.stderr_has(parts);
}

#[test]
fn what_cannot_be_read_ends_with_two() {
    let context = TestContext::for_commands();
    unreadable(context.run("replay"), &["no timeline", "timeline.jsonl"]);
    unreadable(context.run("replay other"), &["no such session: other"]);
    unreadable(context.run("replay ./nowhere.jsonl"), &["no timeline: ./nowhere.jsonl"]);
    unreadable(context.run("replay --redact ./nowhere.jsonl"), &["no timeline"]);
    unreadable(context.run("replay ."), &["no timeline: ./timeline.jsonl"]);
    unreadable(context.run_with_stdin("replay -", "# a book\n\nabout doors\n"), &["not a timeline"]);
    unreadable(context.without_env("OVERTONE_SESSION_ID").run("replay"), &["no session"]);
    let context = TestContext::for_commands();
    std::fs::create_dir_all(context.session_dir("s1").join("timeline.jsonl")).unwrap();
    unreadable(context.run("replay"), &["cannot use file"]);
    context.run("replay --redact --all").refused_by_parser();
}

#[test]
fn an_empty_timeline_has_no_difference() {
    let context = TestContext::for_commands();
    put(&context.session_dir("s1").join("timeline.jsonl"), "");
    context.run("replay").ok().has(&["0 replayed", "nothing", "no difference"]);
    assert_eq!(context.json("replay --json")["lines"], 0);
    assert_eq!(context.run("replay --redact").ok().stdout, "");
    context.run_with_stdin("replay -", "\n\n  \n").ok();
}

#[test]
fn torn_and_foreign_lines_are_named_and_passed_over() {
    let story = Story::eventful();
    let text = read(&story.timeline());
    let mut lines: Vec<_> = text.lines().map(str::to_owned).collect();
    lines.insert(20, r#"{"type":"future:thing","x":1}"#.into());
    lines.insert(10, "<<<<<<< HEAD".into());
    lines.insert(3, String::new());
    put(&story.timeline(), &(lines.join("\n") + "\n{\"ts\":\"2026-0"));
    let torn = lines.len() + 1;
    story.context.run("replay").ok().has(&[
        "no difference",
        "line 12: incomplete, or not an event",
        "line 23: unknown event type future:thing",
        &format!("line {torn}: incomplete"),
        "not compared: the timeline is incomplete",
    ]);
    let object = story.context.json("replay --json");
    assert_eq!((&object["skippedCount"], &object["stored"]), (&3.into(), &"not-whole".into()));
    assert_eq!(
        object["skipped"][1],
        serde_json::json!({ "line": 23, "why": "unknown", "type": "future:thing" })
    );
    // The copy has its lines in the same places, and the torn one is still torn.
    let copy = story.context.run("replay --redact").ok().stdout;
    assert!(!copy.ends_with('\n') && !copy.contains("HEAD") && !copy.contains("future"));
    let again = story.context.run_with_stdin("replay -", &copy).ok();
    again.has(&[
        "line 12: incomplete",
        "line 23: unknown event type redacted",
        &format!("line {torn}: incomplete"),
    ]);
}

/// Each line in turn is torn: the others still fit, unless the line said what nobody else does.
#[test]
fn a_torn_line_is_no_difference_where_the_others_tell_enough() {
    let story = Story::eventful();
    let text = read(&story.timeline());
    let lines: Vec<_> = text.lines().collect();
    for kind in ["stage:start", "stage:complete", "agent:complete", "parallel:converge", "loop:complete"] {
        let at = story.line_of(kind, 1);
        let mut torn = lines.clone();
        torn[at - 1] = &lines[at - 1][..30];
        story.context.run_with_stdin("replay -", &(torn.join("\n") + "\n")).ok().has(&["no difference"]);
    }
}

#[test]
fn a_line_without_an_end_is_bounded() {
    let context = TestContext::for_commands();
    let long = format!("{{\"type\":\"stage:start\",\"x\":\"{}\"}}\n", "y".repeat(5_000_000));
    let text = format!("{}\n{long}", r#"{"type":"session:start","source":"startup"}"#);
    context.run_with_stdin("replay -", &text).ok().has(&["1 replayed", "line 2: incomplete"]);
    assert_eq!(context.run_with_stdin("replay --redact -", &text).ok().stdout.lines().count(), 2);
}

/// More than twice as many bytes as the memory that it may have.
#[test]
fn a_long_timeline_needs_no_more_memory_than_a_short_one() {
    const MEMORY_KB: u32 = 120_000;
    const ROUNDS: usize = 1_000;
    const LINES: usize = 100;
    let story = Story::new();
    story.context.run("init single").ok();
    story.run("developer", "PASS");
    story.stop();
    let workflow = read(&story.timeline());
    let error = "x".repeat(3_000);
    let failure = format!("{{\"type\":\"tool:failure\",\"toolName\":\"Bash\",\"error\":\"{error}\"}}\n");
    let round = failure.repeat(LINES - workflow.lines().count()) + &workflow;
    assert!(round.len() * ROUNDS > 2 * 1024 * MEMORY_KB as usize, "{}", round.len());

    let limited = format!("ulimit -v {MEMORY_KB} && exec \"$0\" replay -");
    let mut command = Command::new("sh");
    command.args(["-c", &limited, BINARY]).env_clear().stdin(Stdio::piped());
    command.stdout(Stdio::piped()).stderr(Stdio::piped());
    for (name, value) in story.context.command::<&str>(&[]).get_envs() {
        command.env(name, value.unwrap());
    }
    let mut child = command.spawn().unwrap();
    let mut pipe = child.stdin.take().unwrap();
    let writer = thread::spawn(move || (0..ROUNDS).try_for_each(|_| pipe.write_all(round.as_bytes())));
    let output = Output::new(&child.wait_with_output().unwrap()).ok();
    writer.join().unwrap().unwrap();
    output.has(&["no difference", "100000 replayed", "workflows started: 1000"]);
}
