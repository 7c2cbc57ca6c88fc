//! Reading, replacing, appending and locking single files.
//!
//! There is no fsync: a killed process loses nothing (the kernel has the data), and a hook that waited for the
//! disk would be felt at every tool call. Replacing by rename keeps a file whole in either case.

use std::fs::{self, File, TryLockError};
use std::io::{self, Write};
use std::os::fd::OwnedFd;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;
use std::thread;
use std::time::{Duration, Instant};

use rustix::buffer::spare_capacity;
use rustix::fs::{Mode, OFlags};
use rustix::io::{Errno, retry_on_intr};

use crate::patience;

/// The mode of everything in the home folder: it may quote prompts and code.
pub const PRIVATE: u32 = 0o600;

/// How long to wait for a lock before giving up.
const LOCK_WAIT: Duration = Duration::from_secs(3);

/// How often a lock is asked for. At first at once, since most are held for less than that; then seldom; and more and
/// more often up to [`SENIOR`], so that nobody is overtaken for ever.
const AT_ONCE: Duration = Duration::from_micros(50);
const SELDOM: Duration = Duration::from_millis(2);
const OFTEN: Duration = Duration::from_micros(500);
const SENIOR: Duration = Duration::from_secs(1);

static GIVE_UP: OnceLock<Instant> = OnceLock::new();

/// From now on this process waits for locks so long at most, for all of them together. The client gives hooks ten
/// seconds, but only 1.5 at a session's end.
pub fn limit_waiting(total: Duration) {
    // Said twice, the first word counts.
    let _ = GIVE_UP.set(Instant::now() + patience(total));
}

/// How long this process waits for a lock.
pub fn lock_wait() -> Duration {
    match GIVE_UP.get() {
        Some(end) => end.saturating_duration_since(Instant::now()),
        None => patience(LOCK_WAIT),
    }
}

/// By how much a buffer grows for a file that is longer than it said.
const CHUNK: usize = 64 * 1024;

/// Session states are a few kilobytes. Anything above this limit is not ours, so it is rejected.
const MAX_STATE_BYTES: u64 = 16 * 1024 * 1024;

/// Opens a file; a link is not followed, and a pipe does not hang. Not by `std`: musl's `open` spends a second call on
/// a kernel that is long gone, and this is done at every tool call.
fn open(path: &Path, how: OFlags, mode: u32) -> io::Result<File> {
    let flags = how | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
    let file = retry_on_intr(|| rustix::fs::open(path, flags, Mode::from_raw_mode(mode)))?;
    Ok(File::from(file))
}

/// Opens a file for reading, or `None` if there is no such file.
pub(crate) fn open_to_read(path: &Path) -> io::Result<Option<File>> {
    match open(path, OFlags::RDONLY, 0) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        outcome => outcome.map(Some),
    }
}

/// Opens a regular file for reading, or `None` if there is no such file. A link is not followed; a pipe, a device or a
/// socket is an error and does not hang.
pub fn open_regular(path: &Path) -> io::Result<Option<File>> {
    let Some(file) = open_to_read(path)? else { return Ok(None) };
    check_regular(&file.metadata()?)?;
    Ok(Some(file))
}

/// Opens a regular file for reading and appending, and makes it if it is missing. Anything else in its place is an
/// error, as for [`open_regular`].
pub fn open_to_append(path: &Path) -> io::Result<File> {
    let file = open(path, OFlags::RDWR | OFlags::APPEND | OFlags::CREATE, PRIVATE)?;
    check_regular(&file.metadata()?)?;
    Ok(file)
}

fn check_regular(about: &fs::Metadata) -> io::Result<()> {
    if about.is_file() { Ok(()) } else { Err(io::Error::other("not a regular file")) }
}

/// What is in a file of about this length, but no more than `limit` bytes of it, in as few calls as possible: one, as a
/// rule. `std` would make five of it.
pub(crate) fn read_to_end(file: &File, length: u64, limit: u64) -> io::Result<Vec<u8>> {
    let limit = usize::try_from(limit).unwrap_or(usize::MAX);
    let expected = usize::try_from(length).unwrap_or(usize::MAX).min(limit);
    let mut bytes = Vec::with_capacity(expected.saturating_add(1));
    loop {
        let room = bytes.capacity() - bytes.len();
        let count = retry_on_intr(|| rustix::io::read(file, spare_capacity(&mut bytes)))?;
        // With room left and all that was promised, there is no more.
        if count == 0 || bytes.len() > limit || (count < room && bytes.len() >= expected) {
            bytes.truncate(limit);
            return Ok(bytes);
        }
        bytes.reserve(CHUNK);
    }
}

