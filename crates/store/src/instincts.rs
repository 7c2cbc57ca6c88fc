//! What was learned: an event log and lesson files per project, and a log per session.
//!
//! A hook that learns something appends one line to the project's event log, so any number of sessions can learn at the
//! same moment: none waits for another, and nothing is lost. Now and then the log is folded into the lesson files, one
//! per lesson, by whoever gets the project's lock without waiting. What is known is always the lesson files together
//! with the events that are not in them yet. Lesson files of earlier versions have the same form.

mod event;
mod event_log;

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use overtone_core::engine::instinct::{self, Confidence, Learned, Observation, ObservationKind, Signal};
use overtone_core::engine::state::Millis;
use serde::Serialize;
use serde_json::{Map, Value};

use self::event::{Event, Line, confidence_after, is_removed, removed_document, replay, set_fold_mark};
use self::event_log::{EventLog, Folding};
use crate::files::{self, PRIVATE, Replaced, lock_timeout};
use crate::home::create_private_dir;
use crate::{Home, Session, StoreError, clock};

/// How many lessons are given to the main agent at the start of a session.
const APPLIED_LIMIT: usize = 12;
/// How many lessons are kept in one project. The least certain ones are removed first.
const KEPT_LIMIT: usize = 200;
/// How many files of one project are read.
const READ_LIMIT: usize = 500;
/// A lesson is a few lines. A longer file is not one of ours.
const LESSON_BYTES: u64 = 64 * 1024;
/// A longer event log is folded into the lesson files. Hooks read the log, so this bounds their cost.
const FOLD_ABOVE_BYTES: u64 = 16 * 1024;
/// How often lessons are read again while another process folds the log.
const READ_ATTEMPTS: usize = 10;

/// The memory of one project.
#[derive(Debug)]
pub struct Memory {
    project: PathBuf,
    dir: PathBuf,
    log: EventLog,
}

