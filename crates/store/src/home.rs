//! The home folder, and the names that may become a path in it.

use std::ffi::OsString;
use std::fmt;
use std::fs;
use std::io;
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};

use crate::session::{REMOVED_PREFIX, Session};
use crate::{StoreError, files};

/// `~/.overtone`, or the folder in `OVERTONE_HOME`.
#[derive(Debug, Clone)]
pub struct Home {
    root: PathBuf,
}

impl Home {
    /// Resolves the home from two environment variables. A relative or empty value counts as not set: state must not be
    /// written to the folder in which a hook happens to run.
    pub fn resolve(overtone_home: Option<OsString>, home: Option<OsString>) -> Option<Self> {
        let absolute = |value: Option<OsString>| value.map(PathBuf::from).filter(|path| path.is_absolute());
        if let Some(root) = absolute(overtone_home) {
            return Some(Self { root });
        }
        Some(Self { root: absolute(home)?.join(".overtone") })
    }

    pub fn at(root: PathBuf) -> Self {
        Self { root }
    }

    pub fn root(&self) -> &Path {
        &self.root
    }

    pub fn config_file(&self) -> PathBuf {
        self.root.join("config.json")
    }

    pub fn sessions_dir(&self) -> PathBuf {
        self.root.join("sessions")
    }

    pub fn session(&self, id: &SessionId) -> Session {
        Session::new(id.clone(), self.sessions_dir().join(id.as_str()))
    }

    /// Every session that has a folder, in no order. Other entries are skipped.
    pub fn sessions(&self) -> Result<Vec<Session>, StoreError> {
        let dir = self.sessions_dir();
        let entries = match fs::read_dir(&dir) {
            Ok(entries) => entries,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
            Err(error) => return Err(StoreError::io(&dir, error)),
        };
        let mut sessions = Vec::new();
        for entry in entries.flatten() {
            if let Ok(kind) = entry.file_type()
                && kind.is_dir()
                && let Some(id) = entry.file_name().to_str().and_then(SessionId::parse)
            {
                sessions.push(self.session(&id));
            }
        }
        Ok(sessions)
    }

    /// Deletes what a killed [`Session::remove`] or [`Home::adopt`] left behind.
    pub fn sweep_removed(&self) {
        for entry in fs::read_dir(self.sessions_dir()).into_iter().flatten().flatten() {
            if entry.file_name().to_string_lossy().starts_with(REMOVED_PREFIX) {
                // If it cannot be deleted, the next sweep tries again.
                let _ = fs::remove_dir_all(entry.path());
            }
        }
    }

    fn current_session_file(&self) -> PathBuf {
        self.root.join(".current-session-id")
    }

    /// The session that started last, for commands that run outside any session. `None` also if it cannot be read.
    pub fn current_session(&self) -> Option<SessionId> {
        self.look_up_current_session().ok().flatten()
    }

    /// Like [`Self::current_session`], but reports an error, so that a user can tell "unknown" from "none".
    pub fn look_up_current_session(&self) -> Result<Option<SessionId>, StoreError> {
        let path = self.current_session_file();
        let text = files::read_small(&path).map_err(|error| StoreError::io(&path, error))?;
        Ok(text.and_then(|text| SessionId::parse(text.trim())))
    }

    pub fn set_current_session(&self, id: &SessionId) -> io::Result<()> {
        if self.current_session().as_ref() == Some(id) {
            return Ok(());
        }
        let lock = self.lock()?;
        let old = files::replace(&self.current_session_file(), id.as_str().as_bytes(), files::PRIVATE)?;
        drop(lock);
        drop(old);
        Ok(())
    }

    /// Forgets the current session, but only if it is this one: another terminal may have started since.
    pub fn clear_current_session(&self, id: &SessionId) -> io::Result<()> {
        if self.current_session().as_ref() != Some(id) {
            return Ok(());
        }
        // Declared before the lock, so that it is dropped after it.
        let _old;
        let _lock = self.lock()?;
        if self.current_session().as_ref() == Some(id) {
            _old = files::remove(&self.current_session_file())?;
        }
        Ok(())
    }

    /// Creates the folder if it is missing, and marks a new one as Overtone's.
    pub fn create(&self) -> io::Result<()> {
        if let Err(error) = fs::DirBuilder::new().mode(0o700).create(&self.root) {
            // The call may fail for another reason although the folder exists.
            if error.kind() == io::ErrorKind::AlreadyExists || self.root.is_dir() {
                return Ok(());
            }
        }
        create_private_dir(&self.root)?;
        // The folder works without a mark. Only `uninstall --purge` needs it.
        let _ = self.mark();
        Ok(())
    }

