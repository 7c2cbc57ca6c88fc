//! Measures, shortens and quotes text.

use crate::engine::printable::printable;

/// How much of a text of others is quoted, in UTF-16 units.
const QUOTED_UNITS: usize = 120;

/// The length of a text in UTF-16 units, in which the specifications count.
pub fn units(text: &str) -> usize {
    text.encode_utf16().count()
}

/// A text of others as one line, so that it cannot look like lines of ours.
pub(crate) fn one_line(text: &str) -> String {
    printable(text).trim().to_owned()
}

/// The longest prefix of at most `max` UTF-16 units. It ends between two characters.
pub fn cut(text: &str, max: usize) -> &str {
    let mut used = 0;
    for (at, c) in text.char_indices() {
        used += c.len_utf16();
        if used > max {
            return &text[..at];
        }
    }
    text
}

/// The text in at most `max` units. If it has to be cut, it ends with `ending`.
pub fn fit(text: String, ending: &str, max: usize) -> String {
    if units(&text) <= max {
        return text;
    }
    let room = max.saturating_sub(units(ending) + 1);
    format!("{}\n{ending}", cut(&text, room))
}

/// A text of others as one line of data. It can neither end the fence around it nor look like a tag of the client.
pub(crate) fn quoted(text: &str) -> String {
    let line = one_line(text).replace('`', "'").replace('<', "‹").replace('>', "›");
    match cut(&line, QUOTED_UNITS) {
        same if same.len() == line.len() => line,
        beginning => format!("{beginning}…"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cutting_counts_utf16_and_keeps_characters_whole() {
        assert_eq!(cut("a🧪b", 1), "a");
        assert_eq!(cut("a🧪b", 2), "a");
        assert_eq!(cut("a🧪b", 3), "a🧪");
        assert_eq!(cut("階段", 9), "階段");
        assert_eq!(units(&fit("長".repeat(50), "...", 20)), 20);
    }
}
