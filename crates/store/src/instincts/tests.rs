//! Learning, folding the log and forgetting.

use super::*;
use crate::SessionId;

fn memory_and_session() -> (tempfile::TempDir, Memory, Session) {
    let dir = tempfile::tempdir().unwrap();
    let home = Home::at(dir.path().to_owned());
    let session = home.session(&SessionId::parse("s").unwrap());
    session.create().unwrap();
    let memory = Memory::for_project(&home, Path::new("/srv/shop"));
    (dir, memory, session)
}

fn seen(signal: Signal) -> Observation {
    Observation {
        kind: ObservationKind::ErrorResolutions,
        trigger: "npm test".into(),
        lesson: "it fails".into(),
        evidence: None,
        signal,
    }
}

#[test]
fn a_lesson_becomes_applicable_by_being_seen_again() {
    let (_dir, memory, session) = memory_and_session();
    for _ in 0..9 {
        assert!(memory.applicable(Millis(0)).is_empty());
        memory.observe(&session, &seen(Signal::Confirm), Millis(0)).unwrap();
    }
    let learned = Learned { kind: ObservationKind::ErrorResolutions, trigger: "npm test".into() };
    assert_eq!(memory.applicable(Millis(0)), [learned]);
    let year = Millis(365 * 24 * 3600 * 1000);
    assert!(memory.applicable(year).is_empty());
    assert_eq!(memory.decay(year).unwrap().len(), 1);
    assert!(memory.lessons(year).unwrap().is_empty());
}

#[test]
fn contradictions_count_only_against_something() {
    let (_dir, memory, session) = memory_and_session();
    memory.observe(&session, &seen(Signal::Contradict), Millis(0)).unwrap();
    assert!(!session.observations_file().exists());
    memory.observe(&session, &seen(Signal::Confirm), Millis(0)).unwrap();
    memory.observe(&session, &seen(Signal::Contradict), Millis(0)).unwrap();
    assert_eq!(memory.lessons(Millis(0)).unwrap()[0].confidence, Confidence::from_fraction(0.2));
    memory.observe(&session, &seen(Signal::Contradict), Millis(0)).unwrap();
    assert!(memory.lessons(Millis(0)).unwrap().is_empty());
}

#[test]
fn a_session_may_begin_with_a_contradiction() {
    let (_dir, memory, session) = memory_and_session();
    memory.observe(&session, &seen(Signal::Confirm), Millis(0)).unwrap();
    session.remove().unwrap();
    memory.observe(&session, &seen(Signal::Contradict), Millis(0)).unwrap();
    assert!(session.observations_file().exists());
}

fn count(memory: &Memory) -> Vec<(String, u32)> {
    let lessons = memory.lessons(Millis(0)).unwrap();
    lessons.into_iter().map(|lesson| (lesson.trigger, lesson.count)).collect()
}

fn names(memory: &Memory) -> Vec<String> {
    let entries = fs::read_dir(memory.instincts_dir()).unwrap();
    let mut names: Vec<_> = entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    names
}

#[test]
fn folding_changes_no_lesson() {
    let (_dir, memory, session) = memory_and_session();
    for _ in 0..3 {
        memory.observe(&session, &seen(Signal::Confirm), Millis(0)).unwrap();
    }
    assert_eq!(names(&memory), ["events.jsonl"]);
    let before = format!("{:?}", memory.lessons(Millis(0)).unwrap());
    memory.compact(Millis(0)).unwrap();
    assert_eq!(format!("{:?}", memory.lessons(Millis(0)).unwrap()), before);
    assert_eq!(names(&memory), [format!("{}.json", seen(Signal::Confirm).id())]);
    memory.compact(Millis(0)).unwrap();
    memory.observe(&session, &seen(Signal::Confirm), Millis(0)).unwrap();
    assert_eq!(count(&memory), [("npm test".to_owned(), 4)]);
}

/// After each step of a fold, the process is killed and everything is read and folded again.
#[test]
fn a_kill_while_folding_loses_and_doubles_nothing() {
    let (_dir, memory, session) = memory_and_session();
    let other = Observation { trigger: "cargo build".into(), ..seen(Signal::Confirm) };
    let fading = Observation { trigger: "make".into(), ..seen(Signal::Confirm) };
    for observation in [&fading, &other] {
        memory.observe(&session, observation, Millis(0)).unwrap();
    }
    memory.compact(Millis(0)).unwrap();
    for observation in [&other, &seen(Signal::Confirm), &fading] {
        memory.observe(&session, observation, Millis(0)).unwrap();
    }
    for _ in 0..2 {
        let against = Observation { signal: Signal::Contradict, ..fading.clone() };
        memory.observe(&session, &against, Millis(0)).unwrap();
    }
    let expected = [("cargo build".to_owned(), 2), ("npm test".to_owned(), 1)];
    assert_eq!(count(&memory), expected);
    // The log was set aside.
    fs::rename(memory.instincts_dir().join("events.jsonl"), memory.instincts_dir().join("events.old.jsonl"))
        .unwrap();
    assert_eq!(count(&memory), expected);
    // It was marked.
    drop(memory.log.start_folding().unwrap().unwrap());
    assert_eq!(count(&memory), expected);
    // The lessons were written, but the log was not deleted.
    let folding = memory.log.start_folding().unwrap().unwrap();
    memory.write_lessons(&folding, &mut Vec::new()).unwrap();
    drop(folding);
    assert_eq!(count(&memory), expected);
    // A late writer had still opened the old log.
    let old = memory.instincts_dir().join("events.old.jsonl");
    let late = Event::observed_line(&other.id(), &other, Millis(0), "s", "/srv/shop");
    files::append_lines(&old, &late).unwrap();
    memory.observe(&session, &seen(Signal::Confirm), Millis(0)).unwrap();
    let expected = [("cargo build".to_owned(), 3), ("npm test".to_owned(), 2)];
    assert_eq!(count(&memory), expected);
    memory.compact(Millis(0)).unwrap();
    assert_eq!(count(&memory), expected);
    memory.compact(Millis(0)).unwrap();
    assert_eq!(count(&memory), expected);
    assert_eq!(names(&memory).len(), 2, "{:?}", names(&memory));
}

