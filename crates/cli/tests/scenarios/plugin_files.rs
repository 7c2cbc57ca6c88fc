//! The plugin's files as the client reads them: front matter and `hooks.json`.

use std::fs;
use std::path::PathBuf;

use serde_json::Value;

/// A file of `plugins/overtone/`.
pub(crate) fn path(name: &str) -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../plugins/overtone").join(name)
}

/// The fields at the head of a Markdown file, and its body.
#[derive(Debug)]
pub(crate) struct Document {
    fields: Vec<(String, Vec<String>)>,
    pub(crate) body: String,
}

impl Document {
    pub(crate) fn agent(name: &str) -> Self {
        Self::read(&format!("agents/{name}.md"))
    }

    pub(crate) fn skill(name: &str) -> Self {
        Self::read(&format!("skills/{name}/SKILL.md"))
    }

    /// The values of a field; none where the field is absent.
    pub(crate) fn list(&self, field: &str) -> Option<Vec<&str>> {
        let (_, values) = self.fields.iter().find(|(name, _)| name == field)?;
        Some(values.iter().map(String::as_str).collect())
    }

    /// The only value of a field.
    pub(crate) fn value(&self, field: &str) -> Option<&str> {
        match self.list(field)?.as_slice() {
            [value] => Some(value),
            _ => None,
        }
    }

    fn read(name: &str) -> Self {
        let path = path(name);
        let text = fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
        let (head, body) = text
            .strip_prefix("---\n")
            .and_then(|rest| rest.split_once("\n---\n"))
            .unwrap_or_else(|| panic!("{name} has no front matter"));
        Self { fields: fields(head), body: body.to_owned() }
    }
}

/// `key: value`, `key: a, b`, `key: [a, b]`, and a key followed by `- item` lines.
fn fields(head: &str) -> Vec<(String, Vec<String>)> {
    let mut fields: Vec<(String, Vec<String>)> = Vec::new();
    for line in head.lines() {
        if let Some(item) = line.trim_start().strip_prefix("- ") {
            let (_, values) = fields.last_mut().expect("a list item before any key");
            values.push(plain(item));
        } else if let Some((key, value)) = line.split_once(':') {
            fields.push((key.trim().to_owned(), split(key.trim(), value.trim())));
        }
    }
    fields
}

fn split(key: &str, value: &str) -> Vec<String> {
    // A description is a sentence and may contain commas; every other field is a word or a list of words.
    if key == "description" {
        return vec![plain(value)];
    }
    let inner = value.strip_prefix('[').and_then(|rest| rest.strip_suffix(']')).unwrap_or(value);
    inner.split(',').map(plain).filter(|item| !item.is_empty()).collect()
}

fn plain(item: &str) -> String {
    item.trim().trim_matches(['"', '\'']).to_owned()
}

pub(crate) fn hooks_json() -> Value {
    let path = path("hooks/hooks.json");
    let text = fs::read(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    serde_json::from_slice(&text).expect("hooks.json is not JSON")
}

/// Every command bound to an event.
pub(crate) fn commands(event: &str) -> Vec<Value> {
    let hooks = hooks_json();
    let groups = hooks["hooks"][event].as_array().unwrap_or_else(|| panic!("{event} is not bound"));
    groups.iter().flat_map(|group| group["hooks"].as_array().expect("the nested form").clone()).collect()
}

/// The event starts exactly this hook of the binary. The documents speak of a script `<hook>.js`; settled: it is
/// a native subcommand of the same name, in exec form, so that no shell is involved.
#[track_caller]
pub(crate) fn assert_bound(event: &str, hook: &str) {
    let commands = commands(event);
    assert_eq!(commands.len(), 1, "{commands:?}");
    assert_eq!(commands[0]["type"], "command");
    assert_eq!(commands[0]["args"], serde_json::json!(["hook", hook]));
    let command = commands[0]["command"].as_str().expect("no command");
    assert!(command.ends_with("/overtone-hook"), "{command}");
}
