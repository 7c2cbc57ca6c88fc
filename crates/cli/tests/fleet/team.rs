//! Who is part of the team: invited, accepted, removed.

use std::fs;
use std::net::{Ipv4Addr, TcpStream};
use std::process::{Child, Command, Stdio};

use serde_json::json;

use crate::nats_server;
use crate::world::{Machine, Server, free_port, wait_until};

fn line(machine: &Machine) -> String {
    machine.run(&["fleet", "invite"]).ok().stdout.trim().to_owned()
}

#[test]
fn without_an_invitation_nobody_joins_a_team() {
    let server = Server::start();
    let _one = Machine::joined(&server, "one");
    let two = Machine::new();
    let said = two.run(&["fleet", "join", &server.url()]).fails(1, "a team already uses this server");
    assert!(said.stderr.contains("overtone fleet invite"), "{said:?}");
    assert!(!two.state("config.json").exists());
    two.run_with(&["fleet", "join"], "nats://127.0.0.1:4222").fails(1, "not an invitation");
    // One that was configured by hand is told on every occasion.
    two.run(&["fleet", "join", &server.url(), "--offline"]).ok();
    let list = two.run(&["fleet", "list"]).ok();
    assert!(
        list.stderr.contains("not part of it") && list.stderr.contains("overtone fleet invite"),
        "{list:?}"
    );
    for arguments in [&["fleet", "invite"][..], &["fleet", "accept"], &["fleet", "stop", "aaaa"]] {
        two.run(arguments).fails(1, "this machine is not part of it");
    }
}

#[test]
fn an_invited_machine_is_believed_once_it_is_accepted_and_until_it_is_removed() {
    let server = Server::start();
    let one = Machine::joined(&server, "one");
    one.start("aaaa-1", &[]).ok();
    one.until_shown("aaaa-1", "running");
    one.run(&["fleet", "accept"]).fails(1, "no machine is waiting");
    let mut two = Machine::new();
    let joined = two.run_with(&["fleet", "join", "--name", "two"], &line(&one)).ok();
    assert!(joined.stdout.contains("waiting to be accepted"), "{joined:?}");
    // It knows the team already, but the team does not believe it.
    two.until_shown("aaaa-1", "running");
    two.run(&["fleet", "stop", "aaaa"]).fails(1, "waiting to be accepted");
    let unknown = one.json(&["fleet", "machines"])["unknown"][0].clone();
    assert_eq!((&unknown["callsItself"], &unknown["invited"]), (&json!("two"), &json!(true)), "{unknown}");
    let key = unknown["fingerprint"].as_str().unwrap().to_owned();
    assert!(joined.stdout.contains(&key));
    // Nobody can be asked here, so the key has to be named.
    let said = one.run(&["fleet", "accept"]).fails(1, "say which machine");
    assert!(said.stderr.contains("used an invitation") && said.stderr.contains(&key), "{said:?}");
    one.run(&["fleet", "accept", "two"]).fails(1, "no such machine: two");
    assert!(one.run(&["fleet", "accept", &key]).ok().stdout.contains("two is part of the team now"));
    two.start_relay();
    two.run(&["fleet", "stop", "aaaa"]).ok();
    assert!(one.timeline("aaaa-1").contains("ann@two"));
    let members = one.run(&["fleet", "machines"]).ok().stdout;
    assert!(members.contains(&key) && !members.contains("unknown"), "{members}");

    one.run(&["fleet", "remove", "two"]).fails(1, "no terminal to ask in");
    assert!(one.run(&["fleet", "remove", "two", "--yes"]).ok().stdout.contains("no machine trusts it"));
    two.run(&["fleet", "resume", "aaaa"]).fails(1, "was removed from the team");
    wait_until("it says so itself", || two.json(&["fleet", "status"])["membership"] == "removed");
    // It can come back.
    two.run_with(&["fleet", "join", "--name", "two"], &line(&one)).ok();
    one.run(&["fleet", "accept", "--invited"]).ok();
    wait_until("it is believed again", || two.run(&["fleet", "resume", "aaaa"]).code == Some(0));
}

