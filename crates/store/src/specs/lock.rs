//! Allows one writer per feature, with an advisory lock on the feature's directory, so that no lock file is left behind.
//!
//! The session's lock is not enough: two sessions may work on the same project.

use std::fs::{self, File};
use std::io::{self, ErrorKind};
use std::os::unix::fs::MetadataExt;
use std::path::Path;
use std::time::Duration;

use jsonc_edit::effective_timeout;
use jsonc_edit::lock::{LockError, lock_within};

use super::disk::none_if_missing;
use super::error::Context;
use crate::files::lock_timeout;

/// Hooks do not wait longer than this for a process that never releases its lock.
const TIMEOUT: Duration = Duration::from_secs(2);

/// Held until dropped, also when the directory is moved.
#[derive(Debug)]
pub(super) struct FeatureLock {
    _directory: File,
}

impl FeatureLock {
    /// Waits for the lock. Returns `None` if the feature does not exist any more or was moved meanwhile.
    pub(super) fn acquire(dir: &Path) -> io::Result<Option<Self>> {
        let Some(directory) = none_if_missing(File::open(dir)).context("open", dir)? else {
            return Ok(None);
        };
        wait(&directory).context("lock", dir)?;
        let Some(now) = none_if_missing(fs::symlink_metadata(dir)).context("inspect", dir)? else {
            return Ok(None);
        };
        let locked = directory.metadata().context("inspect", dir)?;
        let is_same = (now.dev(), now.ino()) == (locked.dev(), locked.ino());
        if is_same { Ok(Some(Self { _directory: directory })) } else { Ok(None) }
    }
}

fn wait(directory: &File) -> io::Result<()> {
    match lock_within(directory, effective_timeout(TIMEOUT).min(lock_timeout())) {
        // Some network file systems cannot lock a directory. Without a lock, tasks can still be ticked off there.
        Ok(()) | Err(LockError::Unsupported(_)) => Ok(()),
        Err(LockError::Busy) => Err(ErrorKind::TimedOut.into()),
    }
}
