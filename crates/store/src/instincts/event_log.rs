//! `events.jsonl`: what happened to the lessons of a project since it was last written to their files.
//!
//! Appending never waits. Every event is one write to a file in append mode, and writers hold a shared lock meanwhile.
//! Whoever folds the log into the lesson files first renames it to `events.old.jsonl`, so that new writers start a new
//! log, and then takes an exclusive lock on it, which proves that nobody writes to it any more. A writer that finds its
//! file locked or deleted opens the log again.
//!
//! A process that is killed while folding leaves `events.old.jsonl` behind. Before it changes any lesson file it appends
//! a mark to that log, and every file that it writes names the mark. So the next process sees which files already contain
//! the events in front of the mark, and counts no event twice.

use std::fs::{self, File, TryLockError};
use std::io::{self, Seek, Write};
use std::os::unix::fs::{FileExt, MetadataExt};
use std::path::{Path, PathBuf};
use std::process;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use jsonc_edit::lock::lock_within;

use super::event::{Event, Line};
use crate::files;

/// Readers take at most this much from the end of a log, so that their cost is bounded if folding fails for long.
const READ_LIMIT: u64 = 1024 * 1024;

/// Folding reads more, to lose nothing. A log only grows this large if it could not be folded for months.
const FOLD_LIMIT: u64 = 64 * 1024 * 1024;

/// How long to wait for writers that opened the log before it was renamed. A write takes microseconds.
const WRITERS_TIMEOUT: Duration = Duration::from_millis(5);

/// How often a writer opens the log again. Each time, somebody else has folded a whole log in between.
const APPEND_ATTEMPTS: usize = 100;

#[derive(Debug)]
pub(super) struct EventLog {
    current: PathBuf,
    folding: PathBuf,
}

/// The content of a log. The open file keeps its inode number from being used again.
#[derive(Debug)]
struct Content {
    file: File,
    bytes: Vec<u8>,
    length: u64,
}

/// The events of a project that are not in its lesson files yet, or only in some of them.
#[derive(Debug)]
pub(super) struct Events {
    folding: Option<Content>,
    current: Option<Content>,
}

/// A log that is being folded. Dropping it without [`Folding::finish`] leaves it for the next process.
#[derive(Debug)]
pub(super) struct Folding {
    path: PathBuf,
    /// Holds the exclusive lock.
    _file: File,
    pub(super) lines: Vec<Line>,
    pub(super) mark: String,
}

impl EventLog {
    pub(super) fn new(folder: &Path) -> Self {
        Self { current: folder.join("events.jsonl"), folding: folder.join("events.old.jsonl") }
    }

    pub(super) fn path(&self) -> &Path {
        &self.current
    }

    /// Appends whole lines with one write, and returns how long the log is now. If the last line is torn, because its
    /// writer was killed or the disk was full, a new line is started first.
    pub(super) fn append(&self, lines: &str) -> io::Result<u64> {
        for _ in 0..APPEND_ATTEMPTS {
            let mut file = files::open_to_append(&self.current)?;
            match file.try_lock_shared() {
                // Without locks, which some file systems do not have, nobody folds the log.
                Ok(()) | Err(TryLockError::Error(_)) => {}
                // It is being folded, so it is no longer the current log.
                Err(TryLockError::WouldBlock) => continue,
            }
            let metadata = file.metadata()?;
            if metadata.nlink() == 0 {
                continue;
            }
            // Half a line of somebody who is writing right now looks torn as well; then an empty line is the result.
            let is_torn = metadata.len() > 0 && !files::ends_in_line_break(&file, metadata.len())?;
            let text = if is_torn { format!("\n{lines}") } else { lines.to_owned() };
            write_whole(&mut file, text.as_bytes())?;
            return Ok(metadata.len() + text.len() as u64);
        }
        Err(io::Error::new(io::ErrorKind::WouldBlock, "locked by another process"))
    }

    /// The events that are in no lesson file yet, or only in some of them. After reading the lesson files as well, ask
    /// [`Events::is_consistent`].
    pub(super) fn read(&self) -> io::Result<Events> {
        // In this order, a log that is renamed in between is read twice and not missed, and then `is_consistent` is false.
        let current = Content::read(&self.current)?;
        let folding = Content::read(&self.folding)?;
        Ok(Events { folding, current })
    }

