//! The server exports what the hooks wrote down. What is in the messages is tested where they are made.

use std::fs;

use serde_json::Value;

use crate::fixture::{COLLECTOR_TOKEN, RemoteFixture, assert_no_secrets};
use crate::secure::Secure;
use crate::service::{Reply, Service};
use overtone_testkit::wait_until;

/// How often a name was taken as that of a span.
fn taken(collector: &Service, name: &str) -> usize {
    let all = collector.taken().into_iter().filter(|request| request.path == "/v1/traces");
    all.map(|request| request.body.matches(name).count()).sum()
}

/// Whether it is written down that the whole timeline was exported.
fn is_noted(fixture: &RemoteFixture, session: &str) -> bool {
    let text = fs::read_to_string(fixture.state_file("telemetry/cursors.json")).unwrap_or_default();
    let cursors: Value = serde_json::from_str(&text).unwrap_or_default();
    let length = fixture.state_file(format!("sessions/{session}/timeline.jsonl")).metadata().unwrap().len();
    cursors["sessions"][session]["place"].as_u64() == Some(length)
}

#[test]
fn a_collector_receives_workflows_stages_and_agents() {
    let mut fixture = RemoteFixture::new();
    let collector = Service::start();
    fixture.configure_collector(&collector.url());
    collector.answer_next([Reply::status(503), Reply::status(429)]);
    fixture.serve();
    fixture.finished("s1");
    wait_until("the workflow", || taken(&collector, "workflow review-only") == 1);
    for name in ["stage REVIEW", "agent code-reviewer"] {
        assert_eq!(taken(&collector, name), 1, "{name}");
    }
    wait_until("the sums", || {
        collector.taken().iter().any(|r| r.path == "/v1/metrics" && r.body.contains("completed"))
    });
    for request in collector.requests() {
        assert_eq!(request.header("authorization"), COLLECTOR_TOKEN);
        assert_eq!(request.header("content-type"), "application/x-protobuf");
        for leak in ["secret", fixture.path("").to_str().unwrap()] {
            assert!(!request.body.contains(leak), "{leak}: {}", request.body);
        }
    }
    fixture.end();
    assert_no_secrets(&fixture.logs());
}

#[test]
fn a_killed_server_loses_nothing() {
    let mut fixture = RemoteFixture::new();
    let collector = Service::start();
    fixture.configure_collector(&collector.url());
    fixture.serve();
    fixture.session("s1");
    fixture.review("s1", "PASS");
    wait_until("the stage and its note", || {
        taken(&collector, "stage REVIEW") == 1 && is_noted(&fixture, "s1")
    });
    fixture.kill();
    fixture.stop_turn("s1");
    assert_eq!(taken(&collector, "workflow review-only"), 0);
    fixture.serve();
    wait_until("the workflow", || taken(&collector, "workflow review-only") == 1);
    assert_eq!(taken(&collector, "stage REVIEW"), 1);
    assert_no_secrets(&fixture.logs());
}

#[test]
fn a_collector_with_a_certificate_is_used_when_its_authority_is_known() {
    let mut fixture = RemoteFixture::new();
    let collector = Service::start();
    let secure = Secure::before(&collector);
    fixture.configure_collector(&secure.url());
    fixture.serve();
    fixture.finished("s1");
    let log = || fs::read_to_string(fixture.state_file("telemetry/export.log")).unwrap_or_default();
    wait_until("the refusal", || log().contains("certificate"));
    assert_eq!(collector.requests().len(), 0);
    fixture.end();
    fs::write(fixture.authorities(), &secure.certificate).unwrap();
    fixture.serve();
    wait_until("the workflow", || taken(&collector, "workflow review-only") == 1);
    assert!(collector.requests().iter().all(|request| request.header("authorization") == COLLECTOR_TOKEN));
    assert_no_secrets(&fixture.logs());
}
