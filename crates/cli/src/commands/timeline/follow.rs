//! Waits for new events. The file may not exist yet, and it may be truncated or replaced meanwhile.

use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::Path;

use overtone_session::view::Lines;
use overtone_store::files;
use overtone_store::timeline::Entry;
use rustix::event::{PollFd, PollFlags, Timespec, poll};

use super::filter::Filter;
use crate::context::Context;
use crate::ui::error::{CommandError, CommandResult};

/// How many lines are read before they are shown.
const BATCH: usize = 1000;

const POLL_INTERVAL: Timespec = Timespec { tv_sec: 0, tv_nsec: 200_000_000 };

/// Passes every new matching event to `show`, until the output is closed.
pub(super) fn follow(
    context: &Context,
    path: &Path,
    end: u64,
    filter: &Filter,
    mut show: impl FnMut(Entry) -> CommandResult,
) -> CommandResult {
    let mut growing = GrowingFile { inode: inode(path), offset: end };
    loop {
        let news = growing.read(path).map_err(|error| CommandError::io(context.lang, path, &error))?;
        let is_all = news.len() < BATCH;
        for line in news {
            if let Some(entry) = Entry::parse(&line).filter(|entry| filter.matches(entry)) {
                show(entry)?;
            }
        }
        if is_all && output_is_closed(&POLL_INTERVAL) {
            return Ok(());
        }
    }
}

/// Waits. Returns true when the reader of the output has closed it, which the next write would notice too late.
pub(in crate::commands) fn output_is_closed(wait: &Timespec) -> bool {
    let stdout = io::stdout();
    let mut fds = [PollFd::new(&stdout, PollFlags::empty())];
    match poll(&mut fds, Some(wait)) {
        Ok(0) | Err(_) => false,
        Ok(_) => fds[0].revents().intersects(PollFlags::ERR | PollFlags::NVAL),
    }
}

/// A file with the offset up to which it has been read.
struct GrowingFile {
    inode: Option<u64>,
    offset: u64,
}

impl GrowingFile {
    /// The next complete lines that were added since the last call. A line that is too long for an event is left out.
    fn read(&mut self, path: &Path) -> io::Result<Vec<String>> {
        let Some(file) = files::open_regular(path)? else { return Ok(Vec::new()) };
        let metadata = file.metadata()?;
        if self.inode != Some(metadata.ino()) || metadata.len() < self.offset {
            *self = Self { inode: Some(metadata.ino()), offset: 0 };
        }
        let mut lines = Lines::new(file, self.offset)?;
        let mut news = Vec::new();
        while news.len() < BATCH
            && let Some(line) = lines.next_line()?
        {
            news.extend(line.bytes.map(|bytes| String::from_utf8_lossy(bytes).into_owned()));
        }
        self.offset = lines.offset();
        Ok(news)
    }
}

fn inode(path: &Path) -> Option<u64> {
    path.metadata().ok().map(|metadata| metadata.ino())
}

#[cfg(test)]
#[allow(clippy::disallowed_methods, reason = "the test plays the writer")]
mod tests {
    use super::*;
    use std::fs;

    #[test]
    fn new_lines_are_seen_once_and_whole() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("log");
        let mut growing = GrowingFile { inode: None, offset: 0 };
        assert!(growing.read(&path).unwrap().is_empty());
        fs::write(&path, "a\nb").unwrap();
        assert_eq!(growing.read(&path).unwrap(), ["a"]);
        fs::write(&path, "a\nbc\nd\n").unwrap();
        assert_eq!(growing.read(&path).unwrap(), ["bc", "d"]);
        assert!(growing.read(&path).unwrap().is_empty());
    }

    #[test]
    fn a_file_that_was_cut_or_replaced_is_read_anew() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("log");
        fs::write(&path, "one\ntwo\n").unwrap();
        let mut growing = GrowingFile { inode: inode(&path), offset: 8 };
        fs::write(&path, "new\n").unwrap();
        assert_eq!(growing.read(&path).unwrap(), ["new"]);
        fs::write(dir.path().join("other"), "much longer than before\n").unwrap();
        fs::rename(dir.path().join("other"), &path).unwrap();
        assert_eq!(growing.read(&path).unwrap(), ["much longer than before"]);
    }
}