/// A lesson and how certain it is by now.
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
    pub fn for_project(home: &Home, project: &Path) -> Self {
        let dir = project_dir(home, project);
        let log = EventLog::new(&dir.join("instincts"));
        Self { project: project.to_owned(), dir, log }
    }

    fn instincts_dir(&self) -> PathBuf {
        self.dir.join("instincts")
    }

    fn file(&self, id: &str) -> PathBuf {
        self.instincts_dir().join(format!("{id}.json"))
    }

    /// Whether an observation could change anything: a contradiction of an unknown lesson does not. This reads no lesson,
    /// so that it is cheap; [`Self::observe`] decides.
    pub fn is_relevant(&self, seen: &Observation) -> bool {
        if seen.signal == Signal::Confirm {
            return true;
        }
        let id = seen.id();
        fs::symlink_metadata(self.file(&id)).is_ok() || self.log.mentions(&id).unwrap_or(false)
    }

    /// Records an observation in the project's and in the session's log. A contradiction of an unknown lesson is ignored.
    pub fn observe(&self, session: &Session, seen: &Observation, now: Millis) -> Result<(), StoreError> {
        if !self.is_relevant(seen) {
            return Ok(());
        }
        let id = seen.id();
        let known = self.document(&id)?;
        if known.is_none() && seen.signal == Signal::Contradict {
            return Ok(());
        }
        let confidence = confidence_after(known.as_ref(), seen.signal, now);
        let project = self.project.to_string_lossy();
        let length = self.append(&Event::observed_line(&id, seen, now, session.id().as_str(), &project))?;
        append_observation(
            session,
            &ObservationLine {
                ts: clock::to_iso(now),
                kind: seen.kind.key(),
                id: &id,
                trigger: &seen.trigger,
                action: &seen.lesson,
                evidence: seen.evidence.as_deref(),
                signal: signal_name(seen.signal),
                confidence: confidence.fraction(),
            },
        )?;
        if length > FOLD_ABOVE_BYTES || (known.is_none() && self.is_full()) {
            self.fold_if_free(now);
        }
        Ok(())
    }

    fn append(&self, lines: &str) -> Result<u64, StoreError> {
        self.create().map_err(|error| StoreError::io(&self.dir, error))?;
        self.log.append(lines).map_err(|error| StoreError::lock(self.log.path(), error))
    }

    fn create(&self) -> io::Result<()> {
        if self.instincts_dir().is_dir() {
            return Ok(());
        }
        create_private_dir(&self.instincts_dir())?;
        // The name of the folder is a hash, so the project's path is kept in it for the user. Whoever has the lock
        // writes it.
        if let Some(_lock) = files::try_lock_file(&self.lock_path())? {
            let path = format!("{}\n", self.project.display());
            files::write_atomic(&self.dir.join("project"), path.as_bytes(), PRIVATE)?;
        }
        Ok(())
    }

    fn lock_path(&self) -> PathBuf {
        self.dir.join(".lock")
    }

    /// What is known of one lesson.
    fn document(&self, id: &str) -> Result<Option<Map<String, Value>>, StoreError> {
        let mut attempts = 0;
        loop {
            let events = self.log.read().map_err(|error| StoreError::io(self.log.path(), error))?;
            let path = self.file(id);
            let stored = read_document(&path).map_err(|error| StoreError::io(&path, error))?;
            attempts += 1;
            if attempts == READ_ATTEMPTS || events.is_consistent(&self.log) {
                return Ok(replay(id, stored, &events.lines_about(id)));
            }
        }
    }

    /// Every lesson, the most certain first. Files that are no lessons are skipped.
    pub fn lessons(&self, now: Millis) -> io::Result<Vec<Lesson>> {
        let mut attempts = 0;
        loop {
            let events = self.log.read()?;
            let mut documents = self.stored_documents()?;
            attempts += 1;
            if attempts < READ_ATTEMPTS && !events.is_consistent(&self.log) {
                continue;
            }
            let lines = events.lines();
            for id in ids_in(&lines) {
                documents.entry(id.to_owned()).or_insert(None);
            }
            let mut lessons = Vec::new();
            for (id, stored) in documents {
                if let Some(document) = replay(&id, stored, &lines) {
                    lessons.extend(read_lesson(id, &document, now));
                }
            }
            lessons.sort_by(|a, b| b.confidence.cmp(&a.confidence).then_with(|| a.id.cmp(&b.id)));
            return Ok(lessons);
        }
    }

    /// The content of all lesson files, by id.
    fn stored_documents(&self) -> io::Result<BTreeMap<String, Option<Map<String, Value>>>> {
        let entries = match fs::read_dir(self.instincts_dir()) {
            Ok(entries) => entries,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(BTreeMap::new()),
            Err(error) => return Err(error),
        };
        let mut documents = BTreeMap::new();
        for entry in entries.take(READ_LIMIT).flatten() {
            let name = entry.file_name();
            let Some(id) = name.to_str().and_then(|name| name.strip_suffix(".json")) else { continue };
            if is_lesson_id(id)
                && let Ok(Some(document)) = read_document(&entry.path())
            {
                documents.insert(id.to_owned(), Some(document));
            }
        }
        Ok(documents)
    }

    /// The lessons that are certain enough to be given to the main agent.
    pub fn applicable(&self, now: Millis) -> Vec<Learned> {
        let lessons = self.lessons(now).unwrap_or_default().into_iter();
        let applicable = lessons.filter(|lesson| lesson.confidence.is_applicable()).take(APPLIED_LIMIT);
        applicable.map(|lesson| Learned { kind: lesson.kind, trigger: lesson.trigger }).collect()
    }

    /// Removes a lesson and returns it. `None` if there is no such lesson.
    pub fn remove(&self, id: &str, now: Millis) -> Result<Option<Lesson>, StoreError> {
        let found = self.all(now)?.into_iter().find(|lesson| lesson.id == id);
        if let Some(lesson) = &found {
            self.forget(std::slice::from_ref(lesson), now)?;
        }
        Ok(found)
    }

    /// Removes all lessons and returns them.
    pub fn clear(&self, now: Millis) -> Result<Vec<Lesson>, StoreError> {
        let lessons = self.all(now)?;
        self.forget(&lessons, now)?;
        Ok(lessons)
    }

    /// Removes the lessons that have faded and returns them.
    pub fn decay(&self, now: Millis) -> Result<Vec<Lesson>, StoreError> {
        let mut faded = self.all(now)?;
        faded.retain(|lesson| lesson.confidence.is_dropped());
        self.forget(&faded, now)?;
        Ok(faded)
    }

    fn all(&self, now: Millis) -> Result<Vec<Lesson>, StoreError> {
        self.lessons(now).map_err(|error| StoreError::io(&self.dir, error))
    }

    /// The log is folded at once, so that the text of the lessons is gone from the disk, too.
    fn forget(&self, lessons: &[Lesson], now: Millis) -> Result<(), StoreError> {
        if lessons.is_empty() {
            return Ok(());
        }
        let lines: String = lessons.iter().map(|lesson| Event::forgotten_line(&lesson.id, now)).collect();
        self.append(&lines)?;
        self.compact(now)
    }

    /// Records that the user confirms or contradicts a lesson, and returns the lesson with its new confidence. `None` if
    /// there is no such lesson. A lesson that becomes too uncertain is removed.
    pub fn judge(&self, id: &str, signal: Signal, now: Millis) -> Result<Option<Lesson>, StoreError> {
        let lessons = self.lessons(now).unwrap_or_default();
        let Some(lesson) = lessons.into_iter().find(|lesson| lesson.id == id) else { return Ok(None) };
        let length = self.append(&Event::judged_line(id, signal, now))?;
        if length > FOLD_ABOVE_BYTES {
            self.fold_if_free(now);
        }
        let confidence = lesson.confidence.after(signal);
        Ok(Some(Lesson { confidence, ..lesson }))
    }

    /// Folds the event log into the lesson files. Waits for the project's lock.
    pub fn compact(&self, now: Millis) -> Result<(), StoreError> {
        let path = self.lock_path();
        let lock = files::lock_file(&path, lock_timeout()).map_err(|error| StoreError::lock(&path, error))?;
        let replaced = self.fold(now).map_err(|error| StoreError::io(&self.dir, error));
        drop(lock);
        replaced.map(drop)
    }

    /// Folds the event log unless another process holds the project's lock.
    fn fold_if_free(&self, now: Millis) {
        if let Ok(Some(lock)) = files::try_lock_file(&self.lock_path()) {
            // The events stay in the log after an error, and the next observation tries again.
            let replaced = self.fold(now);
            drop(lock);
            drop(replaced);
        }
    }

    /// The caller holds the project's lock, and drops the result after it.
    fn fold(&self, now: Millis) -> io::Result<Vec<Replaced>> {
        let Some(folding) = self.log.start_folding()? else { return Ok(Vec::new()) };
        let mut replaced = Vec::new();
        let new = self.write_lessons(&folding, &mut replaced)?;
        folding.finish()?;
        self.clean_up(&new, now)?;
        Ok(replaced)
    }

    /// Writes the lessons that the log is about, and returns the ids of those that are new. A lesson that has ended is
    /// marked as removed and not deleted yet: if the process is killed and the log read again, its events must not make
    /// a new lesson.
    fn write_lessons(&self, folding: &Folding, replaced: &mut Vec<Replaced>) -> io::Result<BTreeSet<String>> {
        let mut new = BTreeSet::new();
        for id in ids_in(&folding.lines) {
            let path = self.file(id);
            let stored = match read_document(&path) {
                Ok(stored) => stored,
                // There is something else at this path. It must not keep the other lessons from being written.
                Err(error) if files::is_misplaced(&error) => continue,
                Err(error) => return Err(error),
            };
            let exists = stored.is_some();
            let document = match replay(id, stored, &folding.lines) {
                Some(mut document) => {
                    set_fold_mark(&mut document, &folding.mark);
                    document
                }
                None if exists => removed_document(&folding.mark),
                None => continue,
            };
            if !exists {
                new.insert(id.to_owned());
            }
            replaced.push(files::replace(&path, Value::Object(document).to_string().as_bytes(), PRIVATE)?);
        }
        Ok(new)
    }

    /// Deletes the files of removed lessons. If there are too many lessons, deletes the least certain ones, but none
    /// that is new.
    fn clean_up(&self, new: &BTreeSet<String>, now: Millis) -> io::Result<()> {
        let mut kept = Vec::new();
        for (id, document) in self.stored_documents()? {
            let Some(document) = document else { continue };
            if is_removed(&document) {
                fs::remove_file(self.file(&id))?;
            } else if let Some(lesson) = read_lesson(id, &document, now) {
                kept.push(lesson);
            }
        }
        kept.sort_by_key(|lesson| (!new.contains(&lesson.id), std::cmp::Reverse(lesson.confidence)));
        for lesson in kept.iter().skip(KEPT_LIMIT) {
            fs::remove_file(self.file(&lesson.id))?;
        }
        Ok(())
    }

    /// Whether there are so many lesson files that a new lesson replaces another.
    fn is_full(&self) -> bool {
        fs::read_dir(self.instincts_dir()).into_iter().flatten().count() >= KEPT_LIMIT
    }
}

