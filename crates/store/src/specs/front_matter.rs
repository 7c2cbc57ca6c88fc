//! A tiny reader for front matter: `key: value` lines between two `---` lines at the top of a document.
//!
//! Not YAML: nested keys, lists and block texts are passed over, since we only ever ask for plain values.

use std::ops::Range;

use super::checkbox::checkbox;
use super::lines::{Line, lines_from};

/// The front matter of a document; empty when there is none or it is not closed.
#[derive(Debug)]
pub(super) struct FrontMatter<'a> {
    bytes: &'a [u8],
    fields: Vec<Line<'a>>,
    /// Where the body begins.
    pub(super) end: usize,
}

impl<'a> FrontMatter<'a> {
    pub(super) fn of(bytes: &'a [u8]) -> Self {
        Self::closed(bytes).unwrap_or(Self { bytes, fields: Vec::new(), end: 0 })
    }

    fn closed(bytes: &'a [u8]) -> Option<Self> {
        let mut lines = lines_from(bytes, 0);
        lines.next().filter(is_rule)?;
        let mut fields = Vec::new();
        for line in lines.by_ref() {
            if is_rule(&line) {
                let end = lines.next().map_or(bytes.len(), |next| next.start);
                return Some(Self { bytes, fields, end });
            }
            // Then the first rule was only a line across the page, above a list of tasks.
            if checkbox(line).is_some() {
                return None;
            }
            fields.push(line);
        }
        None
    }

    /// The value of a key as text; an empty one is none.
    pub(super) fn get(&self, key: &str) -> Option<String> {
        let value = &self.bytes[self.value(key)?];
        (!value.is_empty()).then(|| String::from_utf8_lossy(value).into_owned())
    }

    /// The document with another value for a key; none when the key is missing or has that value.
    pub(super) fn with(&self, key: &str, value: &str) -> Option<Vec<u8>> {
        let range = self.value(key)?;
        if &self.bytes[range.clone()] == value.as_bytes() {
            return None;
        }
        // Nothing at all was there; between two quotes a space would belong to the value.
        let gap: &[u8] =
            if self.bytes[..range.start].ends_with(b":") && range.is_empty() { b" " } else { b"" };
        Some([&self.bytes[..range.start], gap, value.as_bytes(), &self.bytes[range.end..]].concat())
    }

    /// Where the value of a key is: without spaces, quotes and comment. The first of two equal keys counts.
    fn value(&self, key: &str) -> Option<Range<usize>> {
        self.fields.iter().find_map(|line| {
            let colon = line.text.iter().position(|b| *b == b':')?;
            let name = line.text[..colon].trim_ascii_end();
            let raw = &line.text[colon + 1..];
            name.eq_ignore_ascii_case(key.as_bytes()).then(|| {
                let value = plain_value(raw);
                let start = line.start + colon + 1 + value.start;
                start..start + value.len()
            })
        })
    }
}

fn is_rule(line: &Line<'_>) -> bool {
    line.text.trim_ascii_end() == b"---"
}

fn plain_value(raw: &[u8]) -> Range<usize> {
    let trimmed = raw.trim_ascii();
    let is_only_comment = trimmed.starts_with(b"#") && raw.len() > raw.trim_ascii_start().len();
    if trimmed.is_empty() || is_only_comment {
        return 0..0;
    }
    let start = raw.len() - raw.trim_ascii_start().len();
    let quoted = [b'"', b'\''].into_iter().find(|quote| trimmed[0] == *quote);
    match quoted.and_then(|quote| trimmed[1..].iter().position(|b| *b == quote)) {
        Some(length) => start + 1..start + 1 + length,
        None => start..start + before_comment(trimmed).len(),
    }
}

fn before_comment(value: &[u8]) -> &[u8] {
    let comment = value.windows(2).position(|pair| pair[0].is_ascii_whitespace() && pair[1] == b'#');
    comment.map_or(value, |at| value[..at].trim_ascii_end())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn get(text: &str, key: &str) -> Option<String> {
        FrontMatter::of(text.as_bytes()).get(key)
    }

    #[test]
    fn plain_values_are_read() {
        let text = "\u{feff}---\r\nfeature: my-feature\r\nCreated : '2026-01-02T03:04:05Z'\r\n  status: nested\r\n\
                    status: paused # since Monday\r\nempty:\r\nno colon\r\nurl: http://x\r\n--- \r\nworkflow: body";
        assert_eq!(get(text, "feature").as_deref(), Some("my-feature"));
        assert_eq!(get(text, "created").as_deref(), Some("2026-01-02T03:04:05Z"));
        assert_eq!(get(text, "status").as_deref(), Some("paused"));
        assert_eq!(get(text, "url").as_deref(), Some("http://x"));
        assert_eq!(get(text, "empty"), None);
        assert_eq!(get(text, "workflow"), None);
    }

    #[test]
    fn without_both_rules_there_is_none() {
        for text in
            ["", "---", "---\na: b", "\n---\na: b\n---\n", "# x\n---\na: b\n---\n", "----\na: b\n----"]
        {
            assert_eq!(get(text, "a"), None, "{text:?}");
            assert_eq!(FrontMatter::of(text.as_bytes()).end, 0, "{text:?}");
        }
    }

    #[test]
    fn the_body_begins_after_the_second_rule() {
        assert_eq!(FrontMatter::of(b"---\na: b\n---\nbody").end, 13);
        assert_eq!(FrontMatter::of(b"---\n---").end, 7);
        assert_eq!(FrontMatter::of(b"---\n---\n").end, 8);
    }

    #[test]
    fn one_value_is_replaced_and_nothing_else() {
        let with = |text: &str| {
            let new = FrontMatter::of(text.as_bytes()).with("status", "paused");
            new.map(|bytes| String::from_utf8(bytes).unwrap())
        };
        let cases = [
            ("---\r\nstatus:  \"in-progress\" # x\r\n---\r\nz", "---\r\nstatus:  \"paused\" # x\r\n---\r\nz"),
            ("---\nstatus:\n---", "---\nstatus: paused\n---"),
            ("---\nstatus:a\n---", "---\nstatus:paused\n---"),
            ("---\nstatus: # later\n---", "---\nstatus: paused # later\n---"),
            ("---\nstatus: x\t# later\n---", "---\nstatus: paused\t# later\n---"),
            ("---\nstatus: \"\" # later\n---", "---\nstatus: \"paused\" # later\n---"),
            ("---\nstatus:''\n---", "---\nstatus:'paused'\n---"),
        ];
        for (old, new) in cases {
            assert_eq!(with(old).as_deref(), Some(new));
        }
        assert_eq!(with("---\nstatus: paused\n---\n"), None);
        assert_eq!(with("---\nother: x\n---\n"), None);
        assert_eq!(with("status: x\n"), None);
    }
}
