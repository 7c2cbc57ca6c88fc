//! Waiting for new events. The file may not exist yet, be cut short or be replaced meanwhile.

use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::Path;

use overtone_store::files;
use overtone_store::timeline::Entry;
use overtone_view::Lines;
use rustix::event::{PollFd, PollFlags, Timespec, poll};

use super::filter::Filter;
use crate::context::Context;
use crate::ui::error::{Done, Failure};

/// How many lines are read before they are shown.
const AT_ONCE: usize = 1000;

const INTERVAL: Timespec = Timespec { tv_sec: 0, tv_nsec: 200_000_000 };

/// Hands over every new event that passes, until the reader of our output has gone.
pub(super) fn follow(
    context: &Context,
    path: &Path,
    end: u64,
    filter: &Filter,
    mut show: impl FnMut(Entry) -> Done,
) -> Done {
    let mut growing = Growing { inode: inode(path), offset: end };
    loop {
        let news = growing.read(path).map_err(|error| Failure::io(context.lang, path, &error))?;
        let is_all = news.len() < AT_ONCE;
        for line in news {
            if let Some(entry) = Entry::parse(&line).filter(|entry| filter.passes(entry)) {
                show(entry)?;
            }
        }
        if is_all && output_is_closed(&INTERVAL) {
            return Ok(());
        }
    }
}

/// Waits for the next look. True when nobody reads our output any more, which writing would tell too late.
pub(in crate::commands) fn output_is_closed(wait: &Timespec) -> bool {
    let stdout = io::stdout();
    let mut fds = [PollFd::new(&stdout, PollFlags::empty())];
    let ready = poll(&mut fds, Some(wait));
    ready.is_ok_and(|count| count > 0) && fds[0].revents().intersects(PollFlags::ERR | PollFlags::NVAL)
}

/// How far a file has been read.
struct Growing {
    inode: Option<u64>,
    offset: u64,
}

impl Growing {
    /// The next whole lines that were added since the last look. One that is too long for an event is left out.
    fn read(&mut self, path: &Path) -> io::Result<Vec<String>> {
        let Some(file) = files::open_regular(path)? else { return Ok(Vec::new()) };
        let about = file.metadata()?;
        if self.inode != Some(about.ino()) || about.len() < self.offset {
            *self = Self { inode: Some(about.ino()), offset: 0 };
        }
        let mut lines = Lines::new(file, self.offset)?;
        let mut news = Vec::new();
        while news.len() < AT_ONCE
            && let Some(line) = lines.next_line()?
        {
            news.extend(line.bytes.map(|bytes| String::from_utf8_lossy(bytes).into_owned()));
        }
        self.offset = lines.place();
        Ok(news)
    }
}

fn inode(path: &Path) -> Option<u64> {
    path.metadata().ok().map(|about| about.ino())
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
        let mut growing = Growing { inode: None, offset: 0 };
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
        let mut growing = Growing { inode: inode(&path), offset: 8 };
        fs::write(&path, "new\n").unwrap();
        assert_eq!(growing.read(&path).unwrap(), ["new"]);
        fs::write(dir.path().join("other"), "much longer than before\n").unwrap();
        fs::rename(dir.path().join("other"), &path).unwrap();
        assert_eq!(growing.read(&path).unwrap(), ["much longer than before"]);
    }
}
