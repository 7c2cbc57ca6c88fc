//! What was learned: a log per session, and a memory per project.
//!
//! Each lesson is a small file of its own, so an observation costs the same however much is known already.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use overtone_engine::instinct::{self, Confidence, Observation, ObservationKind, Signal};
use overtone_engine::state::Millis;
use serde_json::{Map, Value, json};

use crate::files::{self, PRIVATE, Replaced, lock_wait};
use crate::home::create_private_dir;
use crate::{Home, Session, StoreError, clock};

/// How many lessons are told at the start of a session.
const TOLD: usize = 12;
/// More files than this in one memory are not read.
const READ: usize = 500;
/// A lesson is a few lines. A longer file is none of ours.
const LESSON_BYTES: u64 = 64 * 1024;

/// The memory of one project.
#[derive(Debug)]
pub struct Memory {
    project: PathBuf,
    dir: PathBuf,
}

/// A lesson and how sure it is by now.
#[derive(Debug, Clone)]
pub struct Lesson {
    pub id: String,
    pub kind: ObservationKind,
    pub trigger: String,
    pub lesson: String,
    /// After decay.
    pub confidence: Confidence,
    pub count: u32,
    pub last_seen: Option<Millis>,
}

impl Memory {
    pub fn of(home: &Home, project: &Path) -> Self {
        let name: String = project
            .file_name()
            .unwrap_or_default()
            .to_string_lossy()
            .chars()
            .filter(|c| c.is_ascii_alphanumeric() || *c == '-')
            .take(40)
            .collect();
        let id = instinct::id(ObservationKind::ErrorResolutions, &project.to_string_lossy());
        let hash = id.rsplit('-').next().unwrap_or_default();
        let dir = home.root().join("projects").join(format!("{name}-{hash}"));
        Self { project: project.to_owned(), dir }
    }

    fn instincts_dir(&self) -> PathBuf {
        self.dir.join("instincts")
    }

    fn file(&self, id: &str) -> PathBuf {
        self.instincts_dir().join(format!("{id}.json"))
    }

    /// Whether there is anything to note: to speak against a lesson that nobody holds is no news.
    pub fn is_news(&self, seen: &Observation) -> bool {
        seen.signal == Signal::Confirm || fs::symlink_metadata(self.file(&seen.id())).is_ok()
    }

    /// Takes an observation in, if it is news.
    pub fn observe(&self, session: &Session, seen: &Observation, now: Millis) -> Result<(), StoreError> {
        if !self.is_news(seen) {
            return Ok(());
        }
        let id = seen.id();
        let confidence = self.learn(&id, seen, now)?;
        let line = json!({
            "ts": clock::to_iso(now), "type": seen.kind.key(), "id": id, "trigger": seen.trigger,
            "action": seen.lesson, "signal": signal_name(seen.signal), "confidence": confidence.fraction(),
        });
        note(session, &format!("{line}\n"))
    }

    fn learn(&self, id: &str, seen: &Observation, now: Millis) -> Result<Confidence, StoreError> {
        // Before the lock, so that it is dropped after it.
        let _replaced;
        let _lock = self.lock()?;
        let path = self.file(id);
        let mut document = read_document(&path)?.unwrap_or_default();
        let confidence = match confidence_of(&document) {
            Some(before) => before.decayed(last_seen(&document).unwrap_or(now), now).after(seen.signal),
            None => Confidence::START,
        };
        if confidence.is_dropped() {
            _replaced = files::take_away(&path).ok();
            return Ok(confidence);
        }
        let count = document.get("count").and_then(Value::as_u64).unwrap_or(0) + 1;
        for (name, value) in [
            ("type", json!(seen.kind.key())),
            ("trigger", json!(seen.trigger)),
            ("action", json!(seen.lesson)),
            ("confidence", json!(confidence.fraction())),
            ("count", json!(count)),
            ("lastSeen", json!(clock::to_iso(now))),
        ] {
            document.insert(name.into(), value);
        }
        _replaced = Some(Self::write(&path, document)?);
        Ok(confidence)
    }

    fn lock(&self) -> Result<fs::File, StoreError> {
        self.open().map_err(|error| StoreError::io(&self.dir, error))
    }

    fn open(&self) -> io::Result<fs::File> {
        let is_new = !self.instincts_dir().is_dir();
        if is_new {
            create_private_dir(&self.instincts_dir())?;
        }
        let lock = files::lock_file(&self.dir.join(".lock"), lock_wait())?;
        if is_new {
            // The folder's name is a hash, so the project's path is kept beside it for people.
            let path = format!("{}\n", self.project.display());
            files::write_atomic(&self.dir.join("project"), path.as_bytes(), PRIVATE)?;
        }
        Ok(lock)
    }

    fn write(path: &Path, document: Map<String, Value>) -> Result<Replaced, StoreError> {
        let text = Value::Object(document).to_string();
        files::exchange(path, text.as_bytes(), PRIVATE).map_err(|error| StoreError::io(path, error))
    }

    /// Every lesson, the surest first. Files that are no lessons are passed over.
    pub fn lessons(&self, now: Millis) -> io::Result<Vec<Lesson>> {
        let entries = match fs::read_dir(self.instincts_dir()) {
            Ok(entries) => entries,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
            Err(error) => return Err(error),
        };
        let mut lessons: Vec<_> =
            entries.take(READ).filter_map(|entry| read_lesson(&entry.ok()?.path(), now)).collect();
        lessons.sort_by(|a, b| b.confidence.cmp(&a.confidence).then_with(|| a.id.cmp(&b.id)));
        Ok(lessons)
    }

