//! How far the mirror's files are, on disk: `mirror.json`.
//!
//! It is written now and then, whole. What was written into timelines after it is cut off at the next start and comes
//! again from the server, so that every line is there once.

use std::collections::BTreeMap;
use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use overtone_store::{Home, SessionId, files};
use serde::{Deserialize, Serialize};

/// What a crash may cost to fetch again.
const SAVE_EVERY: Duration = Duration::from_secs(2);
/// Enough for some hundred thousand sessions.
const MAX_BYTES: u64 = 128 * 1024 * 1024;

/// How far the timeline of a session is.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Place {
    /// Whose timeline it is.
    pub(super) machine: String,
    #[serde(default)]
    pub(super) generation: u32,
    /// Where it ends in the file of that machine.
    #[serde(default)]
    pub(super) end: u64,
    /// How long it is here.
    #[serde(default)]
    pub(super) bytes: u64,
    /// From a stream that is gone: the next lines take the place of all.
    #[serde(default)]
    pub(super) is_stale: bool,
}

#[derive(Debug, Default, Serialize, Deserialize)]
struct Document {
    /// Of which stream this is true.
    #[serde(default)]
    stream: String,
    /// The last message that was heard of it.
    #[serde(default)]
    sequence: u64,
    #[serde(default)]
    sessions: BTreeMap<String, Place>,
}

#[derive(Debug)]
pub(super) struct Notes {
    path: PathBuf,
    document: Document,
    is_changed: bool,
    saved: Instant,
}

impl Notes {
    /// What cannot be read counts as nothing: the server has everything.
    pub(super) fn load(home: &Home) -> Self {
        let path = home.root().join("mirror.json");
        // Many sessions make it longer than a state file.
        let text = files::read_limited(&path, MAX_BYTES).ok().flatten().unwrap_or_default();
        let document = serde_json::from_slice(&text).unwrap_or_default();
        Self { path, document, is_changed: false, saved: Instant::now() }
    }

    /// Every timeline as long as was noted. One that is shorter lost something, and begins anew.
    pub(super) fn cut_back(&self, home: &Home) -> io::Result<()> {
        for session in home.sessions().unwrap_or_default() {
            let noted = self.place(session.id()).map_or(0, |place| place.bytes);
            cut(&session.timeline_file(), noted)?;
        }
        Ok(())
    }

    /// Another stream has other numbers, and knows other things.
    pub(super) fn belong_to(&mut self, stream: &str, last: u64) {
        if self.document.stream != stream {
            for place in self.document.sessions.values_mut() {
                *place = Place { is_stale: true, generation: 0, end: 0, ..place.clone() };
            }
            stream.clone_into(&mut self.document.stream);
            self.set_sequence(0);
        } else if self.document.sequence > last {
            // The server has lost what it said last. What it says again is recognised by its place.
            self.set_sequence(0);
        }
    }

    pub(super) const fn sequence(&self) -> u64 {
        self.document.sequence
    }

    pub(super) fn set_sequence(&mut self, sequence: u64) {
        self.document.sequence = sequence;
        self.is_changed = true;
    }

    pub(super) fn place(&self, session: &SessionId) -> Option<&Place> {
        self.document.sessions.get(session.as_str())
    }

    pub(super) fn set(&mut self, session: &SessionId, place: Place) {
        self.document.sessions.insert(session.to_string(), place);
        self.is_changed = true;
    }

    pub(super) fn forget(&mut self, session: &SessionId) {
        self.is_changed |= self.document.sessions.remove(session.as_str()).is_some();
    }

    pub(super) fn save_if_due(&mut self) -> io::Result<()> {
        if self.saved.elapsed() < SAVE_EVERY { Ok(()) } else { self.save() }
    }

    pub(super) fn save(&mut self) -> io::Result<()> {
        self.saved = Instant::now();
        if !self.is_changed {
            return Ok(());
        }
        let text = serde_json::to_vec(&self.document).map_err(io::Error::other)?;
        files::write_atomic(&self.path, &text, files::PRIVATE)?;
        self.is_changed = false;
        Ok(())
    }
}

/// Makes a file that is too long as long as it should be. Something else in its place is not opened.
fn cut(path: &Path, noted: u64) -> io::Result<()> {
    let about = path.symlink_metadata();
    if about.is_ok_and(|about| about.is_file() && about.len() > noted) {
        return File::options().write(true).open(path)?.set_len(noted);
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use overtone_store::create_private_dir;

    use super::*;

    fn home(dir: &tempfile::TempDir) -> Home {
        let home = Home::at(dir.path().to_owned());
        create_private_dir(&home.sessions_dir()).unwrap();
        home
    }

    #[test]
    fn what_was_written_after_the_notes_is_cut_off() {
        let dir = tempfile::tempdir().unwrap();
        let home = home(&dir);
        let (known, strange) = (SessionId::parse("noted").unwrap(), SessionId::parse("strange").unwrap());
        for id in [&known, &strange] {
            home.session(id).create().unwrap();
            files::append_lines(&home.session(id).timeline_file(), "{}\n{}\n").unwrap();
        }
        let mut notes = Notes::load(&home);
        notes.belong_to("a", 9);
        notes.set(&known, Place { machine: "m".into(), end: 9, bytes: 3, ..Place::default() });
        notes.set_sequence(7);
        notes.save().unwrap();
        let again = Notes::load(&home);
        again.cut_back(&home).unwrap();
        let length = |id| home.session(id).timeline_file().metadata().unwrap().len();
        assert_eq!((again.sequence(), length(&known), length(&strange)), (7, 3, 0));
    }

    #[test]
    fn another_stream_begins_anew_and_a_shorter_one_is_read_again() {
        let dir = tempfile::tempdir().unwrap();
        let home = home(&dir);
        let id = SessionId::parse("s").unwrap();
        let place = Place { machine: "m".into(), generation: 1, end: 9, bytes: 3, is_stale: false };
        let mut notes = Notes::load(&home);
        notes.belong_to("a", 9);
        notes.set(&id, place.clone());
        notes.set_sequence(7);
        notes.belong_to("a", 5);
        assert_eq!((notes.sequence(), notes.place(&id)), (0, Some(&place)));
        notes.set_sequence(7);
        notes.belong_to("b", 9);
        let stale = Place { generation: 0, end: 0, is_stale: true, ..place };
        assert_eq!((notes.sequence(), notes.place(&id)), (0, Some(&stale)));
    }
}
