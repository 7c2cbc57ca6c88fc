//! One writer per feature: an advisory lock on the feature's own directory, so that no lock file is left behind.
//!
//! The session lock does not do here: two sessions may work on the same project.

use std::fs::{self, File};
use std::io::{self, ErrorKind};
use std::os::unix::fs::MetadataExt;
use std::path::Path;
use std::time::Duration;

use jsonc_edit::effective_timeout;
use jsonc_edit::lock::{LockError, lock_within};

use super::disk::found;
use super::error::Context;
use crate::files::lock_timeout;

/// Hooks do not wait longer than this for a process that never releases its lock.
const TIMEOUT: Duration = Duration::from_secs(2);

/// Held until dropped. It follows the directory when that is moved.
#[derive(Debug)]
pub(super) struct FeatureLock {
    _directory: File,
}

impl FeatureLock {
    /// Waits for the lock; none when the feature is no longer there, or was moved while we waited.
    pub(super) fn hold(dir: &Path) -> io::Result<Option<Self>> {
        let Some(directory) = found(File::open(dir)).context("open", dir)? else {
            return Ok(None);
        };
        wait(&directory).context("lock", dir)?;
        let Some(now) = found(fs::symlink_metadata(dir)).context("look at", dir)? else {
            return Ok(None);
        };
        let locked = directory.metadata().context("look at", dir)?;
        let same = (now.dev(), now.ino()) == (locked.dev(), locked.ino());
        Ok(same.then_some(Self { _directory: directory }))
    }
}

fn wait(directory: &File) -> io::Result<()> {
    match lock_within(directory, effective_timeout(TIMEOUT).min(lock_timeout())) {
        // Some network file systems cannot lock a directory. Without a lock, tasks can still be ticked off there.
        Ok(()) | Err(LockError::Unsupported(_)) => Ok(()),
        Err(LockError::Busy) => Err(ErrorKind::TimedOut.into()),
    }
}
