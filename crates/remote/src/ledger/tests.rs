use proptest::prelude::*;
use serde_json::json;

use super::*;

fn home() -> (tempfile::TempDir, Home) {
    let dir = tempfile::tempdir().unwrap();
    let home = Home::at(dir.path().to_owned());
    (dir, home)
}

fn open(home: &Home) -> Ledger {
    Ledger::open(home, Log::new(home, "remote", "dashboard/remote.log")).unwrap()
}

fn entry(id: &str, target: &str) -> Entry {
    Entry {
        id: id.to_owned(),
        target: target.to_owned(),
        event: "done".to_owned(),
        title: String::new(),
        text: String::new(),
        fields: Value::Null,
        until: i64::MAX,
        tries: 0,
        due: 0,
        other: Map::new(),
    }
}

fn session() -> SessionId {
    SessionId::parse("s").unwrap()
}

#[test]
fn what_is_queued_survives_and_what_is_sent_does_not_come_back() {
    let (_dir, home) = home();
    let ledger = open(&home);
    let cursor = Cursor { place: 40, asked: true, ..Cursor::default() };
    ledger.enqueue(vec![entry("1", "ntfy"), entry("2", "ntfy")], &session(), cursor.clone()).unwrap();
    let first = ledger.next_for("ntfy").unwrap();
    ledger.finish(&first.id, true);
    let again = open(&home);
    assert_eq!(again.cursor(&session()), Some(cursor));
    assert_eq!(again.next_for("ntfy").unwrap().id, "2");
    assert_eq!(figures(&home), Figures { pending: 1, sent: 1, dropped: 0, foreign: 0 });
}

#[test]
fn one_chat_that_fails_does_not_hold_up_another() {
    let (_dir, home) = home();
    let ledger = open(&home);
    let entries = vec![entry("1", "telegram/1"), entry("2", "telegram/1"), entry("3", "telegram/2")];
    ledger.enqueue(entries, &session(), Cursor::default()).unwrap();
    let first = ledger.next_for("telegram").unwrap();
    ledger.postpone(&first.id, Millis(i64::MAX));
    assert_eq!(ledger.next_for("telegram").unwrap().id, "3");
    assert_eq!(open(&home).lock().state.pending[0].tries, 1);
}

#[test]
fn an_update_is_taken_once_also_over_a_restart() {
    let (_dir, home) = home();
    let ledger = open(&home);
    assert!(ledger.take_update("7", 100, true).unwrap());
    assert!(!ledger.take_update("7", 101, false).unwrap());
    let again = open(&home);
    assert!(!again.take_update("7", 100, true).unwrap());
    assert!(!again.take_update("7", 101, true).unwrap());
    assert!(again.take_update("7", 102, true).unwrap());
    // Another bot counts for itself.
    assert_eq!(again.next_update("8"), None);
    assert!(again.take_update("8", 5, true).unwrap());
    assert_eq!(figures(&home).foreign, 1);
}

#[test]
fn a_broken_file_is_kept_and_nothing_is_repeated() {
    let (dir, home) = home();
    create_private_dir(&dir.path().join("dashboard")).unwrap();
    files::write_atomic(&path(&home), b"{broken", 0o600).unwrap();
    let ledger = open(&home);
    assert!(ledger.begins_anew);
    assert!(dir.path().join("dashboard/outbox.broken.json").exists());
    assert!(!ledger.take_update("7", 1, true).unwrap());
    ledger.updates_are_new().unwrap();
    assert!(ledger.take_update("7", 2, true).unwrap());
}

#[test]
fn the_file_is_private_and_too_much_is_given_up() {
    use std::os::unix::fs::PermissionsExt;
    let (_dir, home) = home();
    let ledger = open(&home);
    let many = (0..MAX_PENDING + 3).map(|n| entry(&n.to_string(), "ntfy")).collect();
    ledger.enqueue(many, &session(), Cursor::default()).unwrap();
    assert_eq!(ledger.next_for("ntfy").unwrap().id, "3");
    assert_eq!(figures(&home).dropped, 3);
    let mode = std::fs::metadata(path(&home)).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o600);
}