/// The ids of all lessons that the lines are about, each once.
fn ids_in(lines: &[Line]) -> BTreeSet<&str> {
    let mut ids = BTreeSet::new();
    for line in lines {
        if let Line::Event(event) = line {
            ids.insert(event.id.as_str());
        }
    }
    ids
}

/// The folder of a project in the home. Its name contains a readable part and a hash of the project's path.
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

/// A contradiction may be the first thing that a session records, so its folder is created if it is missing.
fn append_observation(session: &Session, observation: &ObservationLine<'_>) -> Result<(), StoreError> {
    if !session.exists() {
        session.create()?;
    }
    let log = session.observations_file();
    files::append_lines(&log, &to_line(observation)).map_err(|error| StoreError::io(&log, error))
}

/// A line of the session's `observations.jsonl`.
#[derive(Serialize)]
struct ObservationLine<'a> {
    ts: String,
    #[serde(rename = "type")]
    kind: &'static str,
    id: &'a str,
    trigger: &'a str,
    action: &'a str,
    evidence: Option<&'a str>,
    signal: &'static str,
    confidence: f64,
}

/// A value as one line of a log. Serializing the types of this module cannot fail: their keys are names of fields.
fn to_line(value: &impl Serialize) -> String {
    let mut line = serde_json::to_string(value).unwrap_or_default();
    line.push('\n');
    line
}

