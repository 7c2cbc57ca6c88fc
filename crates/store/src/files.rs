//! Reading, replacing, appending and locking single files.
//!
//! There is no fsync: a killed process loses nothing, because the kernel has the data, and waiting for the disk would slow
//! down every tool call. A file that is replaced by a rename is complete in either case.

use std::fs::{self, File, TryLockError};
use std::io::{self, Write};
use std::os::fd::OwnedFd;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use jsonc_edit::effective_timeout;
use jsonc_edit::lock::{LockError, lock_within};
use rustix::buffer::spare_capacity;
use rustix::fs::{Mode, OFlags};
use rustix::io::{Errno, retry_on_intr};

/// The mode of every file in the home folder: they may quote prompts and code.
pub const PRIVATE: u32 = 0o600;

/// How long to wait for a lock before giving up.
const LOCK_TIMEOUT: Duration = Duration::from_secs(3);

/// When this process stops waiting for locks, if it has a budget for all of them together.
static LOCK_DEADLINE: Mutex<Option<Instant>> = Mutex::new(None);

/// Limits the time that this process waits for locks from now on, for all of them together. The client gives hooks ten
/// seconds, but only 1.5 at the end of a session.
pub fn set_lock_budget(total: Duration) {
    let deadline = Instant::now() + effective_timeout(total);
    *LOCK_DEADLINE.lock().unwrap_or_else(PoisonError::into_inner) = Some(deadline);
}

/// How long this process may wait for its next lock.
pub fn lock_timeout() -> Duration {
    match *LOCK_DEADLINE.lock().unwrap_or_else(PoisonError::into_inner) {
        Some(deadline) => deadline.saturating_duration_since(Instant::now()),
        None => effective_timeout(LOCK_TIMEOUT),
    }
}

/// By how much the buffer grows for a file that is longer than its metadata says.
const CHUNK: usize = 64 * 1024;

/// Session states are a few kilobytes. Anything above this limit is not ours, so it is rejected.
pub(crate) const MAX_STATE_BYTES: u64 = 16 * 1024 * 1024;

/// Opens a file without following links and without blocking on pipes. This does not use `std`, because musl's `open`
/// makes a second system call for the sake of very old kernels, and hooks open files at every tool call.
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

/// Opens a regular file for reading and appending, and creates it if it is missing. Anything else at this path is an error,
/// as for [`open_regular`].
pub fn open_to_append(path: &Path) -> io::Result<File> {
    let file = open(path, OFlags::RDWR | OFlags::APPEND | OFlags::CREATE, PRIVATE)?;
    check_regular(&file.metadata()?)?;
    Ok(file)
}

fn check_regular(metadata: &fs::Metadata) -> io::Result<()> {
    if metadata.is_file() { Ok(()) } else { Err(io::Error::other("not a regular file")) }
}

