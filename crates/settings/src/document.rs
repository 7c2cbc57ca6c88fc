//! A settings file's text and the changes that can be made to it.

use std::fmt;
use std::ops::Range;
use std::path::{Path, PathBuf};

use serde_json::{Map, Value};

use crate::append::Container;
use crate::layout::{Layout, Style};
use crate::tree::{self, Node};
use crate::trivia::Fault;
use crate::{MAX_DEPTH, Problem, SettingsError, lines, remove};

const BYTE_ORDER_MARK: &str = "\u{feff}";

/// A JSON object with comments. Keys are addressed by a path of object keys: `&["env", "ANTHROPIC_MODEL"]`.
///
/// A change that fails leaves the document as it was. Where a key occurs twice, the last one counts.
pub struct Document {
    path: PathBuf,
    has_mark: bool,
    text: String,
    /// Nothing, if the text is empty or all comments; it counts as an empty object.
    root: Option<Node>,
}

/// A value and where the entry that holds it begins: its key, or itself.
struct Place<'a> {
    node: &'a Node,
    start: usize,
}

impl Document {
    /// Takes a text apart; `path` is for messages only.
    pub fn parse(path: &Path, text: &str) -> Result<Self, SettingsError> {
        let (has_mark, text) = match text.strip_prefix(BYTE_ORDER_MARK) {
            Some(text) => (true, text),
            None => (false, text),
        };
        let root = tree::parse(text).map_err(|fault| error(path, text, fault))?;
        Ok(Self { path: path.to_owned(), has_mark, text: text.to_owned(), root })
    }

    /// The value at a path; the whole object for an empty path.
    pub fn get(&self, path: &[&str]) -> Option<Value> {
        match self.find(path) {
            Some(place) => Some(place.node.to_value()),
            None => (path.is_empty()).then(|| Value::Object(Map::new())),
        }
    }

    /// The line that the key at a path is on, counted from 1.
    pub fn line_of(&self, path: &[&str]) -> Option<usize> {
        self.find(path).map(|place| lines::position(&self.text, place.start).line)
    }

    /// Whether there is nothing in the file worth keeping: no keys and no comments.
    pub fn is_empty(&self) -> bool {
        match &self.root {
            Some(root) => {
                let outside = [&self.text[..root.span.start], &self.text[root.span.end..]].concat();
                (outside + &self.text[root.inner()]).trim().is_empty()
            }
            None => self.text.trim().is_empty(),
        }
    }

    /// Gives a key a value. A value that was there is replaced where it stands; a new key goes to the end of its
    /// object; objects that are missing on the way are made. An equal value is left as it is written.
    pub fn set(&mut self, path: &[&str], value: impl Into<Value>) -> Result<(), SettingsError> {
        let value = value.into();
        if self.get(path).as_ref() == Some(&value) {
            return Ok(());
        }
        let text = match self.root {
            Some(_) => self.text_with(path, value)?,
            None => self.with_root()?.text_with(path, value)?,
        };
        self.put(&text)
    }

    /// Takes a key away and says whether it was there. Its object stays, even if empty.
    pub fn remove(&mut self, path: &[&str]) -> Result<bool, SettingsError> {
        let [parent @ .., key] = path else { return Ok(false) };
        let mut found = false;
        // If the last of several equal keys went alone, an earlier one would come into effect.
        while let Some(index) =
            self.find(parent).and_then(|p| p.node.members().iter().rposition(|m| m.key == *key))
        {
            self.remove_entry(parent, index)?;
            found = true;
        }
        Ok(found)
    }

    /// Takes a key away, and then every object around it that is left empty.
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

    /// The items of a list; none if there is no list.
    pub fn array_items(&self, path: &[&str]) -> Vec<Value> {
        let place = self.find(path);
        let elements = place.as_ref().and_then(|place| place.node.elements()).unwrap_or_default();
        elements.iter().map(Node::to_value).collect()
    }

    /// Adds an item to the end of a list, which is made if it is missing.
    pub fn array_push(&mut self, path: &[&str], value: impl Into<Value>) -> Result<(), SettingsError> {
        let value = value.into();
        match self.find(path) {
            None => self.set(path, Value::Array(vec![value])),
            Some(place) if place.node.elements().is_some() => {
                let text = self.container(&place).append(None, &value);
                self.put(&text)
            }
            Some(place) => Err(self.error(place.start, Problem::NotAnArray(path.join(".")))),
        }
    }

