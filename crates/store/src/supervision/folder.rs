//! The state folder of `ccc`, and the log of hook calls.

use std::ffi::OsString;
use std::fs::{self, DirBuilder, File};
use std::io;
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};

use crate::{SessionId, clock, files};

/// A larger log is rotated.
const MAX_LOG_BYTES: u64 = 32 * 1024 * 1024;

/// The folder `ccc` in `$CCC_CONFIG_DIR`, else in `$CCC_WORK_DIR`, else in `~/.claude`.
#[derive(Debug, Clone)]
pub struct StateFolder {
    base: PathBuf,
}

impl StateFolder {
    /// Resolves the folder. A relative or empty value counts as not set: state must not be written to the folder in which
    /// the hook happens to run.
    pub fn resolve(
        config_dir: Option<OsString>,
        work_dir: Option<OsString>,
        home: Option<OsString>,
    ) -> Option<Self> {
        let absolute = |value: Option<OsString>| value.map(PathBuf::from).filter(|path| path.is_absolute());
        if let Some(base) = absolute(config_dir).or_else(|| absolute(work_dir)) {
            return Some(Self { base });
        }
        Some(Self { base: absolute(home)?.join(".claude") })
    }

    pub fn from_process() -> Option<Self> {
        use std::env::var_os;
        Self::resolve(var_os("CCC_CONFIG_DIR"), var_os("CCC_WORK_DIR"), var_os("HOME"))
    }

    /// The folder that contains the state folder, `ccc.json` and `SUPERVISOR.md`.
    pub fn base(&self) -> &Path {
        &self.base
    }

    pub fn path(&self) -> PathBuf {
        self.base.join("ccc")
    }

    /// The user's own instructions for the reviewer. Overtone never writes this file.
    pub fn prompt_file(&self) -> PathBuf {
        self.base.join("SUPERVISOR.md")
    }

    pub fn record_file(&self, session: &SessionId) -> PathBuf {
        self.path().join(format!("supervisor-{session}.json"))
    }

    /// The reviewer's raw output. `session` may be a placeholder if the path is only shown.
    pub fn output_file(&self, session: &str) -> PathBuf {
        self.path().join(format!("supervisor-{session}-output.jsonl"))
    }

    pub fn audit_file(&self, session: &SessionId) -> PathBuf {
        self.path().join(format!("supervisor-{session}-audit.jsonl"))
    }

    pub fn log_file(&self) -> PathBuf {
        self.path().join("hook-invocation.log")
    }

    /// Creates the folder, accessible to its owner only.
    pub fn create(&self) -> io::Result<()> {
        DirBuilder::new().recursive(true).mode(0o700).create(self.path())
    }

    /// Locks the records against changes by other processes.
    pub fn lock(&self) -> io::Result<File> {
        self.create()?;
        files::lock_file(&self.path().join(".lock"), files::lock_timeout())
    }

    /// Appends a line to the log: time, event, session and details. Details must not contain texts of the session, which
    /// may contain secrets.
    pub fn log(&self, event: &str, session: &SessionId, details: &str) -> io::Result<()> {
        append_line(&self.log_file(), &log_line(&clock::to_iso(clock::now()), event, session, details))
    }
}

fn log_line(time: &str, event: &str, session: &SessionId, details: &str) -> String {
    format!("[{time}] {event} session_id={session} {details}")
}

/// Appends one line. A large file is renamed first, and its previous rotation is replaced.
pub fn append_line(path: &Path, line: &str) -> io::Result<()> {
    if let Ok(metadata) = path.symlink_metadata()
        && metadata.len() > MAX_LOG_BYTES
    {
        fs::rename(path, path.with_added_extension("1"))?;
    }
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
    fn the_first_absolute_folder_is_used() {
        assert_eq!(path(Some("/c"), Some("/w"), Some("/h")), Some("/c/ccc".into()));
        assert_eq!(path(None, Some("/w"), Some("/h")), Some("/w/ccc".into()));
        assert_eq!(path(Some(""), Some("w"), Some("/h")), Some("/h/.claude/ccc".into()));
        assert_eq!(path(None, None, Some("")), None);
    }

    #[test]
    fn a_large_log_is_rotated() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("hook-invocation.log");
        File::create(&path).unwrap().set_len(MAX_LOG_BYTES + 1).unwrap();
        append_line(&path, "new").unwrap();
        assert_eq!(fs::read_to_string(&path).unwrap(), "new\n");
        assert_eq!(fs::metadata(dir.path().join("hook-invocation.log.1")).unwrap().len(), MAX_LOG_BYTES + 1);
    }

    #[test]
    fn a_log_line_contains_time_event_and_session() {
        let session = SessionId::parse("abc123").unwrap();
        let line = log_line("2026-01-01T00:00:00.000Z", "supervisor-hook invoked", &session, "iteration=4");
        assert_eq!(line, "[2026-01-01T00:00:00.000Z] supervisor-hook invoked session_id=abc123 iteration=4");
    }
}
