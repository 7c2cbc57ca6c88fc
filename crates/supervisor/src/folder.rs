//! Where the supervisor keeps its files, and the log of its calls.

use std::ffi::OsString;
use std::fs::{self, DirBuilder, File};
use std::io;
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};

use overtone_store::{SessionId, clock, files};

/// Logs are for looking things up, not for keeping.
const MAX_LOG: u64 = 32 * 1024 * 1024;

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

    pub(crate) fn audit_file(&self, session: &SessionId) -> PathBuf {
        self.path().join(format!("supervisor-{session}-audit.jsonl"))
    }

    pub(crate) fn log_file(&self) -> PathBuf {
        self.path().join("hook-invocation.log")
    }

    /// Makes the folder, for its owner only.
    pub(crate) fn make(&self) -> io::Result<()> {
        DirBuilder::new().recursive(true).mode(0o700).create(self.path())
    }

    /// Keeps others from changing a record.
    pub(crate) fn lock(&self) -> io::Result<File> {
        self.make()?;
        files::lock_file(&self.path().join(".lock"), files::lock_wait())
    }

    /// One line: time, event, and what it is about. Never a text of the session: it may hold secrets.
    pub(crate) fn log(&self, event: &str, session: &SessionId, details: &str) -> io::Result<()> {
        append(&self.log_file(), &log_line(&clock::to_iso(clock::now()), event, session, details))
    }
}

fn log_line(time: &str, event: &str, session: &SessionId, details: &str) -> String {
    format!("[{time}] {event} session_id={session} {details}")
}

/// Appends one line. A file that has grown large begins anew; the one before it is kept.
pub(crate) fn append(path: &Path, line: &str) -> io::Result<()> {
    if path.symlink_metadata().is_ok_and(|about| about.len() > MAX_LOG) {
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
    fn the_first_absolute_folder_counts() {
        assert_eq!(path(Some("/c"), Some("/w"), Some("/h")), Some("/c/ccc".into()));
        assert_eq!(path(None, Some("/w"), Some("/h")), Some("/w/ccc".into()));
        assert_eq!(path(Some(""), Some("w"), Some("/h")), Some("/h/.claude/ccc".into()));
        assert_eq!(path(None, None, Some("")), None);
    }

    #[test]
    fn a_log_does_not_grow_for_ever() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("hook-invocation.log");
        File::create(&path).unwrap().set_len(MAX_LOG + 1).unwrap();
        append(&path, "new").unwrap();
        assert_eq!(fs::read_to_string(&path).unwrap(), "new\n");
        assert_eq!(fs::metadata(dir.path().join("hook-invocation.log.1")).unwrap().len(), MAX_LOG + 1);
    }

    #[test]
    fn a_log_line_names_time_event_and_session() {
        let session = SessionId::parse("abc123").unwrap();
        let line = log_line("2026-01-01T00:00:00.000Z", "supervisor-hook invoked", &session, "iteration=4");
        assert_eq!(line, "[2026-01-01T00:00:00.000Z] supervisor-hook invoked session_id=abc123 iteration=4");
    }
}
