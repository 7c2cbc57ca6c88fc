use hmac::{Hmac, Mac};
use serde_json::{Value, json};
use sha2::Sha256;

use crate::common::Output;
use crate::fixture::{CHAT, NTFY_TOKEN, RemoteFixture, SECRET, TOKEN};
use crate::service::Request;

/// What each service got first.
fn first_of_each(fixture: &RemoteFixture) -> (Request, Request, Request) {
    let first = |requests: Vec<Request>| requests.into_iter().next().unwrap();
    (
        first(fixture.telegram.wait_taken(1)),
        first(fixture.webhook.wait_taken(1)),
        first(fixture.ntfy.wait_taken(1)),
    )
}

#[track_caller]
fn assert_notified(
    fixture: &RemoteFixture,
    event: &str,
    session: &str,
    title: &str,
    parts: &[&str],
) -> Value {
    let (telegram, webhook, ntfy) = first_of_each(fixture);
    assert_eq!((telegram.method.as_str(), telegram.path), ("POST", format!("/bot{TOKEN}/sendMessage")));
    let message: Value = serde_json::from_str(&telegram.body).unwrap();
    assert_eq!(message["chat_id"], json!(CHAT));
    let text = message["text"].as_str().unwrap();
    assert!(text.contains(title) && text.contains(session), "{text}");
    assert_eq!((ntfy.method.as_str(), ntfy.path.as_str()), ("POST", "/my-topic"));
    assert!(ntfy.header("title").is_ascii() && !ntfy.header("tags").is_empty());
    assert!(["3", "4"].contains(&ntfy.header("priority")));
    assert_eq!(ntfy.header("authorization"), format!("Bearer {NTFY_TOKEN}"));
    let body = webhook.json();
    assert_eq!((&body["event"], &body["session"]), (&json!(event), &json!(session)));
    assert!(body["title"].as_str().unwrap().contains(title), "{body}");
    for part in parts {
        for text in [text, &ntfy.body, body["text"].as_str().unwrap()] {
            assert!(text.contains(part), "no {part} in {text}");
        }
    }
    for request in [&telegram.body, &webhook.body, &ntfy.body] {
        assert!(!request.contains("secret-"), "a prompt or an answer: {request}");
    }
    assert_signed(&webhook);
    body
}

fn assert_signed(request: &Request) {
    let time = request.header("x-overtone-timestamp");
    assert!(time.parse::<u64>().unwrap() > 1_700_000_000);
    let mut mac = Hmac::<Sha256>::new_from_slice(SECRET.as_bytes()).unwrap();
    mac.update(format!("{time}.{}", request.body).as_bytes());
    let bytes = mac.finalize().into_bytes();
    let expected = bytes.iter().fold(String::new(), |text, byte| text + &format!("{byte:02x}"));
    assert_eq!(request.header("x-overtone-signature"), format!("sha256={expected}"));
    assert_eq!(request.json()["id"].as_str().unwrap(), request.header("x-overtone-id"));
}

#[test]
fn a_workflow_that_is_done() {
    let mut fixture = RemoteFixture::new();
    fixture.serve();
    fixture.finished("s-done");
    let body = assert_notified(&fixture, "done", "s-done", "project: review-only is done", &["took: "]);
    let events = fixture.timeline("s-done");
    let done = events.iter().find(|event| event["type"] == "workflow:complete").unwrap();
    assert_eq!((&body["at"], &body["durationMs"]), (&done["ts"], &done["durationMs"]));
    let place = body["id"].as_str().unwrap().strip_prefix("s-done:").unwrap();
    assert!(place.strip_suffix(":webhook").unwrap().parse::<u64>().is_ok(), "{place}");
}

#[test]
fn a_workflow_at_its_limit_needs_the_user_and_is_then_aborted() {
    let mut fixture = RemoteFixture::new();
    fixture.serve();
    fixture.session("s-fatal");
    fixture.review("s-fatal", "FAIL");
    assert_notified(
        &fixture,
        "needs-person",
        "s-fatal",
        "project: needs you",
        &["stage: REVIEW", "retry limit"],
    );
    fixture.stop_turn("s-fatal");
    let notifications = fixture.webhook.wait_taken(2);
    assert_eq!(notifications[1].json()["event"], "aborted");
    assert_eq!(notifications[1].json()["reason"], "retry-limit");
}