/// The text of a regular file, or `None` if there is no such file.
pub fn read_small(path: &Path) -> io::Result<Option<String>> {
    let Some(bytes) = read_limited(path, MAX_STATE_BYTES)? else { return Ok(None) };
    String::from_utf8(bytes).map(Some).map_err(|error| io::Error::new(io::ErrorKind::InvalidData, error))
}

/// The content of a regular file, or `None` if there is no such file. One that is longer than `limit` is an error.
pub fn read_limited(path: &Path, limit: u64) -> io::Result<Option<Vec<u8>>> {
    let Some(file) = open_to_read(path)? else { return Ok(None) };
    let about = file.metadata()?;
    check_regular(&about)?;
    if about.len() > limit {
        return Err(io::Error::new(io::ErrorKind::FileTooLarge, "too large for a state file"));
    }
    read_to_end(&file, about.len(), limit).map(Some)
}

/// Whether an error of [`read_small`] means that there is no such file but something else: a link, a folder, bytes
/// that are no text. Other errors say nothing about the file.
pub fn is_misplaced(error: &io::Error) -> bool {
    let link_or_socket = [Errno::LOOP, Errno::NXIO].map(Errno::raw_os_error);
    error.raw_os_error().is_none_or(|code| link_or_socket.contains(&code))
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
    let open = || open(path, OFlags::WRONLY | OFlags::CREATE | OFlags::TRUNC, mode);
    // A link or folder in the way is not followed but replaced, if it can be.
    open().or_else(|error| fs::remove_file(path).map_err(|_| error).and_then(|()| open()))
}

/// Replaces a file in one step.
pub fn write_atomic(path: &Path, bytes: &[u8], mode: u32) -> io::Result<()> {
    exchange(path, bytes, mode).map(drop)
}

/// Replaces a file in one step. Whoever has a lock drops the result after it.
pub fn exchange(path: &Path, bytes: &[u8], mode: u32) -> io::Result<Replaced> {
    let temp = write_temp(path, bytes, mode)?;
    put_in_place(&temp, path).inspect_err(|_| {
        let _ = fs::remove_file(&temp);
    })
}

/// What was at a path until something else took its place.
///
/// Letting go of the last handle of a file frees its blocks, and on some file systems that waits for the disk, because
/// a file that was replaced is being written out: seconds, measured on a busy one. Nobody else has to wait for that.
#[must_use = "drop it after the lock, or others wait for the disk"]
#[derive(Debug)]
pub struct Replaced {
    _old: Option<OwnedFd>,
}

impl Replaced {
    /// What is there now. What cannot be opened is not there, or is none of ours.
    fn at(path: &Path) -> Self {
        let flags = OFlags::PATH | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        Self { _old: rustix::fs::open(path, flags, Mode::empty()).ok() }
    }
}

/// Renames a prepared file to the path that it is for.
pub fn put_in_place(temp: &Path, path: &Path) -> io::Result<Replaced> {
    let old = Replaced::at(path);
    fs::rename(temp, path).map(|()| old)
}

/// Removes a file. Whoever has a lock drops the result after it.
pub fn take_away(path: &Path) -> io::Result<Replaced> {
    let old = Replaced::at(path);
    fs::remove_file(path).map(|()| old)
}

/// Appends whole lines with one write. If the file does not end in a line break (a writer was killed), a new
/// line is started first, so that the torn one swallows nothing. A write that does not fit is taken back.
pub fn append_lines(path: &Path, lines: &str) -> io::Result<()> {
    let mut file = open(path, OFlags::RDWR | OFlags::APPEND | OFlags::CREATE, PRIVATE)?;
    // Half a line of somebody who is writing just now looks torn, too. With a lock nobody is; without one, which some
    // file systems do not have, the worst is an empty line.
    let _ = acquire(&file, lock_wait());
    let about = file.metadata()?;
    check_regular(&about)?;
    let length = about.len();
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
    let Some(file) = open_to_read(path)? else { return Ok(None) };
    let about = file.metadata()?;
    check_regular(&about)?;
    let length = about.len();
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
    let file = open_to_read(path).ok().flatten();
    file.is_some_and(|file| matches!(file.try_lock_shared(), Err(TryLockError::WouldBlock)))
}

