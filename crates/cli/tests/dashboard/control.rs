//! Changing things from the page: it needs the token, and the timeline records who did it.

use std::fs;

use overtone_core::engine::Snapshot;
use overtone_core::engine::commands::hand_over;
use overtone_session::hooks::{DocumentMode, update_session};
use overtone_store::{Home, SessionId, clock};
use serde_json::{Value, json};

use crate::context::{Server, TestContext};

fn timeline(context: &TestContext, session: &str) -> Vec<Value> {
    let text =
        fs::read_to_string(context.path(format!("overtone/sessions/{session}/timeline.jsonl"))).unwrap();
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

fn state(server: &Server, session: &str) -> String {
    server.get(&format!("/api/sessions/{session}")).ok()["state"].as_str().unwrap().to_owned()
}

#[test]
fn a_loop_is_stopped_and_resumed_and_it_is_written_down_by_whom() {
    let context = TestContext::for_dashboard();
    context.start_workflow("one", "quick");
    let server = context.serve();
    server.change("POST", "/api/sessions/one/stop", &json!({})).ok();
    assert_eq!(state(&server, "one"), "stopped");
    let last = timeline(&context, "one").pop().unwrap();
    assert_eq!((&last["reason"], &last["by"]), (&json!("loop-stopped"), &json!("dashboard")));
    let again = server.change("POST", "/api/sessions/one/stop", &json!({})).refused(409);
    assert!(again["error"].as_str().unwrap().contains("already"), "{again}");
    server.change("POST", "/api/sessions/one/resume", &json!({})).ok();
    assert_eq!(state(&server, "one"), "running");
    assert_eq!(timeline(&context, "one").pop().unwrap()["by"], "dashboard");
    server.change("POST", "/api/sessions/one/explode", &json!({})).refused(404);
    server.change("POST", "/api/sessions/nobody/stop", &json!({})).refused(404);
}

#[test]
fn a_session_that_was_moved_is_shown_as_such_and_left_alone() {
    let context = TestContext::for_dashboard();
    context.start_workflow("one", "quick");
    let home = Home::at(context.path("overtone"));
    let session = home.session(&SessionId::parse("one").unwrap());
    let aside = |snapshot: &Snapshot| hand_over(snapshot, "workshop", clock::now());
    assert!(update_session(&home, &session, None, DocumentMode::Update, aside).unwrap().is_empty());
    let server = context.serve();
    let shown = server.get("/api/sessions/one").ok();
    assert_eq!((&shown["state"], &shown["loop"]["stoppedBy"]), (&json!("stopped"), &json!("moved")));
    assert_eq!((&shown["movedTo"], &shown["needsPerson"]), (&json!("workshop"), &json!(false)));
    assert!(shown["next"].as_str().unwrap().contains("workshop"));
    for action in ["stop", "resume", "pause"] {
        let refused = server.change("POST", &format!("/api/sessions/one/{action}"), &json!({})).refused(409);
        assert!(refused["error"].as_str().unwrap().contains("workshop"), "{refused}");
    }
}

#[test]
fn a_paused_session_puts_its_feature_aside_and_takes_it_back() {
    let context = TestContext::for_dashboard();
    context.start_workflow("one", "quick");
    context.run_args(&["init", "quick", "--session", "one", "--feature", "door", "--force"]).succeeds();
    let shelf = |name: &str| context.path(format!("project/specs/features/{name}/door")).is_dir();
    assert!(shelf("in-progress"));
    let server = context.serve();
    server.change("POST", "/api/sessions/one/pause", &json!({})).ok();
    assert!(shelf("paused") && state(&server, "one") == "stopped");
    server.change("POST", "/api/sessions/one/resume", &json!({})).ok();
    assert!(shelf("in-progress") && state(&server, "one") == "running");
}

#[test]
fn a_session_is_deleted_and_the_log_knows() {
    let context = TestContext::for_dashboard();
    context.start_workflow("one", "quick");
    let server = context.serve();
    let mut listener = server.listen("");
    server.change("DELETE", "/api/sessions/one", &json!({})).ok();
    assert!(!context.path("overtone/sessions/one").exists());
    assert_eq!(listener.next_of("removed").data["id"], "one");
    let log = fs::read_to_string(context.path("overtone/dashboard/actions.jsonl")).unwrap();
    let line: Value = serde_json::from_str(log.trim()).unwrap();
    assert_eq!(
        (&line["action"], &line["by"], &line["about"]["session"]),
        (&json!("delete"), &json!("dashboard"), &json!("one"))
    );
}

#[test]
fn a_feature_is_moved() {
    let context = TestContext::for_dashboard();
    context.start_workflow("one", "quick");
    context.write("project/specs/features/backlog/door/tasks.md", "- [ ] a\n");
    let server = context.serve();
    let target = |to: &str| json!({"project": context.path("project"), "feature": "door", "to": to});
    let moved = server.change("POST", "/api/specs/move", &target("paused")).ok();
    assert_eq!(moved["feature"]["name"], "door");
    assert!(context.path("project/specs/features/paused/door").is_dir());
    let last = timeline(&context, "one").pop().unwrap();
    assert_eq!((&last["reason"], &last["by"]), (&json!("feature-moved"), &json!("dashboard")));
    server.change("POST", "/api/specs/move", &target("nowhere")).refused(400);
    server.change("POST", "/api/specs/move", &target("archive")).refused(409);
    let foreign = json!({"project": "/etc", "feature": "door", "to": "paused"});
    server.change("POST", "/api/specs/move", &foreign).refused(400);
    let missing = json!({"project": context.path("project"), "feature": "../../x", "to": "paused"});
    server.change("POST", "/api/specs/move", &missing).refused(409);
}

#[test]
fn a_lesson_is_confirmed_and_contradicted() {
    let context = TestContext::for_dashboard();
    context.start_workflow("one", "quick");
    context.hook("post-use-failure", &json!({
        "session_id": "one", "hook_event_name": "PostToolUseFailure", "tool_name": "Bash", "cwd": context.path("project"),
        "tool_input": {"command": "npm test"}, "error": "Exit code 1\nboom", "is_interrupt": false,
    }));
    let server = context.serve();
    let lesson = server.get("/api/instinct").ok()["projects"][0]["lessons"][0].clone();
    let id = lesson["id"].as_str().unwrap();
    let about = json!({"project": context.path("project")});
    let confidence = |answer: &Value| answer["lesson"]["confidence"].as_f64().unwrap();
    let up = server.change("POST", &format!("/api/instinct/{id}/confirm"), &about).ok();
    assert!(confidence(&up) > lesson["confidence"].as_f64().unwrap(), "{up}");
    let down = server.change("POST", &format!("/api/instinct/{id}/contradict"), &about).ok();
    assert!(confidence(&down) < confidence(&up), "{down}");
    assert_eq!(timeline(&context, "one").pop().unwrap()["reason"], "lesson-judged");
    server.change("POST", "/api/instinct/nothing/confirm", &about).refused(404);
    server.change("POST", &format!("/api/instinct/{id}/confirm"), &json!({"project": "/etc"})).refused(404);
}
