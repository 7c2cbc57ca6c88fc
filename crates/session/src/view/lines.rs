//! Reads the lines of a growing file in bounded memory and time, whatever the file contains.
//!
//! An event is a line of at most [`MAX_LINE`] bytes. A longer line is skipped, and its end is searched for only near its
//! beginning and near the end of the file: a file of many gigabytes without a line break costs as much as a few megabytes.

use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;

use memchr::{memchr, memrchr};

/// Longer lines are not events.
pub const MAX_LINE: u64 = 1024 * 1024;
/// How far the end of a longer line is searched for, from its beginning and from the end of the file.
const MAX_SEARCH: u64 = 16 * 1024 * 1024;
/// How many bytes are read at once.
const BLOCK_SIZE: u64 = 256 * 1024;

/// A line and its position in the file.
#[derive(Debug, PartialEq, Eq)]
pub struct Line<'a> {
    pub start: u64,
    /// Where the next line begins.
    pub end: u64,
    /// The line without its line break; `None` if it is too long.
    pub bytes: Option<&'a [u8]>,
}

/// The complete lines from an offset on.
#[derive(Debug)]
pub struct Lines {
    file: File,
    length: u64,
    /// The offset of the first byte in `buffer`.
    start: u64,
    buffer: Vec<u8>,
    /// How many bytes of `buffer` were returned already.
    used: usize,
}

impl Lines {
    /// Lines that are added to the file after this call are not read.
    pub fn new(file: File, from: u64) -> io::Result<Self> {
        let length = file.metadata()?.len();
        Ok(Self { file, length, start: from, buffer: Vec::new(), used: 0 })
    }

    /// Where the next line begins.
    pub const fn offset(&self) -> u64 {
        self.start + self.used as u64
    }

    /// The next line; `None` at the end. A last line without a line break is not returned, because it may still be
    /// written, unless it is too long to be an event.
    pub fn next_line(&mut self) -> io::Result<Option<Line<'_>>> {
        let mut searched = 0;
        loop {
            let rest = &self.buffer[self.used..];
            if let Some(at) = memchr(b'\n', &rest[searched..]) {
                return Ok(Some(self.line(searched + at + 1)));
            }
            searched = rest.len();
            if searched as u64 > MAX_LINE {
                return self.skip_line().map(Some);
            }
            if !self.read_block()? {
                return Ok(None);
            }
        }
    }

    /// What follows the last complete line. Valid after `next_line` has returned `None`.
    pub fn unfinished(&self) -> &[u8] {
        &self.buffer[self.used..]
    }

    fn line(&mut self, length: usize) -> Line<'_> {
        let (from, start) = (self.used, self.offset());
        self.used += length;
        let bytes = &self.buffer[from..from + length - 1];
        let bytes = if bytes.len() as u64 <= MAX_LINE { Some(bytes) } else { None };
        Line { start, end: start + length as u64, bytes }
    }

    fn skip_line(&mut self) -> io::Result<Line<'_>> {
        let start = self.offset();
        let end = line_end(&self.file, start, self.length)?;
        (self.start, self.used) = (end, 0);
        self.buffer.clear();
        Ok(Line { start, end, bytes: None })
    }

    /// Returns false at the end of the file.
    fn read_block(&mut self) -> io::Result<bool> {
        self.buffer.drain(..self.used);
        self.start += std::mem::take(&mut self.used) as u64;
        let from = self.start + self.buffer.len() as u64;
        let size = BLOCK_SIZE.min(self.length.saturating_sub(from));
        let before = self.buffer.len();
        self.buffer.resize(before + usize::try_from(size).unwrap_or(usize::MAX), 0);
        let count = self.file.read_at(&mut self.buffer[before..], from)?;
        self.buffer.truncate(before + count);
        Ok(count > 0)
    }
}

/// The end of the line that begins at `from`. If there is no line break near its beginning, it ends where the last lines of
/// the file begin, or at the end of the file.
pub fn line_end(file: &File, from: u64, length: u64) -> io::Result<u64> {
    let near = from.saturating_add(MAX_SEARCH).min(length);
    if let Some(at) = find_line_break(file, from, near, Find::First)? {
        return Ok(at + 1);
    }
    let last = length.saturating_sub(MAX_SEARCH).max(near);
    match find_line_break(file, last, length, Find::First)? {
        Some(at) => Ok(at + 1),
        None => Ok(length),
    }
}

