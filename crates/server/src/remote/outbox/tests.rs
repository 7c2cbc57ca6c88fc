use proptest::prelude::*;
use serde_json::json;

use super::*;

fn home() -> (tempfile::TempDir, Home) {
    let dir = tempfile::tempdir().unwrap();
    let home = Home::at(dir.path().to_owned());
    (dir, home)
}

fn open(home: &Home) -> Outbox {
    Outbox::open(home, Log::new(home, "remote", "dashboard/remote.log")).unwrap()
}

fn message(id: &str, target: &str) -> OutgoingMessage {
    OutgoingMessage {
        id: id.to_owned(),
        target: target.to_owned(),
        event: "done".to_owned(),
        title: String::new(),
        text: String::new(),
        fields: Value::Null,
        expires_at: i64::MAX,
        attempts: 0,
        due: 0,
        other: Map::new(),
    }
}

fn session() -> SessionId {
    SessionId::parse("s").unwrap()
}

#[test]
fn queued_messages_survive_a_restart_and_sent_ones_do_not_return() {
    let (_dir, home) = home();
    let outbox = open(&home);
    let cursor = Cursor { offset: 40, attention_reported: true, ..Cursor::default() };
    outbox.enqueue(vec![message("1", "ntfy"), message("2", "ntfy")], &session(), cursor.clone()).unwrap();
    let first = outbox.next_for("ntfy").unwrap();
    outbox.finish(&first.id, true);
    let again = open(&home);
    assert_eq!(again.cursor(&session()), Some(cursor));
    assert_eq!(again.next_for("ntfy").unwrap().id, "2");
    assert_eq!(outbox_counts(&home), OutboxCounts { pending: 1, sent: 1, dropped: 0, foreign: 0 });
}

#[test]
fn a_failing_chat_does_not_delay_another() {
    let (_dir, home) = home();
    let outbox = open(&home);
    let entries = vec![message("1", "telegram/1"), message("2", "telegram/1"), message("3", "telegram/2")];
    outbox.enqueue(entries, &session(), Cursor::default()).unwrap();
    let first = outbox.next_for("telegram").unwrap();
    outbox.postpone(&first.id, Millis(i64::MAX));
    assert_eq!(outbox.next_for("telegram").unwrap().id, "3");
    assert_eq!(open(&home).lock().state.pending[0].attempts, 1);
}

#[test]
fn an_update_is_accepted_once_even_across_a_restart() {
    let (_dir, home) = home();
    let outbox = open(&home);
    assert!(outbox.accept_update("7", 100, true).unwrap());
    assert!(!outbox.accept_update("7", 101, false).unwrap());
    let again = open(&home);
    assert!(!again.accept_update("7", 100, true).unwrap());
    assert!(!again.accept_update("7", 101, true).unwrap());
    assert!(again.accept_update("7", 102, true).unwrap());
    // Each bot has its own numbering.
    assert_eq!(again.next_update("8"), None);
    assert!(again.accept_update("8", 5, true).unwrap());
    assert_eq!(outbox_counts(&home).foreign, 1);
}

#[test]
fn a_broken_file_is_kept_and_no_update_is_repeated() {
    let (dir, home) = home();
    create_private_dir(&dir.path().join("dashboard")).unwrap();
    files::write_atomic(&outbox_file(&home), b"{broken", 0o600).unwrap();
    let outbox = open(&home);
    assert!(outbox.lost_history);
    assert!(dir.path().join("dashboard/outbox.broken.json").exists());
    assert!(!outbox.accept_update("7", 1, true).unwrap());
    outbox.stop_skipping_updates().unwrap();
    assert!(outbox.accept_update("7", 2, true).unwrap());
}

#[test]
fn the_file_is_private_and_excess_messages_are_dropped() {
    use std::os::unix::fs::PermissionsExt;
    let (_dir, home) = home();
    let outbox = open(&home);
    let many = (0..MAX_PENDING + 3).map(|n| message(&n.to_string(), "ntfy")).collect();
    outbox.enqueue(many, &session(), Cursor::default()).unwrap();
    assert_eq!(outbox.next_for("ntfy").unwrap().id, "3");
    assert_eq!(outbox_counts(&home).dropped, 3);
    let mode = std::fs::metadata(outbox_file(&home)).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o600);
}

