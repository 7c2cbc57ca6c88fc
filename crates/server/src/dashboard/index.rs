//! The sessions as they were last read.

use std::collections::HashMap;
use std::os::unix::fs::FileExt;
use std::path::Path;
use std::sync::Arc;

use overtone_core::engine::settings::Settings;
use overtone_session::view::{
    Query, SkippedFile, Summary, Supervision, copied_session_json, read_page, session_json,
};
use overtone_store::{Home, Session, SessionId, clock, files};
use serde_json::Value;

use crate::dashboard::hub::Update;
use crate::file_length::file_length;

/// How many events are read at a time.
const EVENTS_PER_READ: usize = 2_000;
/// If more than this was added to a timeline at once, listeners are asked to reload the session.
const MAX_PUBLISHED_BYTES: u64 = 8 * 1024 * 1024;

/// A session, and how far its timeline was published.
#[derive(Debug)]
pub(crate) struct Entry {
    pub(crate) summary: Summary,
    pub(crate) json: Arc<Value>,
    pub(crate) published_offset: u64,
}

impl Entry {
    /// Updates what depends on the length of the timeline, without reading the state again.
    fn grow(&mut self, offset: u64) {
        self.published_offset = offset;
        self.summary.timeline_bytes = offset;
        self.summary.last_activity = clock::now();
        let json = Arc::make_mut(&mut self.json);
        json["bytes"] = offset.into();
        json["lastActivity"] = clock::to_iso(self.summary.last_activity).into();
    }
}

#[derive(Debug)]
pub(crate) struct Index {
    sessions: HashMap<SessionId, Entry>,
    settings: Settings,
    origin: SessionOrigin,
}

/// Where the sessions of a home come from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum SessionOrigin {
    Local,
    /// Copies from other machines. The files that they refer to are not on this one.
    Mirrored,
}

impl SessionOrigin {
    pub(crate) fn load(self, session: &Session) -> Summary {
        match self {
            Self::Local => Summary::load(session),
            Self::Mirrored => Summary::load_copy(session),
        }
    }

    fn to_json(self, summary: &Summary, settings: &Settings) -> Value {
        match self {
            Self::Local => session_json(summary, Supervision::load(summary).as_ref(), settings),
            Self::Mirrored => copied_session_json(summary, settings),
        }
    }
}

/// Which files of a session have changed.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct ChangedFiles {
    pub(crate) timeline: bool,
    pub(crate) state: bool,
}

impl ChangedFiles {
    pub(crate) const ALL: Self = Self { timeline: true, state: true };

    pub(crate) fn join(self, other: Self) -> Self {
        Self { timeline: self.timeline || other.timeline, state: self.state || other.state }
    }
}

impl Index {
    /// Reads every session. Events that exist already are not published.
    pub(crate) fn load(home: &Home, settings: Settings, origin: SessionOrigin) -> Self {
        let mut index = Self { sessions: HashMap::new(), settings, origin };
        for session in home.sessions().unwrap_or_default() {
            let summary = origin.load(&session);
            let offset = last_line_end(&summary);
            index.insert(summary, offset);
        }
        index
    }

    fn insert(&mut self, summary: Summary, published_offset: u64) -> Arc<Value> {
        let json = Arc::new(self.origin.to_json(&summary, &self.settings));
        let entry = Entry { json: Arc::clone(&json), published_offset, summary };
        self.sessions.insert(entry.summary.session.id().clone(), entry);
        json
    }

    pub(crate) const fn origin(&self) -> SessionOrigin {
        self.origin
    }

    pub(crate) fn len(&self) -> usize {
        self.sessions.len()
    }

    pub(crate) fn get(&self, id: &SessionId) -> Option<&Entry> {
        self.sessions.get(id)
    }

    pub(crate) fn entries(&self) -> impl Iterator<Item = &Entry> {
        self.sessions.values()
    }

    pub(crate) fn skipped(&self) -> Vec<SkippedFile> {
        self.entries().flat_map(|entry| entry.summary.skipped.iter().cloned()).collect()
    }

