use serde_json::{Value, json};

use crate::world::{CHAT, World, assert_no_secrets, wait_for};

/// The texts that the bot has sent.
fn replies(world: &World, count: usize) -> Vec<(Value, String)> {
    let of = |body: Value| (body["chat_id"].clone(), body["text"].as_str().unwrap().to_owned());
    world.telegram.wait_taken(count).iter().map(|request| of(request.json())).collect()
}

fn stops(world: &World, session: &str) -> Vec<Value> {
    let is_stop = |event: &Value| event["reason"] == "loop-stopped";
    world.timeline(session).into_iter().filter(is_stop).collect()
}

#[test]
fn a_person_asks_how_things_are() {
    let mut world = World::new();
    world.session("aaaa1111-x");
    world.finished("bbbb2222-x");
    world.configure_events("telegram", &json!([]));
    world.serve();
    world.telegram.update(7, CHAT, "/status");
    world.telegram.update(8, CHAT, "/sessions@my_bot");
    world.telegram.update(9, CHAT, "hello");
    world.telegram.update(10, CHAT, "/help");
    let replies = replies(&world, 3);
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
    let mut world = World::new();
    world.session("aaaa1111-x");
    world.session("aaaa2222-x");
    world.serve();
    for (number, text) in [(1, "/stop"), (2, "/stop zzz"), (3, "/stop aaaa"), (4, "/stop aaaa1111")] {
        world.telegram.update(number, CHAT, text);
    }
    let replies: Vec<_> = replies(&world, 4).into_iter().map(|(_, text)| text).collect();
    let begins =
        ["usage: /stop", "no such session: zzz", "several sessions begin with aaaa", "stopped: aaaa1111"];
    for (reply, wanted) in replies.iter().zip(begins) {
        assert!(reply.starts_with(wanted), "{replies:?}");
    }
    let stops_of = |session: &str| stops(&world, session);
    assert_eq!(stops_of("aaaa1111-x").len(), 1);
    assert_eq!(stops_of("aaaa1111-x")[0]["by"], format!("telegram:{CHAT}"));
    assert!(stops_of("aaaa2222-x").is_empty());
    let (_, status, _) = world.run(&["status", "--json", "--session", "aaaa1111-x"]);
    let status: Value = serde_json::from_str(&status).unwrap();
    assert_eq!(status["loop"]["stoppedBy"], "user");
    let actions = std::fs::read_to_string(world.state("dashboard/actions.jsonl")).unwrap();
    assert!(actions.contains(&format!("telegram:{CHAT}")), "{actions}");
    assert_no_secrets(&world.logs());
}

#[test]
fn a_stranger_is_not_heard_and_not_answered() {
    let mut world = World::new();
    world.session("aaaa1111-x");
    world.serve();
    world.telegram.update(1, 666, "/stop aaaa1111-x");
    world.telegram.update(2, 666, "/status");
    world.telegram.update(3, CHAT, "/status");
    let replies = replies(&world, 1);
    assert!(replies.len() == 1 && replies[0].1.starts_with("1 running"), "{replies:?}");
    assert!(stops(&world, "aaaa1111-x").is_empty());
    let (code, text, _) = world.run(&["remote", "check", "--json"]);
    let about: Value = serde_json::from_str(&text).unwrap();
    assert_eq!((code, &about["foreign"]), (Some(0), &json!(2)));
}

/// In a group with several bots a command names the one that it is for.
#[test]
fn a_command_for_another_bot_is_not_ours() {
    let mut world = World::new();
    world.session("aaaa1111-x");
    world.serve();
    for (number, text) in [
        (1, "/stop@otherbot aaaa1111-x"),
        (2, "/stop@my_bot2 aaaa1111-x"),
        (3, "/stop@ aaaa1111-x"),
        (4, "/help@otherbot"),
    ] {
        world.telegram.update(number, CHAT, text);
    }
    world.telegram.update(5, CHAT, "/status@my_bot");
    let replies = replies(&world, 1);
    assert!(replies.len() == 1 && replies[0].1.starts_with("1 running"), "{replies:?}");
    assert!(stops(&world, "aaaa1111-x").is_empty());
}

/// Delivered again and again, also to the next server: it is carried out once.
#[test]
fn a_command_is_carried_out_once() {
    let mut world = World::new();
    world.session("aaaa1111-x");
    world.telegram.repeat_updates();
    world.serve();
    world.telegram.update(5, CHAT, "/stop aaaa1111-x");
    assert_eq!(replies(&world, 1)[0].1, "stopped: aaaa1111");
    world.telegram.wait_polls(3);
    wait_for("the note", || world.outbox()["sent"] == 1);
    world.kill();
    let (code, ..) = world.run(&["resume", "--session", "aaaa1111-x"]);
    assert_eq!(code, Some(0));
    world.serve();
    world.telegram.wait_polls(3);
    world.telegram.update(6, CHAT, "/status");
    let replies = replies(&world, 2);
    assert!(replies.len() == 2 && replies[1].1.starts_with("1 running, 0 stopped"), "{replies:?}");
    assert_eq!(stops(&world, "aaaa1111-x").len(), 1);
    wait_for("the confirmation", || world.outbox()["telegram"]["next"] == 7);
}
