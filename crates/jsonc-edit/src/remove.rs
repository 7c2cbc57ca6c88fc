//! Removes an entry from an object or array: the entry, one comma, and the line if nothing else is on it.
//!
//! Comments outside the entry are kept, since they may be about the entries that stay.

use std::ops::Range;

use crate::lines;
use crate::tree::Node;
use crate::trivia;

/// The text without one of the entries of `container`.
pub(crate) fn without_entry(text: &str, container: &Node, index: usize) -> Option<String> {
    let entries = container.entries();
    let entry = entries.get(index)?.clone();
    let is_last = index + 1 == entries.len();
    let before = index.checked_sub(1).and_then(|previous| entries.get(previous));
    let comma = trivia::comma_after(text, entry.end)
        .or_else(|| before.and_then(|previous| trivia::comma_after(text, previous.end)));
    let mut cuts = cuts(text, entry, comma, is_last);
    cuts.sort_by_key(|cut| cut.start);
    let mut rest = text.to_owned();
    for cut in cuts.into_iter().rev() {
        rest.replace_range(cut, "");
    }
    Some(rest)
}

/// The text with `{}` or `[]` in place of brackets that contain only white space.
pub(crate) fn without_blank_inside(text: &str, container: &Node) -> String {
    let mut text = text.to_owned();
    let inner = container.inner();
    if text[inner.clone()].trim().is_empty() {
        text.replace_range(inner, "");
    }
    text
}

fn cuts(text: &str, entry: Range<usize>, comma: Option<usize>, is_last: bool) -> Vec<Range<usize>> {
    let Some(comma) = comma.map(|at| at..at + 1) else { return vec![entry_cut(text, entry, is_last)] };
    let between = if comma.start < entry.start { comma.end..entry.start } else { entry.end..comma.start };
    if lines::after_blanks(text, between.start) >= between.end {
        let both = comma.start.min(entry.start)..comma.end.max(entry.end);
        vec![entry_cut(text, both, is_last)]
    } else {
        vec![entry_cut(text, entry, is_last), comma_cut(text, comma)]
    }
}

/// The range to cut for a comma that is separate from the entry.
fn comma_cut(text: &str, comma: Range<usize>) -> Range<usize> {
    match (whole_lines(text, &comma), lines::indentation(text, comma.start)) {
        (Some(lines), _) => lines,
        (None, Some(_)) => comma.start..lines::after_blanks(text, comma.end),
        (None, None) => comma,
    }
}

/// The range to cut for an entry: with the blanks that separate it from its neighbour.
fn entry_cut(text: &str, piece: Range<usize>, is_last: bool) -> Range<usize> {
    if let Some(lines) = whole_lines(text, &piece) {
        return lines;
    }
    let (start, end) = (lines::before_blanks(text, piece.start), lines::after_blanks(text, piece.end));
    if lines::indentation(text, piece.start).is_some() {
        // What follows on the line moves to the start of the entry.
        piece.start..end
    } else if lines::break_len(text, end).is_some() {
        start..end
    } else if is_last {
        start..piece.end
    } else {
        piece.start..end
    }
}

/// The lines that contain a piece, if nothing else is on them.
fn whole_lines(text: &str, piece: &Range<usize>) -> Option<Range<usize>> {
    let indent = lines::indentation(text, piece.start)?;
    let end = lines::after_blanks(text, piece.end);
    Some(piece.start - indent.len()..end + lines::break_len(text, end)?)
}