    /// Reads a session again and returns what is new.
    pub(crate) fn refresh(&mut self, home: &Home, id: &SessionId, changed: ChangedFiles) -> Vec<Update> {
        let session = home.session(id);
        if !session.exists() {
            return match self.sessions.remove(id) {
                Some(_) => vec![Update::Removed { session: id.to_string() }],
                None => Vec::new(),
            };
        }
        let known = self.sessions.get(id).map(|entry| entry.published_offset);
        let mut updates = Vec::new();
        let mut offset = known.unwrap_or(0);
        if changed.timeline || known.is_none() {
            (updates, offset) = read_new_events(home, id, offset);
        }
        if changed.state || known.is_none() {
            let summary = self.origin.load(&session);
            let json = self.insert(summary, offset);
            updates.push(Update::Session { session: id.to_string(), summary: json });
        } else if let Some(entry) = self.sessions.get_mut(id) {
            entry.grow(offset);
        }
        updates
    }

    /// Reads the open sessions again. The tasks of their features and the rounds of their supervisors are in other folders,
    /// which are not watched.
    pub(crate) fn refresh_open(&mut self, home: &Home) -> Vec<Update> {
        let open = self.entries().filter(|entry| entry.summary.state.is_open());
        let ids: Vec<_> = open.map(|entry| entry.summary.session.id().clone()).collect();
        ids.iter().filter_map(|id| self.refresh_if_changed(home, id)).collect()
    }

    fn refresh_if_changed(&mut self, home: &Home, id: &SessionId) -> Option<Update> {
        let entry = self.sessions.get(id)?;
        let (before, offset) = (Arc::clone(&entry.json), entry.published_offset);
        let session = home.session(id);
        if !session.exists() {
            return None;
        }
        let json = self.insert(self.origin.load(&session), offset);
        if without_activity(&json) == without_activity(&before) {
            return None;
        }
        Some(Update::Session { session: id.to_string(), summary: json })
    }
}

/// The fields of a session that change only with its state.
fn without_activity(json: &Value) -> Value {
    let mut json = json.clone();
    if let Some(fields) = json.as_object_mut() {
        fields.remove("lastActivity");
        fields.remove("bytes");
    }
    json
}

/// The offset after the last complete line of a timeline. Usually the last byte is a line break, so only one byte is read.
fn last_line_end(summary: &Summary) -> u64 {
    let path = summary.session.timeline_file();
    if is_line_end(&path, summary.timeline_bytes) {
        return summary.timeline_bytes;
    }
    find_last_line_end(&path)
}

fn find_last_line_end(path: &Path) -> u64 {
    match overtone_session::view::ReverseLines::open(path) {
        Ok(Some(lines)) => lines.end(),
        Ok(None) | Err(_) => 0,
    }
}

fn is_line_end(path: &Path, offset: u64) -> bool {
    let Ok(Some(file)) = files::open_regular(path) else { return false };
    let mut byte = [0];
    offset > 0 && file.read_exact_at(&mut byte, offset - 1).is_ok() && byte == *b"\n"
}

/// All events from an offset on, and the offset after them. A timeline that has become shorter is a new file and is read
/// from its beginning.
fn read_new_events(home: &Home, id: &SessionId, from: u64) -> (Vec<Update>, u64) {
    let path = home.session(id).timeline_file();
    let from = if file_length(&path) < from { 0 } else { from };
    let mut offset = from;
    let mut updates = Vec::new();
    let session = id.to_string();
    loop {
        let Ok(page) = read_page(&path, &Query::starting_at(offset, EVENTS_PER_READ)) else {
            return (updates, offset);
        };
        let events = page.events.into_iter();
        updates.extend(events.map(|event| Update::Event { session: session.clone(), event }));
        if page.newer == offset {
            return (updates, offset);
        }
        offset = page.newer;
        if offset - from > MAX_PUBLISHED_BYTES {
            return (vec![Update::Resync { session }], offset.max(find_last_line_end(&path)));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_very_long_addition_is_published_as_a_resync() {
        let dir = tempfile::tempdir().unwrap();
        let home = Home::at(dir.path().to_owned());
        let mut index = Index::load(&home, Settings::default(), SessionOrigin::Local);
        let id = SessionId::parse("s").unwrap();
        let session = home.session(&id);
        session.create().unwrap();
        let line = "{\"type\":\"tool:failure\"}\n";
        files::append_lines(&session.timeline_file(), &line.repeat(400_000)).unwrap();
        let updates = index.refresh(&home, &id, ChangedFiles::ALL);
        assert!(matches!(&updates[..], [Update::Resync { .. }, Update::Session { .. }]), "{}", updates.len());
        files::append_lines(&session.timeline_file(), line).unwrap();
        let updates = index.refresh(&home, &id, ChangedFiles { timeline: true, state: false });
        assert!(matches!(&updates[..], [Update::Event { .. }]), "{}", updates.len());
    }
}
