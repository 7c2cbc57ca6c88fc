use serde_json::{Value, json};

use crate::common::Output;
use crate::fixture::{CHAT, RemoteFixture, assert_no_secrets};
use overtone_testkit::wait_until;

/// The texts that the bot has sent.
fn replies(fixture: &RemoteFixture, count: usize) -> Vec<(Value, String)> {
    let of = |body: Value| (body["chat_id"].clone(), body["text"].as_str().unwrap().to_owned());
    fixture.telegram.wait_taken(count).iter().map(|request| of(request.json())).collect()
}

fn stops(fixture: &RemoteFixture, session: &str) -> Vec<Value> {
    let is_stop = |event: &Value| event["reason"] == "loop-stopped";
    fixture.timeline(session).into_iter().filter(is_stop).collect()
}

#[test]
fn a_user_asks_for_the_status() {
    let mut fixture = RemoteFixture::new();
    fixture.session("aaaa1111-x");
    fixture.finished("bbbb2222-x");
    fixture.configure_events("telegram", &json!([]));
    fixture.serve();
    fixture.telegram.update(7, CHAT, "/status");
    fixture.telegram.update(8, CHAT, "/sessions@my_bot");
    fixture.telegram.update(9, CHAT, "hello");
    fixture.telegram.update(10, CHAT, "/help");
    let replies = replies(&fixture, 3);
    assert_eq!(replies.len(), 3);
    assert!(replies.iter().all(|(chat, _)| *chat == json!(CHAT)));
    let (status, sessions, help) = (&replies[0].1, &replies[1].1, &replies[2].1);
    assert!(
        status.starts_with("1 running, 0 stopped, 0 waiting for you\naaaa1111 project review-only 0/1"),
        "{status}"
    );
    assert!(sessions.contains("bbbb2222 project review-only 1/1 · completed"), "{sessions}");
    assert!(help.contains("/stop"), "{help}");
}

#[test]
fn a_stop_from_afar_stops_the_session_and_says_who_did_it() {
    let mut fixture = RemoteFixture::new();
    fixture.session("aaaa1111-x");
    fixture.session("aaaa2222-x");
    fixture.serve();
    for (number, text) in [(1, "/stop"), (2, "/stop zzz"), (3, "/stop aaaa"), (4, "/stop aaaa1111")] {
        fixture.telegram.update(number, CHAT, text);
    }
    let replies: Vec<_> = replies(&fixture, 4).into_iter().map(|(_, text)| text).collect();
    let begins =
        ["usage: /stop", "no such session: zzz", "several sessions start with aaaa", "stopped: aaaa1111"];
    for (reply, expected) in replies.iter().zip(begins) {
        assert!(reply.starts_with(expected), "{replies:?}");
    }
    let stops_of = |session: &str| stops(&fixture, session);
    assert_eq!(stops_of("aaaa1111-x").len(), 1);
    assert_eq!(stops_of("aaaa1111-x")[0]["by"], format!("telegram:{CHAT}"));
    assert!(stops_of("aaaa2222-x").is_empty());
    let Output { stdout: status, .. } = fixture.run_args(&["status", "--json", "--session", "aaaa1111-x"]);
    let status: Value = serde_json::from_str(&status).unwrap();
    assert_eq!(status["loop"]["stoppedBy"], "user");
    let actions = std::fs::read_to_string(fixture.state_file("dashboard/actions.jsonl")).unwrap();
    assert!(actions.contains(&format!("telegram:{CHAT}")), "{actions}");
    assert_no_secrets(&fixture.logs());
}

#[test]
fn a_stranger_is_not_heard_and_not_answered() {
    let mut fixture = RemoteFixture::new();
    fixture.session("aaaa1111-x");
    fixture.serve();
    fixture.telegram.update(1, 666, "/stop aaaa1111-x");
    fixture.telegram.update(2, 666, "/status");
    fixture.telegram.update(3, CHAT, "/status");
    let replies = replies(&fixture, 1);
    assert!(replies.len() == 1 && replies[0].1.starts_with("1 running"), "{replies:?}");
    assert!(stops(&fixture, "aaaa1111-x").is_empty());
    let Output { code, stdout: text, .. } = fixture.run_args(&["remote", "check", "--json"]);
    let about: Value = serde_json::from_str(&text).unwrap();
    assert_eq!((code, &about["foreign"]), (Some(0), &json!(2)));
}

/// In a group with several bots a command names the one that it is for.
#[test]
fn a_command_for_another_bot_is_not_ours() {
    let mut fixture = RemoteFixture::new();
    fixture.session("aaaa1111-x");
    fixture.serve();
    for (number, text) in [
        (1, "/stop@otherbot aaaa1111-x"),
        (2, "/stop@my_bot2 aaaa1111-x"),
        (3, "/stop@ aaaa1111-x"),
        (4, "/help@otherbot"),
    ] {
        fixture.telegram.update(number, CHAT, text);
    }
    fixture.telegram.update(5, CHAT, "/status@my_bot");
    let replies = replies(&fixture, 1);
    assert!(replies.len() == 1 && replies[0].1.starts_with("1 running"), "{replies:?}");
    assert!(stops(&fixture, "aaaa1111-x").is_empty());
}

/// Delivered again and again, also to the next server: it is carried out once.
#[test]
fn a_command_is_carried_out_once() {
    let mut fixture = RemoteFixture::new();
    fixture.session("aaaa1111-x");
    fixture.telegram.repeat_updates();
    fixture.serve();
    fixture.telegram.update(5, CHAT, "/stop aaaa1111-x");
    assert_eq!(replies(&fixture, 1)[0].1, "stopped: aaaa1111");
    fixture.telegram.wait_polls(3);
    wait_until("the note", || fixture.outbox()["sent"] == 1);
    fixture.kill();
    let Output { code, .. } = fixture.run_args(&["resume", "--session", "aaaa1111-x"]);
    assert_eq!(code, Some(0));
    fixture.serve();
    fixture.telegram.wait_polls(3);
    fixture.telegram.update(6, CHAT, "/status");
    let replies = replies(&fixture, 2);
    assert!(replies.len() == 2 && replies[1].1.starts_with("1 running, 0 stopped"), "{replies:?}");
    assert_eq!(stops(&fixture, "aaaa1111-x").len(), 1);
    wait_until("the confirmation", || fixture.outbox()["telegram"]["next"] == 7);
}
