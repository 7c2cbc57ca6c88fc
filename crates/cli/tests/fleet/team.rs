//! Who is part of the team: invited, accepted, removed.

use std::fs;

use overtone_testkit::nats::{NatsServer, free_port};
use overtone_testkit::wait_until;
use serde_json::json;

use crate::machine::{Machine, Server};

fn invitation(machine: &Machine) -> String {
    machine.run("fleet invite").succeeds().stdout.trim().to_owned()
}

#[test]
fn joining_a_team_needs_an_invitation() {
    let server = Server::start();
    let _one = Machine::joined(&server, "one");
    let two = Machine::new();
    let output =
        two.run_args(&["fleet", "join", &server.url()]).fails_with(1, "a team already uses this server");
    assert!(output.stderr.contains("overtone fleet invite"), "{output:?}");
    assert!(!two.state_file("config.json").exists());
    two.run_with_stdin("fleet join", "nats://127.0.0.1:4222").fails_with(1, "not an invitation");
    // A machine that was configured by hand is warned by every command.
    two.run_args(&["fleet", "join", &server.url(), "--offline"]).succeeds();
    let list = two.run("fleet list").succeeds();
    assert!(
        list.stderr.contains("not part of it") && list.stderr.contains("overtone fleet invite"),
        "{list:?}"
    );
    for arguments in [&["fleet", "invite"][..], &["fleet", "accept"], &["fleet", "stop", "aaaa"]] {
        two.run_args(arguments).fails_with(1, "this machine is not part of it");
    }
}

#[test]
fn an_invited_machine_is_trusted_from_its_acceptance_to_its_removal() {
    let server = Server::start();
    let one = Machine::joined(&server, "one");
    one.start_workflow("aaaa-1", "").succeeds();
    one.wait_for_state("aaaa-1", "running");
    one.run("fleet accept").fails_with(1, "no machine is waiting");
    let mut two = Machine::new();
    let joined = two.run_with_stdin("fleet join --name two", invitation(&one)).succeeds();
    assert!(joined.stdout.contains("waiting to be accepted"), "{joined:?}");
    // It knows the team already, but the team does not trust it yet.
    two.wait_for_state("aaaa-1", "running");
    two.run("fleet stop aaaa").fails_with(1, "waiting to be accepted");
    let unknown = one.json("fleet machines")["unknown"][0].clone();
    assert_eq!((&unknown["callsItself"], &unknown["invited"]), (&json!("two"), &json!(true)), "{unknown}");
    let key = unknown["fingerprint"].as_str().unwrap().to_owned();
    assert!(joined.stdout.contains(&key));
    // Without a terminal nobody can be asked, so the key must be given.
    let output = one.run("fleet accept").fails_with(1, "say which machine");
    assert!(output.stderr.contains("used an invitation") && output.stderr.contains(&key), "{output:?}");
    one.run("fleet accept two").fails_with(1, "no such machine: two");
    assert!(
        one.run_args(&["fleet", "accept", &key]).succeeds().stdout.contains("two is part of the team now")
    );
    two.start_relay();
    two.run("fleet stop aaaa").succeeds();
    assert!(one.timeline("aaaa-1").contains("ann@two"));
    let members = one.run("fleet machines").succeeds().stdout;
    assert!(members.contains(&key) && !members.contains("unknown"), "{members}");

    one.run("fleet remove two").fails_with(1, "no terminal to ask in");
    assert!(one.run("fleet remove two --yes").succeeds().stdout.contains("no machine trusts it"));
    two.run("fleet resume aaaa").fails_with(1, "was removed from the team");
    wait_until("it knows of its removal", || two.json("fleet status")["membership"] == "removed");
    // It can come back.
    two.run_with_stdin("fleet join --name two", invitation(&one)).succeeds();
    one.run("fleet accept --invited").succeeds();
    wait_until("it is trusted again", || two.run("fleet resume aaaa").code == Some(0));
}

#[test]
fn an_invitation_is_valid_for_one_machine_and_names_are_unique() {
    let server = Server::start();
    let one = Machine::joined(&server, "box");
    let invitation = invitation(&one);
    let (two, three) = (Machine::new(), Machine::new());
    two.run_with_stdin("fleet join --name box", &invitation).succeeds();
    assert!(one.run("fleet accept --invited").succeeds().stdout.contains("box-2 is part"));
    three.run_with_stdin("fleet join --name three", &invitation).succeeds();
    assert_eq!(one.json("fleet accept --invited")["accepted"], json!([]));
    assert_eq!(one.json("fleet machines")["unknown"][0]["invited"], false);
    // Any machine of the team may accept by the key.
    let key = three.json("fleet status")["fingerprint"].as_str().unwrap().to_owned();
    two.run_args(&["fleet", "accept", &key]).succeeds();
    assert_eq!(one.json("fleet machines")["machines"].as_array().unwrap().len(), 3);
}

#[test]
fn a_machine_that_left_comes_back_without_an_invitation_and_keeps_its_key() {
    let server = Server::start();
    let (one, two) = (Machine::joined(&server, "one"), Machine::joined(&server, "two"));
    let key = two.json("fleet status")["fingerprint"].clone();
    two.run("fleet leave").succeeds();
    let again = two.json(&format!("fleet join {} --name two", server.url()));
    assert_eq!((&again["membership"], &again["fingerprint"]), (&json!("member"), &key));
    assert_eq!(one.json("fleet machines")["machines"].as_array().unwrap().len(), 2);
}

#[test]
fn server_config_writes_a_working_server_and_join_commands() {
    let one = Machine::new();
    let (port, out) = (free_port(), one.path("nats").display().to_string());
    let line = format!("fleet server-config --host 127.0.0.1 --port {port} --team shop --out {out}");
    let written = one.json(&line);
    let config = written["config"].as_str().unwrap().to_owned();
    let _server = NatsServer::start_with_arguments(port, vec!["-c".to_owned(), config]);
    // The command that it prints, as users paste it.
    let join = written["join"]["shop"].as_str().unwrap().to_owned();
    let shown = one.run(&line).succeeds().stdout;
    assert!(shown.contains(&join) && shown.contains("nats-server -c "), "{shown}");
    let words: Vec<_> = join.split(' ').skip(1).chain(["--name", "one"]).collect();
    let mut one = one;
    one.run_args(&words).succeeds();
    one.start_relay();
    one.start_workflow("aaaa-1", "").succeeds();
    let two = Machine::new();
    let invitation = invitation(&one);
    assert!(invitation.len() < 4000, "a terminal takes it as one line: {}", invitation.len());
    two.run_with_stdin("fleet join --name two", &invitation).succeeds();
    one.run("fleet accept --invited").succeeds();
    two.wait_for_state("aaaa-1", "running");
    assert!(two.run("fleet stop aaaa").succeeds().stdout.contains("stopped on one"));
    let strange = one.path("other");
    fs::create_dir(&strange).unwrap();
    fs::write(strange.join("thesis.txt"), "mine").unwrap();
    let folder = strange.display().to_string();
    one.run_args(&["fleet", "server-config", "--host", "h", "--out", &folder])
        .fails_with(1, "this folder contains other files");
}
