//! How far each timeline has been told, on disk.
//!
//! The server knows it better: the last message of a session says where it ended, and that is asked for after every
//! start. This file spares the question for sessions in which nothing happens, and says how far it was where the server
//! has forgotten.

use std::collections::BTreeMap;
use std::io;
use std::path::PathBuf;

use overtone_store::{Home, SessionId, files};
use serde::{Deserialize, Serialize};

use crate::machine::folder;

/// A place in a timeline. A timeline that begins anew has a generation of its own.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub(crate) struct Place {
    pub(crate) generation: u32,
    pub(crate) end: u64,
}

#[derive(Debug, Default, Serialize, Deserialize)]
struct Document {
    /// Of which stream this is true.
    #[serde(default)]
    stream: String,
    #[serde(default)]
    sessions: BTreeMap<String, Place>,
}

#[derive(Debug)]
pub(crate) struct Cursors {
    path: PathBuf,
    document: Document,
    is_changed: bool,
}

impl Cursors {
    /// What cannot be read counts as nothing: the server knows.
    pub(crate) fn load(home: &Home) -> Self {
        let path = folder(home).join("cursors.json");
        let text = files::read_small(&path).ok().flatten();
        let document = text.and_then(|text| serde_json::from_str(&text).ok()).unwrap_or_default();
        Self { path, document, is_changed: false }
    }

    /// Forgets everything if it was about another stream, which knows nothing yet.
    pub(crate) fn belong_to(&mut self, stream: &str) {
        if self.document.stream != stream {
            self.document = Document { stream: stream.to_owned(), sessions: BTreeMap::new() };
            self.is_changed = true;
        }
    }

    pub(crate) fn get(&self, session: &SessionId) -> Option<Place> {
        self.document.sessions.get(session.as_str()).copied()
    }

    pub(crate) fn set(&mut self, session: &SessionId, place: Place) {
        let known = self.document.sessions.insert(session.to_string(), place);
        self.is_changed |= known != Some(place);
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
    fn places_survive_but_not_those_of_another_stream() {
        let dir = tempfile::tempdir().unwrap();
        let home = Home::at(dir.path().to_owned());
        overtone_store::create_private_dir(&folder(&home)).unwrap();
        let (session, place) = (SessionId::parse("s").unwrap(), Place { generation: 1, end: 7 });
        let mut cursors = Cursors::load(&home);
        cursors.belong_to("a");
        cursors.set(&session, place);
        cursors.save().unwrap();
        let mut again = Cursors::load(&home);
        again.belong_to("a");
        assert_eq!(again.get(&session), Some(place));
        again.belong_to("b");
        assert_eq!(again.get(&session), None);
        assert!(place > Place { generation: 0, end: 9 });
    }
}
