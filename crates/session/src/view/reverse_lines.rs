//! Reads the lines of a file in reverse order, and only as much of the file as is needed.

use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;
use std::path::Path;

use memchr::memrchr;
use overtone_store::files;

use crate::view::lines::{MAX_LINE, line_start};

/// How many bytes are read at once.
const BLOCK_SIZE: u64 = 64 * 1024;

/// The complete lines of a file, the last one first.
#[derive(Debug)]
pub struct ReverseLines {
    file: File,
    /// Where the last complete line ends.
    end: u64,
    /// Where the lines end that were not returned yet.
    remaining: u64,
    /// The bytes before `remaining` that were read, but not returned yet.
    buffer: Vec<u8>,
}

/// A line and its position in the file.
#[derive(Debug, PartialEq, Eq)]
pub struct OwnedLine {
    pub start: u64,
    /// Where the next line begins.
    pub end: u64,
    /// The line without its line break; `None` if it is too long to be an event.
    pub bytes: Option<Vec<u8>>,
}

impl ReverseLines {
    /// Returns `None` if there is no such file. A last line without a line break is ignored: it is still being written, or
    /// torn.
    pub fn open(path: &Path) -> io::Result<Option<Self>> {
        Self::open_before(path, None)
    }

    /// Like [`open`](Self::open), but only the lines before an offset, which has to be the beginning of a line.
    pub fn open_before(path: &Path, before: Option<u64>) -> io::Result<Option<Self>> {
        let Some(file) = files::open_regular(path)? else { return Ok(None) };
        let length = file.metadata()?.len();
        let length = match before {
            Some(before) => before.min(length),
            None => length,
        };
        let end = line_start(&file, length)?;
        Ok(Some(Self { file, end, remaining: end, buffer: Vec::new() }))
    }

    /// Where the last complete line ends.
    pub const fn end(&self) -> u64 {
        self.end
    }

    /// The line whose line break is the last byte before `remaining`.
    fn read_line(&mut self) -> io::Result<OwnedLine> {
        loop {
            if let Some((_, before)) = self.buffer.split_last()
                && let Some(at) = memrchr(b'\n', before)
            {
                return Ok(self.split_line(at + 1));
            }
            if !self.buffer.is_empty() && self.buffer_start() == 0 {
                return Ok(self.split_line(0));
            }
            if self.buffer.len() as u64 > MAX_LINE + 1 {
                return self.skip_line();
            }
            self.read_block()?;
        }
    }

    fn buffer_start(&self) -> u64 {
        self.remaining - self.buffer.len() as u64
    }

    fn split_line(&mut self, from: usize) -> OwnedLine {
        let (start, end) = (self.buffer_start() + from as u64, self.remaining);
        let mut bytes = self.buffer.split_off(from);
        bytes.pop();
        self.remaining = start;
        OwnedLine { start, end, bytes: if bytes.len() as u64 <= MAX_LINE { Some(bytes) } else { None } }
    }

    fn skip_line(&mut self) -> io::Result<OwnedLine> {
        let end = self.remaining;
        self.remaining = line_start(&self.file, end - 1)?;
        self.buffer = Vec::new();
        Ok(OwnedLine { start: self.remaining, end, bytes: None })
    }

    fn read_block(&mut self) -> io::Result<()> {
        // The size grows with the buffer, so that a long line is not copied again for every block.
        let start = self.buffer_start();
        let size = BLOCK_SIZE.max(self.buffer.len() as u64).min(start);
        let mut bytes = vec![0; usize::try_from(size).unwrap_or(usize::MAX)];
        self.file.read_exact_at(&mut bytes, start - size)?;
        bytes.append(&mut self.buffer);
        self.buffer = bytes;
        Ok(())
    }
}

impl Iterator for ReverseLines {
    type Item = io::Result<OwnedLine>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.remaining == 0 {
            return None;
        }
        let line = self.read_line();
        if line.is_err() {
            self.remaining = 0;
        }
        Some(line)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::view::lines::tests::file;

    fn lines(content: &[u8]) -> (Vec<String>, u64) {
        let file = file(content);
        let lines = ReverseLines::open(file.path()).unwrap().unwrap();
        let end = lines.end();
        let text = |line: io::Result<OwnedLine>| String::from_utf8(line.unwrap().bytes.unwrap()).unwrap();
        (lines.map(text).collect(), end)
    }

    #[test]
    fn the_last_line_comes_first() {
        assert_eq!(lines(b"a\nbb\nccc\n"), (vec!["ccc".into(), "bb".into(), "a".into()], 9));
        assert_eq!(lines(b"a\n\nb\n"), (vec!["b".into(), String::new(), "a".into()], 5));
        assert_eq!(lines(b""), (vec![], 0));
    }

    #[test]
    fn an_unfinished_line_is_ignored() {
        assert_eq!(lines(b"a\nbb\ncc"), (vec!["bb".into(), "a".into()], 5));
        assert_eq!(lines(b"only a part"), (vec![], 0));
        assert_eq!(lines(b"\npart"), (vec![String::new()], 1));
    }

    #[test]
    fn lines_that_span_blocks_are_complete() {
        let long = "x".repeat(200_000);
        let all: Vec<_> = (0..30_000).map(|n| n.to_string()).chain([long, "end".into()]).collect();
        let content = all.join("\n") + "\n";
        let (mut found, end) = lines(content.as_bytes());
        found.reverse();
        assert_eq!(end, content.len() as u64);
        assert!(found == all);
    }

    #[test]
    fn a_line_that_is_too_long_is_skipped() {
        let long = "x".repeat(usize::try_from(MAX_LINE).unwrap() + 1);
        let file = file(format!("first\n{long}\nlast\n").as_bytes());
        let lines: Vec<_> = ReverseLines::open(file.path()).unwrap().unwrap().map(Result::unwrap).collect();
        let after = 6 + MAX_LINE + 2;
        assert_eq!((lines[0].start, lines[0].bytes.as_deref()), (after, Some(&b"last"[..])));
        assert_eq!(lines[1], OwnedLine { start: 6, end: after, bytes: None });
        assert_eq!(lines[2].bytes.as_deref(), Some(&b"first"[..]));
    }

    #[test]
    fn a_huge_file_without_a_line_break_has_its_first_and_last_lines() {
        use std::io::{Seek, Write};
        let mut file = file(b"first\n");
        file.as_file().set_len(20 << 30).unwrap();
        let torn = ReverseLines::open(file.path()).unwrap().unwrap();
        assert_eq!(torn.end(), 6);
        file.as_file_mut().seek(io::SeekFrom::End(0)).unwrap();
        file.write_all(b"\nlast\n").unwrap();
        let found: Vec<_> =
            ReverseLines::open(file.path()).unwrap().unwrap().map(|line| line.unwrap().bytes).collect();
        assert_eq!(found, [Some(b"last".to_vec()), None, Some(b"first".to_vec())]);
    }

    #[test]
    fn a_missing_file_is_none_and_anything_but_a_file_is_an_error() {
        assert!(ReverseLines::open(Path::new("/nonexistent/x")).unwrap().is_none());
        assert!(ReverseLines::open(Path::new("/")).is_err());
        assert!(ReverseLines::open(Path::new("/dev/zero")).is_err());
    }
}
