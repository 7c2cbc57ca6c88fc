//! Front matter: `key: value` lines between two `---` lines at the top of a document.
//!
//! This is as much YAML as tasks, agents and skills need: plain and quoted values, comments, and lists in the forms
//! `[a, b]`, `a, b` and one `- item` per line. Nested keys and multi-line texts are skipped. A document is handled as bytes,
//! so that replacing one value leaves every other byte as it was.

use std::fmt;
use std::ops::Range;

use crate::lines::{Line, lines_from, unindented};
use crate::specs::checkbox;

/// The value of a key. It is displayed as it is written in front matter.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Field {
    Text(String),
    List(Vec<String>),
}

impl Field {
    /// The items of a list. A text is a list separated by commas.
    pub fn items(&self) -> Vec<&str> {
        match self {
            Self::Text(text) => text.split(',').map(str::trim).collect(),
            Self::List(items) => items.iter().map(String::as_str).collect(),
        }
    }
}

impl fmt::Display for Field {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Text(text) => f.write_str(&quote(text)),
            Self::List(items) => write!(f, "[{}]", items.join(", ")),
        }
    }
}

/// Quotes a text that YAML would otherwise read as something else.
fn quote(text: &str) -> String {
    let special_start = text.starts_with(|c: char| "[]{}<>&*!|'\"%@`#?,-".contains(c));
    if special_start || text.contains(": ") || text.contains(" #") || text.ends_with(':') {
        format!("\"{}\"", text.replace('\\', "\\\\").replace('"', "\\\""))
    } else {
        text.to_owned()
    }
}

/// The front matter of a document.
#[derive(Debug)]
pub struct FrontMatter<'a> {
    bytes: &'a [u8],
    lines: Vec<Line<'a>>,
    /// The offset at which the body starts.
    pub(crate) body_start: usize,
}

impl<'a> FrontMatter<'a> {
    /// `None` if the document has no front matter, or none that is closed.
    pub fn parse(bytes: &'a [u8]) -> Option<Self> {
        let mut rest = lines_from(bytes, 0);
        if !is_fence(rest.next()?) {
            return None;
        }
        let mut lines = Vec::new();
        while let Some(line) = rest.next() {
            if is_fence(line) {
                let body_start = match rest.next() {
                    Some(first) => first.start,
                    None => bytes.len(),
                };
                return Some(Self { bytes, lines, body_start });
            }
            // No front matter contains a checkbox: the first `---` is a horizontal rule above a list of tasks.
            if checkbox::checkbox(line).is_some() {
                return None;
            }
            lines.push(line);
        }
        None
    }

    /// The document after the front matter.
    pub fn body(&self) -> &'a [u8] {
        &self.bytes[self.body_start..]
    }

    /// The value of a key as text; `None` if it is missing or empty. The case of the key is ignored, since people write
    /// these lines by hand.
    pub fn get(&self, key: &str) -> Option<String> {
        let value = &self.bytes[self.value_range(key)?];
        if value.is_empty() { None } else { Some(String::from_utf8_lossy(value).into_owned()) }
    }

    /// The field with exactly this key; `None` if there is none.
    pub fn field(&self, key: &str) -> Option<Field> {
        let is_key = |line: &Line<'_>| matches!(split_key(line), Some((name, _)) if name == key.as_bytes());
        let index = self.lines.iter().position(is_key)?;
        let (_, raw) = split_key(&self.lines[index])?;
        let value = &raw[plain_value(raw)];
        let is_quoted = !raw.trim_ascii_start().starts_with(value);
        if !is_quoted && let Some(list) = value.strip_prefix(b"[").and_then(|list| list.strip_suffix(b"]")) {
            let items = list.split(|byte| *byte == b',').map(plain_text);
            return Some(Field::List(items.filter(|item| !item.is_empty()).collect()));
        }
        let block = block_items(&self.lines[index + 1..]);
        if value.is_empty() && !block.is_empty() {
            return Some(Field::List(block));
        }
        Some(Field::Text(String::from_utf8_lossy(value).into_owned()))
    }

    /// The document with another value for a key; `None` if the key is missing or has that value already. The case of
    /// the key is ignored.
    pub(crate) fn with(&self, key: &str, value: &str) -> Option<Vec<u8>> {
        let range = self.value_range(key)?;
        let (before, after) = (&self.bytes[..range.start], &self.bytes[range.end..]);
        if &self.bytes[range.clone()] == value.as_bytes() {
            return None;
        }
        // After a bare `key:` a space is needed. Between two quotes it would belong to the value.
        let is_bare = range.is_empty() && before.ends_with(b":");
        let gap: &[u8] = if is_bare { b" " } else { b"" };
        Some([before, gap, value.as_bytes(), after].concat())
    }

    /// The byte range of the value of a key, without spaces, quotes and comment. Of two equal keys the first is used.
    fn value_range(&self, key: &str) -> Option<Range<usize>> {
        for line in &self.lines {
            if let Some((name, raw)) = split_key(line)
                && name.eq_ignore_ascii_case(key.as_bytes())
            {
                let value = plain_value(raw);
                let raw_start = line.range().end - raw.len();
                return Some(raw_start + value.start..raw_start + value.end);
            }
        }
        None
    }
}