/// Who wants to know only when to come is asked once, not for every event that says so.
#[test]
fn the_user_is_asked_once_until_the_workflow_continues() {
    let mut fixture = RemoteFixture::new();
    let mut remote = fixture.all_channels();
    remote["webhook"]["events"] = json!(["needs-person"]);
    fixture.configure(&remote);
    fixture.serve();
    fixture.session("s-once");
    fixture.review("s-once", "FAIL");
    fixture.stop_turn("s-once");
    // The others hear of both, so both have been looked at.
    fixture.ntfy.wait_taken(2);
    let Output { code, .. } = fixture.run_args(&["resume", "--session", "s-once"]);
    assert_eq!(code, Some(0));
    fixture.review("s-once", "FAIL");
    let notifications = fixture.webhook.wait_taken(2);
    let reasons: Vec<_> = notifications.iter().map(|request| request.json()["reason"].clone()).collect();
    assert_eq!(reasons, ["retry-limit", "retry-limit"]);
}

/// The stage runs again with the answer; if that is not enough, the user is notified once more.
#[test]
fn a_blocked_stage_needs_the_user() {
    let mut fixture = RemoteFixture::new();
    fixture.serve();
    fixture.session("s-blocked");
    fixture.review("s-blocked", "BLOCKED");
    let parts = ["stage: REVIEW", "has a question for you"];
    assert_notified(&fixture, "needs-person", "s-blocked", "project: needs you", &parts);
    fixture.stop_turn("s-blocked");
    fixture.send_event("on-submit", "s-blocked", json!({ "prompt": "use the staging server" }));
    fixture.review("s-blocked", "BLOCKED");
    let notifications = fixture.webhook.wait_taken(2);
    assert_eq!(notifications[1].json()["reason"], "stage-blocked");
}

#[test]
fn a_loop_at_its_limit_needs_the_user() {
    let mut fixture = RemoteFixture::new();
    fixture.serve();
    fixture.session("s-loop");
    for _ in 0..3 {
        fixture.stop_turn("s-loop");
    }
    assert_notified(&fixture, "needs-person", "s-loop", "project: needs you", &["the loop limit is reached"]);
}

#[test]
fn a_loop_without_progress_needs_the_user() {
    let mut fixture = RemoteFixture::new();
    let config = json!({ "remote": fixture.all_channels(), "loop": { "maxConsecutiveErrors": 1 } });
    std::fs::write(fixture.state_file("config.json"), config.to_string()).unwrap();
    fixture.serve();
    fixture.session("s-stalled");
    for _ in 0..3 {
        fixture.stop_turn("s-stalled");
    }
    assert_notified(&fixture, "needs-person", "s-stalled", "project: needs you", &["is not making progress"]);
}

#[test]
fn a_supervisor_that_gave_up() {
    let mut fixture = RemoteFixture::new();
    fixture.serve();
    fixture.supervisor_gives_up("s-unreviewed");
    let body =
        assert_notified(&fixture, "supervisor", "s-unreviewed", "the supervisor gave up", &["no-claude"]);
    assert_eq!(body["reason"], "no-claude");
}

#[test]
fn a_session_over_budget_is_reported_once() {
    let mut fixture = RemoteFixture::new();
    fixture.serve();
    fixture.session("s-costly");
    fixture.spent("s-costly", 4.0);
    fixture.spent("s-costly", 5.5);
    assert_notified(&fixture, "budget", "s-costly", "project: $5.50 spent", &["cost: $5.50"]);
    fixture.spent("s-costly", 7.0);
    fixture.review("s-costly", "PASS");
    fixture.stop_turn("s-costly");
    let events: Vec<_> =
        fixture.webhook.wait_taken(2).iter().map(|request| request.json()["event"].clone()).collect();
    assert_eq!(events, ["budget", "done"]);
}

/// Each channel has its own list; the first event of each session is for one of them alone.
#[test]
fn a_channel_hears_only_what_it_wants() {
    let mut fixture = RemoteFixture::new();
    let mut remote = fixture.all_channels();
    remote["telegram"]["events"] = json!(["aborted"]);
    remote["webhook"]["events"] = json!(["done"]);
    remote["ntfy"]["events"] = json!(["needs-person", "done"]);
    fixture.configure(&remote);
    fixture.serve();
    fixture.session("s-bad");
    fixture.review("s-bad", "FAIL");
    fixture.stop_turn("s-bad");
    fixture.finished("s-good");
    let webhook = fixture.webhook.wait_taken(1);
    let ntfy = fixture.ntfy.wait_taken(2);
    let telegram = fixture.telegram.wait_taken(1);
    assert_eq!((webhook.len(), ntfy.len(), telegram.len()), (1, 2, 1));
    assert_eq!(webhook[0].json()["session"], "s-good");
    assert!(ntfy[0].body.contains("s-bad") && ntfy[1].body.contains("s-good"));
    assert!(telegram[0].json()["text"].as_str().unwrap().contains("was aborted"));
}
