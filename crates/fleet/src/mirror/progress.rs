//! The positions of the mirror's timelines, in `mirror.json`.
//!
//! The file is written at intervals. Lines that were appended to timelines after the last write are truncated at the
//! next start and fetched again, so that every line is there once.

use std::collections::BTreeMap;
use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use overtone_store::{Home, SessionId, files};
use serde::{Deserialize, Serialize};

/// How often the file is written. After a crash, at most this much has to be fetched again.
const SAVE_INTERVAL: Duration = Duration::from_secs(2);
/// Enough for some hundred thousand sessions.
const MAX_BYTES: u64 = 128 * 1024 * 1024;

/// The position of a session's timeline.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct MirrorPosition {
    /// The machine whose timeline it is.
    pub(super) machine: String,
    #[serde(default)]
    pub(super) generation: u32,
    /// Its end in the file of that machine.
    #[serde(default)]
    pub(crate) end: u64,
    /// Its length in the mirror.
    #[serde(default)]
    pub(crate) bytes: u64,
    /// Its stream was deleted, so the next batch replaces the timeline.
    #[serde(default)]
    pub(super) is_stale: bool,
}

#[derive(Debug, Default, Serialize, Deserialize)]
struct Document {
    /// The stream that the positions belong to.
    #[serde(default)]
    stream: String,
    /// The sequence of the last received message.
    #[serde(default)]
    sequence: u64,
    #[serde(default)]
    sessions: BTreeMap<String, MirrorPosition>,
}

#[derive(Debug)]
pub(super) struct MirrorProgress {
    path: PathBuf,
    document: Document,
    is_changed: bool,
    saved: Instant,
}

impl MirrorProgress {
    /// An unreadable file counts as empty, because the server has everything.
    pub(super) fn load(home: &Home) -> Self {
        let path = home.root().join("mirror.json");
        // With many sessions it exceeds the limit for state files.
        let text = files::read_limited(&path, MAX_BYTES).ok().flatten().unwrap_or_default();
        let document = serde_json::from_slice(&text).unwrap_or_default();
        Self { path, document, is_changed: false, saved: Instant::now() }
    }

    /// Truncates every timeline to its recorded length. Shorter ones are incomplete and are fetched again later.
    pub(super) fn truncate_timelines(&self, home: &Home) -> io::Result<()> {
        for session in home.sessions().unwrap_or_default() {
            let recorded = match self.position(session.id()) {
                Some(position) => position.bytes,
                None => 0,
            };
            truncate(&session.timeline_file(), recorded)?;
        }
        Ok(())
    }

    /// Resets the positions if they belong to another stream, or if this one has lost messages.
    pub(super) fn reset_for_stream(&mut self, stream: &str, last: u64) {
        if self.document.stream != stream {
            for position in self.document.sessions.values_mut() {
                *position = MirrorPosition { is_stale: true, generation: 0, end: 0, ..position.clone() };
            }
            stream.clone_into(&mut self.document.stream);
            self.set_sequence(0);
        } else if self.document.sequence > last {
            // The server has lost its last messages. Repeated lines are recognised by their position.
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

    pub(super) fn position(&self, session: &SessionId) -> Option<&MirrorPosition> {
        self.document.sessions.get(session.as_str())
    }

    pub(super) fn set(&mut self, session: &SessionId, position: MirrorPosition) {
        self.document.sessions.insert(session.to_string(), position);
        self.is_changed = true;
    }

    pub(super) fn forget(&mut self, session: &SessionId) {
        self.is_changed |= self.document.sessions.remove(session.as_str()).is_some();
    }

    pub(super) fn save_if_due(&mut self) -> io::Result<()> {
        if self.saved.elapsed() < SAVE_INTERVAL { Ok(()) } else { self.save() }
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

/// Truncates a regular file that is too long. Links and other files are not opened.
fn truncate(path: &Path, length: u64) -> io::Result<()> {
    match path.symlink_metadata() {
        Ok(metadata) if metadata.is_file() && metadata.len() > length => {
            File::options().write(true).open(path)?.set_len(length)
        }
        _ => Ok(()),
    }
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
    fn lines_after_the_recorded_position_are_truncated() {
        let dir = tempfile::tempdir().unwrap();
        let home = home(&dir);
        let (known, unknown) = (SessionId::parse("noted").unwrap(), SessionId::parse("unknown").unwrap());
        for id in [&known, &unknown] {
            home.session(id).create().unwrap();
            files::append_lines(&home.session(id).timeline_file(), "{}\n{}\n").unwrap();
        }
        let mut progress = MirrorProgress::load(&home);
        progress.reset_for_stream("a", 9);
        progress.set(
            &known,
            MirrorPosition { machine: "m".into(), end: 9, bytes: 3, ..MirrorPosition::default() },
        );
        progress.set_sequence(7);
        progress.save().unwrap();
        let again = MirrorProgress::load(&home);
        again.truncate_timelines(&home).unwrap();
        let length = |id| home.session(id).timeline_file().metadata().unwrap().len();
        assert_eq!((again.sequence(), length(&known), length(&unknown)), (7, 3, 0));
    }

    #[test]
    fn positions_are_reset_for_another_stream_or_a_shorter_one() {
        let dir = tempfile::tempdir().unwrap();
        let home = home(&dir);
        let id = SessionId::parse("s").unwrap();
        let position =
            MirrorPosition { machine: "m".into(), generation: 1, end: 9, bytes: 3, is_stale: false };
        let mut progress = MirrorProgress::load(&home);
        progress.reset_for_stream("a", 9);
        progress.set(&id, position.clone());
        progress.set_sequence(7);
        progress.reset_for_stream("a", 5);
        assert_eq!((progress.sequence(), progress.position(&id)), (0, Some(&position)));
        progress.set_sequence(7);
        progress.reset_for_stream("b", 9);
        let stale = MirrorPosition { generation: 0, end: 0, is_stale: true, ..position };
        assert_eq!((progress.sequence(), progress.position(&id)), (0, Some(&stale)));
    }
}
