use std::fs;

use serde_json::json;

use crate::service::Reply;
use crate::world::{World, wait_for};

/// Every id that the webhook has taken, in the order of its coming.
fn taken_ids(world: &World) -> Vec<String> {
    world.webhook.taken().iter().map(|request| request.header("x-overtone-id").to_owned()).collect()
}

#[test]
fn what_happens_without_a_server_is_told_later_and_once() {
    let mut world = World::new();
    world.serve();
    world.finished("s1");
    world.webhook.wait_taken(1);
    wait_for("the note", || world.outbox()["sent"] == 3);
    world.kill();
    world.finished("s2");
    world.session("s3");
    world.review("s3", "FAIL");
    world.serve();
    world.webhook.wait_taken(3);
    wait_for("the note", || world.outbox()["sent"] == 9);
    world.kill();
    world.serve();
    world.finished("s4");
    world.webhook.wait_taken(4);
    let mut sessions: Vec<_> =
        world.webhook.taken().iter().map(|request| request.json()["session"].clone()).collect();
    sessions[1..3].sort_by_key(ToString::to_string);
    assert_eq!(sessions, ["s1", "s2", "s3", "s4"]);
    let mut ids = taken_ids(&world);
    ids.sort();
    ids.dedup();
    assert_eq!(ids.len(), 4);
}

/// Killed while services refuse: what they have not taken comes after the restart, what they have taken does not.
#[test]
fn a_kill_between_two_attempts_loses_and_repeats_nothing() {
    let mut world = World::new();
    world.webhook.answer_next([Reply::status(200)]);
    world.webhook.answer_next((0..10_000).map(|_| Reply::status(503)));
    world.serve();
    world.finished("s1");
    world.finished("s2");
    world.webhook.wait_requests(3);
    wait_for("the others", || world.outbox()["sent"].as_u64() >= Some(5));
    world.kill();
    assert_eq!(world.outbox()["pending"][0]["id"].as_str().unwrap().split(':').next(), Some("s2"));
    let before = world.webhook.requests().len();
    world.webhook.forget_replies();
    world.serve();
    world.webhook.wait_taken(2);
    world.finished("s3");
    world.webhook.wait_taken(3);
    let sessions: Vec<_> =
        world.webhook.taken().iter().map(|request| request.json()["session"].clone()).collect();
    assert_eq!(sessions, ["s1", "s2", "s3"]);
    assert!(world.webhook.requests()[before].body.contains("s2"));
    for service in [&world.telegram, &world.ntfy] {
        assert_eq!(service.wait_taken(3).len(), 3, "what was taken is not repeated");
    }
}

/// Killed before the answer came: it is not known whether it was taken, so it comes again, with the same id.
#[test]
fn a_kill_before_the_answer_repeats_with_the_same_id() {
    let mut world = World::new();
    world.webhook.be_mute(true);
    world.serve();
    world.finished("s1");
    let first = world.webhook.wait_requests(1);
    world.kill();
    world.webhook.be_mute(false);
    world.serve();
    let again = world.webhook.wait_taken(1);
    assert_eq!(again[0].header("x-overtone-id"), first[0].header("x-overtone-id"));
    assert_eq!(again[0].body, first[0].body);
}

/// Ended in order, what is under way is waited for.
#[test]
fn an_end_in_order_repeats_nothing() {
    let mut world = World::new();
    world.serve();
    for round in 0..5 {
        world.finished(&format!("s{round}"));
        world.webhook.wait_requests(round + 1);
        world.end();
        world.serve();
    }
    world.finished("last");
    for service in [&world.telegram, &world.webhook, &world.ntfy] {
        let taken = service.wait_taken(6);
        assert_eq!(taken.len(), 6);
        assert!(taken[5].body.contains("last"));
    }
}

/// What is older than a day is no news.
#[test]
fn a_first_start_does_not_flood() {
    let mut world = World::new();
    for id in ["old1", "old2"] {
        world.finished(id);
        let path = world.state(&format!("sessions/{id}/timeline.jsonl"));
        let text = fs::read_to_string(&path).unwrap();
        let long_ago = |line: &str| {
            let mut event: serde_json::Value = serde_json::from_str(line).unwrap();
            event["ts"] = json!("2026-01-01T00:00:00.000Z");
            format!("{event}\n")
        };
        fs::write(path, text.lines().map(long_ago).collect::<String>()).unwrap();
    }
    world.finished("today");
    world.serve();
    world.finished("now");
    let taken = world.webhook.wait_taken(2);
    assert_eq!(taken.len(), 2);
    assert!(taken[0].body.contains("today") && taken[1].body.contains("now"));
}

/// Without its memory it rather says nothing than everything again.
#[test]
fn a_broken_outbox_repeats_nothing() {
    let mut world = World::new();
    world.serve();
    world.finished("s1");
    world.webhook.wait_taken(1);
    world.kill();
    fs::write(world.state("dashboard/outbox.json"), "{broken").unwrap();
    world.serve();
    wait_for("the log", || world.logs().contains("outbox.broken.json"));
    world.telegram.wait_polls(1);
    wait_for("the first look", || !world.outbox()["sessions"]["s1"].is_null());
    world.finished("s2");
    let taken = world.webhook.wait_taken(2);
    assert_eq!(taken.len(), 2);
    assert!(taken[1].body.contains("s2"));
    assert_eq!(fs::read_to_string(world.state("dashboard/outbox.broken.json")).unwrap(), "{broken");
}