fn open_lock(path: &Path) -> io::Result<File> {
    open(path, OFlags::WRONLY | OFlags::CREATE, PRIVATE)
}

/// Takes an exclusive lock on a file that exists only for that. A killed holder's lock is gone with it.
///
/// It is asked for again and again, not waited for in the kernel's queue: there, the lock of a busy machine lies idle
/// until the next in line gets a processor, and the thread that would make such waiting end in time gets it for
/// another one, which has to be woken, too. Whoever asks has a processor already.
pub fn lock_file(path: &Path, wait: Duration) -> io::Result<File> {
    let file = open_lock(path)?;
    acquire(&file, wait)?;
    Ok(file)
}

fn acquire(file: &File, wait: Duration) -> io::Result<()> {
    let begun = Instant::now();
    loop {
        match file.try_lock() {
            Ok(()) => return Ok(()),
            Err(TryLockError::WouldBlock) => {}
            Err(TryLockError::Error(error)) => return Err(error),
        }
        let waited = begun.elapsed();
        if waited >= wait {
            return Err(io::Error::new(io::ErrorKind::WouldBlock, "locked by another process"));
        }
        thread::sleep(pause_after(waited).min(wait.saturating_sub(waited)));
    }
}

/// How long to leave a lock alone, after having waited for it that long.
fn pause_after(waited: Duration) -> Duration {
    let seniority = (waited.as_secs_f64() / SENIOR.as_secs_f64()).min(1.0);
    let patient = SELDOM.mul_f64(1.0 - seniority) + OFTEN.mul_f64(seniority);
    patient.min(AT_ONCE + waited / 4)
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
    fn lines_of_many_writers_are_whole_and_none_is_empty() {
        let dir = dir();
        let path = dir.path().join("log");
        // Longer than a page, so that it is not written at once.
        let line = "x".repeat(5000) + "\n";
        thread::scope(|scope| {
            for _ in 0..8 {
                scope.spawn(|| (0..100).for_each(|_| append_lines(&path, &line).unwrap()));
            }
        });
        let text = fs::read_to_string(&path).unwrap();
        assert_eq!(text.lines().count(), 800);
        assert!(text.lines().all(|found| found.len() == 5000));
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
    fn the_longest_waiting_ask_most_often() {
        assert_eq!(pause_after(Duration::ZERO), AT_ONCE);
        let (soon, later) = (Duration::from_millis(20), Duration::from_millis(500));
        assert!(pause_after(soon) > pause_after(later) && pause_after(later) > OFTEN);
        assert_eq!(pause_after(SENIOR), OFTEN);
        assert_eq!(pause_after(SENIOR * 2), OFTEN);
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
    fn a_file_is_read_whole_whatever_its_length_seemed_to_be() {
        let dir = dir();
        let path = dir.path().join("f");
        let content: Vec<u8> = (0..200_000_u32).map(|n| n.to_le_bytes()[0]).collect();
        write_atomic(&path, &content, PRIVATE).unwrap();
        for length in [0, 1, 199_999, 200_000, 200_001, 1 << 20] {
            let file = open_to_read(&path).unwrap().unwrap();
            assert!(read_to_end(&file, length, u64::MAX).unwrap() == content, "{length}");
        }
        for limit in [0, 1, 70_000, 199_999] {
            let file = open_to_read(&path).unwrap().unwrap();
            let expected = &content[..usize::try_from(limit).unwrap()];
            assert!(read_to_end(&file, 200_000, limit).unwrap() == expected, "{limit}");
        }
        // The kernel's own files say that they are empty.
        let file = open_to_read(Path::new("/proc/self/status")).unwrap().unwrap();
        assert!(read_to_end(&file, 0, u64::MAX).unwrap().starts_with(b"Name:"));
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