const fn signal_name(signal: Signal) -> &'static str {
    match signal {
        Signal::Confirm => "confirm",
        Signal::Contradict => "contradict",
    }
}

/// The object in a lesson file. A file with anything else counts as missing and is replaced.
fn read_document(path: &Path) -> io::Result<Option<Map<String, Value>>> {
    let text = files::read_limited(path, LESSON_BYTES)?;
    Ok(text.and_then(|text| serde_json::from_slice(&text).ok()))
}

fn stored_confidence(document: &Map<String, Value>) -> Option<Confidence> {
    document.get("confidence")?.as_f64().map(Confidence::from_fraction)
}

fn last_seen(document: &Map<String, Value>) -> Option<Millis> {
    clock::from_iso(document.get("lastSeen")?.as_str()?)
}

fn read_lesson(id: String, document: &Map<String, Value>, now: Millis) -> Option<Lesson> {
    let text = |name: &str| document.get(name).and_then(Value::as_str).map(str::to_owned);
    let last_seen = last_seen(document);
    Some(Lesson {
        id,
        kind: ObservationKind::from_key(&text("type")?)?,
        trigger: text("trigger")?,
        lesson: text("action")?,
        confidence: stored_confidence(document)?.decayed(last_seen.unwrap_or(now), now),
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
mod tests;
