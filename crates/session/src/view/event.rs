//! The fields of an event from which histories are built.
//!
//! Statistics read millions of events, so there is a fast parser for lines in the form that this program writes. Other
//! lines are parsed as general JSON.

use std::borrow::Cow;

use overtone_core::engine::state::Millis;
use overtone_store::clock;
use serde_json::{Map, Value};

use crate::view::evidence::CheckOutcome;

#[derive(Debug, Default, PartialEq)]
pub(crate) struct Event<'a> {
    pub(crate) ts: Option<Cow<'a, str>>,
    pub(crate) stage: Option<Cow<'a, str>>,
    pub(crate) agent: Option<Cow<'a, str>>,
    pub(crate) agent_id: Option<Cow<'a, str>>,
    pub(crate) workflow: Option<Cow<'a, str>>,
    pub(crate) duration: Option<i64>,
    pub(crate) reason: Option<Cow<'a, str>>,
    pub(crate) by: Option<Cow<'a, str>>,
    /// Why a report was sent back.
    pub(crate) missing: Option<Cow<'a, str>>,
    pub(crate) changed_files: Option<u64>,
    pub(crate) attempt: Option<u32>,
    pub(crate) untrusted: Vec<String>,
    pub(crate) notes: Vec<String>,
    pub(crate) checks: Vec<CheckOutcome>,
}

impl<'a> Event<'a> {
    /// Returns `None` for a line that is not a JSON object.
    pub(crate) fn parse(line: &'a [u8]) -> Option<Self> {
        Self::parse_plain(line).or_else(|| Self::parse_any(line))
    }

    pub(crate) fn at(&self) -> Option<Millis> {
        clock::from_iso(self.ts.as_deref()?)
    }

    /// Parses an object without spaces, nesting and escapes. Returns `None` for any other line.
    fn parse_plain(line: &'a [u8]) -> Option<Self> {
        let mut event = Self::default();
        let mut rest = line.strip_prefix(b"{")?;
        loop {
            let (key, after) = plain_text(rest)?;
            let (value, after) = plain_value(after.strip_prefix(b":")?)?;
            event.set_field(key, value)?;
            match after {
                b"}" => return Some(event),
                _ => rest = after.strip_prefix(b",")?,
            }
        }
    }

    /// Returns `None` if the value is not valid UTF-8. Fields that histories do not need are ignored.
    fn set_field(&mut self, key: &[u8], value: PlainValue<'a>) -> Option<()> {
        let field = match key {
            b"ts" => &mut self.ts,
            b"stage" => &mut self.stage,
            b"agent" => &mut self.agent,
            b"agentId" => &mut self.agent_id,
            b"workflowType" => &mut self.workflow,
            b"reason" => &mut self.reason,
            b"by" => &mut self.by,
            b"missing" => &mut self.missing,
            b"durationMs" => {
                self.duration = value.number();
                return Some(());
            }
            b"changedFiles" => {
                self.changed_files = value.number();
                return Some(());
            }
            b"attempt" => {
                self.attempt = value.number();
                return Some(());
            }
            _ => return Some(()),
        };
        *field = match value {
            PlainValue::Text(text) => Some(Cow::Borrowed(std::str::from_utf8(text).ok()?)),
            PlainValue::Other(_) => None,
        };
        Some(())
    }

    fn parse_any(line: &[u8]) -> Option<Self> {
        let fields: Map<String, Value> = serde_json::from_str(&String::from_utf8_lossy(line)).ok()?;
        let text = |name: &str| Some(Cow::Owned(fields.get(name)?.as_str()?.to_owned()));
        Some(Self {
            ts: text("ts"),
            stage: text("stage"),
            agent: text("agent"),
            agent_id: text("agentId"),
            workflow: text("workflowType"),
            duration: fields.get("durationMs").and_then(Value::as_i64),
            reason: text("reason"),
            by: text("by"),
            missing: text("missing"),
            changed_files: fields.get("changedFiles").and_then(Value::as_u64),
            attempt: fields.get("attempt").and_then(Value::as_u64).and_then(|number| number.try_into().ok()),
            untrusted: texts(&fields, "untrusted"),
            notes: texts(&fields, "notes"),
            checks: CheckOutcome::from_event(&fields),
        })
    }
}

/// The texts in a list.
fn texts(fields: &Map<String, Value>, name: &str) -> Vec<String> {
    let list = fields.get(name).and_then(Value::as_array).into_iter().flatten();
    list.filter_map(Value::as_str).map(str::to_owned).collect()
}

