//! A settings file's text and the changes that can be made to it.

use std::fmt;
use std::ops::Range;
use std::path::{Path, PathBuf};

use serde_json::{Map, Value};

use crate::append::Container;
use crate::layout::{Layout, Style};
use crate::tree::{self, Node};
use crate::trivia::TextError;
use crate::{MAX_DEPTH, SettingsError, SettingsErrorKind, lines, remove};

const BYTE_ORDER_MARK: &str = "\u{feff}";

/// A JSON object with comments. Keys are addressed by a path of object keys: `&["env", "ANTHROPIC_MODEL"]`.
///
/// A change that fails leaves the document as it was. If a key occurs twice, the last one is used.
pub struct Document {
    path: PathBuf,
    has_byte_order_mark: bool,
    text: String,
    /// `None` if the text has nothing but white space and comments. It counts as an empty object.
    root: Option<Node>,
}

/// A value, and the offset at which its entry starts: that of its key, or its own.
struct Located<'a> {
    node: &'a Node,
    start: usize,
}

impl Document {
    /// Parses a text. `path` is only used in error messages.
    pub fn parse(path: &Path, text: &str) -> Result<Self, SettingsError> {
        let (has_byte_order_mark, text) = match text.strip_prefix(BYTE_ORDER_MARK) {
            Some(text) => (true, text),
            None => (false, text),
        };
        let root = tree::parse(text).map_err(|found| error(path, text, found))?;
        Ok(Self { path: path.to_owned(), has_byte_order_mark, text: text.to_owned(), root })
    }

    /// The value at a path, or the whole object for an empty path.
    pub fn get(&self, path: &[&str]) -> Option<Value> {
        match self.find(path) {
            Some(located) => Some(located.node.to_value()),
            None if path.is_empty() => Some(Value::Object(Map::new())),
            None => None,
        }
    }

    /// The line that the key at a path is on, counted from 1.
    pub fn line_of(&self, path: &[&str]) -> Option<usize> {
        self.find(path).map(|located| lines::position(&self.text, located.start).line)
    }

    /// Whether the file has neither keys nor comments, so that deleting it loses nothing.
    pub fn is_empty(&self) -> bool {
        match &self.root {
            Some(root) => {
                let outside = [&self.text[..root.span.start], &self.text[root.span.end..]].concat();
                (outside + &self.text[root.inner()]).trim().is_empty()
            }
            None => self.text.trim().is_empty(),
        }
    }

    /// Sets a key. An existing value is replaced in place, a new key is appended to its object, and missing objects on
    /// the path are created. A value that is equal already keeps the way it is written.
    pub fn set(&mut self, path: &[&str], value: impl Into<Value>) -> Result<(), SettingsError> {
        let value = value.into();
        if self.get(path).as_ref() == Some(&value) {
            return Ok(());
        }
        let text = match self.root {
            Some(_) => self.text_with(path, value)?,
            None => self.with_root()?.text_with(path, value)?,
        };
        self.set_text(&text)
    }

    /// Removes a key and returns whether it was there. Its object stays, even if empty.
    pub fn remove(&mut self, path: &[&str]) -> Result<bool, SettingsError> {
        let [parent @ .., key] = path else { return Ok(false) };
        let mut found = false;
        // All of several equal keys are removed, or an earlier one would come into effect.
        while let Some(index) =
            self.find(parent).and_then(|p| p.node.members().iter().rposition(|m| m.key == *key))
        {
            self.remove_entry(parent, index)?;
            found = true;
        }
        Ok(found)
    }

    /// Removes a key, and then every enclosing object that is left empty.
    pub fn remove_pruning(&mut self, path: &[&str]) -> Result<bool, SettingsError> {
        let found = self.remove(path)?;
        let mut rest = path;
        while let (true, [parent @ .., _]) = (found, rest) {
            if parent.is_empty() || !self.can_be_pruned(parent) {
                break;
            }
            self.remove(parent)?;
            rest = parent;
        }
        Ok(found)
    }

    /// The items of a list; empty if there is no list at the path.
    pub fn array_items(&self, path: &[&str]) -> Vec<Value> {
        let located = self.find(path);
        let elements = located.as_ref().and_then(|located| located.node.elements()).unwrap_or_default();
        elements.iter().map(Node::to_value).collect()
    }

    /// Appends an item to a list, which is created if it is missing.
    pub fn array_push(&mut self, path: &[&str], value: impl Into<Value>) -> Result<(), SettingsError> {
        let value = value.into();
        match self.find(path) {
            None => self.set(path, Value::Array(vec![value])),
            Some(located) if located.node.elements().is_some() => {
                let text = self.container(&located).append(None, &value);
                self.set_text(&text)
            }
            Some(located) => Err(self.error(located.start, SettingsErrorKind::NotAnArray(path.join(".")))),
        }
    }

    /// Removes the items of a list for which `keep` is false, and returns how many were removed.
    pub fn array_retain(
        &mut self,
        path: &[&str],
        mut keep: impl FnMut(&Value) -> bool,
    ) -> Result<usize, SettingsError> {
        let is_kept: Vec<bool> = self.array_items(path).iter().map(&mut keep).collect();
        let mut removed = 0;
        // From the end, so that the items before keep their index.
        for index in (0..is_kept.len()).rev() {
            if !is_kept[index] {
                self.remove_entry(path, index)?;
                removed += 1;
            }
        }
        Ok(removed)
    }