#[test]
fn what_is_too_old_goes_with_sessions_that_have_gone() {
    let (_dir, home) = home();
    let ledger = open(&home);
    let late = Entry { until: 1, ..entry("1", "ntfy") };
    ledger.enqueue(vec![late, entry("2", "ntfy")], &session(), Cursor::default()).unwrap();
    ledger.sweep(&[]);
    assert_eq!(ledger.next_for("ntfy").unwrap().id, "2");
    assert_eq!(open(&home).cursor(&session()), None);
}

fn future(names: &[String]) -> Map<String, Value> {
    let field = |(at, name): (usize, &String)| (format!("\u{e000}{name}"), json!([at, {"x": null}]));
    names.iter().enumerate().map(field).collect()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn the_state_reads_back_as_it_was(
        (texts, numbers) in (prop::array::uniform5(".{0,9}"), prop::array::uniform3(any::<i64>())),
        (flags, place, tries) in (prop::array::uniform4(any::<bool>()), any::<u64>(), any::<u32>()),
        names in prop::collection::vec(".{0,6}", 0..4),
    ) {
        let [id, target, event, title, text] = texts;
        let fields = json!({ "a": text });
        let [until, due, at] = numbers;
        let entry = Entry { id: id.clone(), target, event, title, text, fields, until, tries, due, other: future(&names) };
        let [asked, stalled, budget, skip_waiting] = flags;
        let cursor = Cursor { place, asked, stalled, budget, other: future(&names) };
        let telegram = Telegram { bot: id.clone(), next: Some(at), at, foreign: place, skip_waiting, other: future(&names) };
        let state = State {
            pending: vec![entry],
            sessions: BTreeMap::from([(id.clone(), cursor)]),
            rounds: BTreeMap::from([(id, "then".to_owned())]),
            telegram,
            sent: place,
            dropped: place,
            other: future(&names),
        };
        let text = serde_json::to_string(&state).unwrap();
        prop_assert_eq!(serde_json::from_str::<State>(&text).unwrap(), state);
    }

    /// In the file, in what waits, in how far a session was looked at, and in what is known of the bot.
    #[test]
    fn fields_of_another_version_stay(names in prop::collection::vec(".{0,6}", 0..4)) {
        let (dir, home) = home();
        create_private_dir(&dir.path().join("dashboard")).unwrap();
        let future = future(&names);
        let with = |own: Value| {
            let mut fields = future.clone();
            fields.extend(own.as_object().cloned().unwrap());
            Value::Object(fields)
        };
        let waits = with(serde_json::to_value(entry("1", "ntfy")).unwrap());
        let text = with(json!({
            "pending": [waits], "sessions": { "s": with(json!({ "place": 7 })) }, "telegram": with(json!({ "bot": "7" })),
        }));
        files::write_atomic(&path(&home), text.to_string().as_bytes(), files::PRIVATE).unwrap();
        let ledger = open(&home);
        let cursor = Cursor { place: 9, asked: true, ..ledger.cursor(&session()).unwrap() };
        ledger.enqueue(vec![entry("2", "ntfy")], &session(), cursor).unwrap();
        ledger.take_update("7", 1, true).unwrap();
        let first = ledger.next_for("ntfy").unwrap();
        ledger.postpone(&first.id, Millis(i64::MAX));
        let after: Value = serde_json::from_str(&files::read_small(&path(&home)).unwrap().unwrap()).unwrap();
        for place in [&after, &after["pending"][0], &after["sessions"]["s"], &after["telegram"]] {
            let kept = place.as_object().unwrap().iter().filter(|(name, _)| name.starts_with('\u{e000}'));
            prop_assert_eq!(kept.collect::<Vec<_>>(), future.iter().collect::<Vec<_>>());
        }
        prop_assert_eq!((&after["sessions"]["s"]["place"], &after["pending"][0]["tries"]), (&json!(9), &json!(1)));
    }
}

#[test]
fn a_closed_ledger_writes_no_more() {
    let (_dir, home) = home();
    let ledger = open(&home);
    ledger.close(Duration::ZERO);
    assert!(ledger.enqueue(vec![entry("1", "ntfy")], &session(), Cursor::default()).is_err());
    assert!(ledger.next_for("ntfy").is_none() && !ledger.sleep(Duration::from_mins(1)));
}
