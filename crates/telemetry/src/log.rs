//! The log of what could not be exported, `telemetry/export.log`. A server that a hook started has no terminal.

use std::fs;
use std::path::PathBuf;

use overtone_store::{Home, clock, files};

/// It is for looking things up, not for keeping.
const MAX_BYTES: u64 = 1024 * 1024;

#[derive(Debug, Clone)]
pub(crate) struct Log {
    path: PathBuf,
}

impl Log {
    pub(crate) fn new(home: &Home) -> Self {
        Self { path: home.root().join("telemetry/export.log") }
    }

    /// One line, also on stderr. Whoever calls has taken secrets out.
    pub(crate) fn say(&self, text: &str) {
        let text = text.replace(['\n', '\r'], " ");
        eprintln!("[overtone/telemetry] {text}");
        if self.path.symlink_metadata().is_ok_and(|about| about.len() > MAX_BYTES) {
            // The newest lines are worth more than the oldest.
            let _ = fs::rename(&self.path, self.path.with_added_extension("1"));
        }
        let line = format!("{} {text}\n", clock::to_iso(clock::now()));
        if let Err(error) = files::append_lines(&self.path, &line) {
            eprintln!("[overtone/telemetry] cannot write {}: {error}", self.path.display());
        }
    }
}
