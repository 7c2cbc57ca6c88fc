//! One recorded line, and why a line is none of ours.

use overtone_engine::state::Verdict;
use overtone_registry::{Agent, EventKind, StageKey};
use serde_json::{Map, Value};

/// An event as it was recorded, perhaps by another version.
#[derive(Debug, Clone, PartialEq)]
pub struct Line {
    /// Counted from 1, as editors do.
    pub number: u64,
    pub kind: EventKind,
    pub fields: Map<String, Value>,
    /// Unreadable lines right before it: each may have been one that is missed now.
    pub(crate) torn_before: u32,
}

/// A line that is passed over.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Skipped {
    pub number: u64,
    pub why: Why,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Why {
    /// Torn, or no event at all.
    Unreadable,
    /// An event of a type that this version does not know.
    Unknown(String),
}

/// Reads one line; nothing for a blank one.
pub fn parse(number: u64, bytes: &[u8]) -> Option<Result<Line, Skipped>> {
    if bytes.trim_ascii().is_empty() {
        return None;
    }
    Some(event(number, bytes).map_err(|why| Skipped { number, why }))
}

fn event(number: u64, bytes: &[u8]) -> Result<Line, Why> {
    let fields: Map<String, Value> = serde_json::from_slice(bytes).map_err(|_| Why::Unreadable)?;
    let name = fields.get("type").and_then(Value::as_str).ok_or(Why::Unreadable)?;
    let kind = EventKind::from_name(name).map_err(|unknown| Why::Unknown(unknown.0))?;
    Ok(Line { number, kind, fields, torn_before: 0 })
}

impl Line {
    pub fn text(&self, name: &str) -> &str {
        self.fields.get(name).and_then(Value::as_str).unwrap_or_default()
    }

    /// The text of a field that may be absent or null.
    pub(crate) fn given(&self, name: &str) -> Option<&str> {
        self.fields.get(name).and_then(Value::as_str)
    }

    pub(crate) fn count(&self, name: &str) -> Option<u32> {
        self.fields.get(name)?.as_u64()?.try_into().ok()
    }

    /// Whether the recording version wrote this field at all.
    pub(crate) fn has(&self, name: &str) -> bool {
        self.fields.contains_key(name)
    }

    pub(crate) fn agent(&self) -> Option<Agent> {
        Agent::from_name(self.text("agent"))
    }

    pub(crate) fn stage(&self) -> Option<StageKey> {
        self.text("stage").parse().ok()
    }

    pub(crate) fn verdict(&self) -> Option<Verdict> {
        Verdict::from_key(self.text("result"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_events_unknown_or_unreadable() {
        assert_eq!(parse(1, b"  \r"), None);
        let line = parse(7, br#"{"type":"stage:start","stage":"TEST:2"}"#).unwrap().unwrap();
        assert_eq!((line.number, line.kind), (7, EventKind::StageStart));
        assert_eq!(line.stage().unwrap().to_string(), "TEST:2");
        let why = |bytes: &[u8]| parse(1, bytes).unwrap().unwrap_err().why;
        for torn in [&br#"{"type":"stage:sta"#[..], b"[]", b"{}", br#"{"type":7}"#, b"\xff\xfe"] {
            assert_eq!(why(torn), Why::Unreadable);
        }
        assert_eq!(why(br#"{"type":"future:thing"}"#), Why::Unknown("future:thing".into()));
    }
}
