use std::fs;

use serde_json::json;

use crate::fixture::RemoteFixture;
use crate::service::Reply;
use overtone_testkit::wait_until;

/// Every id that the webhook has taken, in the order of its coming.
fn taken_ids(fixture: &RemoteFixture) -> Vec<String> {
    fixture.webhook.taken().iter().map(|request| request.header("x-overtone-id").to_owned()).collect()
}

#[test]
fn events_without_a_server_are_sent_later_and_once() {
    let mut fixture = RemoteFixture::new();
    fixture.serve();
    fixture.finished("s1");
    fixture.webhook.wait_taken(1);
    wait_until("the note", || fixture.outbox()["sent"] == 3);
    fixture.kill();
    fixture.finished("s2");
    fixture.session("s3");
    fixture.review("s3", "FAIL");
    fixture.serve();
    fixture.webhook.wait_taken(3);
    wait_until("the note", || fixture.outbox()["sent"] == 9);
    fixture.kill();
    fixture.serve();
    fixture.finished("s4");
    fixture.webhook.wait_taken(4);
    let mut sessions: Vec<_> =
        fixture.webhook.taken().iter().map(|request| request.json()["session"].clone()).collect();
    sessions[1..3].sort_by_key(ToString::to_string);
    assert_eq!(sessions, ["s1", "s2", "s3", "s4"]);
    let mut ids = taken_ids(&fixture);
    ids.sort();
    ids.dedup();
    assert_eq!(ids.len(), 4);
}

/// Killed while services refuse: what they have not taken comes after the restart, what they have taken does not.
#[test]
fn a_kill_between_two_attempts_loses_and_repeats_nothing() {
    let mut fixture = RemoteFixture::new();
    fixture.webhook.answer_next([Reply::status(200)]);
    fixture.webhook.answer_next((0..10_000).map(|_| Reply::status(503)));
    fixture.serve();
    fixture.finished("s1");
    fixture.finished("s2");
    fixture.webhook.wait_requests(3);
    wait_until("the others", || fixture.outbox()["sent"].as_u64() >= Some(5));
    fixture.kill();
    assert_eq!(fixture.outbox()["pending"][0]["id"].as_str().unwrap().split(':').next(), Some("s2"));
    let before = fixture.webhook.requests().len();
    fixture.webhook.forget_replies();
    fixture.serve();
    fixture.webhook.wait_taken(2);
    fixture.finished("s3");
    fixture.webhook.wait_taken(3);
    let sessions: Vec<_> =
        fixture.webhook.taken().iter().map(|request| request.json()["session"].clone()).collect();
    assert_eq!(sessions, ["s1", "s2", "s3"]);
    assert!(fixture.webhook.requests()[before].body.contains("s2"));
    for service in [&fixture.telegram, &fixture.ntfy] {
        assert_eq!(service.wait_taken(3).len(), 3, "what was taken is not repeated");
    }
}

/// Killed before the answer came: it is not known whether it was taken, so it comes again, with the same id.
#[test]
fn a_kill_before_the_answer_repeats_with_the_same_id() {
    let mut fixture = RemoteFixture::new();
    fixture.webhook.be_mute(true);
    fixture.serve();
    fixture.finished("s1");
    let first = fixture.webhook.wait_requests(1);
    fixture.kill();
    fixture.webhook.be_mute(false);
    fixture.serve();
    let again = fixture.webhook.wait_taken(1);
    assert_eq!(again[0].header("x-overtone-id"), first[0].header("x-overtone-id"));
    assert_eq!(again[0].body, first[0].body);
}

/// Ended in order, what is under way is waited for.
#[test]
fn an_end_in_order_repeats_nothing() {
    let mut fixture = RemoteFixture::new();
    fixture.serve();
    for round in 0..5 {
        fixture.finished(&format!("s{round}"));
        fixture.webhook.wait_requests(round + 1);
        fixture.end();
        fixture.serve();
    }
    fixture.finished("last");
    for service in [&fixture.telegram, &fixture.webhook, &fixture.ntfy] {
        let taken = service.wait_taken(6);
        assert_eq!(taken.len(), 6);
        assert!(taken[5].body.contains("last"));
    }
}

/// What is older than a day is no news.
#[test]
fn a_first_start_does_not_flood() {
    let mut fixture = RemoteFixture::new();
    for id in ["old1", "old2"] {
        fixture.finished(id);
        let path = fixture.state_file(format!("sessions/{id}/timeline.jsonl"));
        let text = fs::read_to_string(&path).unwrap();
        let long_ago = |line: &str| {
            let mut event: serde_json::Value = serde_json::from_str(line).unwrap();
            event["ts"] = json!("2026-01-01T00:00:00.000Z");
            format!("{event}\n")
        };
        fs::write(path, text.lines().map(long_ago).collect::<String>()).unwrap();
    }
    fixture.finished("today");
    fixture.serve();
    fixture.finished("now");
    let taken = fixture.webhook.wait_taken(2);
    assert_eq!(taken.len(), 2);
    assert!(taken[0].body.contains("today") && taken[1].body.contains("now"));
}

/// If it is not known what was sent, nothing that exists already is sent, also not after another restart.
#[test]
fn a_broken_outbox_repeats_nothing() {
    let mut fixture = RemoteFixture::new();
    fixture.serve();
    fixture.finished("s1");
    fixture.webhook.wait_taken(1);
    fixture.kill();
    fs::write(fixture.state_file("dashboard/outbox.json"), "{broken").unwrap();
    fixture.serve();
    wait_until("the log", || fixture.logs().contains("outbox.broken.json"));
    fixture.telegram.wait_polls(1);
    wait_until("the first look", || !fixture.outbox()["sessions"]["s1"].is_null());
    fixture.kill();
    fixture.serve();
    fixture.finished("s2");
    let taken = fixture.webhook.wait_taken(2);
    assert_eq!(taken.len(), 2);
    assert!(taken[1].body.contains("s2"));
    assert_eq!(fs::read_to_string(fixture.state_file("dashboard/outbox.broken.json")).unwrap(), "{broken");
}
