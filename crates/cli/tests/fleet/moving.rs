//! A session goes on at another machine.

use serde_json::json;

use crate::world::{Machine, Server, read};

#[test]
fn a_session_moves_and_both_say_where_it_is() {
    let server = Server::start();
    let (one, two) = (Machine::sharing(&server, "one", "full"), Machine::joined(&server, "two"));
    one.start("aaaa-1", &["--feature", "login"]).ok();
    two.until_shown("aaaa-1", "running");
    let said = two.run(&["fleet", "pull", "aaaa"]).ok();
    assert!(
        said.stdout.contains("has come from one: ") && said.stdout.contains("claude --session-id aaaa-1")
    );
    assert_eq!(said.stderr, "", "everything was shared, and the repository is the same");
    let left = one.run(&["message", "--session", "aaaa-1", "hello"]).fails(1, "goes on at two");
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
    let said = two.run(&["fleet", "pull", "aa"]).fails(3, "one is gone");
    assert!(said.stderr.contains("--take-over"), "{said:?}");
    let elsewhere = two.root.path().join("elsewhere");
    std::fs::create_dir(&elsewhere).unwrap();
    let folder = elsewhere.display().to_string();
    let said = two.run(&["fleet", "pull", "aa", "--take-over", "--project", &folder]).ok();
    assert!(
        said.stderr.contains("warning: the session is about example.org/ann/shop, and this is elsewhere")
    );
    assert!(said.stderr.contains("only its state was shared"), "{said:?}");
    one.start_relay();
    crate::world::until("it steps aside", || {
        one.run(&["stop", "--session", "aaaa-1"]).stderr.contains("goes on at two")
    });
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
