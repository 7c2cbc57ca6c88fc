//! A session continues on another machine.

use std::fs;

use overtone_testkit::wait_until;
use serde_json::{Value, json};

use crate::common::{read_json, with_verdict};
use crate::machine::{Machine, Server};

#[test]
fn after_a_pull_both_machines_name_the_new_one() {
    let server = Server::start();
    let (one, two) = (Machine::sharing(&server, "one", "full"), Machine::joined(&server, "two"));
    one.start_workflow("aaaa-1", "--feature login").succeeds();
    two.wait_for_state("aaaa-1", "running");
    let output = two.run("fleet pull aaaa").succeeds();
    assert!(
        output.stdout.contains("here from one: ") && output.stdout.contains("claude --session-id aaaa-1")
    );
    assert_eq!(output.stderr, "", "everything was shared, and the repository is the same");
    let left = one.run("message --session aaaa-1 hello").fails_with(1, "continues on two");
    assert!(left.stderr.contains("overtone fleet pull aaaa-1"), "{left:?}");
    let status = two.json("status --session aaaa-1");
    assert_eq!(status["workflow"]["type"], "quick", "{status}");
    let theirs = one.timeline("aaaa-1");
    assert!(two.timeline("aaaa-1").starts_with(&theirs));
    let origin = read_json(&two.state_file("sessions/aaaa-1/session.json"));
    assert_eq!(origin["project"], json!(two.project()));
    two.run("fleet pull aaaa-1").fails_with(1, "is on this machine");
}

#[test]
fn a_session_of_an_offline_machine_is_pulled_only_with_take_over() {
    let server = Server::start();
    let (mut one, two) = (Machine::joined(&server, "one"), Machine::joined(&server, "two"));
    one.start_workflow("aaaa-1", "").succeeds();
    two.wait_for_state("aaaa-1", "running");
    one.go_offline();
    let output = two.run("fleet pull aaaa").fails_with(3, "one is offline");
    assert!(output.stderr.contains("--take-over"), "{output:?}");
    let elsewhere = two.path("elsewhere");
    std::fs::create_dir(&elsewhere).unwrap();
    let folder = elsewhere.display().to_string();
    let output = two.run_args(&["fleet", "pull", "aaaa", "--take-over", "--project", &folder]).succeeds();
    assert!(
        output.stderr.contains("warning: the session belongs to example.org/ann/shop, and this is elsewhere")
    );
    assert!(output.stderr.contains("only its state was shared"), "{output:?}");
    one.start_relay();
    wait_until("it steps aside", || one.run("stop --session aaaa-1").stderr.contains("continues on two"));
}

