//! Viewing and controlling sessions of other machines.

use std::io::{BufRead as _, BufReader};
use std::process::Stdio;

use overtone_testkit::wait_until;
use serde_json::json;

use crate::machine::{Machine, Server};

#[test]
fn every_machine_sees_all_sessions() {
    let server = Server::start();
    let (one, two) = (Machine::joined(&server, "one"), Machine::joined(&server, "two"));
    one.start_workflow("aaaa-1", "--feature login").succeeds();
    two.start_workflow("bbbb-2", "").succeeds();
    one.wait_for_state("bbbb-2", "running");
    two.wait_for_state("aaaa-1", "running");
    let list = two.json("fleet");
    let names: Vec<_> =
        list["machines"].as_array().unwrap().iter().map(|m| (&m["name"], &m["present"])).collect();
    assert_eq!(names, [(&json!("one"), &json!(true)), (&json!("two"), &json!(true))]);
    let features = list["features"].as_array().unwrap();
    assert_eq!(features.len(), 1, "{features:?}");
    assert_eq!(
        (&features[0]["repository"], &features[0]["feature"]),
        (&json!("example.org/ann/shop"), &json!("login"))
    );
    assert_eq!(
        (&features[0]["owner"]["session"], &features[0]["conflict"]),
        (&json!("aaaa-1"), &json!(false))
    );
    let drawn = two.run("fleet list").succeeds().stdout;
    for word in ["one", "two", "online", "aaaa-1", "bbbb-2", "quick", "0/5", "login", "example.org/ann/shop"]
    {
        assert!(drawn.contains(word), "{word}: {drawn}");
    }
    let shown = two.run("fleet show aaaa").succeeds().stdout;
    for word in ["aaaa-1", "one (online)", "⬜ DEV", "workflow started", "project · example.org/ann/shop"] {
        assert!(shown.contains(word), "{word}: {shown}");
    }
    let shown = two.json("fleet show aaaa");
    assert_eq!((&shown["machine"]["name"], &shown["feature"]), (&json!("one"), &json!("login")));
    assert!(!shown["lastEvents"].as_array().unwrap().is_empty());
}

#[test]
fn an_ambiguous_session_name_is_refused() {
    let server = Server::start();
    let one = Machine::joined(&server, "one");
    one.start_workflow("aaaa-1", "").succeeds();
    one.start_workflow("aaaa-2", "").succeeds();
    one.wait_for_state("aaaa-1", "running");
    one.wait_for_state("aaaa-2", "running");
    let output = one.run("fleet show aaaa").fails_with(1, "several sessions start with aaaa");
    assert!(output.stderr.contains("aaaa-1 (one)") && output.stderr.contains("aaaa-2 (one)"), "{output:?}");
    one.run("fleet show zz").fails_with(1, "no such session in the fleet: zz");
    one.run("fleet show aaa").fails_with(1, "no such session in the fleet: aaa");
}

#[test]
fn orders_are_carried_out_on_the_other_machine_and_recorded() {
    let server = Server::start();
    let (one, two) = (Machine::joined(&server, "one"), Machine::joined(&server, "two"));
    one.start_workflow("aaaa-1", "--feature login").succeeds();
    two.wait_for_state("aaaa-1", "running");
    assert!(
        two.run_args(&["fleet", "message", "aaaa", "look", "at the tests"])
            .succeeds()
            .stdout
            .contains("delivered to one")
    );
    assert!(two.run("fleet stop aaaa").succeeds().stdout.contains("stopped on one"));
    two.wait_for_state("aaaa-1", "stopped");
    assert_eq!(two.json("fleet resume aaaa")["outcome"], "done");
    two.wait_for_state("aaaa-1", "running");
    two.run("fleet pause aaaa").succeeds();
    assert!(one.project().join("specs/features/paused/login").exists());
    two.run("fleet resume aaaa").succeeds();
    assert!(one.project().join("specs/features/in-progress/login").exists());
    let traces = one.timeline("aaaa-1");
    assert!(traces.contains("ann@two"), "{traces}");
    let workflow = std::fs::read_to_string(one.state_file("sessions/aaaa-1/workflow.json")).unwrap();
    assert!(workflow.contains("look at the tests"), "{workflow}");
}

#[test]
fn each_failure_has_its_own_exit_code() {
    let server = Server::start();
    let (mut one, two) = (Machine::joined(&server, "one"), Machine::joined(&server, "two"));
    // A session without a workflow accepts no message.
    one.start_session("aaaa-1");
    two.wait_for_state("aaaa-1", "none");
    two.run("fleet message aaaa hello").fails_with(1, "one refused: ");
    one.go_offline();
    two.run("fleet stop aaaa").fails_with(3, "one is offline");
    let output = two.run("fleet stop aaaa --json");
    assert_eq!((output.code, &output.json()["outcome"]), (Some(3), &json!("gone")));
}

#[test]
fn tail_shows_events_of_other_machines() {
    let server = Server::start();
    let (one, two) = (Machine::joined(&server, "one"), Machine::joined(&server, "two"));
    one.start_session("aaaa-1");
    two.wait_for_state("aaaa-1", "none");
    let mut command = two.command(&["fleet", "tail", "aaaa"]);
    let mut tail = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let mut notes = BufReader::new(tail.stderr.take().unwrap()).lines();
    assert!(notes.next().unwrap().unwrap().contains("waiting for events"));
    one.run("init quick --session aaaa-1").succeeds();
    let mut lines = BufReader::new(tail.stdout.take().unwrap()).lines();
    let line = lines.next().unwrap().unwrap();
    assert!(line.starts_with("one/aaaa-1  ") && line.contains("workflow started"), "{line}");
    // It ends when its reader is gone.
    drop(lines);
    wait_until("it ends", || tail.try_wait().unwrap().is_some());
}
