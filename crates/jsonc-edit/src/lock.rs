//! Waiting for an advisory lock: the one implementation of it, for this crate and for programs that use it.
//!
//! A lock is polled, not waited for in the kernel's queue. In that queue the lock of a busy machine stays idle until the
//! next process in line gets a processor, and a wait with a time limit needs a second thread, which has to be woken as
//! well. A process that polls already has a processor. The longer a process has waited, the more often it asks, so that
//! no process is overtaken forever.

use std::fs::{File, TryLockError};
use std::io;
use std::thread;
use std::time::{Duration, Instant};

/// The pause after the first attempt. Most locks are held for less than this.
const FIRST_PAUSE: Duration = Duration::from_micros(50);
/// The longest pause between two attempts.
const LONGEST_PAUSE: Duration = Duration::from_millis(2);
/// The pause of a process that has waited for [`SENIOR_AFTER`] or longer.
const SENIOR_PAUSE: Duration = Duration::from_micros(500);
const SENIOR_AFTER: Duration = Duration::from_secs(1);

/// A lock that was not acquired.
#[derive(Debug, thiserror::Error)]
pub enum LockError {
    #[error("locked by another process")]
    Busy,
    /// The file system cannot lock, as is the case for some network file systems.
    #[error(transparent)]
    Unsupported(io::Error),
}

/// Takes an exclusive lock on an open file or folder, and gives up after `timeout`. The lock is released when the file is
/// closed, also when the process is killed.
pub fn lock_within(file: &File, timeout: Duration) -> Result<(), LockError> {
    lock_unless(file, |waited| waited >= timeout)
}

/// Like [`lock_within`], but `give_up` decides after each failed attempt, given the time waited so far.
pub fn lock_unless(file: &File, mut give_up: impl FnMut(Duration) -> bool) -> Result<(), LockError> {
    let started = Instant::now();
    loop {
        match file.try_lock() {
            Ok(()) => return Ok(()),
            Err(TryLockError::WouldBlock) => {}
            Err(TryLockError::Error(error)) => return Err(LockError::Unsupported(error)),
        }
        let waited = started.elapsed();
        if give_up(waited) {
            return Err(LockError::Busy);
        }
        thread::sleep(pause_after(waited));
    }
}

/// The pause before the next attempt of a process that has waited this long.
fn pause_after(waited: Duration) -> Duration {
    let seniority = (waited.as_secs_f64() / SENIOR_AFTER.as_secs_f64()).min(1.0);
    let pause = LONGEST_PAUSE.mul_f64(1.0 - seniority) + SENIOR_PAUSE.mul_f64(seniority);
    pause.min(FIRST_PAUSE + waited / 4)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_longest_waiting_ask_most_often() {
        assert_eq!(pause_after(Duration::ZERO), FIRST_PAUSE);
        let (soon, later) = (Duration::from_millis(20), Duration::from_millis(500));
        assert!(pause_after(soon) > pause_after(later) && pause_after(later) > SENIOR_PAUSE);
        assert_eq!(pause_after(SENIOR_AFTER), SENIOR_PAUSE);
        assert_eq!(pause_after(SENIOR_AFTER * 2), SENIOR_PAUSE);
    }

    #[test]
    fn a_lock_that_is_held_is_given_up_in_time() {
        let dir = tempfile::tempdir().unwrap();
        let open = || File::open(dir.path()).unwrap();
        let (held, other) = (open(), open());
        lock_within(&held, Duration::ZERO).unwrap();
        assert!(matches!(lock_within(&other, Duration::from_millis(10)), Err(LockError::Busy)));
        drop(held);
        lock_within(&other, Duration::from_secs(3)).unwrap();
    }

    #[test]
    fn the_caller_decides_when_to_give_up() {
        let dir = tempfile::tempdir().unwrap();
        let open = || File::open(dir.path()).unwrap();
        let (held, other) = (open(), open());
        lock_within(&held, Duration::ZERO).unwrap();
        let mut held = Some(held);
        let mut attempts = 0;
        lock_unless(&other, |_| {
            attempts += 1;
            if attempts == 3 {
                held.take();
            }
            false
        })
        .unwrap();
        assert!(attempts >= 3);
    }
}