/// Reads a file of about this length, but at most `limit` bytes, usually with one system call. `std` would need five.
pub(crate) fn read_to_end(file: &File, length: u64, limit: u64) -> io::Result<Vec<u8>> {
    let limit = usize::try_from(limit).unwrap_or(usize::MAX);
    let expected = usize::try_from(length).unwrap_or(usize::MAX).min(limit);
    let mut bytes = Vec::with_capacity(expected.saturating_add(1));
    loop {
        let room = bytes.capacity() - bytes.len();
        let count = retry_on_intr(|| rustix::io::read(file, spare_capacity(&mut bytes)))?;
        // The buffer has room left and the expected length is reached, so this is the end of the file.
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
    let metadata = file.metadata()?;
    check_regular(&metadata)?;
    if metadata.len() > limit {
        return Err(io::Error::new(io::ErrorKind::FileTooLarge, "too large for a state file"));
    }
    read_to_end(&file, metadata.len(), limit).map(Some)
}

/// Whether an error of [`read_small`] means that there is something else at this path: a link, a folder, or bytes that are
/// not text. Other errors say nothing about the file.
pub fn is_misplaced(error: &io::Error) -> bool {
    let link_or_socket = [Errno::LOOP, Errno::NXIO].map(Errno::raw_os_error);
    match error.raw_os_error() {
        Some(code) => link_or_socket.contains(&code),
        None => true,
    }
}

/// Where the new content of `path` is prepared. The name is fixed, so that killed processes leave at most one
/// such file, which the next writer replaces. The caller holds a lock that covers `path`.
pub fn temp_path(path: &Path) -> PathBuf {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    path.with_file_name(format!(".{name}.tmp"))
}

/// Writes the content to the temporary file of `path` and returns its path. Renaming it completes the change.
pub fn write_temp(path: &Path, bytes: &[u8], mode: u32) -> io::Result<PathBuf> {
    let temp = temp_path(path);
    write_new(&temp, bytes, mode)?;
    Ok(temp)
}

/// Writes a file that nobody reads yet.
pub fn write_new(path: &Path, bytes: &[u8], mode: u32) -> io::Result<()> {
    create(path, mode)?.write_all(bytes).inspect_err(|_| {
        // A partial file must not stay behind.
        let _ = fs::remove_file(path);
    })
}

fn create(path: &Path, mode: u32) -> io::Result<File> {
    let open = || open(path, OFlags::WRONLY | OFlags::CREATE | OFlags::TRUNC, mode);
    match open() {
        Ok(file) => Ok(file),
        // A link at this path is not followed but replaced.
        Err(_) if fs::remove_file(path).is_ok() => open(),
        Err(error) => Err(error),
    }
}

/// Replaces a file in one step.
pub fn write_atomic(path: &Path, bytes: &[u8], mode: u32) -> io::Result<()> {
    replace(path, bytes, mode).map(drop)
}

/// Replaces a file in one step. A caller that holds a lock drops the result after releasing it.
pub fn replace(path: &Path, bytes: &[u8], mode: u32) -> io::Result<Replaced> {
    let temp = write_temp(path, bytes, mode)?;
    put_in_place(&temp, path).inspect_err(|_| {
        let _ = fs::remove_file(&temp);
    })
}

/// A handle of the file that was replaced or removed.
///
/// Closing the last handle of a file frees its blocks. Some file systems wait for the disk then, because they are still
/// writing the replaced file: seconds, measured on a busy disk. Closing it after the lock spares others that wait.
#[must_use = "drop it after the lock, or others wait for the disk"]
#[derive(Debug)]
pub struct Replaced {
    _old: Option<OwnedFd>,
}

impl Replaced {
    /// The file at the path now. A file that cannot be opened is missing or not ours.
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

/// Removes a file. A caller that holds a lock drops the result after releasing it.
pub fn remove(path: &Path) -> io::Result<Replaced> {
    let old = Replaced::at(path);
    fs::remove_file(path).map(|()| old)
}

/// Appends whole lines with one write. If the file does not end in a line break (a writer was killed), a new
/// line is started first, so that the torn line does not swallow the new ones. A write that fails half-way is undone.
pub fn append_lines(path: &Path, lines: &str) -> io::Result<()> {
    let mut file = open(path, OFlags::RDWR | OFlags::APPEND | OFlags::CREATE, PRIVATE)?;
    // A line that another process is still writing looks torn as well. The lock prevents that. Some file systems have no
    // locks; there the worst result is an empty line.
    let _ = acquire(&file, lock_timeout());
    let metadata = file.metadata()?;
    check_regular(&metadata)?;
    let length = metadata.len();
    let torn = length > 0 && !ends_in_line_break(&file, length)?;
    let result =
        if torn { file.write_all(format!("\n{lines}").as_bytes()) } else { file.write_all(lines.as_bytes()) };
    result.inspect_err(|_| {
        let _ = file.set_len(length);
    })
}

/// Appends a few bytes with one write. Returns the length of the file after it.
pub(crate) fn append_bytes(path: &Path, bytes: &[u8]) -> io::Result<u64> {
    let mut file = open(path, OFlags::RDWR | OFlags::APPEND | OFlags::CREATE, PRIVATE)?;
    check_regular(&file.metadata()?)?;
    file.write_all(bytes)?;
    Ok(file.metadata()?.len())
}

pub(crate) fn ends_in_line_break(file: &File, length: u64) -> io::Result<bool> {
    let mut last = [0];
    file.read_exact_at(&mut last, length - 1)?;
    Ok(last == *b"\n")
}

/// The last `max` bytes of a file, and whether that is all of it.
pub fn read_tail(path: &Path, max: usize) -> io::Result<Option<(Vec<u8>, bool)>> {
    let Some(file) = open_to_read(path)? else { return Ok(None) };
    let metadata = file.metadata()?;
    check_regular(&metadata)?;
    let length = metadata.len();
    let start = length.saturating_sub(max as u64);
    let mut bytes = vec![0; usize::try_from(length - start).unwrap_or(max)];
    file.read_exact_at(&mut bytes, start)?;
    Ok(Some((bytes, start == 0)))
}

/// Takes an exclusive lock, or returns `None` if another process holds it.
pub fn try_lock_file(path: &Path) -> io::Result<Option<File>> {
    let file = open_lock(path)?;
    match file.try_lock() {
        Ok(()) => Ok(Some(file)),
        Err(TryLockError::WouldBlock) => Ok(None),
        Err(TryLockError::Error(error)) => Err(error),
    }
}

/// Whether a process holds an exclusive lock on the file. A missing file is not locked and is not created.
pub fn is_locked(path: &Path) -> bool {
    let Ok(Some(file)) = open_to_read(path) else { return false };
    matches!(file.try_lock_shared(), Err(TryLockError::WouldBlock))
}

fn open_lock(path: &Path) -> io::Result<File> {
    open(path, OFlags::WRONLY | OFlags::CREATE, PRIVATE)
}

/// Takes an exclusive lock on a file that only serves as a lock. It is released when the file is closed, also when the
/// process is killed.
pub fn lock_file(path: &Path, timeout: Duration) -> io::Result<File> {
    let file = open_lock(path)?;
    acquire(&file, timeout)?;
    Ok(file)
}

/// Takes an exclusive lock on an open file. Some file systems have no locks; there this does nothing.
pub(crate) fn lock_opened(file: &File, timeout: Duration) -> io::Result<()> {
    match acquire(file, timeout) {
        Err(error) if error.kind() == io::ErrorKind::WouldBlock => Err(error),
        _ => Ok(()),
    }
}

fn acquire(file: &File, timeout: Duration) -> io::Result<()> {
    lock_within(file, timeout).map_err(|error| match error {
        LockError::Busy => io::Error::new(io::ErrorKind::WouldBlock, error),
        LockError::Unsupported(error) => error,
    })
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
    fn lines_of_many_writers_are_complete_and_none_is_empty() {
        let dir = dir();
        let path = dir.path().join("log");
        // Longer than a page, so that one write is not atomic by itself.
        let line = "x".repeat(5000) + "\n";
        std::thread::scope(|scope| {
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
        let held = lock_file(&path, LOCK_TIMEOUT).unwrap();
        let error = lock_file(&path, Duration::from_millis(10)).unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::WouldBlock);
        drop(held);
        lock_file(&path, LOCK_TIMEOUT).unwrap();
    }

    #[test]
    fn whether_a_lock_is_held_can_be_asked() {
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
    fn a_file_is_read_completely_whatever_length_its_metadata_claims() {
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
        // The files in /proc claim to be empty.
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
