//! One writer per feature: an advisory lock on the feature's own directory, so that no lock file is left behind.
//!
//! The session lock does not do here: two sessions may work on the same project.

use std::fs::{self, File, TryLockError};
use std::io::{self, ErrorKind};
use std::os::unix::fs::MetadataExt;
use std::path::Path;
use std::thread::sleep;
use std::time::{Duration, Instant};

use super::disk::found;
use super::error::Context;
use crate::files::lock_wait;
use crate::patience;

/// A hook must not hang on a lock that somebody forgot to give back.
const PATIENCE: Duration = Duration::from_secs(2);
const PAUSE: Duration = Duration::from_millis(2);

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
    let deadline = Instant::now() + patience(PATIENCE).min(lock_wait());
    loop {
        match directory.try_lock() {
            Err(TryLockError::WouldBlock) if Instant::now() < deadline => sleep(PAUSE),
            Err(TryLockError::WouldBlock) => return Err(ErrorKind::TimedOut.into()),
            // Some network file systems cannot lock a directory. Going without is better there than never
            // ticking a box.
            Ok(()) | Err(TryLockError::Error(_)) => return Ok(()),
        }
    }
}
