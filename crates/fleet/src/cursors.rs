//! The published position of each timeline, on disk.
//!
//! The server is the authority: the last message of a session has its end, and the relay asks for it after every start.
//! This file saves that request for sessions in which nothing happens, and keeps the position of messages that the
//! server has already dropped.

use std::collections::BTreeMap;
use std::io;
use std::path::PathBuf;

use overtone_store::{Home, SessionId, files};
use serde::{Deserialize, Serialize};

use crate::machine::fleet_dir;

/// A position in a timeline. A timeline that replaces another one has a higher generation.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub(crate) struct TimelinePosition {
    pub(crate) generation: u32,
    pub(crate) end: u64,
}

#[derive(Debug, Default, Serialize, Deserialize)]
struct Document {
    /// The stream that the positions belong to.
    #[serde(default)]
    stream: String,
    #[serde(default)]
    sessions: BTreeMap<String, TimelinePosition>,
}

#[derive(Debug)]
pub(crate) struct Cursors {
    path: PathBuf,
    document: Document,
    is_changed: bool,
}

impl Cursors {
    /// An unreadable file counts as empty, because the server knows the positions.
    pub(crate) fn load(home: &Home) -> Self {
        let path = fleet_dir(home).join("cursors.json");
        let text = files::read_small(&path).ok().flatten();
        let document = text.and_then(|text| serde_json::from_str(&text).ok()).unwrap_or_default();
        Self { path, document, is_changed: false }
    }

    /// Drops all positions if they belong to another stream than this one.
    pub(crate) fn reset_for_stream(&mut self, stream: &str) {
        if self.document.stream != stream {
            self.document = Document { stream: stream.to_owned(), sessions: BTreeMap::new() };
            self.is_changed = true;
        }
    }

    pub(crate) fn get(&self, session: &SessionId) -> Option<TimelinePosition> {
        self.document.sessions.get(session.as_str()).copied()
    }

    pub(crate) fn set(&mut self, session: &SessionId, position: TimelinePosition) {
        let known = self.document.sessions.insert(session.to_string(), position);
        self.is_changed |= known != Some(position);
    }

    pub(crate) fn forget(&mut self, session: &SessionId) {
        self.is_changed |= self.document.sessions.remove(session.as_str()).is_some();
    }

    pub(crate) fn save(&mut self) -> io::Result<()> {
        if !self.is_changed {
            return Ok(());
        }
        let text = serde_json::to_vec(&self.document).map_err(io::Error::other)?;
        files::write_atomic(&self.path, &text, files::PRIVATE)?;
        self.is_changed = false;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn positions_are_kept_for_the_same_stream_only() {
        let dir = tempfile::tempdir().unwrap();
        let home = Home::at(dir.path().to_owned());
        overtone_store::create_private_dir(&fleet_dir(&home)).unwrap();
        let (session, position) =
            (SessionId::parse("s").unwrap(), TimelinePosition { generation: 1, end: 7 });
        let mut cursors = Cursors::load(&home);
        cursors.reset_for_stream("a");
        cursors.set(&session, position);
        cursors.save().unwrap();
        let mut again = Cursors::load(&home);
        again.reset_for_stream("a");
        assert_eq!(again.get(&session), Some(position));
        again.reset_for_stream("b");
        assert_eq!(again.get(&session), None);
        assert!(position > TimelinePosition { generation: 0, end: 9 });
    }
}