    /// The whole text, as it is written to the file.
    pub fn to_text(&self) -> String {
        let mark = if self.has_byte_order_mark { BYTE_ORDER_MARK } else { "" };
        format!("{mark}{}", self.text)
    }

    fn find(&self, path: &[&str]) -> Option<Located<'_>> {
        match self.deepest(path) {
            (located, []) => located,
            _ => None,
        }
    }

    /// The last existing value on a path, and the keys of the path that do not exist below it.
    fn deepest<'p>(&self, path: &'p [&'p str]) -> (Option<Located<'_>>, &'p [&'p str]) {
        let Some(root) = &self.root else { return (None, path) };
        let (mut located, mut rest) = (Located { node: root, start: root.span.start }, path);
        while let [key, inner @ ..] = rest
            && let Some(member) = located.node.member(key)
        {
            located = Located { node: &member.value, start: member.key_span.start };
            rest = inner;
        }
        (Some(located), rest)
    }

    /// A copy with an empty object after the comments, for a text without a value.
    fn with_root(&self) -> Result<Self, SettingsError> {
        let newline = lines::newline(&self.text);
        let comments = self.text.trim();
        let separator = if comments.is_empty() { "" } else { newline };
        self.reparsed(&format!("{comments}{separator}{{}}{newline}"))
    }

    /// The text with a value at a path. The document must have a root.
    fn text_with(&self, path: &[&str], value: Value) -> Result<String, SettingsError> {
        if path.len() > MAX_DEPTH {
            return Err(SettingsError::new(&self.path, SettingsErrorKind::TooDeep));
        }
        match self.deepest(path) {
            (Some(located), []) => Ok(self.replaced(&located, &value)),
            (Some(located), [key, inner @ ..]) if located.node.is_object() => {
                Ok(self.container(&located).append(Some(key), &wrapped(inner, value)))
            }
            (Some(located), missing) => {
                let key = path[..path.len() - missing.len()].join(".");
                Err(self.error(located.start, SettingsErrorKind::NotAnObject(key)))
            }
            (None, _) => Err(self.error(0, SettingsErrorKind::TopLevel)),
        }
    }

    fn container<'a>(&'a self, located: &Located<'a>) -> Container<'a> {
        Container { text: &self.text, node: located.node, start: located.start, style: self.style(located) }
    }

    fn style(&self, located: &Located<'_>) -> Style {
        Style::detect(&self.text, self.root.as_ref().unwrap_or(located.node))
    }

    fn replaced(&self, located: &Located<'_>, value: &Value) -> String {
        let layout = Layout::replacing(&self.text, located.node, located.start);
        let Range { start, end } = located.node.span;
        [&self.text[..start], &self.style(located).value(value, &layout), &self.text[end..]].concat()
    }

    fn remove_entry(&mut self, container: &[&str], index: usize) -> Result<(), SettingsError> {
        let Some(located) = self.find(container) else { return Ok(()) };
        let Some(text) = remove::without_entry(&self.text, located.node, index) else { return Ok(()) };
        let shorter = self.reparsed(&text)?;
        *self = match shorter.find(container) {
            Some(located) if located.node.entries().is_empty() => {
                self.reparsed(&remove::without_blank_inside(&text, located.node))?
            }
            _ => shorter,
        };
        Ok(())
    }

    /// Whether an object contains nothing, not even a comment, and is the only one with its key: if it were removed, an
    /// earlier one with the same key would come into effect.
    fn can_be_pruned(&self, path: &[&str]) -> bool {
        let [outer @ .., key] = path else { return false };
        let Some(outer) = self.find(outer) else { return false };
        let mut same = outer.node.members().iter().filter(|member| member.key == *key);
        match (same.next(), same.next()) {
            (Some(only), None) => only.value.is_object() && only.value.inner().is_empty(),
            _ => false,
        }
    }

    fn reparsed(&self, text: &str) -> Result<Self, SettingsError> {
        Self::parse(&self.path, text)
            .map(|parsed| Self { has_byte_order_mark: self.has_byte_order_mark, ..parsed })
    }

    /// Replaces the text if the new one can be parsed.
    fn set_text(&mut self, text: &str) -> Result<(), SettingsError> {
        *self = self.reparsed(text)?;
        Ok(())
    }

    fn error(&self, offset: usize, kind: SettingsErrorKind) -> SettingsError {
        error(&self.path, &self.text, TextError { offset, kind })
    }
}

/// Omits the content, which may contain tokens.
impl fmt::Debug for Document {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Document")
            .field("path", &self.path)
            .field("bytes", &self.text.len())
            .finish_non_exhaustive()
    }
}

fn error(path: &Path, text: &str, found: TextError) -> SettingsError {
    match found.kind {
        SettingsErrorKind::TooLarge => SettingsError::new(path, SettingsErrorKind::TooLarge),
        kind => SettingsError::at(path, lines::position(text, found.offset), kind),
    }
}

/// The value inside nested objects with these keys.
fn wrapped(keys: &[&str], value: Value) -> Value {
    keys.iter().rfold(value, |inner, key| Value::Object(Map::from_iter([((*key).to_owned(), inner)])))
}
