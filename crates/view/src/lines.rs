//! The lines of a file that grows, in bounded memory and time whatever the file is.
//!
//! An event is a line of at most [`MAX_LINE`] bytes. A longer line is passed over, and its end is looked for only near
//! both of its ends: a file of many gigabytes without a line break costs as much as a few megabytes.

use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;

use memchr::{memchr, memrchr};

/// A longer line is no event of ours.
pub const MAX_LINE: u64 = 1024 * 1024;
/// How far the end of such a line is looked for, from its beginning and from the end of the file.
const MAX_SEARCH: u64 = 16 * 1024 * 1024;
/// How much is read at once.
const BLOCK: u64 = 256 * 1024;

/// A line and where it stands.
#[derive(Debug, PartialEq, Eq)]
pub struct Line<'a> {
    pub start: u64,
    /// Where the next one begins.
    pub end: u64,
    /// Without its line break; `None` for one that is too long.
    pub bytes: Option<&'a [u8]>,
}

/// The whole lines from a place on.
#[derive(Debug)]
pub struct Lines {
    file: File,
    length: u64,
    /// The place of the first byte in `buffer`.
    start: u64,
    buffer: Vec<u8>,
    /// What comes before it in `buffer` has been given.
    used: usize,
}

impl Lines {
    /// What is added to the file afterwards is not seen.
    pub fn new(file: File, from: u64) -> io::Result<Self> {
        let length = file.metadata()?.len();
        Ok(Self { file, length, start: from, buffer: Vec::new(), used: 0 })
    }

    /// Where the next line begins.
    pub const fn place(&self) -> u64 {
        self.start + self.used as u64
    }

    /// The next line; `None` at the end. A last line without a line break is still being written, unless it is too long
    /// to be an event.
    pub fn next_line(&mut self) -> io::Result<Option<Line<'_>>> {
        let mut searched = 0;
        loop {
            let rest = &self.buffer[self.used..];
            if let Some(at) = memchr(b'\n', &rest[searched..]) {
                return Ok(Some(self.give(searched + at + 1)));
            }
            searched = rest.len();
            if searched as u64 > MAX_LINE {
                return self.pass_over().map(Some);
            }
            if !self.read_block()? {
                return Ok(None);
            }
        }
    }

    /// What follows the last whole line, after the end was reached.
    pub fn unfinished(&self) -> &[u8] {
        &self.buffer[self.used..]
    }

    fn give(&mut self, length: usize) -> Line<'_> {
        let (from, start) = (self.used, self.place());
        self.used += length;
        let bytes = &self.buffer[from..from + length - 1];
        let bytes = (bytes.len() as u64 <= MAX_LINE).then_some(bytes);
        Line { start, end: start + length as u64, bytes }
    }

    fn pass_over(&mut self) -> io::Result<Line<'_>> {
        let start = self.place();
        let end = line_end(&self.file, start, self.length)?;
        (self.start, self.used) = (end, 0);
        self.buffer.clear();
        Ok(Line { start, end, bytes: None })
    }

    /// False at the end of the file.
    fn read_block(&mut self) -> io::Result<bool> {
        self.buffer.drain(..self.used);
        self.start += std::mem::take(&mut self.used) as u64;
        let from = self.start + self.buffer.len() as u64;
        let size = BLOCK.min(self.length.saturating_sub(from));
        let before = self.buffer.len();
        self.buffer.resize(before + usize::try_from(size).unwrap_or(usize::MAX), 0);
        let count = self.file.read_at(&mut self.buffer[before..], from)?;
        self.buffer.truncate(before + count);
        Ok(count > 0)
    }
}

/// Where the line that begins at `from` ends. Where no line break is found near its beginning, it ends where the last
/// lines of the file begin, or with the file.
pub fn line_end(file: &File, from: u64, length: u64) -> io::Result<u64> {
    let near = from.saturating_add(MAX_SEARCH).min(length);
    if let Some(at) = find(file, from, near, Find::First)? {
        return Ok(at + 1);
    }
    let last = length.saturating_sub(MAX_SEARCH).max(near);
    Ok(find(file, last, length, Find::First)?.map_or(length, |at| at + 1))
}

/// Where the line begins whose line break, or end of the file, is at `end`. Where no other line break is found before
/// it, it begins where the first lines of the file end, or with the file.
pub(crate) fn line_start(file: &File, end: u64) -> io::Result<u64> {
    let near = end.saturating_sub(MAX_SEARCH);
    if let Some(at) = find(file, near, end, Find::Last)? {
        return Ok(at + 1);
    }
    let first = MAX_SEARCH.min(near);
    Ok(find(file, 0, first, Find::Last)?.map_or(0, |at| at + 1))
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Find {
    First,
    Last,
}

/// The place of a line break between two places.
fn find(file: &File, from: u64, to: u64, which: Find) -> io::Result<Option<u64>> {
    let mut block = vec![0; usize::try_from(BLOCK.min(to.saturating_sub(from))).unwrap_or(usize::MAX)];
    let (mut low, mut high) = (from, to);
    while low < high {
        let size = BLOCK.min(high - low);
        let at = if which == Find::First { low } else { high - size };
        let bytes = &mut block[..usize::try_from(size).unwrap_or(usize::MAX)];
        let count = file.read_at(bytes, at)?;
        let bytes = &bytes[..count];
        let found = if which == Find::First { memchr(b'\n', bytes) } else { memrchr(b'\n', bytes) };
        if let Some(place) = found {
            return Ok(Some(at + place as u64));
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

    /// Every line with its place; `None` for those that are too long.
    fn all(file: &tempfile::NamedTempFile) -> (Vec<(u64, Option<usize>)>, u64) {
        let mut lines = Lines::new(file.reopen().unwrap(), 0).unwrap();
        let mut found = Vec::new();
        while let Some(line) = lines.next_line().unwrap() {
            found.push((line.start, line.bytes.map(<[u8]>::len)));
        }
        (found, lines.place())
    }

    #[test]
    fn lines_come_whole_and_in_order() {
        assert_eq!(all(&file(b"")), (vec![], 0));
        assert_eq!(all(&file(b"a\n\nbb\nrest")), (vec![(0, Some(1)), (2, Some(0)), (3, Some(2))], 6));
        let many = (0..100_000).fold(String::new(), |text, n| text + &n.to_string() + "\n");
        let (lines, end) = all(&file(many.as_bytes()));
        assert_eq!((lines.len(), end), (100_000, many.len() as u64));
    }

    #[test]
    fn a_line_that_is_too_long_is_passed_over() {
        let long = "x".repeat(usize::try_from(MAX_LINE).unwrap() + 1);
        let whole = format!("a\n{long}\nb\n");
        let place = 2 + MAX_LINE + 2;
        assert_eq!(all(&file(whole.as_bytes())).0, [(0, Some(1)), (2, None), (place, Some(1))]);
        // Without an end it is no event that is still being written.
        assert_eq!(all(&file(format!("a\n{long}").as_bytes())), (vec![(0, Some(1)), (2, None)], place - 1));
        let fits = "x".repeat(usize::try_from(MAX_LINE).unwrap());
        assert_eq!(all(&file(format!("{fits}\n").as_bytes())).0, [(0, Some(fits.len()))]);
    }

    #[test]
    fn twenty_gigabytes_without_a_line_break_are_passed_over() {
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
