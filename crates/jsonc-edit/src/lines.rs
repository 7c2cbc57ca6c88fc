//! Line breaks, indentation and line numbers of a text.

use crate::Position;

/// The characters that end a line. `\r\n` counts as one line break, and so does `\r` alone.
const BREAKS: [char; 2] = ['\n', '\r'];

/// White space within a line.
const BLANKS: [char; 2] = [' ', '\t'];

/// The line break that the file uses, taken from its first line.
pub(crate) fn newline(text: &str) -> &'static str {
    match text.find(BREAKS).map(|at| &text[at..]) {
        Some(rest) if rest.starts_with("\r\n") => "\r\n",
        Some(rest) if rest.starts_with('\r') => "\r",
        _ => "\n",
    }
}

/// The offset of the first byte of the line that `at` is on.
fn line_start(text: &str, at: usize) -> usize {
    match text[..at].rfind(BREAKS) {
        Some(line_break) => line_break + 1,
        None => 0,
    }
}

/// The blanks before `at`; `None` if anything else precedes it on its line.
pub(crate) fn indentation(text: &str, at: usize) -> Option<&str> {
    let lead = &text[line_start(text, at)..at];
    lead.chars().all(|c| BLANKS.contains(&c)).then_some(lead)
}

/// The offset at which the blanks before `at` start.
pub(crate) fn before_blanks(text: &str, at: usize) -> usize {
    text[..at].trim_end_matches(BLANKS).len()
}

/// The offset at which the blanks after `at` end.
pub(crate) fn after_blanks(text: &str, at: usize) -> usize {
    text.len() - text[at..].trim_start_matches(BLANKS).len()
}

/// The length of the line break at `at`; `None` if there is none.
pub(crate) fn break_len(text: &str, at: usize) -> Option<usize> {
    let rest = &text[at..];
    if rest.starts_with("\r\n") {
        return Some(2);
    }
    if rest.starts_with(BREAKS) { Some(1) } else { None }
}

pub(crate) fn has_break(text: &str) -> bool {
    text.contains(BREAKS)
}

/// The line and column of a byte.
pub(crate) fn position(text: &str, at: usize) -> Position {
    let before = &text[..text.floor_char_boundary(at)];
    let bytes = text.as_bytes();
    let ends_line = |(i, c): &(usize, char)| *c == '\n' || *c == '\r' && bytes.get(i + 1) != Some(&b'\n');
    let line = before.char_indices().filter(ends_line).count() + 1;
    let column = before[line_start(before, before.len())..].chars().count() + 1;
    Position { line, column }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_line_end_counts_once() {
        let text = "a\nb\r\nc\rd";
        let line = |letter| position(text, text.find(letter).unwrap()).line;
        assert_eq!(['a', 'b', 'c', 'd'].map(line), [1, 2, 3, 4]);
        assert_eq!(position("é字x", 5), Position { line: 1, column: 3 });
        assert_eq!(
            [newline("a\r\nb\n"), newline("a\nb\r\n"), newline("a\rb"), newline("")],
            ["\r\n", "\n", "\r", "\n"]
        );
    }

    #[test]
    fn indentation_is_only_what_begins_a_line() {
        assert_eq!(indentation("{\n\t \"a\"", 4), Some("\t "));
        assert_eq!(indentation("{ \"a\"", 2), None);
        assert_eq!(indentation("x", 0), Some(""));
    }
}
