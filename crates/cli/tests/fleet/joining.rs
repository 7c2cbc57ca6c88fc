//! Joining, leaving, and what is told when something is wrong.

use std::fs;
use std::io::{BufRead as _, BufReader};
use std::os::unix::fs::PermissionsExt as _;
use std::process::Stdio;

use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Value, json};

use crate::world::{Machine, Server, free_port, read, wait_until};

#[test]
fn without_a_fleet_everything_says_how_to_join() {
    let machine = Machine::new();
    for arguments in [
        &["relay"][..],
        &["fleet"],
        &["fleet", "list"],
        &["fleet", "tail"],
        &["fleet", "stop", "s"],
        &["fleet", "pull", "s"],
    ] {
        machine.run(arguments).fails(1, "has not joined a fleet");
    }
    assert!(machine.run(&["fleet", "leave"]).ok().stdout.contains("not part of a fleet"));
}

#[test]
fn joining_keeps_the_rest_of_the_configuration_and_leaving_too() {
    let server = Server::start();
    let machine = Machine::new();
    let config = machine.state("config.json");
    fs::write(&config, r#"{"future":{"x":1},"language":"en"}"#).unwrap();
    let said = machine.run(&["fleet", "join", &server.url(), "--name", "box", "--prefix", "team.a"]).ok();
    assert!(said.stdout.contains("box (") && said.stdout.contains("overtone relay"), "{said:?}");
    assert!(said.stdout.contains("prompts, code"), "{said:?}");
    let fleet = json!({ "url": server.url(), "name": "box", "prefix": "team.a" });
    assert_eq!(read(&config), json!({ "future": { "x": 1 }, "language": "en", "fleet": fleet }));
    let joined = machine.json(&["fleet", "join", &server.url(), "--share", "full"]);
    assert_eq!(
        (&joined["share"], &joined["name"], &joined["checked"]),
        (&json!("full"), &json!("box"), &json!(true))
    );
    assert_eq!(read(&config)["fleet"], json!({ "url": server.url(), "name": "box", "share": "full" }));
    let list = machine.json(&["fleet", "list"]);
    assert_eq!(
        (&list["machines"][0]["name"], &list["machines"][0]["present"]),
        (&json!("box"), &json!(false))
    );
    assert!(machine.run(&["fleet", "leave"]).ok().stdout.contains("until it expires"));
    assert_eq!(read(&config), json!({ "future": { "x": 1 }, "language": "en" }));
}

#[test]
fn nothing_is_written_for_a_way_that_does_not_work() {
    let machine = Machine::new();
    let nowhere = format!("nats://ann:secret@127.0.0.1:{}", free_port());
    let said = machine.run(&["fleet", "join", &nowhere]).fails(1, "cannot reach nats://127.0.0.1:");
    assert!(!said.stderr.contains("secret"), "{said:?}");
    machine.run(&["fleet", "join", "http://127.0.0.1"]).fails(1, "fleet.url");
    machine.run(&["fleet", "join", &nowhere, "--prefix", "a b"]).fails(1, "fleet.prefix");
    machine.run(&["fleet", "join", &nowhere, "--credentials", "none.creds"]).fails(1, "none.creds");
    assert!(!machine.state("config.json").exists());
    fs::write(machine.project().join("my.creds"), "x").unwrap();
    machine.run(&["fleet", "join", &nowhere, "--offline", "--credentials", "my.creds"]).ok();
    let stored = read(&machine.state("config.json"))["fleet"]["credentials"].clone();
    assert_eq!(stored, json!(machine.project().canonicalize().unwrap().join("my.creds")));
}

#[test]
fn a_password_in_the_address_goes_to_a_private_file() {
    let server = Server::start_with("authorization { user: ann, password: s3cret }");
    let machine = Machine::new();
    let url = format!("nats://ann:s3cret@127.0.0.1:{}", server.port);
    machine.run(&["fleet", "join", &url]).ok();
    let config = fs::read_to_string(machine.state("config.json")).unwrap();
    assert!(!config.contains("s3cret"), "{config}");
    let stored = read(&machine.state("config.json"))["fleet"]["login"].as_str().unwrap().to_owned();
    let login = machine.state(&stored);
    assert_eq!(fs::read_to_string(&login).unwrap(), "ann:s3cret\n");
    for private in [login, machine.state("fleet/machine.key")] {
        assert_eq!(fs::metadata(private).unwrap().permissions().mode() & 0o777, 0o600);
    }
    machine.run(&["fleet", "list"]).ok();
}

#[test]
fn a_relay_says_what_it_does_waits_for_another_and_ends_when_told() {
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
fn a_relay_tells_of_a_server_that_goes_away() {
    let mut server = Server::start();
    let machine = Machine::new();
    machine.run(&["fleet", "join", &server.url()]).ok();
    let mut relay = machine.command(&["relay"]).stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
    let mut lines = BufReader::new(relay.stdout.take().unwrap()).lines().map_while(Result::ok);
    assert!(lines.any(|line| line == "connected"));
    server.kill();
    let told = lines.find(|line| line.starts_with("not connected: "));
    kill_process(Pid::from_child(&relay), Signal::TERM).unwrap();
    assert_eq!(relay.wait().unwrap().code(), Some(0));
    assert!(told.is_some());
}

fn findings(machine: &Machine) -> Vec<String> {
    let said = machine.run(&["doctor", "--json"]);
    let report: Value = serde_json::from_str(&said.stdout).unwrap();
    let names = report["findings"].as_array().unwrap().iter().map(|f| f["name"].as_str().unwrap().to_owned());
    names.filter(|name| name.starts_with("fleet")).collect()
}

#[test]
fn the_doctor_looks_at_the_fleet() {
    let mut server = Server::start();
    let mut machine = Machine::new();
    assert_eq!(findings(&machine), [""; 0]);
    machine.run(&["fleet", "join", &server.url()]).ok();
    assert_eq!(findings(&machine), ["fleet-relay"]);
    machine.start_relay();
    wait_until("its relay answers", || findings(&machine).is_empty());
    machine.end_relay();
    server.kill();
    assert_eq!(findings(&machine), ["fleet-relay", "fleet-server"]);
    fs::write(machine.state("config.json"), r#"{"fleet":{"url":"http://x"}}"#).unwrap();
    assert_eq!(findings(&machine), ["fleet-settings"]);
}

#[test]
fn what_the_server_does_not_permit_is_named() {
    let server = Server::start_with(
        "authorization { users: [\n\
         { user: all, password: all }\n\
         { user: few, password: few, permissions: { subscribe: \">\", publish: { allow: \">\", deny: \"$KV.overtone_claims.>\" } } }\n\
         ] }",
    );
    let (all, few) = (Machine::new(), Machine::new());
    let url = |user: &str| format!("nats://{user}:{user}@127.0.0.1:{}", server.port);
    all.run(&["fleet", "join", &url("all")]).ok();
    few.run(&["fleet", "join", &url("nobody")]).fails(1, "cannot reach");
    few.run(&["fleet", "join", &url("few")]).fails(1, "$KV.overtone_claims.check.");
    assert!(!few.state("config.json").exists());
    few.run(&["fleet", "join", &url("few"), "--offline"]).ok();
    assert_eq!(findings(&few), ["fleet-relay", "fleet-permission"]);
    assert_eq!(findings(&all), ["fleet-relay"]);
}
