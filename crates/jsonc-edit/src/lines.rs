//! Lines of a text: where they begin, how they are indented, how they end.

use crate::Position;

/// Ends a line. `\r\n` is one end, a lone `\r` is one too.
const BREAKS: [char; 2] = ['\n', '\r'];

/// Indents, or separates on one line.
const BLANKS: [char; 2] = [' ', '\t'];

/// The file's way to end a line, seen at its first line.
pub(crate) fn newline(text: &str) -> &'static str {
    match text.find(BREAKS).map(|at| &text[at..]) {
        Some(rest) if rest.starts_with("\r\n") => "\r\n",
        Some(rest) if rest.starts_with('\r') => "\r",
        _ => "\n",
    }
}

/// The blanks before `at`, if there is nothing else before it on its line.
pub(crate) fn indentation(text: &str, at: usize) -> Option<&str> {
    let start = text[..at].rfind(BREAKS).map_or(0, |found| found + 1);
    let lead = &text[start..at];
    lead.chars().all(|c| BLANKS.contains(&c)).then_some(lead)
}

/// Where the blanks before `at` begin.
pub(crate) fn before_blanks(text: &str, at: usize) -> usize {
    text[..at].trim_end_matches(BLANKS).len()
}

/// Where the blanks after `at` end.
pub(crate) fn after_blanks(text: &str, at: usize) -> usize {
    text.len() - text[at..].trim_start_matches(BLANKS).len()
}

/// The length of the line end at `at`; nothing if the line goes on.
pub(crate) fn break_len(text: &str, at: usize) -> Option<usize> {
    let rest = &text[at..];
    if rest.starts_with("\r\n") { Some(2) } else { rest.starts_with(BREAKS).then_some(1) }
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
    let start = before.rfind(BREAKS).map_or(0, |found| found + 1);
    Position { line, column: before[start..].chars().count() + 1 }
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
