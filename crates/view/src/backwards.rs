//! The lines of a file, the last one first, without reading more of it than is asked for.

use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;
use std::path::Path;

use memchr::memrchr;
use overtone_store::files;

use crate::lines::{MAX_LINE, line_start};

/// How much is read at once.
const BLOCK: u64 = 64 * 1024;

#[derive(Debug)]
pub struct Backwards {
    file: File,
    /// Where the last whole line ends.
    end: u64,
    /// Where the lines that were not given yet end.
    left: u64,
    /// Read and not given yet: the bytes before `left`.
    rest: Vec<u8>,
}

/// A line and where it stands.
#[derive(Debug, PartialEq, Eq)]
pub struct PastLine {
    pub start: u64,
    /// Where the next one begins.
    pub end: u64,
    /// Without its line break; `None` for one that is too long to be an event.
    pub bytes: Option<Vec<u8>>,
}

impl Backwards {
    /// `None` when there is no such file. A last line without a line break is still being written, or torn.
    pub fn open(path: &Path) -> io::Result<Option<Self>> {
        Self::open_at(path, None)
    }

    /// Only what comes before a place, which is the beginning of a line.
    pub fn open_at(path: &Path, before: Option<u64>) -> io::Result<Option<Self>> {
        let Some(file) = files::open_regular(path)? else { return Ok(None) };
        let length = file.metadata()?.len();
        let length = before.map_or(length, |before| before.min(length));
        let end = line_start(&file, length)?;
        Ok(Some(Self { file, end, left: end, rest: Vec::new() }))
    }

    /// Where the last whole line ends.
    pub const fn end(&self) -> u64 {
        self.end
    }

    /// The line whose line break is the last byte before `left`.
    fn take_line(&mut self) -> io::Result<PastLine> {
        loop {
            let before = self.rest.split_last().map_or(&[][..], |(_, before)| before);
            if let Some(at) = memrchr(b'\n', before) {
                return Ok(self.give(at + 1));
            }
            if !self.rest.is_empty() && self.rest_start() == 0 {
                return Ok(self.give(0));
            }
            if self.rest.len() as u64 > MAX_LINE + 1 {
                return self.pass_over();
            }
            self.read_block()?;
        }
    }

    fn rest_start(&self) -> u64 {
        self.left - self.rest.len() as u64
    }

    fn give(&mut self, from: usize) -> PastLine {
        let (start, end) = (self.rest_start() + from as u64, self.left);
        let mut bytes = self.rest.split_off(from);
        bytes.pop();
        self.left = start;
        PastLine { start, end, bytes: (bytes.len() as u64 <= MAX_LINE).then_some(bytes) }
    }

    fn pass_over(&mut self) -> io::Result<PastLine> {
        let end = self.left;
        self.left = line_start(&self.file, end - 1)?;
        self.rest = Vec::new();
        Ok(PastLine { start: self.left, end, bytes: None })
    }

    fn read_block(&mut self) -> io::Result<()> {
        // Growing with what is unread, so that a long line is not copied for every block.
        let start = self.rest_start();
        let size = BLOCK.max(self.rest.len() as u64).min(start);
        let mut bytes = vec![0; usize::try_from(size).unwrap_or(usize::MAX)];
        self.file.read_exact_at(&mut bytes, start - size)?;
        bytes.append(&mut self.rest);
        self.rest = bytes;
        Ok(())
    }
}

impl Iterator for Backwards {
    type Item = io::Result<PastLine>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.left == 0 {
            return None;
        }
        let line = self.take_line();
        if line.is_err() {
            self.left = 0;
        }
        Some(line)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lines::tests::file;

    fn lines(content: &[u8]) -> (Vec<String>, u64) {
        let file = file(content);
        let lines = Backwards::open(file.path()).unwrap().unwrap();
        let end = lines.end();
        let text = |line: io::Result<PastLine>| String::from_utf8(line.unwrap().bytes.unwrap()).unwrap();
        (lines.map(text).collect(), end)
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
    fn a_line_that_is_too_long_is_passed_over() {
        let long = "x".repeat(usize::try_from(MAX_LINE).unwrap() + 1);
        let file = file(format!("first\n{long}\nlast\n").as_bytes());
        let lines: Vec<_> = Backwards::open(file.path()).unwrap().unwrap().map(Result::unwrap).collect();
        let after = 6 + MAX_LINE + 2;
        assert_eq!((lines[0].start, lines[0].bytes.as_deref()), (after, Some(&b"last"[..])));
        assert_eq!(lines[1], PastLine { start: 6, end: after, bytes: None });
        assert_eq!(lines[2].bytes.as_deref(), Some(&b"first"[..]));
    }

    #[test]
    fn a_huge_file_without_a_line_break_has_its_first_and_last_lines() {
        use std::io::{Seek, Write};
        let mut file = file(b"first\n");
        file.as_file().set_len(20 << 30).unwrap();
        let torn = Backwards::open(file.path()).unwrap().unwrap();
        assert_eq!(torn.end(), 6);
        file.as_file_mut().seek(io::SeekFrom::End(0)).unwrap();
        file.write_all(b"\nlast\n").unwrap();
        let found: Vec<_> =
            Backwards::open(file.path()).unwrap().unwrap().map(|line| line.unwrap().bytes).collect();
        assert_eq!(found, [Some(b"last".to_vec()), None, Some(b"first".to_vec())]);
    }

    #[test]
    fn there_may_be_no_file_or_something_else() {
        assert!(Backwards::open(Path::new("/nonexistent/x")).unwrap().is_none());
        assert!(Backwards::open(Path::new("/")).is_err());
        assert!(Backwards::open(Path::new("/dev/zero")).is_err());
    }
}
