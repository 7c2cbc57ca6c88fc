//! Formats new values like the rest of the file.

use serde_json::Value;

use crate::lines;
use crate::tree::Node;

/// The formatting of a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Style {
    newline: &'static str,
    /// One step of indentation.
    unit: String,
    /// What follows a colon, and a comma on one line.
    pub(crate) gap: &'static str,
}

/// How a value is laid out: on separate lines with this indentation, or within a line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Layout {
    Lines(String),
    Inline,
}

impl Style {
    pub(crate) fn detect(text: &str, root: &Node) -> Self {
        let first_entry = root.entries().first().map(|entry| entry.start);
        let unit = first_entry.and_then(|start| lines::indentation(text, start)).unwrap_or("  ");
        let gap = match root.members().first() {
            Some(member) if &text[member.key_span.end..member.value.span.start] == ":" => "",
            _ => " ",
        };
        Self { newline: lines::newline(text), unit: unit.to_owned(), gap }
    }

    /// A line break, and the indentation of the entry that follows.
    pub(crate) fn line(&self, indent: &str) -> String {
        format!("{}{indent}", self.newline)
    }

    pub(crate) fn deeper(&self, indent: &str) -> String {
        format!("{indent}{}", self.unit)
    }

    /// A key with its value, or just the value.
    pub(crate) fn entry(&self, key: Option<&str>, value: &Value, layout: &Layout) -> String {
        let value = self.value(value, layout);
        match key {
            Some(key) => format!("{}:{}{value}", Value::from(key), self.gap),
            None => value,
        }
    }

    pub(crate) fn value(&self, value: &Value, layout: &Layout) -> String {
        let inner = match layout {
            Layout::Lines(indent) => Layout::Lines(self.deeper(indent)),
            Layout::Inline => Layout::Inline,
        };
        match value {
            Value::Object(map) if !map.is_empty() => {
                let entries: Vec<_> =
                    map.iter().map(|(key, value)| self.entry(Some(key), value, &inner)).collect();
                self.block('{', '}', &entries, layout)
            }
            Value::Array(items) if !items.is_empty() => {
                let entries: Vec<_> = items.iter().map(|value| self.entry(None, value, &inner)).collect();
                self.block('[', ']', &entries, layout)
            }
            flat => flat.to_string(),
        }
    }

    fn block(&self, open: char, close: char, entries: &[String], layout: &Layout) -> String {
        match layout {
            Layout::Inline => format!("{open}{}{close}", entries.join(&format!(",{}", self.gap))),
            Layout::Lines(indent) => {
                let line = self.line(&self.deeper(indent));
                let entries = entries.join(&format!(",{line}"));
                format!("{open}{line}{entries}{}{close}", self.line(indent))
            }
        }
    }
}

impl Layout {
    /// The layout of an entry that starts at `start`.
    pub(crate) fn at(text: &str, start: usize) -> Self {
        match lines::indentation(text, start) {
            Some(indent) => Self::Lines(indent.to_owned()),
            None => Self::Inline,
        }
    }

    /// The layout of the value that replaces `old`, in an entry that starts at `start`. A list on one line stays on one
    /// line.
    pub(crate) fn replacing(text: &str, old: &Node, start: usize) -> Self {
        let one_line = !old.entries().is_empty() && !lines::has_break(&text[old.span.clone()]);
        if one_line { Self::Inline } else { Self::at(text, start) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn style(text: &str) -> Style {
        let root = crate::tree::parse(text).ok().flatten().unwrap();
        Style::detect(text, &root)
    }

    #[test]
    fn values_look_like_the_file() {
        let value = json!({"a": [1, {}], "b": {"c": []}});
        let lines = Layout::Lines(String::new());
        assert_eq!(style("{\n\t\"x\": 1}").value(&value, &lines), {
            "{\n\t\"a\": [\n\t\t1,\n\t\t{}\n\t],\n\t\"b\": {\n\t\t\"c\": []\n\t}\n}"
        });
        assert_eq!(style("{\"x\": 1}").value(&value, &Layout::Inline), r#"{"a": [1, {}], "b": {"c": []}}"#);
        assert_eq!(style("{\"x\":1}").value(&value, &Layout::Inline), r#"{"a":[1,{}],"b":{"c":[]}}"#);
    }
}