/// The beginning of the line whose line break, or end of the file, is at `end`. If there is no line break near `end`, it
/// begins where the first lines of the file end, or at the beginning of the file.
pub(crate) fn line_start(file: &File, end: u64) -> io::Result<u64> {
    let near = end.saturating_sub(MAX_SEARCH);
    if let Some(at) = find_line_break(file, near, end, Find::Last)? {
        return Ok(at + 1);
    }
    let first = MAX_SEARCH.min(near);
    match find_line_break(file, 0, first, Find::Last)? {
        Some(at) => Ok(at + 1),
        None => Ok(0),
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Find {
    First,
    Last,
}

/// The offset of the first or last line break between two offsets.
fn find_line_break(file: &File, from: u64, to: u64, which: Find) -> io::Result<Option<u64>> {
    let mut block = vec![0; usize::try_from(BLOCK_SIZE.min(to.saturating_sub(from))).unwrap_or(usize::MAX)];
    let (mut low, mut high) = (from, to);
    while low < high {
        let size = BLOCK_SIZE.min(high - low);
        let at = if which == Find::First { low } else { high - size };
        let bytes = &mut block[..usize::try_from(size).unwrap_or(usize::MAX)];
        let count = file.read_at(bytes, at)?;
        let bytes = &bytes[..count];
        let found = if which == Find::First { memchr(b'\n', bytes) } else { memrchr(b'\n', bytes) };
        if let Some(index) = found {
            return Ok(Some(at + index as u64));
        }
        if which == Find::First { low += size } else { high -= size }
    }
    Ok(None)
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use std::io::{Seek, Write};

    pub(crate) fn file(content: &[u8]) -> tempfile::NamedTempFile {
        let mut file = tempfile::NamedTempFile::new().unwrap();
        file.write_all(content).unwrap();
        file
    }

    /// The offset and length of every line, without a length for lines that are too long, and the offset at the end.
    fn all(file: &tempfile::NamedTempFile) -> (Vec<(u64, Option<usize>)>, u64) {
        let mut lines = Lines::new(file.reopen().unwrap(), 0).unwrap();
        let mut found = Vec::new();
        while let Some(line) = lines.next_line().unwrap() {
            found.push((line.start, line.bytes.map(<[u8]>::len)));
        }
        (found, lines.offset())
    }

    #[test]
    fn complete_lines_are_returned_in_order() {
        assert_eq!(all(&file(b"")), (vec![], 0));
        assert_eq!(all(&file(b"a\n\nbb\nrest")), (vec![(0, Some(1)), (2, Some(0)), (3, Some(2))], 6));
        let many = (0..100_000).fold(String::new(), |text, n| text + &n.to_string() + "\n");
        let (lines, end) = all(&file(many.as_bytes()));
        assert_eq!((lines.len(), end), (100_000, many.len() as u64));
    }

    #[test]
    fn a_line_that_is_too_long_is_skipped() {
        let long = "x".repeat(usize::try_from(MAX_LINE).unwrap() + 1);
        let whole = format!("a\n{long}\nb\n");
        let after = 2 + MAX_LINE + 2;
        assert_eq!(all(&file(whole.as_bytes())).0, [(0, Some(1)), (2, None), (after, Some(1))]);
        // Without a line break it is skipped too: it is too long to be an event that is still being written.
        assert_eq!(all(&file(format!("a\n{long}").as_bytes())), (vec![(0, Some(1)), (2, None)], after - 1));
        let fits = "x".repeat(usize::try_from(MAX_LINE).unwrap());
        assert_eq!(all(&file(format!("{fits}\n").as_bytes())).0, [(0, Some(fits.len()))]);
    }

    #[test]
    fn twenty_gigabytes_without_a_line_break_are_skipped() {
        let mut sparse = file(b"first\n");
        sparse.as_file().set_len(20 << 30).unwrap();
        assert_eq!(all(&sparse), (vec![(0, Some(5)), (6, None)], 20 << 30));
        sparse.as_file_mut().seek(io::SeekFrom::End(0)).unwrap();
        sparse.write_all(b"\nlast\n").unwrap();
        let after = (20 << 30) + 1;
        assert_eq!(all(&sparse), (vec![(0, Some(5)), (6, None), (after, Some(4))], after + 5));
        assert_eq!(line_start(sparse.as_file(), after - 1).unwrap(), 6);
    }
}
