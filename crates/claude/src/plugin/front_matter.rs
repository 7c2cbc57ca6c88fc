//! Front matter of markdown files: as much of YAML as agents and skills need.
//!
//! Written: `key: text` and `key: [a, b]`. Read as well: quotes, comments, block lists and CRLF, because a
//! person may have edited the file. Nested maps and multi-line texts are not understood.

use std::fmt;

/// The fields in the order of the file.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct FrontMatter {
    fields: Vec<(String, Field)>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Field {
    Text(String),
    List(Vec<String>),
}

impl FrontMatter {
    pub(crate) fn text(mut self, key: &str, value: &str) -> Self {
        self.fields.push((key.to_owned(), Field::Text(value.to_owned())));
        self
    }

    pub(crate) fn list<'a>(mut self, key: &str, items: impl IntoIterator<Item = &'a str>) -> Self {
        let items = items.into_iter().map(str::to_owned).collect();
        self.fields.push((key.to_owned(), Field::List(items)));
        self
    }

    pub(crate) fn get(&self, key: &str) -> Option<&Field> {
        self.fields.iter().find(|(name, _)| name == key).map(|(_, field)| field)
    }

    /// The front matter of a markdown file and the text after it; `None` if it has no complete one.
    pub(crate) fn parse(source: &str) -> Option<(Self, String)> {
        let mut lines = source.trim_start_matches('\u{feff}').lines();
        if lines.next()?.trim_end() != "---" {
            return None;
        }
        let mut parsed = Self::default();
        loop {
            match lines.next()?.trim_end() {
                "---" => break,
                line => parsed.read_line(line),
            }
        }
        Some((parsed, lines.collect::<Vec<_>>().join("\n")))
    }

    fn read_line(&mut self, line: &str) {
        let line = line.trim();
        if line.is_empty() || line.starts_with('#') {
            return;
        }
        if let Some(item) = line.strip_prefix("- ") {
            self.continue_list(unquote(item));
        } else if let Some((key, value)) = line.split_once(':') {
            self.fields.push((key.trim().to_owned(), Field::read(value)));
        }
    }

    /// `- item` belongs to the key above it, which had no value of its own.
    fn continue_list(&mut self, item: String) {
        match self.fields.last_mut() {
            Some((_, Field::List(items))) => items.push(item),
            Some((_, field)) => *field = Field::List(vec![item]),
            None => {}
        }
    }
}

impl fmt::Display for FrontMatter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "---")?;
        for (key, field) in &self.fields {
            writeln!(f, "{key}: {field}")?;
        }
        writeln!(f, "---")
    }
}

impl Field {
    /// The parts of a list, in either spelling: `[a, b]` or `a, b`.
    pub(crate) fn items(&self) -> Vec<&str> {
        match self {
            Self::Text(text) => text.split(',').map(str::trim).collect(),
            Self::List(items) => items.iter().map(String::as_str).collect(),
        }
    }

    fn read(value: &str) -> Self {
        let value = value.trim();
        let list = value.strip_prefix('[').and_then(|rest| rest.strip_suffix(']'));
        match list {
            Some(inner) if inner.trim().is_empty() => Self::List(Vec::new()),
            Some(inner) => Self::List(inner.split(',').map(unquote).collect()),
            None => Self::Text(unquote(value)),
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

fn unquote(text: &str) -> String {
    let text = text.trim();
    let inside = |mark| text.strip_prefix(mark)?.strip_suffix(mark);
    if let Some(inner) = inside('"') {
        inner.replace("\\\"", "\"").replace("\\\\", "\\")
    } else {
        inside('\'').unwrap_or(text).replace("''", "'")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_is_read_back() {
        let written = FrontMatter::default()
            .text("name", "tester")
            .text("description", "Use it so: \"now\", not later # really")
            .text("argument-hint", "[request]")
            .list("tools", ["Read", "Bash"])
            .list("none", []);
        let source = format!("{written}body\n");
        assert!(source.contains("tools: [Read, Bash]\n"), "{source}");
        assert!(source.contains("argument-hint: \"[request]\"\n"), "{source}");
        assert_eq!(FrontMatter::parse(&source), Some((written, "body".to_owned())));
    }

    #[test]
    fn the_spellings_of_an_editor_are_understood() {
        let lines = [
            "---",
            "# note",
            "name: 'qa'",
            "tools:",
            "  - Read",
            "  - \"Bash\"",
            "skills: a, b",
            "---",
            "x",
            "y",
        ];
        let source = format!("\u{feff}{}", lines.join("\r\n"));
        let (found, body) = FrontMatter::parse(&source).unwrap();
        assert_eq!(found.get("name"), Some(&Field::Text("qa".to_owned())));
        assert_eq!(found.get("tools").unwrap().items(), ["Read", "Bash"]);
        assert_eq!(found.get("skills").unwrap().items(), ["a", "b"]);
        assert_eq!(body, "x\ny");
    }

    #[test]
    fn an_open_or_missing_block_is_none() {
        for source in ["", "name: x", "---\nname: x\n", "text\n---\nname: x\n---\n"] {
            assert_eq!(FrontMatter::parse(source), None, "{source:?}");
        }
    }
}
