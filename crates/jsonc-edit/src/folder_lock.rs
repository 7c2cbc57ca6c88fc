//! Allows one editor at a time, with a lock on the folder of the file.
//!
//! The lock is on the open folder itself, so there is no lock file to leave behind, and it is released when the process
//! ends. Programs that ignore it are noticed by comparing the content before it is replaced.

use std::fs::{self, DirBuilder, File};
use std::io;
use std::os::unix::fs::{DirBuilderExt, MetadataExt};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use crate::SettingsErrorKind;
use crate::lock::{LockError, lock_unless};

/// Waiting ends after this many times the wait for one editor, even if others keep making progress.
const MAX_WAITS: u32 = 12;

/// Settings contain tokens, so a folder that is created for them is private.
const PRIVATE_FOLDER: u32 = 0o700;

/// Held while a file in the folder is read, changed and replaced.
#[derive(Debug)]
pub(crate) struct FolderLock {
    folder: PathBuf,
    _handle: File,
    is_created: bool,
}

impl FolderLock {
    /// Waits for other editors as long as one of them changes something within `wait`. So many editors on a slow disk all
    /// get their turn, but one that hangs is given up. A missing folder is created.
    pub(crate) fn take(folder: &Path, wait: Duration) -> Result<Self, SettingsErrorKind> {
        let limit = Instant::now() + wait * MAX_WAITS;
        loop {
            let is_created = create_folder(folder).map_err(SettingsErrorKind::Write)?;
            match File::open(folder) {
                Ok(handle) => {
                    acquire(&handle, wait, limit)?;
                    if is_still_at(&handle, folder) {
                        return Ok(Self { folder: folder.to_owned(), _handle: handle, is_created });
                    }
                }
                // Another process created it, wrote nothing, and removed it again.
                Err(error) if error.kind() == io::ErrorKind::NotFound => {}
                Err(error) => return Err(SettingsErrorKind::Write(error)),
            }
            if Instant::now() >= limit {
                return Err(SettingsErrorKind::Busy);
            }
        }
    }
}

/// Locks an open folder. Some network file systems cannot; there, only the comparison before replacing protects the file.
fn acquire(handle: &File, wait: Duration, limit: Instant) -> Result<(), SettingsErrorKind> {
    let mut progress = Progress { wait, limit, next_check: wait, seen: last_change(handle) };
    match lock_unless(handle, |waited| progress.has_stopped(waited, || last_change(handle))) {
        Ok(()) | Err(LockError::Unsupported(_)) => Ok(()),
        Err(LockError::Busy) => Err(SettingsErrorKind::Busy),
    }
}

/// Observes whether other editors make progress while this process waits for them.
struct Progress<C> {
    wait: Duration,
    limit: Instant,
    /// The waiting time after which the folder is examined next.
    next_check: Duration,
    seen: C,
}

impl<C: PartialEq> Progress<C> {
    /// True when nothing has changed for [`Self::wait`], or when the limit is reached.
    fn has_stopped(&mut self, waited: Duration, last_change: impl FnOnce() -> C) -> bool {
        if waited < self.next_check {
            return false;
        }
        let now = last_change();
        if now == self.seen || Instant::now() >= self.limit {
            return true;
        }
        self.seen = now;
        self.next_check = waited + self.wait;
        false
    }
}

/// When an entry of the folder was last created, renamed or removed, which every edit does.
fn last_change(handle: &File) -> Option<(i64, i64)> {
    handle.metadata().ok().map(|metadata| (metadata.mtime(), metadata.mtime_nsec()))
}

impl Drop for FolderLock {
    fn drop(&mut self) {
        if self.is_created {
            // This fails if the folder is not empty, which is intended.
            let _ = fs::remove_dir(&self.folder);
        }
    }
}

/// Creates a folder and returns whether it was missing.
pub(crate) fn create_folder(folder: &Path) -> io::Result<bool> {
    if folder.is_dir() {
        return Ok(false);
    }
    DirBuilder::new().recursive(true).mode(PRIVATE_FOLDER).create(folder).map(|()| true)
}

/// Whether the path still leads to the folder that was opened and locked.
fn is_still_at(handle: &File, folder: &Path) -> bool {
    match (handle.metadata(), fs::metadata(folder)) {
        (Ok(locked), Ok(named)) => (locked.dev(), locked.ino()) == (named.dev(), named.ino()),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_lock_that_is_held_is_given_up_in_time() {
        let dir = tempfile::tempdir().unwrap();
        let held = FolderLock::take(dir.path(), Duration::ZERO).unwrap();
        let second = FolderLock::take(dir.path(), Duration::from_millis(10));
        assert!(matches!(second, Err(SettingsErrorKind::Busy)));
        drop(held);
        FolderLock::take(dir.path(), Duration::from_mins(10)).unwrap();
    }

    #[test]
    fn progress_of_others_extends_the_wait() {
        let (wait, later) = (Duration::from_secs(1), Instant::now() + Duration::from_hours(1));
        let progress = |limit| Progress { wait, limit, next_check: wait, seen: 0 };
        let mut active = progress(later);
        for seconds in 1..5 {
            let waited = Duration::from_secs(seconds);
            assert!(!active.has_stopped(waited, || seconds), "{seconds}");
            assert!(!active.has_stopped(waited + wait / 2, || seconds), "not examined again so soon");
        }
        assert!(active.has_stopped(Duration::from_secs(5), || 4), "nothing has changed since");
        assert!(progress(later).has_stopped(wait, || 0));
        assert!(progress(Instant::now()).has_stopped(wait, || 1), "the limit is reached");
    }

    #[test]
    fn a_change_in_the_folder_is_seen() {
        let dir = tempfile::tempdir().unwrap();
        let handle = File::open(dir.path()).unwrap();
        let before = last_change(&handle);
        while last_change(&handle) == before {
            // The clock of the file system may not have moved on yet.
            fs::create_dir(dir.path().join("x")).unwrap();
            fs::remove_dir(dir.path().join("x")).unwrap();
        }
    }

    #[test]
    fn a_folder_that_stays_empty_is_removed_again() {
        let dir = tempfile::tempdir().unwrap();
        let folder = dir.path().join("a/b");
        drop(FolderLock::take(&folder, Duration::ZERO).unwrap());
        assert!(!folder.exists());
    }

    #[test]
    fn a_lock_on_a_folder_that_was_exchanged_does_not_count() {
        let dir = tempfile::tempdir().unwrap();
        let folder = dir.path().join("f");
        fs::create_dir(&folder).unwrap();
        let handle = File::open(&folder).unwrap();
        fs::rename(&folder, dir.path().join("old")).unwrap();
        fs::create_dir(&folder).unwrap();
        assert!(!is_still_at(&handle, &folder));
    }
}