#[derive(Clone, Copy)]
enum PlainValue<'a> {
    Text(&'a [u8]),
    /// A number, or `null`, `true`, `false`.
    Other(&'a [u8]),
}

impl PlainValue<'_> {
    fn number<N: std::str::FromStr>(self) -> Option<N> {
        match self {
            Self::Other(digits) => std::str::from_utf8(digits).ok()?.parse().ok(),
            Self::Text(_) => None,
        }
    }
}

/// Splits the text into the contents of the string that it begins with, and what follows the string.
fn plain_text(text: &[u8]) -> Option<(&[u8], &[u8])> {
    let text = text.strip_prefix(b"\"")?;
    let end = text.iter().position(|byte| matches!(byte, b'"' | b'\\' | 0..=0x1f))?;
    if text[end] == b'"' { Some((&text[..end], &text[end + 1..])) } else { None }
}

/// Splits the text into the value that it begins with, and what follows the value.
fn plain_value(text: &[u8]) -> Option<(PlainValue<'_>, &[u8])> {
    if text.first() == Some(&b'"') {
        return plain_text(text).map(|(text, rest)| (PlainValue::Text(text), rest));
    }
    let end = text.iter().position(|byte| matches!(byte, b',' | b'}'))?;
    let (value, rest) = text.split_at(end);
    let digits = value.strip_prefix(b"-").unwrap_or(value);
    let is_number = match digits {
        [b'0'] => true,
        [b'1'..=b'9', more @ ..] => more.iter().all(u8::is_ascii_digit),
        _ => false,
    };
    let is_plain = is_number || matches!(value, b"null" | b"true" | b"false");
    if is_plain { Some((PlainValue::Other(value), rest)) } else { None }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;

    fn value() -> impl Strategy<Value = Value> {
        prop_oneof![
            "[a-zA-Z0-9:_-]{0,12}".prop_map(Value::from),
            any::<String>().prop_map(Value::from),
            any::<i64>().prop_map(Value::from),
            any::<u64>().prop_map(Value::from),
            any::<f64>().prop_map(Value::from),
            any::<bool>().prop_map(Value::from),
            Just(Value::Null),
            Just(json!([1, {"stage": "x"}])),
            Just(json!(["x", {"check": "test", "result": "pass", "run": 2}])),
        ]
    }

    fn key() -> impl Strategy<Value = String> {
        let known = [
            "ts",
            "type",
            "stage",
            "agent",
            "agentId",
            "workflowType",
            "durationMs",
            "label",
            "reason",
            "missing",
            "changedFiles",
            "untrusted",
            "notes",
            "checks",
        ];
        prop_oneof![proptest::sample::select(known.to_vec()).prop_map(str::to_owned), any::<String>()]
    }

    proptest! {
        #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

        /// Both parsers agree on every object, and on objects that are cut off.
        #[test]
        fn the_fast_parser_agrees_with_the_general_one(fields in proptest::collection::vec((key(), value()), 0..8), cut in 0_usize..200) {
            let object: Map<String, Value> = fields.into_iter().collect();
            let text = Value::Object(object).to_string();
            prop_assert_eq!(Event::parse(text.as_bytes()), Event::parse_any(text.as_bytes()));
            let part = &text.as_bytes()[..cut.min(text.len())];
            if let Some(event) = Event::parse_plain(part) {
                prop_assert_eq!(Some(event), Event::parse_any(part));
            }
        }
    }

    #[test]
    fn lines_of_this_program_are_read_by_the_fast_parser() {
        let line = br#"{"ts":"2026-01-01T00:00:00.000Z","type":"agent:complete","agent":"tester","agentId":"a1","stage":null,"durationMs":-5}"#;
        let event = Event::parse_plain(line).unwrap();
        assert_eq!((event.agent.as_deref(), event.agent_id.as_deref()), (Some("tester"), Some("a1")));
        assert_eq!((event.stage, event.duration), (None, Some(-5)));
        for other in
            [&b"{}"[..], b"{", b"[1]", b"", br#"{"a":1"#, br#"{"a":01}"#, br#"{"a":1}x"#, br#"{"a" :1}"#]
        {
            assert_eq!(Event::parse_plain(other), None, "{}", String::from_utf8_lossy(other));
        }
    }
}
