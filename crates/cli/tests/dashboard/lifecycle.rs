//! One server for a home: how it comes, and how it goes.

use std::fs;
use std::io::Write;
use std::thread;

use serde_json::{Value, json};

use crate::context::TestContext;
use overtone_testkit::wait_for;

fn about(context: &TestContext) -> Option<Value> {
    serde_json::from_slice(&fs::read(context.path("overtone/dashboard/server.json")).ok()?).ok()
}

fn is_alive(pid: u64) -> bool {
    let status = fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    !status.is_empty() && !status.contains(") Z ")
}

#[test]
fn it_is_started_once_and_stopped() {
    let context = TestContext::for_dashboard();
    context.write("overtone/config.json", r#"{"dashboard":{"port":45871}}"#);
    let first: Value = context.run_args(&["dashboard", "--json"]).json();
    assert_eq!(first["started"], true);
    let second: Value = context.run_args(&["dashboard", "--json"]).json();
    assert_eq!((&second["started"], &second["pid"]), (&json!(false), &first["pid"]));
    context.run_args(&["dashboard", "--stop"]).succeeds();
    wait_for(|| (!is_alive(first["pid"].as_u64().unwrap())).then_some(()));
    let again = context.run_args(&["dashboard", "--stop"]);
    assert!(again.code != Some(0) && again.stderr.contains("hint:"), "{again:?}");
}

#[test]
fn two_that_start_at_once_are_one() {
    let context = TestContext::for_dashboard();
    let answers: Vec<Value> = thread::scope(|scope| {
        let start = || scope.spawn(|| context.run_args(&["dashboard", "--json"]).json());
        let all: Vec<_> = (0..6).map(|_| start()).collect();
        all.into_iter().map(|one| one.join().unwrap()).collect()
    });
    assert!(answers.iter().all(|answer| answer["pid"] == answers[0]["pid"]), "{answers:?}");
    context.run_args(&["dashboard", "--stop"]).succeeds();
}

#[test]
fn a_session_starts_it_unless_it_is_disabled() {
    let context = TestContext::for_dashboard();
    let start = |context: &TestContext, unwanted: Option<&str>| {
        let payload = json!({"session_id": "one", "hook_event_name": "SessionStart", "source": "startup"});
        let mut command = context.command(&["hook", "on-start"]);
        command
            .env_remove("OVERTONE_NO_DASHBOARD")
            .envs(unwanted.map(|value| ("OVERTONE_NO_DASHBOARD", value)));
        command.env("ANTHROPIC_API_KEY", "dummy-key-for-tests").stdin(std::process::Stdio::piped());
        let mut child = command.stdout(std::process::Stdio::piped()).spawn().unwrap();
        child.stdin.take().unwrap().write_all(payload.to_string().as_bytes()).unwrap();
        let output = child.wait_with_output().unwrap();
        assert!(output.status.success() && !output.stdout.is_empty(), "{output:?}");
    };
    start(&context, Some("1"));
    assert!(!context.path("overtone/dashboard").exists());
    context.write("overtone/config.json", r#"{"dashboard":{"enabled":false}}"#);
    start(&context, None);
    assert!(!context.path("overtone/dashboard").exists());
    context.write("overtone/config.json", r#"{"dashboard":{"port":45901}}"#);
    start(&context, None);
    let server = wait_for(|| about(&context));
    let pid = server["pid"].as_u64().unwrap();
    let environment = fs::read_to_string(format!("/proc/{pid}/environ")).unwrap();
    assert!(!environment.contains("dummy-key"), "a server needs no key");
    start(&context, None);
    assert_eq!(about(&context).unwrap()["pid"], server["pid"]);
    context.run_args(&["dashboard", "--stop"]).succeeds();
}

#[test]
fn a_crash_leaves_nothing_in_the_way() {
    let context = TestContext::for_dashboard();
    let server = context.serve();
    let first = server.pid();
    // Killed, not asked.
    drop(server);
    assert!(about(&context).is_some(), "its file is left behind");
    let output = context.run_args(&["dashboard", "--stop"]);
    assert_ne!(output.code, Some(0), "no other process is ended: {output:?}");
    let server = context.serve();
    assert_ne!(server.pid(), first);
    assert_eq!(server.get("/api/health").status, 200);
}

#[test]
fn a_taken_port_is_no_obstacle() {
    let context = TestContext::for_dashboard();
    let taken = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let port = taken.local_addr().unwrap().port();
    context.write("overtone/config.json", format!(r#"{{"dashboard":{{"port":{port}}}}}"#));
    let answer: Value = context.run_args(&["dashboard", "--json"]).json();
    let url = answer["url"].as_str().unwrap();
    assert!(!url.ends_with(&format!(":{port}")), "{url}");
    context.run_args(&["dashboard", "--stop"]).succeeds();
    let output = context.run_args(&["dashboard", "--foreground", "--port", &port.to_string()]);
    let output = output.stderr;
    assert!(output.contains("cannot listen") && output.contains("--port"), "{output}");
}

#[test]
fn it_ends_on_a_signal_without_output() {
    let context = TestContext::for_dashboard();
    let mut server = context.serve();
    assert!(std::process::Command::new("kill").arg(server.pid().to_string()).status().unwrap().success());
    assert!(server.ended());
    assert!(about(&context).is_none());
}

#[test]
fn the_token_is_shown_to_its_owner() {
    let context = TestContext::for_dashboard();
    let shown = context.run_args(&["dashboard", "--token"]);
    let token = shown.stdout;
    assert_eq!(token.trim(), fs::read_to_string(context.path("overtone/dashboard/token")).unwrap().trim());
    let server = context.serve();
    assert_eq!(server.token, token.trim());
}

#[test]
fn an_uninstalled_program_leaves_no_server() {
    let context = TestContext::for_dashboard();
    let started: Value = context.run_args(&["dashboard", "--json"]).json();
    context.run_args(&["uninstall"]).succeeds();
    wait_for(|| (!is_alive(started["pid"].as_u64().unwrap())).then_some(()));
}