#[test]
fn expired_messages_and_removed_sessions_are_forgotten() {
    let (_dir, home) = home();
    let outbox = open(&home);
    let expired = OutgoingMessage { expires_at: 1, ..message("1", "ntfy") };
    outbox.enqueue(vec![expired, message("2", "ntfy")], &session(), Cursor::default()).unwrap();
    outbox.remove_expired(&[]);
    assert_eq!(outbox.next_for("ntfy").unwrap().id, "2");
    assert_eq!(open(&home).cursor(&session()), None);
}

fn unknown_fields(names: &[String]) -> Map<String, Value> {
    let field = |(at, name): (usize, &String)| (format!("\u{e000}{name}"), json!([at, {"x": null}]));
    names.iter().enumerate().map(field).collect()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn the_state_survives_writing_and_reading(
        (texts, numbers) in (prop::array::uniform5(".{0,9}"), prop::array::uniform3(any::<i64>())),
        (flags, number, attempts) in (prop::array::uniform4(any::<bool>()), any::<u64>(), any::<u32>()),
        names in prop::collection::vec(".{0,6}", 0..4),
    ) {
        let [id, target, event, title, text] = texts;
        let fields = json!({ "a": text });
        let [expires_at, due, updated_at] = numbers;
        let message = OutgoingMessage { id: id.clone(), target, event, title, text, fields, expires_at, attempts, due, other: unknown_fields(&names) };
        let [attention_reported, stall_reported, budget_reported, skip_waiting] = flags;
        let cursor =
            Cursor { offset: number, attention_reported, stall_reported, budget_reported, other: unknown_fields(&names) };
        let telegram = TelegramState { bot: id.clone(), next_update: Some(updated_at), updated_at, foreign: number, skip_waiting, other: unknown_fields(&names) };
        let state = OutboxState {
            pending: vec![message],
            sessions: BTreeMap::from([(id.clone(), cursor)]),
            rounds: BTreeMap::from([(id, "then".to_owned())]),
            telegram,
            sent: number,
            dropped: number,
            other: unknown_fields(&names),
        };
        let text = serde_json::to_string(&state).unwrap();
        prop_assert_eq!(serde_json::from_str::<OutboxState>(&text).unwrap(), state);
    }

    /// In the file itself, in messages, in cursors and in the state of the bot.
    #[test]
    fn fields_of_other_versions_are_preserved(names in prop::collection::vec(".{0,6}", 0..4)) {
        let (dir, home) = home();
        create_private_dir(&dir.path().join("dashboard")).unwrap();
        let unknown = unknown_fields(&names);
        let with = |own: Value| {
            let mut fields = unknown.clone();
            fields.extend(own.as_object().cloned().unwrap());
            Value::Object(fields)
        };
        let queued = with(serde_json::to_value(message("1", "ntfy")).unwrap());
        let text = with(json!({
            "pending": [queued], "sessions": { "s": with(json!({ "place": 7 })) }, "telegram": with(json!({ "bot": "7" })),
        }));
        files::write_atomic(&outbox_file(&home), text.to_string().as_bytes(), files::PRIVATE).unwrap();
        let outbox = open(&home);
        let cursor = Cursor { offset: 9, attention_reported: true, ..outbox.cursor(&session()).unwrap() };
        outbox.enqueue(vec![message("2", "ntfy")], &session(), cursor).unwrap();
        outbox.accept_update("7", 1, true).unwrap();
        let first = outbox.next_for("ntfy").unwrap();
        outbox.postpone(&first.id, Millis(i64::MAX));
        let after: Value = serde_json::from_str(&files::read_small(&outbox_file(&home)).unwrap().unwrap()).unwrap();
        for object in [&after, &after["pending"][0], &after["sessions"]["s"], &after["telegram"]] {
            let kept = object.as_object().unwrap().iter().filter(|(name, _)| name.starts_with('\u{e000}'));
            prop_assert_eq!(kept.collect::<Vec<_>>(), unknown.iter().collect::<Vec<_>>());
        }
        prop_assert_eq!((&after["sessions"]["s"]["place"], &after["pending"][0]["tries"]), (&json!(9), &json!(1)));
    }
}

#[test]
fn a_closed_outbox_is_not_written() {
    let (_dir, home) = home();
    let outbox = open(&home);
    outbox.close(Duration::ZERO);
    assert!(outbox.enqueue(vec![message("1", "ntfy")], &session(), Cursor::default()).is_err());
    assert!(outbox.next_for("ntfy").is_none() && !outbox.sleep(Duration::from_mins(1)));
}