#[test]
fn an_invitation_is_good_for_one_machine_and_names_are_not_given_twice() {
    let server = Server::start();
    let one = Machine::joined(&server, "box");
    let invitation = line(&one);
    let (two, three) = (Machine::new(), Machine::new());
    two.run_with(&["fleet", "join", "--name", "box"], &invitation).ok();
    assert!(one.run(&["fleet", "accept", "--invited"]).ok().stdout.contains("box-2 is part"));
    three.run_with(&["fleet", "join", "--name", "three"], &invitation).ok();
    assert_eq!(one.json(&["fleet", "accept", "--invited"])["accepted"], json!([]));
    assert_eq!(one.json(&["fleet", "machines"])["unknown"][0]["invited"], false);
    // Any machine of the team may accept by the key.
    let key = three.json(&["fleet", "status"])["fingerprint"].as_str().unwrap().to_owned();
    two.run(&["fleet", "accept", &key]).ok();
    assert_eq!(one.json(&["fleet", "machines"])["machines"].as_array().unwrap().len(), 3);
}

#[test]
fn a_machine_that_left_comes_back_without_an_invitation_and_keeps_its_key() {
    let server = Server::start();
    let (one, two) = (Machine::joined(&server, "one"), Machine::joined(&server, "two"));
    let key = two.json(&["fleet", "status"])["fingerprint"].clone();
    two.run(&["fleet", "leave"]).ok();
    let again = two.json(&["fleet", "join", &server.url(), "--name", "two"]);
    assert_eq!((&again["membership"], &again["fingerprint"]), (&json!("member"), &key));
    assert_eq!(one.json(&["fleet", "machines"])["machines"].as_array().unwrap().len(), 2);
}

/// A server that runs with the configuration that was written, and ends with the test.
struct TeamServer(Child);

impl TeamServer {
    fn start(config: &str, port: u16) -> Self {
        let mut command = Command::new(nats_server::program());
        command.args(["-c", config]).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        let server = Self(command.spawn().unwrap());
        wait_until("the server answers", || TcpStream::connect((Ipv4Addr::LOCALHOST, port)).is_ok());
        server
    }
}

impl Drop for TeamServer {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

#[test]
fn a_server_for_a_team_is_one_command_and_its_lines_work() {
    let one = Machine::new();
    let (port, out) = (free_port(), one.root.path().join("nats").display().to_string());
    let text = port.to_string();
    let arguments =
        ["fleet", "server-config", "--host", "127.0.0.1", "--port", &text, "--team", "shop", "--out", &out];
    let written = one.json(&arguments);
    let _server = TeamServer::start(written["config"].as_str().unwrap(), port);
    // The line that it prints, as people paste it.
    let join = written["join"]["shop"].as_str().unwrap().to_owned();
    let shown = one.run(&arguments).ok().stdout;
    assert!(shown.contains(&join) && shown.contains("nats-server -c "), "{shown}");
    let words: Vec<_> = join.split(' ').skip(1).chain(["--name", "one"]).collect();
    let mut one = one;
    one.run(&words).ok();
    one.start_relay();
    one.start("aaaa-1", &[]).ok();
    let two = Machine::new();
    let invitation = line(&one);
    assert!(invitation.len() < 4000, "a terminal takes it as one line: {}", invitation.len());
    two.run_with(&["fleet", "join", "--name", "two"], &invitation).ok();
    one.run(&["fleet", "accept", "--invited"]).ok();
    two.until_shown("aaaa-1", "running");
    assert!(two.run(&["fleet", "stop", "aaaa"]).ok().stdout.contains("stopped on one"));
    let strange = one.root.path().join("other");
    fs::create_dir(&strange).unwrap();
    fs::write(strange.join("thesis.txt"), "mine").unwrap();
    let folder = strange.display().to_string();
    one.run(&["fleet", "server-config", "--host", "h", "--out", &folder])
        .fails(1, "this folder contains other files");
}
