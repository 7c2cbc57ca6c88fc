//! One server for a home: how it comes, and how it goes.

use std::fs;
use std::io::Write;
use std::thread;

use serde_json::{Value, json};

use crate::world::{World, until};

fn about(world: &World) -> Option<Value> {
    serde_json::from_slice(&fs::read(world.path("overtone/dashboard/server.json")).ok()?).ok()
}

fn is_alive(pid: u64) -> bool {
    let status = fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    !status.is_empty() && !status.contains(") Z ")
}

#[test]
fn it_is_started_once_and_stopped() {
    let world = World::new();
    world.put("overtone/config.json", r#"{"dashboard":{"port":45871}}"#);
    let first: Value = serde_json::from_slice(&world.run(&["dashboard", "--json"]).stdout).unwrap();
    assert_eq!(first["started"], true);
    let second: Value = serde_json::from_slice(&world.run(&["dashboard", "--json"]).stdout).unwrap();
    assert_eq!((&second["started"], &second["pid"]), (&json!(false), &first["pid"]));
    let stopped = world.run(&["dashboard", "--stop"]);
    assert!(stopped.status.success(), "{stopped:?}");
    until(|| (!is_alive(first["pid"].as_u64().unwrap())).then_some(()));
    let again = world.run(&["dashboard", "--stop"]);
    assert!(!again.status.success() && String::from_utf8_lossy(&again.stderr).contains("hint:"), "{again:?}");
}

#[test]
fn two_that_start_at_once_are_one() {
    let world = World::new();
    let answers: Vec<Value> = thread::scope(|scope| {
        let start =
            || scope.spawn(|| serde_json::from_slice(&world.run(&["dashboard", "--json"]).stdout).unwrap());
        let all: Vec<_> = (0..6).map(|_| start()).collect();
        all.into_iter().map(|one| one.join().unwrap()).collect()
    });
    assert!(answers.iter().all(|answer| answer["pid"] == answers[0]["pid"]), "{answers:?}");
    assert!(world.run(&["dashboard", "--stop"]).status.success());
}

#[test]
fn a_session_starts_it_unless_nobody_wants_it() {
    let world = World::new();
    let start = |world: &World, unwanted: Option<&str>| {
        let payload = json!({"session_id": "one", "hook_event_name": "SessionStart", "source": "startup"});
        let mut command = world.command(&["hook", "on-start"]);
        command
            .env_remove("OVERTONE_NO_DASHBOARD")
            .envs(unwanted.map(|value| ("OVERTONE_NO_DASHBOARD", value)));
        command.env("ANTHROPIC_API_KEY", "dummy-key-for-tests").stdin(std::process::Stdio::piped());
        let mut child = command.stdout(std::process::Stdio::piped()).spawn().unwrap();
        child.stdin.take().unwrap().write_all(payload.to_string().as_bytes()).unwrap();
        let output = child.wait_with_output().unwrap();
        assert!(output.status.success() && !output.stdout.is_empty(), "{output:?}");
    };
    start(&world, Some("1"));
    assert!(!world.path("overtone/dashboard").exists());
    world.put("overtone/config.json", r#"{"dashboard":{"enabled":false}}"#);
    start(&world, None);
    assert!(!world.path("overtone/dashboard").exists());
    world.put("overtone/config.json", r#"{"dashboard":{"port":45901}}"#);
    start(&world, None);
    let server = until(|| about(&world));
    let pid = server["pid"].as_u64().unwrap();
    let environment = fs::read_to_string(format!("/proc/{pid}/environ")).unwrap();
    assert!(!environment.contains("dummy-key"), "a server needs no key");
    start(&world, None);
    assert_eq!(about(&world).unwrap()["pid"], server["pid"]);
    assert!(world.run(&["dashboard", "--stop"]).status.success());
}

#[test]
fn a_crash_leaves_nothing_in_the_way() {
    let world = World::new();
    let server = world.serve();
    let first = server.pid();
    // Killed, not asked.
    drop(server);
    assert!(about(&world).is_some(), "its file is left behind");
    let told = world.run(&["dashboard", "--stop"]);
    assert!(!told.status.success(), "nobody else's process is ended: {told:?}");
    let server = world.serve();
    assert_ne!(server.pid(), first);
    assert_eq!(server.get("/api/health").status, 200);
}

#[test]
fn a_taken_port_is_no_obstacle() {
    let world = World::new();
    let taken = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let port = taken.local_addr().unwrap().port();
    world.put("overtone/config.json", format!(r#"{{"dashboard":{{"port":{port}}}}}"#));
    let answer: Value = serde_json::from_slice(&world.run(&["dashboard", "--json"]).stdout).unwrap();
    let url = answer["url"].as_str().unwrap();
    assert!(!url.ends_with(&format!(":{port}")), "{url}");
    assert!(world.run(&["dashboard", "--stop"]).status.success());
    let told = world.run(&["dashboard", "--foreground", "--port", &port.to_string()]);
    let told = String::from_utf8_lossy(&told.stderr).into_owned();
    assert!(told.contains("cannot listen") && told.contains("--port"), "{told}");
}

#[test]
fn it_ends_on_a_signal_and_says_so_to_nobody() {
    let world = World::new();
    let mut server = world.serve();
    assert!(std::process::Command::new("kill").arg(server.pid().to_string()).status().unwrap().success());
    assert!(server.ended());
    assert!(about(&world).is_none());
}

#[test]
fn the_token_is_shown_to_its_owner() {
    let world = World::new();
    let shown = world.run(&["dashboard", "--token"]);
    let token = String::from_utf8(shown.stdout).unwrap();
    assert_eq!(token.trim(), fs::read_to_string(world.path("overtone/dashboard/token")).unwrap().trim());
    let server = world.serve();
    assert_eq!(server.token, token.trim());
}

#[test]
fn an_uninstalled_program_leaves_no_server() {
    let world = World::new();
    let started: Value = serde_json::from_slice(&world.run(&["dashboard", "--json"]).stdout).unwrap();
    assert!(world.run(&["uninstall"]).status.success());
    until(|| (!is_alive(started["pid"].as_u64().unwrap())).then_some(()));
}