#[test]
fn a_pull_keeps_the_previous_local_session() {
    let server = Server::start();
    let (one, two) = (Machine::joined(&server, "one"), Machine::joined(&server, "two"));
    one.start_workflow("aaaa-1", "").succeeds();
    let path = one.state_file("sessions/aaaa-1/timeline.jsonl");
    let secret = json!({ "ts": "2026-01-01T00:00:00.000Z", "type": "tool:failure", "category": "tool", "label": "x", "error": "only here" });
    let append = |text: &str| fs::write(&path, one.timeline("aaaa-1") + text + "\n").unwrap();
    append(&secret.to_string());
    one.forget_seal("aaaa-1");
    let workflow = fs::read_to_string(one.state_file("sessions/aaaa-1/workflow.json")).unwrap();
    let named = workflow.replacen('{', r#"{"otherHandoffs":["handoffs/01-DEV-developer.md"],"#, 1);
    fs::write(one.state_file("sessions/aaaa-1/workflow.json"), named).unwrap();
    fs::create_dir_all(one.state_file("sessions/aaaa-1/handoffs")).unwrap();
    fs::write(one.state_file("sessions/aaaa-1/handoffs/01-DEV-developer.md"), "what was done").unwrap();
    two.wait_for_state("aaaa-1", "running");
    two.run("fleet pull aaaa").succeeds();
    assert!(!two.timeline("aaaa-1").contains("only here"), "texts are not shared");
    // This machine no longer publishes the session, which belongs to the other one.
    let unheard = json!({ "ts": "2026-01-02T00:00:00.000Z", "type": "tool:failure", "label": "x", "error": "unheard of" });
    append(&unheard.to_string());
    let before = one.timeline("aaaa-1");
    one.wait_for_owner("aaaa-1", "two");
    let output = one.run("fleet pull aaaa").succeeds();
    let kept =
        output.stderr.lines().find_map(|line| line.strip_prefix("what was here before is kept in ")).unwrap();
    assert_eq!(fs::read_to_string(std::path::Path::new(kept).join("timeline.jsonl")).unwrap(), before);
    let now = one.timeline("aaaa-1");
    assert!(now.contains("only here") && now.contains("session-pulled"), "{now}");
    assert!(before.starts_with(now.lines().next().unwrap()));
    let handoff = one.state_file("sessions/aaaa-1/handoffs/01-DEV-developer.md");
    assert_eq!(fs::read_to_string(handoff).unwrap(), "what was done");
    assert_eq!(read_json(&one.state_file("sessions/aaaa-1/workflow.json")).get("movedTo"), None);
}

#[test]
fn a_refused_pull_gives_the_reason() {
    let server = Server::start();
    let (one, two) = (Machine::joined(&server, "one"), Machine::joined(&server, "two"));
    two.run("fleet pull none").fails_with(1, "no such session");
    one.start_workflow("aaaa-1", "").succeeds();
    one.wait_for_state("aaaa-1", "running");
    one.run("fleet pull aaaa-1").fails_with(1, "is on this machine");
}

/// The main agent delegates to an agent, which passes.
fn run_agent(machine: &Machine, agent: &str) {
    let answer = machine.delegate(SESSION, agent).answer();
    assert_ne!(answer["hookSpecificOutput"]["permissionDecision"], "deny", "{agent}: {answer}");
    machine.report(SESSION, agent, &with_verdict("done", "PASS"));
}

/// The session that moves.
const SESSION: &str = "aaaa-1";

/// The agents of the remaining stages.
const REMAINING_AGENTS: [&str; 4] = ["code-reviewer", "tester", "retrospective", "doc-updater"];

#[test]
fn a_workflow_is_finished_on_another_machine_through_the_hooks() {
    let server = Server::start();
    let (one, two) = (Machine::sharing(&server, "one", "full"), Machine::sharing(&server, "two", "full"));
    one.start_workflow("aaaa-1", "").succeeds();
    run_agent(&one, "developer");
    two.wait_for_state("aaaa-1", "running");
    two.run("fleet pull aaaa-1").succeeds();
    // The machine that released the session neither delegates nor keeps the loop going.
    let denied = one.delegate(SESSION, "tester").answer();
    assert_eq!(denied["hookSpecificOutput"]["permissionDecision"], "deny", "{denied}");
    let stop = json!({ "stop_hook_active": false, "background_tasks": [] });
    assert_eq!(continuation(&one.send_event("on-stop", SESSION, stop.clone()).json()), "");
    // The new one knows the workflow and its next step.
    let welcome = two.send_event("on-start", SESSION, json!({ "source": "startup" })).json().to_string();
    assert!(welcome.contains("quick"), "{welcome}");
    let held = two.send_event("on-stop", SESSION, stop.clone()).json();
    assert!(continuation(&held).contains("TESTER"), "the loop continues there: {held}");
    for agent in REMAINING_AGENTS {
        run_agent(&two, agent);
    }
    two.send_event("on-stop", SESSION, stop.clone()).json();
    let state = read_json(&two.state_file("sessions/aaaa-1/workflow.json"));
    assert_eq!(state["ending"], "completed", "{state}");
    let kinds: Vec<_> = two.timeline("aaaa-1").lines().map(kind).collect();
    assert_eq!(kinds.iter().filter(|kind| *kind == "workflow:complete").count(), 1, "{kinds:?}");
    assert_eq!(kinds.iter().filter(|kind| *kind == "workflow:start").count(), 1, "{kinds:?}");
}

/// The text with which a Stop hook lets the client continue; empty if it may stop.
fn continuation(answer: &Value) -> &str {
    answer["hookSpecificOutput"]["additionalContext"].as_str().unwrap_or_default()
}

fn kind(line: &str) -> String {
    serde_json::from_str::<Value>(line).unwrap()["type"].as_str().unwrap_or_default().to_owned()
}
