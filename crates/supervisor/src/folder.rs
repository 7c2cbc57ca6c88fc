//! Where the supervisor keeps its files, and the log of its calls.

use std::ffi::OsString;
use std::fs::{DirBuilder, File};
use std::io;
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};

use overtone_store::{SessionId, clock, files};

/// `$CCC_CONFIG_DIR`, else `$CCC_WORK_DIR`, else `~/.claude`, and `ccc` below it.
#[derive(Debug, Clone)]
pub struct StateFolder {
    base: PathBuf,
}

impl StateFolder {
    /// A relative or empty value counts as none: state must not land in whatever folder the hook runs in.
    pub fn resolve(
        config_dir: Option<OsString>,
        work_dir: Option<OsString>,
        home: Option<OsString>,
    ) -> Option<Self> {
        let absolute = |value: Option<OsString>| value.map(PathBuf::from).filter(|path| path.is_absolute());
        let base = absolute(config_dir)
            .or_else(|| absolute(work_dir))
            .or_else(|| absolute(home).map(|home| home.join(".claude")))?;
        Some(Self { base })
    }

    pub fn from_process() -> Option<Self> {
        use std::env::var_os;
        Self::resolve(var_os("CCC_CONFIG_DIR"), var_os("CCC_WORK_DIR"), var_os("HOME"))
    }

    pub fn path(&self) -> PathBuf {
        self.base.join("ccc")
    }

    /// What the person wants the reviewer to be told; not ours to write.
    pub(crate) fn prompt_file(&self) -> PathBuf {
        self.base.join("SUPERVISOR.md")
    }

    pub(crate) fn record_file(&self, session: &SessionId) -> PathBuf {
        self.path().join(format!("supervisor-{session}.json"))
    }

    /// The reviewer's raw output; `session` may be a placeholder when it is only shown.
    pub(crate) fn output_file(&self, session: &str) -> PathBuf {
        self.path().join(format!("supervisor-{session}-output.jsonl"))
    }

    pub(crate) fn log_file(&self) -> PathBuf {
        self.path().join("hook-invocation.log")
    }

    /// Makes the folder and keeps others from changing a record in it.
    pub(crate) fn lock(&self) -> io::Result<File> {
        let path = self.path();
        DirBuilder::new().recursive(true).mode(0o700).create(&path)?;
        files::lock_file(&path.join(".lock"), files::LOCK_WAIT)
    }

    /// One line: time, event, and what it is about. Never a text of the session: it may hold secrets.
    pub(crate) fn log(&self, event: &str, session: &SessionId, details: &str) -> io::Result<()> {
        append(&self.log_file(), &log_line(&clock::to_iso(clock::now()), event, session, details))
    }
}

fn log_line(time: &str, event: &str, session: &SessionId, details: &str) -> String {
    format!("[{time}] {event} session_id={session} {details}")
}

/// Appends one line.
pub(crate) fn append(path: &Path, line: &str) -> io::Result<()> {
    files::append_lines(path, &format!("{line}\n"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn path(config: Option<&str>, work: Option<&str>, home: Option<&str>) -> Option<PathBuf> {
        let folder = StateFolder::resolve(config.map(Into::into), work.map(Into::into), home.map(Into::into));
        folder.map(|folder| folder.path())
    }

    #[test]
    fn the_first_absolute_folder_counts() {
        assert_eq!(path(Some("/c"), Some("/w"), Some("/h")), Some("/c/ccc".into()));
        assert_eq!(path(None, Some("/w"), Some("/h")), Some("/w/ccc".into()));
        assert_eq!(path(Some(""), Some("w"), Some("/h")), Some("/h/.claude/ccc".into()));
        assert_eq!(path(None, None, Some("")), None);
    }

    #[test]
    fn a_log_line_names_time_event_and_session() {
        let session = SessionId::parse("abc123").unwrap();
        let line = log_line("2026-01-01T00:00:00.000Z", "supervisor-hook invoked", &session, "iteration=4");
        assert_eq!(line, "[2026-01-01T00:00:00.000Z] supervisor-hook invoked session_id=abc123 iteration=4");
    }
}
