//! Reading, replacing, appending and locking single files.
//!
//! There is no fsync: a killed process loses nothing (the kernel has the data), and a hook that waited for the
//! disk would be felt at every tool call. Replacing by rename keeps a file whole in either case.

use std::fs::{self, File, OpenOptions, TryLockError};
use std::io::{self, Read, Write};
use std::os::unix::fs::{FileExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

use rustix::fs::OFlags;

/// The mode of everything in the home folder: it may quote prompts and code.
pub const PRIVATE: u32 = 0o600;

/// How long to wait for a lock before giving up. The client gives hooks ten seconds, but only 1.5 at a session's end.
const LOCK_WAIT: Duration = Duration::from_secs(3);
const SHORT_WAIT: Duration = Duration::from_secs(1);

static IN_A_HURRY: AtomicBool = AtomicBool::new(false);

/// From now on this process waits for locks only shortly.
pub fn hurry() {
    IN_A_HURRY.store(true, Ordering::Relaxed);
}

/// How long this process waits for a lock.
pub fn lock_wait() -> Duration {
    if IN_A_HURRY.load(Ordering::Relaxed) { SHORT_WAIT } else { LOCK_WAIT }
}

/// Larger state files are not ours.
const MAX_STATE_BYTES: u64 = 16 * 1024 * 1024;

/// The value for `custom_flags`: links are not followed, and opening a pipe does not hang.
fn safe_flags() -> i32 {
    (OFlags::NOFOLLOW | OFlags::NONBLOCK).bits().cast_signed()
}

/// The text of a regular file, or `None` if there is no such file.
pub fn read_small(path: &Path) -> io::Result<Option<String>> {
    let mut file = match OpenOptions::new().read(true).custom_flags(safe_flags()).open(path) {
        Ok(file) => file,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(error),
    };
    let about = file.metadata()?;
    if !about.is_file() {
        return Err(io::Error::other("not a regular file"));
    }
    if about.len() > MAX_STATE_BYTES {
        return Err(io::Error::new(io::ErrorKind::FileTooLarge, "too large for a state file"));
    }
    let mut text = String::with_capacity(usize::try_from(about.len()).unwrap_or(0) + 1);
    file.read_to_string(&mut text)?;
    Ok(Some(text))
}

/// Where the new content of `path` is prepared. The name is fixed, so that killed processes leave at most one
/// such file, which the next writer replaces. The caller holds a lock that covers `path`.
pub fn temp_path(path: &Path) -> PathBuf {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    path.with_file_name(format!(".{name}.tmp"))
}

/// Writes the content beside `path`; a rename of the result completes it.
pub fn write_temp(path: &Path, bytes: &[u8], mode: u32) -> io::Result<PathBuf> {
    let temp = temp_path(path);
    write_new(&temp, bytes, mode)?;
    Ok(temp)
}

/// Writes a file that nobody reads yet.
pub fn write_new(path: &Path, bytes: &[u8], mode: u32) -> io::Result<()> {
    create(path, mode)?.write_all(bytes).inspect_err(|_| {
        // Half a file is of no use to anyone.
        let _ = fs::remove_file(path);
    })
}

fn create(path: &Path, mode: u32) -> io::Result<File> {
    let open = || {
        OpenOptions::new()
            .write(true)
            .create(true)
            .truncate(true)
            .mode(mode)
            .custom_flags(safe_flags())
            .open(path)
    };
    // A link or folder in the way is not followed but replaced, if it can be.
    open().or_else(|error| fs::remove_file(path).map_err(|_| error).and_then(|()| open()))
}

/// Replaces a file in one step.
pub fn write_atomic(path: &Path, bytes: &[u8], mode: u32) -> io::Result<()> {
    let temp = write_temp(path, bytes, mode)?;
    fs::rename(&temp, path).inspect_err(|_| {
        let _ = fs::remove_file(&temp);
    })
}

/// Appends whole lines with one write. If the file does not end in a line break (a writer was killed), a new
/// line is started first, so that the torn one swallows nothing. A write that does not fit is taken back.
pub fn append_lines(path: &Path, lines: &str) -> io::Result<()> {
    let mut file = OpenOptions::new()
        .read(true)
        .append(true)
        .create(true)
        .mode(PRIVATE)
        .custom_flags(safe_flags())
        .open(path)?;
    let length = file.metadata()?.len();
    let torn = length > 0 && !ends_in_line_break(&file, length)?;
    let result =
        if torn { file.write_all(format!("\n{lines}").as_bytes()) } else { file.write_all(lines.as_bytes()) };
    result.inspect_err(|_| {
        let _ = file.set_len(length);
    })
}

fn ends_in_line_break(file: &File, length: u64) -> io::Result<bool> {
    let mut last = [0];
    file.read_exact_at(&mut last, length - 1)?;
    Ok(last == *b"\n")
}

/// The last `max` bytes of a file, and whether that is all of it.
pub fn read_tail(path: &Path, max: usize) -> io::Result<Option<(Vec<u8>, bool)>> {
    let file = match OpenOptions::new().read(true).custom_flags(safe_flags()).open(path) {
        Ok(file) => file,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(error),
    };
    let length = file.metadata()?.len();
    let start = length.saturating_sub(max as u64);
    let mut bytes = vec![0; usize::try_from(length - start).unwrap_or(max)];
    file.read_exact_at(&mut bytes, start)?;
    Ok(Some((bytes, start == 0)))
}

/// Takes an exclusive lock if nobody has one; `None` when somebody does.
pub fn try_lock_file(path: &Path) -> io::Result<Option<File>> {
    let file = open_lock(path)?;
    match file.try_lock() {
        Ok(()) => Ok(Some(file)),
        Err(TryLockError::WouldBlock) => Ok(None),
        Err(TryLockError::Error(error)) => Err(error),
    }
}

/// Whether somebody has an exclusive lock. A missing file is not locked, and none is made.
pub fn is_locked(path: &Path) -> bool {
    let file = OpenOptions::new().read(true).custom_flags(safe_flags()).open(path);
    file.is_ok_and(|file| matches!(file.try_lock_shared(), Err(TryLockError::WouldBlock)))
}

fn open_lock(path: &Path) -> io::Result<File> {
    OpenOptions::new()
        .write(true)
        .create(true)
        .truncate(false)
        .mode(PRIVATE)
        .custom_flags(safe_flags())
        .open(path)
}

/// Takes an exclusive lock on a file that exists only for that. Waiting is left to the kernel, which is fair;
/// a helper thread makes it end in time. A killed holder's lock is gone with it.
pub fn lock_file(path: &Path, wait: Duration) -> io::Result<File> {
    let file = open_lock(path)?;
    match file.try_lock() {
        Ok(()) => return Ok(file),
        Err(TryLockError::WouldBlock) => {}
        Err(TryLockError::Error(error)) => return Err(error),
    }
    // The clone shares the lock, so the thread takes it for us.
    let waiting = file.try_clone()?;
    let (done, result) = mpsc::channel();
    thread::Builder::new().spawn(move || {
        // Nobody listens any more after the time is up; the lock is dropped with the file then.
        let _ = done.send(waiting.lock());
    })?;
    match result.recv_timeout(wait) {
        Ok(locked) => locked.map(|()| file),
        Err(_) => Err(io::Error::new(io::ErrorKind::WouldBlock, "locked by another process")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn dir() -> tempfile::TempDir {
        tempfile::tempdir().unwrap()
    }

    #[test]
    fn a_torn_line_does_not_swallow_the_next() {
        let dir = dir();
        let path = dir.path().join("log");
        append_lines(&path, "{\"a\":1}\n{\"b\"").unwrap();
        append_lines(&path, "{\"c\":3}\n").unwrap();
        assert_eq!(fs::read_to_string(&path).unwrap(), "{\"a\":1}\n{\"b\"\n{\"c\":3}\n");
    }

    #[test]
    fn links_are_not_followed() {
        let dir = dir();
        let (target, link) = (dir.path().join("t"), dir.path().join("l"));
        append_lines(&target, "x\n").unwrap();
        std::os::unix::fs::symlink(&target, &link).unwrap();
        assert!(append_lines(&link, "y\n").is_err());
        assert!(read_small(&link).is_err());
        std::os::unix::fs::symlink(&target, temp_path(&dir.path().join("f"))).unwrap();
        write_atomic(&dir.path().join("f"), b"new", PRIVATE).unwrap();
        assert_eq!(fs::read_to_string(&target).unwrap(), "x\n");
    }

    #[test]
    fn a_lock_that_is_held_is_given_up_in_time() {
        let dir = dir();
        let path = dir.path().join("lock");
        let held = lock_file(&path, LOCK_WAIT).unwrap();
        let error = lock_file(&path, Duration::from_millis(10)).unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::WouldBlock);
        drop(held);
        lock_file(&path, LOCK_WAIT).unwrap();
    }

    #[test]
    fn a_lock_can_be_looked_at() {
        let dir = dir();
        let path = dir.path().join("lock");
        assert!(!is_locked(&path) && !path.exists());
        let held = try_lock_file(&path).unwrap().unwrap();
        assert!(is_locked(&path) && try_lock_file(&path).unwrap().is_none());
        drop(held);
        assert!(!is_locked(&path));
        assert!(try_lock_file(&path).unwrap().is_some());
    }

    #[test]
    fn tails_are_bounded() {
        let dir = dir();
        let path = dir.path().join("log");
        append_lines(&path, "one\ntwo\n").unwrap();
        assert_eq!(read_tail(&path, 4).unwrap(), Some((b"two\n".to_vec(), false)));
        assert_eq!(read_tail(&path, 100).unwrap(), Some((b"one\ntwo\n".to_vec(), true)));
        assert_eq!(read_tail(&dir.path().join("none"), 4).unwrap(), None);
    }
}
