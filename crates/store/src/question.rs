//! `asked.json`: the command that the client asks the user about, in a session without a workflow. With a workflow, the loop
//! remembers it. The file is sealed: a note that Overtone did not write is no answer of the user.

use std::fs;
use std::io;
use std::path::PathBuf;

use overtone_core::engine::state::Millis;
use serde_json::{Value, json};

use crate::files::{self, PRIVATE};
use crate::seal::{Layout, SealState};
use crate::{Session, clock};

const NAME: &str = "asked.json";

/// How long a question is remembered, in milliseconds. The command runs as soon as the user agrees, and never if not.
const TTL: i64 = 10 * 60 * 1000;

impl Session {
    fn question_file(&self) -> PathBuf {
        self.dir().join(NAME)
    }

    /// Remembers that the user is asked about this command. The folder must exist.
    pub fn note_question(&self, command: &str, now: Millis) -> io::Result<()> {
        let mut note = json!({ "command": command, "at": clock::to_iso(now) }).to_string().into_bytes();
        self.seal_file(NAME, Layout::Compact, &mut note)?;
        files::write_atomic(&self.question_file(), &note, PRIVATE)
    }

    /// Whether the user was asked about exactly this command a moment ago. The answer counts once.
    pub fn take_question(&self, command: &str, now: Millis) -> bool {
        let Ok(Some(text)) = files::read_small(&self.question_file()) else { return false };
        if !matches!(self.check_file(NAME, Layout::Compact, text.as_bytes()), Ok(SealState::Valid)) {
            return false;
        }
        let note: Value = serde_json::from_str(&text).unwrap_or_default();
        let at = note.get("at").and_then(Value::as_str).and_then(clock::from_iso);
        let is_recent = matches!(at, Some(at) if now.since(at) < TTL);
        let is_same = note.get("command").and_then(Value::as_str) == Some(command);
        is_same && is_recent && fs::remove_file(self.question_file()).is_ok()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Home, SessionId};

    #[test]
    fn an_answer_counts_once_for_its_command_and_not_for_ever() {
        let folder = tempfile::tempdir().unwrap();
        let session = Home::at(folder.path().to_owned()).session(&SessionId::parse("s").unwrap());
        assert!(session.note_question("trust", Millis(0)).is_err(), "no session, no folder");
        session.create().unwrap();
        let now = Millis(1_700_000_000_000);
        assert!(!session.take_question("trust", now));
        session.note_question("trust", now).unwrap();
        assert!(!session.take_question("trust --yes", now));
        assert!(!session.take_question("trust", Millis(now.0 + TTL)));
        assert!(session.take_question("trust", Millis(now.0 + TTL - 1)));
        assert!(!session.take_question("trust", now));
        let forged = format!(r#"{{"command":"trust","at":"{}"}}"#, clock::to_iso(now));
        files::write_atomic(&session.question_file(), forged.as_bytes(), PRIVATE).unwrap();
        assert!(!session.take_question("trust", now), "somebody else wrote it");
    }
}