#[test]
fn a_writer_that_had_opened_the_old_log_does_not_write_to_a_deleted_file() {
    let (_dir, memory, session) = memory_and_session();
    memory.observe(&session, &seen(Signal::Confirm), Millis(0)).unwrap();
    let folding = memory.log.start_folding().unwrap().unwrap();
    // The old log is locked now, and a new one is begun.
    memory.observe(&session, &seen(Signal::Confirm), Millis(0)).unwrap();
    memory.write_lessons(&folding, &mut Vec::new()).unwrap();
    folding.finish().unwrap();
    assert_eq!(count(&memory), [("npm test".to_owned(), 2)]);
}

#[test]
fn a_torn_line_swallows_nothing() {
    let (_dir, memory, session) = memory_and_session();
    memory.observe(&session, &seen(Signal::Confirm), Millis(0)).unwrap();
    files::append_lines(memory.log.path(), "{\"event\":\"obs").unwrap();
    memory.observe(&session, &seen(Signal::Confirm), Millis(0)).unwrap();
    assert_eq!(count(&memory), [("npm test".to_owned(), 2)]);
    files::append_lines(memory.log.path(), "{\"event\":\"obs").unwrap();
    memory.compact(Millis(0)).unwrap();
    assert_eq!(count(&memory), [("npm test".to_owned(), 2)]);
}

#[test]
fn a_forgotten_lesson_leaves_nothing_on_disk_and_can_be_learned_again() {
    let (_dir, memory, session) = memory_and_session();
    let id = seen(Signal::Confirm).id();
    memory.observe(&session, &seen(Signal::Confirm), Millis(0)).unwrap();
    memory.compact(Millis(0)).unwrap();
    assert_eq!(memory.remove(&id, Millis(0)).unwrap().unwrap().count, 1);
    assert!(memory.remove(&id, Millis(0)).unwrap().is_none());
    assert!(names(&memory).is_empty());
    memory.observe(&session, &seen(Signal::Confirm), Millis(0)).unwrap();
    assert_eq!(count(&memory), [("npm test".to_owned(), 1)]);
    assert_eq!(memory.judge(&id, Signal::Contradict, Millis(0)).unwrap().unwrap().count, 1);
    assert_eq!(count(&memory), [("npm test".to_owned(), 1)]);
    memory.judge(&id, Signal::Contradict, Millis(0)).unwrap().unwrap();
    assert!(count(&memory).is_empty());
    assert_eq!(memory.clear(Millis(0)).unwrap().len(), 0);
}

#[test]
fn files_of_earlier_versions_are_adopted() {
    let (_dir, memory, session) = memory_and_session();
    create_private_dir(&memory.instincts_dir()).unwrap();
    let path = memory.file(&seen(Signal::Confirm).id());
    let old = r#"{"type":"error_resolutions","trigger":"npm test","action":"a","confidence":0.5,"count":5,"future":1}"#;
    files::write_atomic(&path, old.as_bytes(), PRIVATE).unwrap();
    assert_eq!(count(&memory), [("npm test".to_owned(), 5)]);
    memory.observe(&session, &seen(Signal::Confirm), Millis(0)).unwrap();
    for _ in 0..2 {
        let lessons = memory.lessons(Millis(0)).unwrap();
        assert_eq!((lessons[0].count, lessons[0].confidence), (6, Confidence::from_fraction(0.55)));
        memory.compact(Millis(0)).unwrap();
    }
    assert_eq!(read_document(&path).unwrap().unwrap()["future"], 1);
}

#[test]
fn a_folder_at_the_path_of_a_lesson_does_not_affect_the_others() {
    let (_dir, memory, session) = memory_and_session();
    let other = Observation { trigger: "cargo build".into(), ..seen(Signal::Confirm) };
    memory.observe(&session, &other, Millis(0)).unwrap();
    memory.observe(&session, &seen(Signal::Confirm), Millis(0)).unwrap();
    fs::create_dir(memory.file(&other.id())).unwrap();
    memory.compact(Millis(0)).unwrap();
    assert_eq!(count(&memory), [("npm test".to_owned(), 1)]);
}

#[test]
fn the_log_stays_short() {
    let (_dir, memory, session) = memory_and_session();
    for _ in 0..500 {
        memory.observe(&session, &seen(Signal::Confirm), Millis(0)).unwrap();
    }
    if let Ok(metadata) = fs::metadata(memory.log.path()) {
        assert!(metadata.len() <= FOLD_ABOVE_BYTES, "{}", metadata.len());
    }
    assert_eq!(count(&memory), [("npm test".to_owned(), 500)]);
}

#[test]
fn projects_do_not_mix() {
    let home = Home::at(PathBuf::from("/o"));
    assert_ne!(
        Memory::for_project(&home, Path::new("/a/shop")).dir,
        Memory::for_project(&home, Path::new("/b/shop")).dir
    );
}
