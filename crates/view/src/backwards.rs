//! The lines of a file, the last one first, without reading more of it than is asked for.

use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;
use std::path::Path;

/// How much is read at once.
const BLOCK: u64 = 64 * 1024;

#[derive(Debug)]
pub struct Backwards {
    file: File,
    /// The end of the last whole line.
    end: u64,
    /// What begins here has been read.
    start: u64,
    /// Read and not given yet: the bytes from `start` on.
    rest: Vec<u8>,
}

impl Backwards {
    /// `None` when there is no such file. A last line without a line break is still being written, or torn.
    pub fn open(path: &Path) -> io::Result<Option<Self>> {
        Self::open_at(path, None)
    }

    /// Only what comes before a place, which is the beginning of a line.
    pub fn open_at(path: &Path, before: Option<u64>) -> io::Result<Option<Self>> {
        // Before opening: a pipe would block.
        match path.metadata() {
            Ok(about) if !about.is_file() => return Err(io::Error::other("not a regular file")),
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            about => about?,
        };
        let file = File::open(path)?;
        let length = file.metadata()?.len();
        let length = before.map_or(length, |before| before.min(length));
        let mut lines = Self { file, end: 0, start: length, rest: Vec::new() };
        let unfinished = lines.take_line()?;
        lines.end = if unfinished.at_line_break { length - unfinished.bytes.len() as u64 } else { 0 };
        Ok(Some(lines))
    }

    /// Where the last whole line ends.
    pub fn end(&self) -> u64 {
        self.end
    }

    /// Takes what follows the last line break out of `rest`, reading on where it must, and drops that break.
    fn take_line(&mut self) -> io::Result<Part> {
        loop {
            if let Some(at) = self.rest.iter().rposition(|byte| *byte == b'\n') {
                let bytes = self.rest.split_off(at + 1);
                self.rest.truncate(at);
                return Ok(Part { bytes, at_line_break: true });
            }
            if self.start == 0 {
                return Ok(Part { bytes: std::mem::take(&mut self.rest), at_line_break: false });
            }
            self.read_block()?;
        }
    }

    fn read_block(&mut self) -> io::Result<()> {
        // Growing with what is unread, so that one endless line is not copied for every block.
        let size = BLOCK.max(self.rest.len() as u64).min(self.start);
        let from = self.start - size;
        let mut bytes = vec![0; usize::try_from(size).unwrap_or(usize::MAX)];
        self.file.read_exact_at(&mut bytes, from)?;
        bytes.append(&mut self.rest);
        self.rest = bytes;
        self.start = from;
        Ok(())
    }
}

struct Part {
    bytes: Vec<u8>,
    at_line_break: bool,
}

impl Iterator for Backwards {
    type Item = io::Result<Vec<u8>>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.end == 0 {
            return None;
        }
        match self.take_line() {
            Ok(part) => {
                if !part.at_line_break {
                    self.end = 0;
                }
                Some(Ok(part.bytes))
            }
            Err(error) => {
                self.end = 0;
                Some(Err(error))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write;

    fn lines(content: &[u8]) -> (Vec<String>, u64) {
        let mut file = tempfile::NamedTempFile::new().unwrap();
        file.write_all(content).unwrap();
        let lines = Backwards::open(file.path()).unwrap().unwrap();
        let end = lines.end();
        (lines.map(|line| String::from_utf8(line.unwrap()).unwrap()).collect(), end)
    }

    #[test]
    fn the_last_line_comes_first() {
        assert_eq!(lines(b"a\nbb\nccc\n"), (vec!["ccc".into(), "bb".into(), "a".into()], 9));
        assert_eq!(lines(b"a\n\nb\n"), (vec!["b".into(), String::new(), "a".into()], 5));
        assert_eq!(lines(b""), (vec![], 0));
    }

    #[test]
    fn an_unfinished_line_is_left_for_later() {
        assert_eq!(lines(b"a\nbb\ncc"), (vec!["bb".into(), "a".into()], 5));
        assert_eq!(lines(b"only a part"), (vec![], 0));
        assert_eq!(lines(b"\npart"), (vec![String::new()], 1));
    }

    #[test]
    fn blocks_do_not_show() {
        let long = "x".repeat(200_000);
        let all: Vec<_> = (0..30_000).map(|n| n.to_string()).chain([long, "end".into()]).collect();
        let content = all.join("\n") + "\n";
        let (mut found, end) = lines(content.as_bytes());
        found.reverse();
        assert_eq!(end, content.len() as u64);
        assert!(found == all);
    }

    #[test]
    fn there_may_be_no_file_or_something_else() {
        assert!(Backwards::open(Path::new("/nonexistent/x")).unwrap().is_none());
        assert!(Backwards::open(Path::new("/")).is_err());
    }
}
