//! Many sessions that learn at the same moment lose nothing.

#![allow(clippy::unwrap_used, reason = "a panic is the failure report of a test")]

use std::path::Path;
use std::sync::Barrier;
use std::thread;

use overtone_core::engine::instinct::{Observation, ObservationKind, Signal};
use overtone_core::engine::state::Millis;
use overtone_store::instincts::Memory;
use overtone_store::{Home, SessionId};

const SESSIONS: usize = 200;

fn observation(trigger: &str) -> Observation {
    Observation {
        kind: ObservationKind::ErrorResolutions,
        trigger: trigger.to_owned(),
        lesson: "it fails".to_owned(),
        evidence: Some("Exit code 1".to_owned()),
        signal: Signal::Confirm,
    }
}

/// Lets all sessions observe at the same moment, each in its own thread with files of its own.
fn observe_at_once(home: &Home, observations: impl Fn(usize) -> Vec<Observation> + Sync) {
    let start = Barrier::new(SESSIONS);
    thread::scope(|scope| {
        for number in 0..SESSIONS {
            let (start, observations) = (&start, &observations);
            scope.spawn(move || {
                let memory = Memory::for_project(home, Path::new("/srv/shop"));
                let session = home.session(&SessionId::parse(&format!("s{number}")).unwrap());
                session.create().unwrap();
                start.wait();
                for observation in observations(number) {
                    memory.observe(&session, &observation, Millis(0)).unwrap();
                }
            });
        }
    });
}

#[test]
fn the_same_lesson_is_counted_once_for_each_session() {
    let dir = tempfile::tempdir().unwrap();
    let home = Home::at(dir.path().to_owned());
    observe_at_once(&home, |_| vec![observation("npm test"); 3]);
    let memory = Memory::for_project(&home, Path::new("/srv/shop"));
    for _ in 0..2 {
        let lessons = memory.lessons(Millis(0)).unwrap();
        assert_eq!(lessons.len(), 1);
        assert_eq!(lessons[0].count as usize, 3 * SESSIONS);
        memory.compact(Millis(0)).unwrap();
    }
}

#[test]
fn different_lessons_are_all_there() {
    let dir = tempfile::tempdir().unwrap();
    let home = Home::at(dir.path().to_owned());
    // One lesson of all, and the rest one for each pair of sessions.
    observe_at_once(&home, |number| {
        vec![observation("npm test"), observation(&format!("tool {}", number / 2))]
    });
    let memory = Memory::for_project(&home, Path::new("/srv/shop"));
    for _ in 0..2 {
        let lessons = memory.lessons(Millis(0)).unwrap();
        assert_eq!(lessons.len(), 1 + SESSIONS / 2);
        for lesson in &lessons {
            let expected = if lesson.trigger == "npm test" { SESSIONS } else { 2 };
            assert_eq!(lesson.count as usize, expected, "{}", lesson.trigger);
        }
        memory.compact(Millis(0)).unwrap();
    }
}

/// What readers see while the log is written and folded is never less than before, and never too much.
#[test]
fn readers_never_see_an_event_twice_or_not_at_all() {
    let dir = tempfile::tempdir().unwrap();
    let home = Home::at(dir.path().to_owned());
    let memory = Memory::for_project(&home, Path::new("/srv/shop"));
    let session = home.session(&SessionId::parse("s").unwrap());
    session.create().unwrap();
    let rounds = 300;
    thread::scope(|scope| {
        let writer = scope.spawn(|| {
            for round in 0..rounds {
                memory.observe(&session, &observation("npm test"), Millis(0)).unwrap();
                if round % 5 == 0 {
                    memory.compact(Millis(0)).unwrap();
                }
            }
        });
        let mut last = 0;
        while !writer.is_finished() {
            let lessons = Memory::for_project(&home, Path::new("/srv/shop")).lessons(Millis(0)).unwrap();
            let count = lessons.first().map_or(0, |lesson| lesson.count);
            assert!(count >= last && count <= rounds, "{count} after {last}");
            last = count;
        }
    });
    assert_eq!(memory.lessons(Millis(0)).unwrap()[0].count, rounds);
}