    /// Whether some event is about this lesson. Events that cancel each other out are not considered.
    pub(super) fn mentions(&self, id: &str) -> io::Result<bool> {
        let needle = Event::id_field(id);
        for path in [&self.current, &self.folding] {
            if let Some(content) = Content::read(path)?
                && lines_of(&content.bytes).any(|line| line.contains(&needle))
            {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Sets the current log aside to be folded, or the one that a killed process has left. `None` if there is none, or
    /// if somebody is still writing to it. The caller holds the project's lock.
    pub(super) fn start_folding(&self) -> io::Result<Option<Folding>> {
        if fs::symlink_metadata(&self.folding).is_err() {
            match fs::rename(&self.current, &self.folding) {
                Ok(()) => {}
                Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
                Err(error) => return Err(error),
            }
        }
        let mut file = files::open_to_append(&self.folding)?;
        if lock_within(&file, WRITERS_TIMEOUT).is_err() {
            return Ok(None);
        }
        let (bytes, length) = read_end(&file, FOLD_LIMIT)?;
        let mut lines: Vec<_> = lines_of(&bytes).filter_map(Line::parse).collect();
        let mark = if let Some(Line::FoldMark(mark)) = lines.last() {
            mark.clone()
        } else {
            let mark = new_mark();
            let is_torn = length > 0 && !files::ends_in_line_break(&file, length)?;
            let separator = if is_torn { "\n" } else { "" };
            file.write_all(format!("{separator}{}\n", Line::fold_mark(&mark)).as_bytes())?;
            lines.push(Line::FoldMark(mark.clone()));
            mark
        };
        Ok(Some(Folding { path: self.folding.clone(), _file: file, lines, mark }))
    }
}

impl Folding {
    /// Deletes the log after all its events were written to the lesson files.
    pub(super) fn finish(self) -> io::Result<()> {
        fs::remove_file(&self.path)
    }
}

impl Events {
    /// All lines in the order in which they were written.
    pub(super) fn lines(&self) -> Vec<Line> {
        let contents = [&self.folding, &self.current].into_iter().flatten();
        contents.flat_map(|content| lines_of(&content.bytes).filter_map(Line::parse)).collect()
    }

    /// The lines about one lesson, and all marks.
    pub(super) fn lines_about(&self, id: &str) -> Vec<Line> {
        let needle = Event::id_field(id);
        let contents = [&self.folding, &self.current].into_iter().flatten();
        contents
            .flat_map(|content| lines_of(&content.bytes))
            .filter(|line| line.contains(&needle) || Line::may_be_fold_mark(line))
            .filter_map(Line::parse)
            .collect()
    }

    /// False if a log was renamed, marked or deleted since the events were read. Then the lesson files may already
    /// contain some of the events although no mark says so.
    pub(super) fn is_consistent(&self, log: &EventLog) -> bool {
        let is_current_same = match &self.current {
            Some(content) => content.length_if_still_at(&log.current).is_some(),
            None => true,
        };
        let is_folding_same = match &self.folding {
            Some(content) => content.length_if_still_at(&log.folding) == Some(content.length),
            None => true,
        };
        is_current_same && is_folding_same
    }
}

impl Content {
    fn read(path: &Path) -> io::Result<Option<Self>> {
        let Some(file) = files::open_regular(path)? else { return Ok(None) };
        let (bytes, length) = read_end(&file, READ_LIMIT)?;
        Ok(Some(Self { file, bytes, length }))
    }

    fn length_if_still_at(&self, path: &Path) -> Option<u64> {
        let (own, there) = (self.file.metadata().ok()?, fs::symlink_metadata(path).ok()?);
        let is_same = (own.dev(), own.ino()) == (there.dev(), there.ino());
        is_same.then_some(there.len())
    }
}

/// Appends all bytes or none: what does not fit on a full disk is taken back, unless somebody else has appended since.
fn write_whole(file: &mut File, bytes: &[u8]) -> io::Result<()> {
    let mut written = 0;
    while written < bytes.len() {
        match file.write(&bytes[written..]) {
            Ok(0) => return Err(io::ErrorKind::WriteZero.into()),
            Ok(count) => written += count,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => {
                let end = file.stream_position()?;
                if written > 0 && file.try_lock().is_ok() && file.metadata()?.len() == end {
                    file.set_len(end - written as u64)?;
                }
                return Err(error);
            }
        }
    }
    Ok(())
}

/// The last `limit` bytes of a file from the beginning of a line on, and how long the file is.
fn read_end(file: &File, limit: u64) -> io::Result<(Vec<u8>, u64)> {
    let length = file.metadata()?.len();
    let start = length.saturating_sub(limit);
    let mut bytes = vec![0; usize::try_from(length - start).unwrap_or(usize::MAX)];
    file.read_exact_at(&mut bytes, start)?;
    if start > 0 {
        let first_line = bytes.iter().position(|byte| *byte == b'\n').unwrap_or(bytes.len());
        bytes.drain(..first_line);
    }
    Ok((bytes, length))
}

/// The lines that are text; a torn one may end within a character.
fn lines_of(bytes: &[u8]) -> impl Iterator<Item = &str> {
    bytes.split(|byte| *byte == b'\n').filter_map(|line| std::str::from_utf8(line).ok())
}

/// A name that no other fold on this machine has.
fn new_mark() -> String {
    static COUNT: AtomicU64 = AtomicU64::new(0);
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    format!("{:x}-{:x}-{:x}", since.as_nanos(), process::id(), COUNT.fetch_add(1, Ordering::Relaxed))
}
