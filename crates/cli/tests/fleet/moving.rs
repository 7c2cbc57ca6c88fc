//! A session goes on at another machine.

use std::fs;
use std::io::Write as _;
use std::process::Stdio;

use serde_json::{Value, json};

use crate::world::{Machine, Server, read};

#[test]
fn a_session_moves_and_both_say_where_it_is() {
    let server = Server::start();
    let (one, two) = (Machine::sharing(&server, "one", "full"), Machine::joined(&server, "two"));
    one.start("aaaa-1", &["--feature", "login"]).ok();
    two.until_shown("aaaa-1", "running");
    let said = two.run(&["fleet", "pull", "aaaa"]).ok();
    assert!(said.stdout.contains("here from one: ") && said.stdout.contains("claude --session-id aaaa-1"));
    assert_eq!(said.stderr, "", "everything was shared, and the repository is the same");
    let left = one.run(&["message", "--session", "aaaa-1", "hello"]).fails(1, "continues on two");
    assert!(left.stderr.contains("overtone fleet pull aaaa-1"), "{left:?}");
    let status = two.json(&["status", "--session", "aaaa-1"]);
    assert_eq!(status["workflow"]["type"], "quick", "{status}");
    let theirs = one.timeline("aaaa-1");
    assert!(two.timeline("aaaa-1").starts_with(&theirs));
    let origin = read(&two.state("sessions/aaaa-1/session.json"));
    assert_eq!(origin["project"], json!(two.project()));
    two.run(&["fleet", "pull", "aaaa-1"]).fails(1, "is on this machine");
}

#[test]
fn from_a_machine_that_is_gone_only_by_saying_so() {
    let server = Server::start();
    let (mut one, two) = (Machine::joined(&server, "one"), Machine::joined(&server, "two"));
    one.start("aaaa-1", &[]).ok();
    two.until_shown("aaaa-1", "running");
    one.vanish();
    let said = two.run(&["fleet", "pull", "aaaa"]).fails(3, "one is offline");
    assert!(said.stderr.contains("--take-over"), "{said:?}");
    let elsewhere = two.root.path().join("elsewhere");
    std::fs::create_dir(&elsewhere).unwrap();
    let folder = elsewhere.display().to_string();
    let said = two.run(&["fleet", "pull", "aaaa", "--take-over", "--project", &folder]).ok();
    assert!(
        said.stderr.contains("warning: the session belongs to example.org/ann/shop, and this is elsewhere")
    );
    assert!(said.stderr.contains("only its state was shared"), "{said:?}");
    one.start_relay();
    crate::world::wait_until("it steps aside", || {
        one.run(&["stop", "--session", "aaaa-1"]).stderr.contains("continues on two")
    });
}

