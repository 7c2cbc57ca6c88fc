//! One editor at a time: a lock on the folder of the file, which leaves nothing behind.
//!
//! The lock lies on the open folder itself, not on a file in it, and is gone with the process. It is for this
//! program only; others are noticed by comparing the content before it is replaced.

use std::fs::{self, DirBuilder, File, TryLockError};
use std::io;
use std::os::unix::fs::{DirBuilderExt, MetadataExt};
use std::path::{Path, PathBuf};
use std::thread;
use std::time::{Duration, Instant};

use crate::Problem;

/// Between two attempts; an edit takes about as long.
const PAUSE: Duration = Duration::from_millis(2);

/// Settings hold tokens, so a folder made for them is private.
const PRIVATE_FOLDER: u32 = 0o700;

/// Held while a file in the folder is read, changed and replaced.
#[derive(Debug)]
pub(crate) struct FolderLock {
    folder: PathBuf,
    _handle: File,
    made: bool,
}

impl FolderLock {
    /// Waits until the folder is free, within bounds. The folder is made if it is missing.
    pub(crate) fn take(folder: &Path, wait: Duration) -> Result<Self, Problem> {
        let deadline = Instant::now() + wait;
        loop {
            if let Some(lock) = Self::attempt(folder).map_err(Problem::Write)? {
                return Ok(lock);
            }
            if Instant::now() >= deadline {
                return Err(Problem::Busy);
            }
            thread::sleep(PAUSE);
        }
    }

    fn attempt(folder: &Path) -> io::Result<Option<Self>> {
        let made = make_folder(folder)?;
        let handle = match File::open(folder) {
            // Whoever made it had nothing to write, and took it away again.
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            opened => opened?,
        };
        match handle.try_lock() {
            Err(TryLockError::WouldBlock) => return Ok(None),
            // Some network file systems cannot lock folders; the comparison before replacing is left then.
            Ok(()) | Err(TryLockError::Error(_)) => {}
        }
        let current = is_same(&handle, folder);
        Ok(current.then(|| Self { folder: folder.to_owned(), _handle: handle, made }))
    }
}

impl Drop for FolderLock {
    fn drop(&mut self) {
        if self.made {
            // Succeeds only if nothing was written.
            let _ = fs::remove_dir(&self.folder);
        }
    }
}

/// Says whether it was missing.
pub(crate) fn make_folder(folder: &Path) -> io::Result<bool> {
    if folder.is_dir() {
        return Ok(false);
    }
    DirBuilder::new().recursive(true).mode(PRIVATE_FOLDER).create(folder).map(|()| true)
}

/// Whether the path still leads to the folder that was opened and locked.
fn is_same(handle: &File, folder: &Path) -> bool {
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
        assert!(matches!(second, Err(Problem::Busy)));
        drop(held);
        FolderLock::take(dir.path(), Duration::ZERO).unwrap();
    }

    #[test]
    fn a_folder_made_for_nothing_is_taken_away() {
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
        assert!(!is_same(&handle, &folder));
    }
}
