//! Seeing and steering sessions of other machines.

use std::io::{BufRead as _, BufReader};
use std::process::Stdio;

use serde_json::{Value, json};

use crate::world::{Machine, Server, wait_until};

#[test]
fn every_machine_sees_all_sessions() {
    let server = Server::start();
    let (one, two) = (Machine::joined(&server, "one"), Machine::joined(&server, "two"));
    one.start("aaaa-1", &["--feature", "login"]).ok();
    two.start("bbbb-2", &[]).ok();
    one.until_shown("bbbb-2", "running");
    two.until_shown("aaaa-1", "running");
    let list = two.json(&["fleet"]);
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
    let drawn = two.run(&["fleet", "list"]).ok().stdout;
    for word in ["one", "two", "online", "aaaa-1", "bbbb-2", "quick", "0/5", "login", "example.org/ann/shop"]
    {
        assert!(drawn.contains(word), "{word}: {drawn}");
    }
    let shown = two.run(&["fleet", "show", "aaaa"]).ok().stdout;
    for word in ["aaaa-1", "one (online)", "⬜ DEV", "workflow started", "shop · example.org/ann/shop"] {
        assert!(shown.contains(word), "{word}: {shown}");
    }
    let shown = two.json(&["fleet", "show", "aaaa"]);
    assert_eq!((&shown["machine"]["name"], &shown["feature"]), (&json!("one"), &json!("login")));
    assert!(!shown["lastEvents"].as_array().unwrap().is_empty());
}

#[test]
fn a_name_must_fit_one_session() {
    let server = Server::start();
    let one = Machine::joined(&server, "one");
    one.start("aaaa-1", &[]).ok();
    one.start("aaaa-2", &[]).ok();
    one.until_shown("aaaa-1", "running");
    one.until_shown("aaaa-2", "running");
    let said = one.run(&["fleet", "show", "aaaa"]).fails(1, "several sessions start with aaaa");
    assert!(said.stderr.contains("aaaa-1 (one)") && said.stderr.contains("aaaa-2 (one)"), "{said:?}");
    one.run(&["fleet", "show", "zz"]).fails(1, "no such session in the fleet: zz");
    one.run(&["fleet", "show", "aaa"]).fails(1, "no such session in the fleet: aaa");
}

#[test]
fn orders_are_done_there_and_traced() {
    let server = Server::start();
    let (one, two) = (Machine::joined(&server, "one"), Machine::joined(&server, "two"));
    one.start("aaaa-1", &["--feature", "login"]).ok();
    two.until_shown("aaaa-1", "running");
    assert!(
        two.run(&["fleet", "message", "aaaa", "look", "at the tests"])
            .ok()
            .stdout
            .contains("delivered to one")
    );
    assert!(two.run(&["fleet", "stop", "aaaa"]).ok().stdout.contains("stopped on one"));
    two.until_shown("aaaa-1", "stopped");
    assert_eq!(two.json(&["fleet", "resume", "aaaa"])["outcome"], "done");
    two.until_shown("aaaa-1", "running");
    two.run(&["fleet", "pause", "aaaa"]).ok();
    assert!(one.project().join("specs/features/paused/login").exists());
    two.run(&["fleet", "resume", "aaaa"]).ok();
    assert!(one.project().join("specs/features/in-progress/login").exists());
    let traces = one.timeline("aaaa-1");
    assert!(traces.contains("ann@two"), "{traces}");
    let workflow = std::fs::read_to_string(one.state("sessions/aaaa-1/workflow.json")).unwrap();
    assert!(workflow.contains("look at the tests"), "{workflow}");
}

#[test]
fn each_way_to_fail_has_its_own_code() {
    let server = Server::start();
    let (mut one, two) = (Machine::joined(&server, "one"), Machine::joined(&server, "two"));
    // A session without a workflow cannot be told anything.
    one.begin("aaaa-1");
    two.until_shown("aaaa-1", "none");
    two.run(&["fleet", "message", "aaaa", "hello"]).fails(1, "one refused: ");
    one.vanish();
    two.run(&["fleet", "stop", "aaaa"]).fails(3, "one is offline");
    let said = two.run(&["fleet", "stop", "aaaa", "--json"]);
    let object: Value = serde_json::from_str(&said.stdout).unwrap();
    assert_eq!((said.code, &object["outcome"]), (Some(3), &json!("gone")));
}

#[test]
fn a_tail_shows_what_happens_elsewhere() {
    let server = Server::start();
    let (one, two) = (Machine::joined(&server, "one"), Machine::joined(&server, "two"));
    one.begin("aaaa-1");
    two.until_shown("aaaa-1", "none");
    let mut command = two.command(&["fleet", "tail", "aaaa"]);
    let mut tail = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let mut told = BufReader::new(tail.stderr.take().unwrap()).lines();
    assert!(told.next().unwrap().unwrap().contains("waiting for events"));
    one.run(&["init", "quick", "--session", "aaaa-1"]).ok();
    let mut lines = BufReader::new(tail.stdout.take().unwrap()).lines();
    let line = lines.next().unwrap().unwrap();
    assert!(line.starts_with("one/aaaa-1  ") && line.contains("workflow started"), "{line}");
    // Whoever reads no more ends it.
    drop(lines);
    wait_until("it ends", || tail.try_wait().unwrap().is_some());
}
