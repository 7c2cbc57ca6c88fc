//! Joining, leaving, and what is reported when something is wrong.

use std::fs;
use std::io::{BufRead as _, BufReader};
use std::os::unix::fs::PermissionsExt as _;
use std::process::Stdio;

use overtone_testkit::nats::free_port;
use overtone_testkit::wait_until;
use rustix::process::{Pid, Signal, kill_process};
use serde_json::json;

use crate::common::read_json;
use crate::machine::{Machine, Server};

#[test]
fn without_a_fleet_every_command_says_how_to_join() {
    let machine = Machine::new();
    for arguments in [
        &["relay"][..],
        &["fleet"],
        &["fleet", "list"],
        &["fleet", "tail"],
        &["fleet", "stop", "s"],
        &["fleet", "pull", "s"],
    ] {
        machine.run_args(arguments).fails_with(1, "has not joined a fleet");
    }
    assert!(machine.run("fleet leave").succeeds().stdout.contains("not part of a fleet"));
}

#[test]
fn joining_and_leaving_keep_the_rest_of_the_configuration() {
    let server = Server::start();
    let machine = Machine::new();
    let config = machine.state_file("config.json");
    fs::write(&config, r#"{"future":{"x":1},"language":"en"}"#).unwrap();
    let output =
        machine.run_args(&["fleet", "join", &server.url(), "--name", "box", "--prefix", "team.a"]).succeeds();
    assert!(output.stdout.contains("box (") && output.stdout.contains("overtone relay"), "{output:?}");
    assert!(output.stdout.contains("prompts, code"), "{output:?}");
    let fleet = json!({ "url": server.url(), "name": "box", "prefix": "team.a" });
    assert_eq!(read_json(&config), json!({ "future": { "x": 1 }, "language": "en", "fleet": fleet }));
    let joined = machine.json(&format!("fleet join {} --share full", server.url()));
    assert_eq!(
        (&joined["share"], &joined["name"], &joined["checked"]),
        (&json!("full"), &json!("box"), &json!(true))
    );
    assert_eq!(read_json(&config)["fleet"], json!({ "url": server.url(), "name": "box", "share": "full" }));
    let list = machine.json("fleet list");
    assert_eq!(
        (&list["machines"][0]["name"], &list["machines"][0]["present"]),
        (&json!("box"), &json!(false))
    );
    assert!(machine.run("fleet leave").succeeds().stdout.contains("until it expires"));
    assert_eq!(read_json(&config), json!({ "future": { "x": 1 }, "language": "en" }));
}

#[test]
fn a_failed_join_writes_nothing() {
    let machine = Machine::new();
    let nowhere = format!("nats://ann:secret@127.0.0.1:{}", free_port());
    let output =
        machine.run_args(&["fleet", "join", &nowhere]).fails_with(1, "cannot reach nats://127.0.0.1:");
    assert!(!output.stderr.contains("secret"), "{output:?}");
    machine.run("fleet join http://127.0.0.1").fails_with(1, "fleet.url");
    machine.run_args(&["fleet", "join", &nowhere, "--prefix", "a b"]).fails_with(1, "fleet.prefix");
    machine.run_args(&["fleet", "join", &nowhere, "--credentials", "none.creds"]).fails_with(1, "none.creds");
    assert!(!machine.state_file("config.json").exists());
    fs::write(machine.project().join("my.creds"), "x").unwrap();
    machine.run_args(&["fleet", "join", &nowhere, "--offline", "--credentials", "my.creds"]).succeeds();
    let stored = read_json(&machine.state_file("config.json"))["fleet"]["credentials"].clone();
    assert_eq!(stored, json!(machine.project().canonicalize().unwrap().join("my.creds")));
}

#[test]
fn a_password_in_the_address_goes_to_a_private_file() {
    let server = Server::start_with("authorization { user: ann, password: s3cret }");
    let machine = Machine::new();
    let url = format!("nats://ann:s3cret@127.0.0.1:{}", server.port);
    machine.run_args(&["fleet", "join", &url]).succeeds();
    let config = fs::read_to_string(machine.state_file("config.json")).unwrap();
    assert!(!config.contains("s3cret"), "{config}");
    let stored = read_json(&machine.state_file("config.json"))["fleet"]["login"].as_str().unwrap().to_owned();
    let login = machine.state_file(&stored);
    assert_eq!(fs::read_to_string(&login).unwrap(), "ann:s3cret\n");
    for private in [login, machine.state_file("fleet/machine.key")] {
        assert_eq!(fs::metadata(private).unwrap().permissions().mode() & 0o777, 0o600);
    }
    machine.run("fleet list").succeeds();
}

#[test]
fn a_second_relay_waits_for_the_first_and_ends_on_a_signal() {
    let server = Server::start();
    let machine = Machine::joined(&server, "box");
    let mut command = machine.command(&["relay"]);
    let mut second = command.stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
    let mut lines = BufReader::new(second.stdout.take().unwrap()).lines().map_while(Result::ok);
    assert!(lines.next().unwrap().contains("as box"));
    assert!(lines.next().unwrap().contains("another process is already relaying"));
    kill_process(Pid::from_child(&second), Signal::INT).unwrap();
    assert_eq!(second.wait().unwrap().code(), Some(0));
    assert_eq!(lines.next().as_deref(), Some("ended"));
}

#[test]
fn a_relay_reports_a_lost_server() {
    let mut server = Server::start();
    let machine = Machine::new();
    machine.run_args(&["fleet", "join", &server.url()]).succeeds();
    let mut relay = machine.command(&["relay"]).stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
    let mut lines = BufReader::new(relay.stdout.take().unwrap()).lines().map_while(Result::ok);
    assert!(lines.any(|line| line == "connected"));
    server.kill();
    let loss = lines.find(|line| line.starts_with("not connected: "));
    kill_process(Pid::from_child(&relay), Signal::TERM).unwrap();
    assert_eq!(relay.wait().unwrap().code(), Some(0));
    assert!(loss.is_some());
}

fn findings(machine: &Machine) -> Vec<String> {
    let output = machine.run("doctor --json");
    let report = output.json();
    let names = report["findings"].as_array().unwrap().iter().map(|f| f["name"].as_str().unwrap().to_owned());
    names.filter(|name| name.starts_with("fleet")).collect()
}

#[test]
fn the_doctor_checks_the_fleet() {
    let mut server = Server::start();
    let mut machine = Machine::new();
    assert_eq!(findings(&machine), [""; 0]);
    machine.run_args(&["fleet", "join", &server.url()]).succeeds();
    assert_eq!(findings(&machine), ["fleet-relay"]);
    machine.start_relay();
    wait_until("its relay answers", || findings(&machine).is_empty());
    machine.end_relay();
    server.kill();
    assert_eq!(findings(&machine), ["fleet-relay", "fleet-server"]);
    fs::write(machine.state_file("config.json"), r#"{"fleet":{"url":"http://x"}}"#).unwrap();
    assert_eq!(findings(&machine), ["fleet-settings"]);
}

#[test]
fn missing_permissions_are_named() {
    let server = Server::start_with(
        "authorization { users: [\n\
         { user: all, password: all }\n\
         { user: few, password: few, permissions: { subscribe: \">\", publish: { allow: \">\", deny: \"$KV.overtone_claims.>\" } } }\n\
         ] }",
    );
    let (all, few) = (Machine::new(), Machine::new());
    let url = |user: &str| format!("nats://{user}:{user}@127.0.0.1:{}", server.port);
    all.run_args(&["fleet", "join", &url("all")]).succeeds();
    few.run_args(&["fleet", "join", &url("nobody")]).fails_with(1, "cannot reach");
    few.run_args(&["fleet", "join", &url("few")]).fails_with(1, "$KV.overtone_claims.check.");
    assert!(!few.state_file("config.json").exists());
    few.run_args(&["fleet", "join", &url("few"), "--offline"]).succeeds();
    assert_eq!(findings(&few), ["fleet-relay", "fleet-permission"]);
    assert_eq!(findings(&all), ["fleet-relay"]);
}