    /// Takes the lock for the files that belong to no session.
    pub fn lock(&self) -> io::Result<fs::File> {
        self.create()?;
        let lock = files::lock_file(&self.lock_path(), files::lock_timeout())?;
        // Without the key, what is written now is sealed later.
        let _ = self.create_seal_key();
        Ok(lock)
    }

    pub(crate) fn lock_path(&self) -> PathBuf {
        self.root.join(".lock")
    }
}

/// Creates a folder and its parents, accessible to the user only.
pub fn create_private_dir(dir: &Path) -> io::Result<()> {
    match fs::DirBuilder::new().mode(0o700).create(dir) {
        Ok(()) => Ok(()),
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Ok(()),
        Err(_) => fs::DirBuilder::new().recursive(true).mode(0o700).create(dir),
    }
}

/// How many characters of an id are shown to users.
const SHORT_ID: usize = 8;

/// A session id that is safe as a folder name.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct SessionId(String);

impl SessionId {
    /// Accepts `[A-Za-z0-9][A-Za-z0-9._-]{0,127}`.
    pub fn parse(text: &str) -> Option<Self> {
        let valid = |b: u8| b.is_ascii_alphanumeric() || matches!(b, b'.' | b'_' | b'-');
        let starts_well = text.bytes().next()?.is_ascii_alphanumeric();
        (starts_well && text.len() <= 128 && text.bytes().all(valid)).then(|| Self(text.to_owned()))
    }

    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The first characters, which are enough to tell sessions apart and to name one on the command line.
    pub fn short(&self) -> &str {
        &self.0[..self.0.len().min(SHORT_ID)]
    }
}

impl fmt::Display for SessionId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_safe_names_are_session_ids() {
        for bad in ["", ".", "..", "../../x", "/abs", "a/b", "a\0b", "-x", ".x", "a b", "é", &"a".repeat(129)]
        {
            assert_eq!(SessionId::parse(bad), None, "{bad:?}");
        }
        for good in ["a", "0", "abc-123", "A.b_c", &"a".repeat(128)] {
            assert!(SessionId::parse(good).is_some(), "{good:?}");
        }
    }

    #[test]
    fn a_relative_or_missing_home_is_none() {
        let resolve = |a: Option<&str>, b: Option<&str>| Home::resolve(a.map(Into::into), b.map(Into::into));
        assert!(resolve(None, None).is_none());
        assert!(resolve(Some(""), Some("")).is_none());
        assert!(resolve(Some("x"), Some("y/z")).is_none());
        assert_eq!(resolve(None, Some("/h")).unwrap().root(), Path::new("/h/.overtone"));
        assert_eq!(resolve(Some("/o"), Some("/h")).unwrap().root(), Path::new("/o"));
        assert_eq!(resolve(Some(""), Some("/h")).unwrap().root(), Path::new("/h/.overtone"));
    }

    #[test]
    fn another_sessions_pointer_is_left_alone() {
        let dir = tempfile::tempdir().unwrap();
        let home = Home::at(dir.path().join("o"));
        let (a, b) = (SessionId::parse("a").unwrap(), SessionId::parse("b").unwrap());
        home.set_current_session(&a).unwrap();
        home.set_current_session(&b).unwrap();
        home.clear_current_session(&a).unwrap();
        assert_eq!(home.current_session(), Some(b.clone()));
        home.clear_current_session(&b).unwrap();
        assert_eq!(home.current_session(), None);
    }

    #[test]
    fn a_session_that_ends_does_not_clear_the_pointer_of_one_that_starts() {
        let dir = tempfile::tempdir().unwrap();
        let home = Home::at(dir.path().join("o"));
        let (ending, starting) = (SessionId::parse("a").unwrap(), SessionId::parse("b").unwrap());
        for round in 0..1000 {
            home.set_current_session(&ending).unwrap();
            let together = std::sync::Barrier::new(2);
            std::thread::scope(|scope| {
                scope.spawn(|| {
                    together.wait();
                    // A little later in every round, so that they meet at every instant.
                    (0..round * 20).for_each(|_| std::hint::spin_loop());
                    home.clear_current_session(&ending).unwrap();
                });
                together.wait();
                home.set_current_session(&starting).unwrap();
            });
            assert_eq!(home.current_session().as_ref(), Some(&starting));
        }
    }
}
