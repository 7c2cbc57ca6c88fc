//! What was learned: a log per session, and a memory per project.
//!
//! Each lesson is a small file of its own, so an observation costs the same however much is known already.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use overtone_engine::instinct::{self, Confidence, Learned, Observation, ObservationKind, Signal};
use overtone_engine::state::Millis;
use serde_json::{Map, Value, json};

use crate::files::{self, PRIVATE, Replaced, lock_wait};
use crate::home::create_private_dir;
use crate::{Home, Session, StoreError, clock};

/// How many lessons are told at the start of a session.
const TOLD: usize = 12;
/// More lessons than this are not kept in one project: the least sure go first.
const KEPT: usize = 200;
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
    /// The line that was seen last, as data.
    pub evidence: Option<String>,
    /// The session that it was first seen in; unknown for lessons of earlier versions.
    pub origin: Option<LessonOrigin>,
}

/// Where a lesson comes from.
#[derive(Debug, Clone)]
pub struct LessonOrigin {
    pub session: String,
    pub project: String,
    pub at: Option<Millis>,
}

impl Memory {
    pub fn of(home: &Home, project: &Path) -> Self {
        Self { project: project.to_owned(), dir: project_dir(home, project) }
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
        let confidence = self.learn(&id, session, seen, now)?;
        let line = json!({
            "ts": clock::to_iso(now), "type": seen.kind.key(), "id": id, "trigger": seen.trigger,
            "action": seen.lesson, "evidence": seen.evidence, "signal": signal_name(seen.signal),
            "confidence": confidence.fraction(),
        });
        note(session, &format!("{line}\n"))
    }

    fn learn(
        &self,
        id: &str,
        session: &Session,
        seen: &Observation,
        now: Millis,
    ) -> Result<Confidence, StoreError> {
        // Before the lock, so that it is dropped after it.
        let _replaced;
        let _lock = self.lock()?;
        let path = self.file(id);
        let known = read_document(&path)?;
        if known.is_none() {
            self.make_room(now);
        }
        let mut document = known.unwrap_or_else(|| self.began_in(session, now));
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
        document.extend(seen.evidence.as_ref().map(|line| ("evidence".to_owned(), json!(line))));
        _replaced = Some(Self::write(&path, document)?);
        Ok(confidence)
    }

    /// A new lesson says where it comes from.
    fn began_in(&self, session: &Session, now: Millis) -> Map<String, Value> {
        let origin = json!({
            "session": session.id().as_str(), "project": self.project.to_string_lossy(), "at": clock::to_iso(now),
        });
        Map::from_iter([("origin".to_owned(), origin)])
    }

    /// Before a new lesson: takes the least sure ones away when there are too many. The caller holds the lock.
    fn make_room(&self, now: Millis) {
        let count = fs::read_dir(self.instincts_dir()).into_iter().flatten().count();
        if count < KEPT {
            return;
        }
        // What cannot be removed now is tried again with the next new lesson.
        for lesson in self.lessons(now).unwrap_or_default().iter().skip(KEPT - 1) {
            let _ = fs::remove_file(self.file(&lesson.id));
        }
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
    pub fn applicable(&self, now: Millis) -> Vec<Learned> {
        let lessons = self.lessons(now).unwrap_or_default().into_iter();
        let applicable = lessons.filter(|lesson| lesson.confidence.is_applicable()).take(TOLD);
        applicable.map(|lesson| Learned { kind: lesson.kind, trigger: lesson.trigger }).collect()
    }

    /// Forgets a lesson. `None` when there is no such lesson.
    pub fn remove(&self, id: &str, now: Millis) -> Result<Option<Lesson>, StoreError> {
        let found = self.all(now)?.into_iter().find(|lesson| lesson.id == id);
        if let Some(lesson) = &found {
            self.remove_all(std::slice::from_ref(lesson))?;
        }
        Ok(found)
    }

    /// Forgets everything; returns what was known.
    pub fn clear(&self, now: Millis) -> Result<Vec<Lesson>, StoreError> {
        let lessons = self.all(now)?;
        self.remove_all(&lessons)?;
        Ok(lessons)
    }

    fn all(&self, now: Millis) -> Result<Vec<Lesson>, StoreError> {
        self.lessons(now).map_err(|error| StoreError::io(&self.dir, error))
    }

    fn remove_all(&self, lessons: &[Lesson]) -> Result<(), StoreError> {
        if lessons.is_empty() {
            return Ok(());
        }
        let _lock = self.lock()?;
        for lesson in lessons {
            let path = self.file(&lesson.id);
            match fs::remove_file(&path) {
                // Another process was faster.
                Err(error) if error.kind() != io::ErrorKind::NotFound => {
                    return Err(StoreError::io(&path, error));
                }
                _ => {}
            }
        }
        Ok(())
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
        let mut faded = self.all(now)?;
        faded.retain(|lesson| lesson.confidence.is_dropped());
        self.remove_all(&faded)?;
        Ok(faded)
    }
}

/// What is kept about a project, in a folder with a readable name that is its own.
pub(crate) fn project_dir(home: &Home, project: &Path) -> PathBuf {
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
    home.root().join("projects").join(format!("{name}-{hash}"))
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
    if !is_lesson_id(&id) {
        return None;
    }
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
        evidence: text("evidence"),
        origin: document.get("origin").and_then(Value::as_object).and_then(read_origin),
    })
}

fn read_origin(origin: &Map<String, Value>) -> Option<LessonOrigin> {
    let text = |name: &str| origin.get(name).and_then(Value::as_str);
    Some(LessonOrigin {
        session: text("session")?.to_owned(),
        project: text("project").unwrap_or_default().to_owned(),
        at: text("at").and_then(clock::from_iso),
    })
}

/// As [`instinct::id`] makes them: `er-1a2b3c4d`.
fn is_lesson_id(id: &str) -> bool {
    let Some((kind, hash)) = id.split_once('-') else { return false };
    kind.len() == 2
        && kind.bytes().all(|b| b.is_ascii_lowercase())
        && hash.len() == 8
        && hash.bytes().all(|b| b.is_ascii_hexdigit())
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
            evidence: None,
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
        let learned = Learned { kind: ObservationKind::ErrorResolutions, trigger: "npm test".into() };
        assert_eq!(memory.applicable(Millis(0)), [learned]);
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
