//! Waiting for new events. The file may not exist yet, be cut short or be replaced meanwhile.

use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};
use std::os::unix::fs::MetadataExt;
use std::path::Path;

use overtone_store::timeline::Entry;
use rustix::event::{PollFd, PollFlags, Timespec, poll};

use super::filter::Filter;
use crate::context::Context;
use crate::ui::error::{Done, Failure};

const INTERVAL: Timespec = Timespec { tv_sec: 0, tv_nsec: 200_000_000 };

/// Hands over every new event that passes, until the reader of our output has gone.
pub(super) fn follow(
    context: &Context,
    path: &Path,
    end: u64,
    filter: &Filter,
    mut show: impl FnMut(Entry) -> Done,
) -> Done {
    let mut growing = Growing { inode: inode(path), offset: end, part: Vec::new() };
    loop {
        let news = growing.read(path).map_err(|error| Failure::io(context.lang, path, &error))?;
        for line in news {
            if let Some(entry) = Entry::parse(&line).filter(|entry| filter.passes(entry)) {
                show(entry)?;
            }
        }
        if output_is_closed(&INTERVAL) {
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
    /// The beginning of a line whose end is not written yet.
    part: Vec<u8>,
}

impl Growing {
    /// The whole lines that were added since the last look.
    fn read(&mut self, path: &Path) -> io::Result<Vec<String>> {
        let mut file = match File::open(path) {
            Ok(file) => file,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
            Err(error) => return Err(error),
        };
        let about = file.metadata()?;
        if self.inode != Some(about.ino()) || about.len() < self.offset {
            *self = Self { inode: Some(about.ino()), offset: 0, part: Vec::new() };
        }
        file.seek(SeekFrom::Start(self.offset))?;
        let mut bytes = std::mem::take(&mut self.part);
        self.offset += file.read_to_end(&mut bytes)? as u64;
        let whole = bytes.iter().rposition(|byte| *byte == b'\n').map_or(0, |at| at + 1);
        self.part = bytes.split_off(whole);
        Ok(String::from_utf8_lossy(&bytes).lines().map(str::to_owned).collect())
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
        let mut growing = Growing { inode: None, offset: 0, part: Vec::new() };
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
        let mut growing = Growing { inode: inode(&path), offset: 8, part: Vec::new() };
        fs::write(&path, "new\n").unwrap();
        assert_eq!(growing.read(&path).unwrap(), ["new"]);
        fs::write(dir.path().join("other"), "much longer than before\n").unwrap();
        fs::rename(dir.path().join("other"), &path).unwrap();
        assert_eq!(growing.read(&path).unwrap(), ["much longer than before"]);
    }
}
