//! Appends an entry to an object or array. Nothing is removed except blanks in `{ }`.

use serde_json::Value;

use crate::layout::{Layout, Style};
use crate::tree::Node;
use crate::{lines, trivia};

/// An object or array in a text, as the target of a new entry.
pub(crate) struct Container<'a> {
    pub(crate) text: &'a str,
    pub(crate) node: &'a Node,
    /// The offset at which its entry starts: that of its key, or its own.
    pub(crate) start: usize,
    pub(crate) style: Style,
}

impl Container<'_> {
    /// The text with the new entry. `key` is `None` for an array.
    pub(crate) fn append(&self, key: Option<&str>, value: &Value) -> String {
        match self.node.entries().last() {
            Some(last) => self.append_after(last.start, last.end, key, value),
            None => self.append_first(key, value),
        }
    }

    fn append_after(&self, last_start: usize, last_end: usize, key: Option<&str>, value: &Value) -> String {
        let layout = Layout::at(self.text, last_start);
        let entry = self.style.entry(key, value, &layout);
        // A file with a trailing comma after its last entry gets one after the new last entry as well.
        let (free, missing, trailing) = match trivia::comma_after(self.text, last_end) {
            Some(comma) => (comma + 1, "", ","),
            None => (last_end, ",", ""),
        };
        let (insertion, lead) = match &layout {
            Layout::Lines(indent) => (trivia::after_line_comments(self.text, free), self.style.line(indent)),
            Layout::Inline => (free, self.style.gap.to_owned()),
        };
        let text = self.text;
        [&text[..last_end], missing, &text[last_end..insertion], &lead, &entry, trailing, &text[insertion..]]
            .concat()
    }

    fn append_first(&self, key: Option<&str>, value: &Value) -> String {
        let inner = self.node.inner();
        let content = self.text[inner.clone()].trim_end();
        let content_end = inner.start + content.len();
        let space = &self.text[content_end..inner.end];
        let (before, after) = (&self.text[..content_end], &self.text[inner.end..]);
        match self.first_layout() {
            Layout::Inline => {
                let lead = if content.is_empty() { space } else { " " };
                let entry = self.style.entry(key, value, &Layout::Inline);
                [before, lead, &entry, space, after].concat()
            }
            Layout::Lines(base) => {
                let indent = self.style.deeper(&base);
                let entry = self.style.entry(key, value, &Layout::Lines(indent.clone()));
                let end = if lines::has_break(space) { space.to_owned() } else { self.style.line(&base) };
                [before, &self.style.line(&indent), &entry, &end, after].concat()
            }
        }
    }

    /// Inline only if the empty brackets are on one line and their entry does not start its line.
    fn first_layout(&self) -> Layout {
        match Layout::at(self.text, self.start) {
            Layout::Inline if lines::has_break(&self.text[self.node.inner()]) => Layout::Lines(String::new()),
            layout => layout,
        }
    }
}