    /// Takes the items that `keep` does not want out of a list, and says how many those were.
    pub fn array_retain(
        &mut self,
        path: &[&str],
        mut keep: impl FnMut(&Value) -> bool,
    ) -> Result<usize, SettingsError> {
        let wanted: Vec<bool> = self.array_items(path).iter().map(&mut keep).collect();
        let unwanted = (0..wanted.len()).rev().filter(|index| !wanted[*index]);
        let mut removed = 0;
        for index in unwanted {
            self.remove_entry(path, index)?;
            removed += 1;
        }
        Ok(removed)
    }

    /// The whole text, as it is to be written.
    pub fn to_text(&self) -> String {
        let mark = if self.has_mark { BYTE_ORDER_MARK } else { "" };
        format!("{mark}{}", self.text)
    }

    fn find(&self, path: &[&str]) -> Option<Place<'_>> {
        match self.deepest(path) {
            (place, []) => place,
            _ => None,
        }
    }

    /// The last value on the way along a path, and the keys that are missing from there.
    fn deepest<'p>(&self, path: &'p [&'p str]) -> (Option<Place<'_>>, &'p [&'p str]) {
        let Some(root) = &self.root else { return (None, path) };
        let (mut place, mut rest) = (Place { node: root, start: root.span.start }, path);
        while let [key, inner @ ..] = rest
            && let Some(member) = place.node.member(key)
        {
            place = Place { node: &member.value, start: member.key_span.start };
            rest = inner;
        }
        (Some(place), rest)
    }

    /// A copy with an object below the comments, for a text that has none.
    fn with_root(&self) -> Result<Self, SettingsError> {
        let newline = lines::newline(&self.text);
        let comments = self.text.trim();
        let separator = if comments.is_empty() { "" } else { newline };
        self.reparsed(&format!("{comments}{separator}{{}}{newline}"))
    }

    fn text_with(&self, path: &[&str], value: Value) -> Result<String, SettingsError> {
        if path.len() > MAX_DEPTH {
            return Err(SettingsError::new(&self.path, Problem::TooDeep));
        }
        match self.deepest(path) {
            (Some(place), []) => Ok(self.replaced(&place, &value)),
            (Some(place), [key, inner @ ..]) if place.node.is_object() => {
                Ok(self.container(&place).append(Some(key), &wrapped(inner, value)))
            }
            (place, missing) => {
                let key = path[..path.len() - missing.len()].join(".");
                Err(self.error(place.map_or(0, |place| place.start), Problem::NotAnObject(key)))
            }
        }
    }

    fn container<'a>(&'a self, place: &Place<'a>) -> Container<'a> {
        Container { text: &self.text, node: place.node, start: place.start, style: self.style(place) }
    }

    fn style(&self, place: &Place<'_>) -> Style {
        Style::of(&self.text, self.root.as_ref().unwrap_or(place.node))
    }

    fn replaced(&self, place: &Place<'_>, value: &Value) -> String {
        let layout = Layout::replacing(&self.text, place.node, place.start);
        let Range { start, end } = place.node.span;
        [&self.text[..start], &self.style(place).value(value, &layout), &self.text[end..]].concat()
    }

    fn remove_entry(&mut self, container: &[&str], index: usize) -> Result<(), SettingsError> {
        let Some(place) = self.find(container) else { return Ok(()) };
        let Some(text) = remove::without_entry(&self.text, place.node, index) else { return Ok(()) };
        let shorter = self.reparsed(&text)?;
        *self = match shorter.find(container) {
            Some(place) if place.node.entries().is_empty() => {
                self.reparsed(&remove::without_blank_inside(&text, place.node))?
            }
            _ => shorter,
        };
        Ok(())
    }

    /// Whether an object is empty, comments included, and no earlier one of the same name would take its place.
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
        Self::parse(&self.path, text).map(|parsed| Self { has_mark: self.has_mark, ..parsed })
    }

    /// Takes over a changed text if it is still a sound file.
    fn put(&mut self, text: &str) -> Result<(), SettingsError> {
        *self = self.reparsed(text)?;
        Ok(())
    }

    fn error(&self, at: usize, problem: Problem) -> SettingsError {
        error(&self.path, &self.text, Fault { at, problem })
    }
}

/// Shows no content: it may hold tokens.
impl fmt::Debug for Document {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Document")
            .field("path", &self.path)
            .field("bytes", &self.text.len())
            .finish_non_exhaustive()
    }
}

fn error(path: &Path, text: &str, fault: Fault) -> SettingsError {
    match fault.problem {
        Problem::TooLarge => SettingsError::new(path, Problem::TooLarge),
        problem => SettingsError::at(path, lines::position(text, fault.at), problem),
    }
}

/// The value inside objects that hold nothing but it.
fn wrapped(keys: &[&str], value: Value) -> Value {
    keys.iter().rfold(value, |inner, key| Value::Object(Map::from_iter([((*key).to_owned(), inner)])))
}
