//! A fleet of real servers: each machine publishes its sessions, and one dashboard shows and controls all of them.

use std::fs;

use overtone_testkit::nats::NatsServer;
use serde_json::{Value, json};

use crate::api::check;
use crate::context::{Server, TestContext};
use crate::http::request;
use overtone_testkit::wait_for;

/// A machine of the fleet on this server.
fn machine(nats: &NatsServer, name: &str) -> TestContext {
    let context = TestContext::for_dashboard();
    let config = json!({ "fleet": { "url": nats.url(), "name": name } });
    context.write("overtone/config.json", config.to_string());
    context
}

/// Makes a machine part of the team of another one.
fn invite(member: &TestContext, newcomer: &TestContext, name: &str) {
    let line = member.run_args(&["fleet", "invite"]).succeeds();
    newcomer.run_with_stdin(&format!("fleet join --name {name}"), line.stdout.trim()).succeeds();
    member.run_args(&["fleet", "accept", "--invited"]).succeeds();
}

fn timeline(context: &TestContext, session: &str) -> Vec<Value> {
    let path = context.path(format!("overtone/sessions/{session}/timeline.jsonl"));
    fs::read_to_string(path).unwrap().lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

/// A session of the list, once it is there and `is_so`.
fn session(server: &Server, id: &str, is_so: impl Fn(&Value) -> bool) -> Value {
    wait_for(|| {
        let all = server.get("/api/sessions").ok();
        let found = all["sessions"].as_array().unwrap().iter().find(|session| session["id"] == id).cloned();
        found.filter(|session| is_so(session))
    })
}

#[test]
fn a_machine_without_a_fleet_knows_nothing_of_it() {
    let context = TestContext::for_dashboard();
    context.start_workflow("one", "quick");
    let server = context.serve();
    assert_eq!(server.get("/api/status").ok().get("fleet"), None);
    assert_eq!(server.get("/api/registry").ok().get("fleet"), None);
    assert_eq!(server.get("/api/sessions/one").ok().get("machine"), None);
    server.get("/api/fleet").refused(404);
    assert!(!context.path("overtone/fleet").exists());
    let refused = context.run_args(&["dashboard", "--fleet"]);
    let stderr = &refused.stderr;
    assert!(refused.code != Some(0) && stderr.contains("has not joined a fleet"), "{stderr}");
}

#[test]
fn unusable_settings_are_reported_and_the_rest_continues() {
    let context = TestContext::for_dashboard();
    context.write("overtone/config.json", json!({ "fleet": { "url": "http://x" } }).to_string());
    let server = context.serve();
    assert_eq!(server.get("/api/status").ok().get("fleet"), None);
    let stderr = context.run_args(&["dashboard", "--fleet"]).stderr;
    assert!(stderr.contains("fleet.url"), "{stderr}");
}

#[test]
fn all_machines_are_shown_and_controlled() {
    let nats = NatsServer::start();
    let (one, two) = (machine(&nats, "one"), TestContext::for_dashboard());
    invite(&one, &two, "two");
    one.start_workflow("first", "quick");
    two.start_workflow("second", "quick");
    let (own, mut other) = (one.serve(), two.serve());
    let health = wait_for(|| Some(own.get("/api/status").ok()).filter(|health| health["fleet"]["told"] != 0));
    assert_eq!((&health["fleet"]["connected"], &health["fleet"]["problem"]), (&json!(true), &Value::Null));
    let fleet = one.serve_fleet();
    assert_ne!(fleet.address, own.address, "both run at the same time");

    // Shown.
    let shown = session(&fleet, "second", |shown| shown["bytes"] != 0);
    assert_eq!((&shown["machine"]["name"], &shown["state"]), (&json!("two"), &json!("running")));
    assert_eq!(session(&fleet, "first", |_| true)["machine"]["name"], "one");
    check(&fleet, "/api/sessions", "/api/sessions");
    check(&fleet, "/api/status", "/api/status");
    assert_eq!(check(&fleet, "/api/registry", "/api/registry")["fleet"], true);
    let detail = check(&fleet, "/api/sessions/second", "/api/sessions/{id}");
    assert_eq!(detail["machine"]["name"], "two");
    let by_name = fleet.get("/api/sessions?q=TWO").ok();
    assert_eq!(by_name["sessions"].as_array().unwrap().len(), 1);
    wait_for(|| (fleet.get("/api/stats").ok()["started"] == 2).then_some(()));
    let all = wait_for(|| {
        Some(check(&fleet, "/api/fleet", "/api/fleet"))
            .filter(|all| all["machines"].as_array().unwrap().len() == 2)
    });
    assert!(all["machines"].as_array().unwrap().iter().all(|machine| machine["present"] == true), "{all}");
    assert!(all["machines"].as_array().unwrap().iter().all(|machine| machine["sessions"] == 1), "{all}");

    // Live.
    let mut listener = fleet.listen("?session=second");
    two.events("second", 7, 1);
    while listener.next_of("timeline").data["type"] != "tool:failure" {}

    // A command is carried out by the machine that has the session.
    let post = |path: &str, body: &Value| fleet.change("POST", path, body);
    post("/api/sessions/second/message", &json!({ "text": "look at the tests" })).ok();
    post("/api/sessions/second/message", &json!({})).refused(400);
    let empty = post("/api/sessions/second/message", &json!({ "text": " " })).refused(409);
    assert!(empty["error"].as_str().unwrap().contains("empty"), "{empty}");
    post("/api/sessions/second/stop", &json!({})).ok();
    session(&fleet, "second", |shown| shown["state"] == "stopped");
    let traces = timeline(&two, "second");
    let by =
        |reason: &str| traces.iter().find(|line| line["reason"] == reason).map(|line| line["by"].to_string());
    assert!(by("message").unwrap().contains("dashboard@one"), "{traces:?}");
    assert!(by("loop-stopped").unwrap().contains("dashboard@one"), "{traces:?}");
    post("/api/sessions/second/resume", &json!({})).ok();
    session(&fleet, "second", |shown| shown["state"] == "running");

    // With the token only, and not everything.
    assert_eq!(request(&fleet.address, "POST", "/api/sessions/second/stop", &[], "{}").status, 401);
    fleet.change("DELETE", "/api/sessions/second", &json!({})).refused(409);
    assert!(two.path("overtone/sessions/second").exists());
    assert_eq!(fleet.get("/api/specs").ok()["projects"], json!([]));
    post("/api/sessions/nobody/stop", &json!({})).refused(404);

    // A machine that is gone.
    other.kill();
    wait_for(|| {
        let all = fleet.get("/api/fleet").ok();
        let gone =
            all["machines"].as_array().unwrap().iter().find(|machine| machine["name"] == "two").cloned();
        gone.filter(|machine| machine["present"] == false)
    });
    let refused = post("/api/sessions/second/stop", &json!({})).refused(503);
    assert!(refused["error"].as_str().unwrap().contains("two"), "{refused}");
}

#[test]
fn without_the_server_it_shows_what_was_known_and_says_so() {
    let mut nats = NatsServer::start();
    let one = machine(&nats, "one");
    one.start_workflow("first", "quick");
    let own = one.serve();
    let fleet = one.serve_fleet();
    session(&fleet, "first", |shown| shown["bytes"] != 0);
    nats.kill();
    for server in [&own, &fleet] {
        wait_for(|| server.get("/api/status").ok()["fleet"]["problem"].as_str().map(str::to_owned));
    }
    session(&fleet, "first", |_| true);
    fleet.change("POST", "/api/sessions/first/stop", &json!({})).refused(503);
    own.change("POST", "/api/sessions/first/stop", &json!({})).ok();
}

#[test]
fn a_message_is_left_for_the_main_agent_of_a_session_here() {
    let context = TestContext::for_dashboard();
    context.start_workflow("one", "quick");
    let server = context.serve();
    server.change("POST", "/api/sessions/one/message", &json!({ "text": "look at the tests" })).ok();
    let state = fs::read_to_string(context.path("overtone/sessions/one/workflow.json")).unwrap();
    let state: Value = serde_json::from_str(&state).unwrap();
    assert!(state["notices"][0].as_str().unwrap().contains("look at the tests"), "{state}");
    let last = timeline(&context, "one").pop().unwrap();
    assert_eq!((&last["reason"], &last["by"]), (&json!("message"), &json!("dashboard")));
    server.change("POST", "/api/sessions/one/message", &json!({ "text": "" })).refused(409);
    server.change("POST", "/api/sessions/one/message", &json!({ "words": "x" })).refused(400);
    let path = "/api/sessions/one/message";
    assert_eq!(request(&server.address, "POST", path, &[], r#"{"text":"x"}"#).status, 401);
}
