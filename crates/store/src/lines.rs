//! Lines of a document with their byte offsets.
//!
//! Documents are handled as bytes: ticking a box must leave every other byte unchanged, and an invalid byte must not hide
//! the tasks around it. The structure to find is ASCII.

use std::ops::Range;

const BOM: &[u8] = b"\xEF\xBB\xBF";

/// One line without its `\n` or `\r\n`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Line<'a> {
    pub(crate) start: usize,
    pub(crate) text: &'a [u8],
}

impl Line<'_> {
    pub(crate) fn range(&self) -> Range<usize> {
        self.start..self.start + self.text.len()
    }
}

/// The lines from `start` on, which is the start of a line. A byte order mark belongs to no line.
pub(crate) fn lines_from(bytes: &[u8], start: usize) -> impl Iterator<Item = Line<'_>> {
    let mut at = if start == 0 { bom_length(bytes) } else { start };
    std::iter::from_fn(move || {
        let rest = bytes.get(at..).filter(|rest| !rest.is_empty())?;
        let length = rest.iter().position(|b| *b == b'\n').unwrap_or(rest.len());
        let text = &rest[..length];
        let line = Line { start: at, text: text.strip_suffix(b"\r").unwrap_or(text) };
        at += length + 1;
        Some(line)
    })
}

fn bom_length(bytes: &[u8]) -> usize {
    if bytes.starts_with(BOM) { BOM.len() } else { 0 }
}

/// `text` without the spaces and tabs at its start.
pub(crate) fn unindented(text: &[u8]) -> &[u8] {
    let indent = text.iter().take_while(|b| matches!(b, b' ' | b'\t')).count();
    &text[indent..]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_know_where_they_are() {
        let bytes = b"\xEF\xBB\xBFone\r\n\ntwo\rx";
        let lines: Vec<_> =
            lines_from(bytes, 0).map(|line| (line.start, line.text, &bytes[line.range()])).collect();
        assert_eq!(lines, [(3, &b"one"[..], &b"one"[..]), (8, b"", b""), (9, b"two\rx", b"two\rx"),]);
        assert_eq!(lines_from(bytes, 9).count(), 1);
        assert_eq!(lines_from(b"", 0).count(), 0);
        assert_eq!(lines_from(b"\n", 0).count(), 1);
    }
}