    /// The lessons that are sure enough to be told.
    pub fn applicable(&self, now: Millis) -> Vec<String> {
        let lessons = self.lessons(now).unwrap_or_default();
        lessons.into_iter().filter(|l| l.confidence.is_applicable()).take(TOLD).map(|l| l.lesson).collect()
    }

    /// A person's word on a lesson. `None` when there is no such lesson; a dropped one is removed.
    pub fn judge(&self, id: &str, signal: Signal, now: Millis) -> Result<Option<Lesson>, StoreError> {
        let Some(lesson) = self.lessons(now).ok().and_then(|all| all.into_iter().find(|l| l.id == id)) else {
            return Ok(None);
        };
        let _lock = self.lock()?;
        let path = self.file(id);
        let confidence = lesson.confidence.after(signal);
        if confidence.is_dropped() {
            fs::remove_file(&path).map_err(|error| StoreError::io(&path, error))?;
        } else if let Some(mut document) = read_document(&path)? {
            document.insert("confidence".into(), json!(confidence.fraction()));
            document.insert("lastSeen".into(), json!(clock::to_iso(now)));
            drop(Self::write(&path, document)?);
        }
        Ok(Some(Lesson { confidence, ..lesson }))
    }

    /// Writes the decay down and removes what has faded; returns the removed lessons.
    pub fn decay(&self, now: Millis) -> Result<Vec<Lesson>, StoreError> {
        let lessons = self.lessons(now).map_err(|error| StoreError::io(&self.dir, error))?;
        if lessons.is_empty() {
            return Ok(lessons);
        }
        let _lock = self.lock()?;
        let mut dropped = Vec::new();
        for lesson in lessons.into_iter().filter(|l| l.confidence.is_dropped()) {
            let path = self.file(&lesson.id);
            fs::remove_file(&path).map_err(|error| StoreError::io(&path, error))?;
            dropped.push(lesson);
        }
        Ok(dropped)
    }
}

/// A word against a lesson may be the first thing that is heard of a session.
fn note(session: &Session, line: &str) -> Result<(), StoreError> {
    if !session.exists() {
        session.create()?;
    }
    let log = session.observations_file();
    files::append_lines(&log, line).map_err(|error| StoreError::io(&log, error))
}

const fn signal_name(signal: Signal) -> &'static str {
    match signal {
        Signal::Confirm => "confirm",
        Signal::Contradict => "contradict",
    }
}

/// A file that is no object counts as unknown and is replaced.
fn read_document(path: &Path) -> Result<Option<Map<String, Value>>, StoreError> {
    let text = files::read_limited(path, LESSON_BYTES).map_err(|error| StoreError::io(path, error))?;
    Ok(text.and_then(|text| serde_json::from_slice(&text).ok()))
}

fn confidence_of(document: &Map<String, Value>) -> Option<Confidence> {
    document.get("confidence")?.as_f64().map(Confidence::from_fraction)
}

fn last_seen(document: &Map<String, Value>) -> Option<Millis> {
    clock::from_iso(document.get("lastSeen")?.as_str()?)
}

fn read_lesson(path: &Path, now: Millis) -> Option<Lesson> {
    let id = path.file_name()?.to_str()?.strip_suffix(".json")?.to_owned();
    let document = read_document(path).ok()??;
    let text = |name: &str| document.get(name).and_then(Value::as_str).map(str::to_owned);
    let last_seen = last_seen(&document);
    Some(Lesson {
        id,
        kind: ObservationKind::from_key(&text("type")?)?,
        trigger: text("trigger")?,
        lesson: text("action")?,
        confidence: confidence_of(&document)?.decayed(last_seen.unwrap_or(now), now),
        count: document.get("count").and_then(Value::as_u64).unwrap_or(1).try_into().unwrap_or(u32::MAX),
        last_seen,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::SessionId;

    fn place() -> (tempfile::TempDir, Memory, Session) {
        let dir = tempfile::tempdir().unwrap();
        let home = Home::at(dir.path().to_owned());
        let session = home.session(&SessionId::parse("s").unwrap());
        session.create().unwrap();
        let memory = Memory::of(&home, Path::new("/srv/shop"));
        (dir, memory, session)
    }

    fn seen(signal: Signal) -> Observation {
        Observation {
            kind: ObservationKind::ErrorResolutions,
            trigger: "npm test".into(),
            lesson: "it fails".into(),
            signal,
        }
    }

    #[test]
    fn a_lesson_becomes_applicable_by_being_seen_again() {
        let (_dir, memory, session) = place();
        for _ in 0..9 {
            assert!(memory.applicable(Millis(0)).is_empty());
            memory.observe(&session, &seen(Signal::Confirm), Millis(0)).unwrap();
        }
        assert_eq!(memory.applicable(Millis(0)), ["it fails"]);
        let year = Millis(365 * 24 * 3600 * 1000);
        assert!(memory.applicable(year).is_empty());
        assert_eq!(memory.decay(year).unwrap().len(), 1);
        assert!(memory.lessons(year).unwrap().is_empty());
    }

    #[test]
    fn contradictions_count_only_against_something() {
        let (_dir, memory, session) = place();
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
        let (_dir, memory, session) = place();
        memory.observe(&session, &seen(Signal::Confirm), Millis(0)).unwrap();
        session.remove().unwrap();
        memory.observe(&session, &seen(Signal::Contradict), Millis(0)).unwrap();
        assert!(session.observations_file().exists());
    }

    #[test]
    fn projects_do_not_mix() {
        let home = Home::at(PathBuf::from("/o"));
        assert_ne!(Memory::of(&home, Path::new("/a/shop")).dir, Memory::of(&home, Path::new("/b/shop")).dir);
    }
}