#[test]
fn a_pull_keeps_what_was_here() {
    let server = Server::start();
    let (one, two) = (Machine::joined(&server, "one"), Machine::joined(&server, "two"));
    one.start("aaaa-1", &[]).ok();
    let path = one.state("sessions/aaaa-1/timeline.jsonl");
    let secret = json!({ "ts": "2026-01-01T00:00:00.000Z", "type": "tool:failure", "category": "tool", "label": "x", "error": "only here" });
    let append = |text: &str| fs::write(&path, one.timeline("aaaa-1") + text + "\n").unwrap();
    append(&secret.to_string());
    let workflow = fs::read_to_string(one.state("sessions/aaaa-1/workflow.json")).unwrap();
    let named = workflow.replacen('{', r#"{"otherHandoffs":["handoffs/01-DEV-developer.md"],"#, 1);
    fs::write(one.state("sessions/aaaa-1/workflow.json"), named).unwrap();
    fs::create_dir_all(one.state("sessions/aaaa-1/handoffs")).unwrap();
    fs::write(one.state("sessions/aaaa-1/handoffs/01-DEV-developer.md"), "what was done").unwrap();
    two.until_shown("aaaa-1", "running");
    two.run(&["fleet", "pull", "aaaa"]).ok();
    assert!(!two.timeline("aaaa-1").contains("only here"), "texts are not shared");
    // Something is written here that nobody hears of: the session belongs to the other machine.
    let unheard = json!({ "ts": "2026-01-02T00:00:00.000Z", "type": "tool:failure", "label": "x", "error": "unheard of" });
    append(&unheard.to_string());
    let before = one.timeline("aaaa-1");
    one.until_owned_by("aaaa-1", "two");
    let said = one.run(&["fleet", "pull", "aaaa"]).ok();
    let kept =
        said.stderr.lines().find_map(|line| line.strip_prefix("what was here before is kept in ")).unwrap();
    assert_eq!(fs::read_to_string(std::path::Path::new(kept).join("timeline.jsonl")).unwrap(), before);
    let now = one.timeline("aaaa-1");
    assert!(now.contains("only here") && now.contains("session-pulled"), "{now}");
    assert!(before.starts_with(now.lines().next().unwrap()));
    let handoff = one.state("sessions/aaaa-1/handoffs/01-DEV-developer.md");
    assert_eq!(fs::read_to_string(handoff).unwrap(), "what was done");
    assert_eq!(read(&one.state("sessions/aaaa-1/workflow.json")).get("movedTo"), None);
}

#[test]
fn what_cannot_be_pulled_says_why() {
    let server = Server::start();
    let (one, two) = (Machine::joined(&server, "one"), Machine::joined(&server, "two"));
    two.run(&["fleet", "pull", "none"]).fails(1, "no such session");
    one.start("aaaa-1", &[]).ok();
    one.until_shown("aaaa-1", "running");
    one.run(&["fleet", "pull", "aaaa-1"]).fails(1, "is on this machine");
}

/// A hook as the client runs it; its answer.
fn hook(machine: &Machine, name: &str, event: &str, fields: &Value) -> Value {
    let mut payload = json!({ "session_id": "aaaa-1", "cwd": machine.project(), "hook_event_name": event });
    payload.as_object_mut().unwrap().extend(fields.as_object().unwrap().clone());
    let mut child = machine.command(&["hook", name]);
    let mut child = child.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    child.stdin.take().unwrap().write_all(payload.to_string().as_bytes()).unwrap();
    let output = child.wait_with_output().unwrap();
    serde_json::from_slice(&output.stdout).unwrap()
}

/// An agent is sent, works and reports.
fn work(machine: &Machine, agent: &str) {
    let call = json!({
        "tool_name": "Agent", "tool_use_id": agent,
        "tool_input": { "subagent_type": format!("ot:{agent}"), "description": "d", "prompt": "p" },
    });
    let answer = hook(machine, "pre-task", "PreToolUse", &call);
    assert_ne!(answer["hookSpecificOutput"]["permissionDecision"], "deny", "{agent}: {answer}");
    let who = json!({ "agent_id": agent, "agent_type": format!("ot:{agent}") });
    hook(machine, "on-agent-start", "SubagentStart", &who);
    let mut report = who;
    report["last_assistant_message"] = json!("done\n<!-- VERDICT: {\"result\":\"PASS\"} -->");
    hook(machine, "on-agent-stop", "SubagentStop", &report);
}

/// What is left of the workflow.
const REST: [&str; 4] = ["code-reviewer", "tester", "retrospective", "doc-updater"];

#[test]
fn a_workflow_begun_here_is_finished_there_through_the_hooks() {
    let server = Server::start();
    let (one, two) = (Machine::sharing(&server, "one", "full"), Machine::sharing(&server, "two", "full"));
    one.start("aaaa-1", &[]).ok();
    work(&one, "developer");
    two.until_shown("aaaa-1", "running");
    two.run(&["fleet", "pull", "aaaa-1"]).ok();
    // The one that let go neither delegates nor holds on.
    let call = json!({
        "tool_name": "Agent", "tool_use_id": "x",
        "tool_input": { "subagent_type": "ot:tester", "description": "d", "prompt": "p" },
    });
    let denied = hook(&one, "pre-task", "PreToolUse", &call);
    assert_eq!(denied["hookSpecificOutput"]["permissionDecision"], "deny", "{denied}");
    let stop = json!({ "stop_hook_active": false, "background_tasks": [] });
    assert_eq!(going_on(&hook(&one, "on-stop", "Stop", &stop)), "");
    // The other finds where it was, and what was handed over.
    let welcome = hook(&two, "on-start", "SessionStart", &json!({ "source": "startup" })).to_string();
    assert!(welcome.contains("quick"), "{welcome}");
    let held = hook(&two, "on-stop", "Stop", &stop);
    assert!(going_on(&held).contains("TESTER"), "the loop goes on there: {held}");
    for agent in REST {
        work(&two, agent);
    }
    hook(&two, "on-stop", "Stop", &stop);
    let state = read(&two.state("sessions/aaaa-1/workflow.json"));
    assert_eq!(state["ending"], "completed", "{state}");
    let kinds: Vec<_> = two.timeline("aaaa-1").lines().map(kind).collect();
    assert_eq!(kinds.iter().filter(|kind| *kind == "workflow:complete").count(), 1, "{kinds:?}");
    assert_eq!(kinds.iter().filter(|kind| *kind == "workflow:start").count(), 1, "{kinds:?}");
}

/// What makes the client go on instead of stopping.
fn going_on(answer: &Value) -> &str {
    answer["hookSpecificOutput"]["additionalContext"].as_str().unwrap_or_default()
}

fn kind(line: &str) -> String {
    serde_json::from_str::<Value>(line).unwrap()["type"].as_str().unwrap_or_default().to_owned()
}
