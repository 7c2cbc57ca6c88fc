//! `overtone init --feature` in a fleet: two machines do not begin the same thing unawares.

use overtone_testkit::wait_until;

use crate::machine::{Machine, Server};

#[test]
fn a_feature_of_another_machine_is_refused_without_anyway() {
    let server = Server::start();
    let (one, two) = (Machine::joined(&server, "one"), Machine::joined(&server, "two"));
    one.start_workflow("aaaa-1", "--feature login").succeeds();
    let output =
        two.start_workflow("bbbb-2", "--feature login").fails_with(1, "one has been working on login for ");
    assert!(output.stderr.contains("--anyway"), "{output:?}");
    assert!(!two.project().join("specs/features/in-progress/login").exists());
    assert!(!two.state_file("sessions/bbbb-2/workflow.json").exists());
    // Another feature is free, and so is no feature at all.
    two.start_workflow("bbbb-3", "--feature search").succeeds();
    two.start_workflow("bbbb-4", "").succeeds();
    two.start_workflow("bbbb-2", "--feature login --anyway").succeeds();
    wait_until("the conflict is shown", || {
        let list = one.json("fleet list");
        let features = list["features"].as_array().unwrap();
        features
            .iter()
            .any(|f| f["feature"] == "login" && f["conflict"] == true && f["owner"]["name"] == "two")
    });
    assert!(one.run("fleet").succeeds().stdout.contains("⚠ conflict"));
}

#[test]
fn an_offline_machine_does_not_hold_its_feature() {
    let server = Server::start();
    let (mut one, two) = (Machine::joined(&server, "one"), Machine::joined(&server, "two"));
    one.start_workflow("aaaa-1", "--feature login").succeeds();
    one.go_offline();
    two.start_workflow("bbbb-2", "--feature login").succeeds();
}

#[test]
fn a_failed_start_releases_the_feature() {
    let server = Server::start();
    let (one, two) = (Machine::joined(&server, "one"), Machine::joined(&server, "two"));
    one.start_workflow("aaaa-1", "").succeeds();
    one.start_workflow("aaaa-1", "--feature login").fails_with(1, "quick");
    two.start_workflow("bbbb-2", "--feature login").succeeds();
}

#[test]
fn a_workflow_starts_without_the_server() {
    let mut server = Server::start();
    let machine = Machine::new();
    machine.run_args(&["fleet", "join", &server.url()]).succeeds();
    server.kill();
    let output = machine.start_workflow("aaaa-1", "--feature login").succeeds();
    let notes: Vec<_> = output.stderr.lines().collect();
    assert!(notes.len() == 1 && notes[0].contains("starting anyway"), "{output:?}");
    assert!(machine.project().join("specs/features/in-progress/login").exists());
}
