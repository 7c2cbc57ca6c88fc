//! Parses one line of a timeline.

use crate::engine::state::Verdict;
use crate::registry::{Agent, EventKind, StageKey, WarningReason};
use serde_json::{Map, Value};

/// An event as it was recorded, perhaps by another version.
#[derive(Debug, Clone, PartialEq)]
pub struct Line {
    /// Counted from 1.
    pub number: u64,
    pub kind: EventKind,
    pub fields: Map<String, Value>,
    /// The number of unreadable lines right before it. Each may have been a line that is missing now.
    pub(crate) unreadable_before: u32,
}

/// A line that is skipped.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SkippedLine {
    pub number: u64,
    pub reason: SkipReason,
}

/// Why a line is skipped.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SkipReason {
    /// Incomplete, or not an event.
    Unreadable,
    /// An event of a type that this version does not know.
    Unknown(String),
}

/// Parses one line. `None` for a blank one.
pub fn parse(number: u64, bytes: &[u8]) -> Option<Result<Line, SkippedLine>> {
    if bytes.trim_ascii().is_empty() {
        return None;
    }
    Some(parse_event(number, bytes).map_err(|reason| SkippedLine { number, reason }))
}

fn parse_event(number: u64, bytes: &[u8]) -> Result<Line, SkipReason> {
    let fields: Map<String, Value> = serde_json::from_slice(bytes).map_err(|_| SkipReason::Unreadable)?;
    let name = fields.get("type").and_then(Value::as_str).ok_or(SkipReason::Unreadable)?;
    let kind = EventKind::from_name(name).map_err(|unknown| SkipReason::Unknown(unknown.0))?;
    Ok(Line { number, kind, fields, unreadable_before: 0 })
}

impl Line {
    /// The text of a field, or an empty text.
    pub fn text(&self, name: &str) -> &str {
        self.fields.get(name).and_then(Value::as_str).unwrap_or_default()
    }

    /// The text of a field that may be absent or null.
    pub(crate) fn optional_text(&self, name: &str) -> Option<&str> {
        self.fields.get(name).and_then(Value::as_str)
    }

    /// The stages in a list.
    pub(crate) fn stages(&self, name: &str) -> Vec<StageKey> {
        let list = self.fields.get(name).and_then(Value::as_array).into_iter().flatten();
        list.filter_map(|key| key.as_str()?.parse().ok()).collect()
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

    /// The reason of a warning. `None` for other events, and for reasons of other versions.
    pub(crate) fn warning_reason(&self) -> Option<WarningReason> {
        match self.kind {
            EventKind::SystemWarning => WarningReason::from_name(self.text("reason")),
            _ => None,
        }
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
        let reason = |bytes: &[u8]| parse(1, bytes).unwrap().unwrap_err().reason;
        for torn in [&br#"{"type":"stage:sta"#[..], b"[]", b"{}", br#"{"type":7}"#, b"\xff\xfe"] {
            assert_eq!(reason(torn), SkipReason::Unreadable);
        }
        assert_eq!(reason(br#"{"type":"future:thing"}"#), SkipReason::Unknown("future:thing".into()));
    }
}