/// The items of a list with one `- item` per line, up to the next key.
fn block_items(lines: &[Line<'_>]) -> Vec<String> {
    let mut items = Vec::new();
    for line in lines {
        let text = line.text.trim_ascii();
        if text.is_empty() || text.starts_with(b"#") {
            continue;
        }
        let Some(value) = text.strip_prefix(b"- ") else { break };
        items.push(plain_text(value));
    }
    items
}

fn plain_text(raw: &[u8]) -> String {
    String::from_utf8_lossy(&raw[plain_value(raw)]).into_owned()
}

fn is_fence(line: Line<'_>) -> bool {
    line.text.trim_ascii_end() == b"---"
}

/// The key of a line and everything after its colon; `None` for an indented line, which belongs to the key above it.
fn split_key<'a>(line: &Line<'a>) -> Option<(&'a [u8], &'a [u8])> {
    if unindented(line.text).len() < line.text.len() {
        return None;
    }
    let colon = line.text.iter().position(|byte| *byte == b':')?;
    Some((line.text[..colon].trim_ascii_end(), &line.text[colon + 1..]))
}

/// The range of the value in the text after a colon or a list marker.
fn plain_value(raw: &[u8]) -> Range<usize> {
    let start = raw.len() - raw.trim_ascii_start().len();
    let trimmed = raw.trim_ascii();
    let is_only_comment = trimmed.starts_with(b"#") && start > 0;
    if trimmed.is_empty() || is_only_comment {
        return 0..0;
    }
    if let Some(length) = quoted_length(trimmed) {
        return start + 1..start + 1 + length;
    }
    start..start + before_comment(trimmed).len()
}

/// The length of the text between quotes, if the value is quoted. Escape sequences in it are not resolved.
fn quoted_length(value: &[u8]) -> Option<usize> {
    let (quote, rest) = value.split_first()?;
    if !matches!(quote, b'"' | b'\'') {
        return None;
    }
    let mut is_escaped = false;
    for (index, byte) in rest.iter().enumerate() {
        if byte == quote && !is_escaped {
            return Some(index);
        }
        is_escaped = *quote == b'"' && *byte == b'\\' && !is_escaped;
    }
    None
}

fn before_comment(value: &[u8]) -> &[u8] {
    match value.windows(2).position(|pair| pair[0].is_ascii_whitespace() && pair[1] == b'#') {
        Some(comment) => value[..comment].trim_ascii_end(),
        None => value,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn get(text: &str, key: &str) -> Option<String> {
        FrontMatter::parse(text.as_bytes())?.get(key)
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
    fn lists_are_read_in_every_form() {
        let lines = [
            "---",
            "# note",
            "name: 'qa' # short",
            r#"hint: "say \"a, b\"" # c"#,
            "tools:",
            "  - Read",
            "",
            "  - \"Bash\"",
            "skills: a, b",
            "none: []",
            "model: [opus, 'haiku']",
            "empty:",
            "---",
        ];
        let source = format!("\u{feff}{}", lines.join("\r\n"));
        let found = FrontMatter::parse(source.as_bytes()).unwrap();
        let list = |items: &[&str]| Some(Field::List(items.iter().map(ToString::to_string).collect()));
        let text = |text: &str| Some(Field::Text(text.to_owned()));
        assert_eq!(found.field("name"), text("qa"));
        assert_eq!(found.field("hint"), text(r#"say \"a, b\""#));
        assert_eq!(found.field("tools"), list(&["Read", "Bash"]));
        assert_eq!(found.field("skills"), text("a, b"));
        assert_eq!(found.field("skills").unwrap().items(), ["a", "b"]);
        assert_eq!(found.field("model"), list(&["opus", "haiku"]));
        assert_eq!((found.field("none"), found.field("empty")), (list(&[]), text("")));
        assert_eq!((found.field("Tools"), found.field("missing")), (None, None));
    }

    #[test]
    fn without_both_fences_there_is_none() {
        for text in
            ["", "---", "---\na: b", "\n---\na: b\n---\n", "# x\n---\na: b\n---\n", "----\na: b\n----"]
        {
            assert_eq!(get(text, "a"), None, "{text:?}");
            assert!(FrontMatter::parse(text.as_bytes()).is_none(), "{text:?}");
        }
    }

    #[test]
    fn the_body_starts_after_the_second_fence() {
        let body_start = |bytes| FrontMatter::parse(bytes).unwrap().body_start;
        assert_eq!(body_start(b"---\na: b\n---\nbody"), 13);
        assert_eq!(body_start(b"---\n---"), 7);
        assert_eq!(body_start(b"---\n---\n"), 8);
        assert_eq!(FrontMatter::parse(b"---\na: b\n---\nbody\n").unwrap().body(), b"body\n");
    }

    #[test]
    fn one_value_is_replaced_and_nothing_else() {
        let with = |text: &str| {
            let new = FrontMatter::parse(text.as_bytes())?.with("status", "paused");
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
