//! Compares what the engine records with what was recorded.

use crate::engine::{FieldValue, Record, Snapshot};
use serde_json::{Map, Value, json};

use crate::replay::line::Line;

/// Fields that are not compared: times, ids and free texts, which the engine cannot reproduce, and the settings, which
/// the replay takes from the line itself.
const NOT_COMPARED: [&str; 9] =
    ["durationMs", "agentId", "error", "version", "limits", "from", "receipts", "checks", "changedFiles"];

/// Fields that earlier versions did not record. If they are absent, they are not compared.
const ADDED_LATER: [&str; 5] = ["slot", "slots", "handoff", "idle", "tasks"];

/// A difference between the recorded session and the engine.
#[derive(Debug, Clone)]
pub struct Difference {
    /// The number of the line, which is one past the last if the timeline ends too early.
    pub line: u64,
    pub finding: Finding,
    /// The lines before it.
    pub before: Vec<Line>,
    /// The state after the engine's decision.
    pub state: Box<Snapshot>,
}

/// What differs.
#[derive(Debug, Clone)]
pub enum Finding {
    /// The expected event with other fields.
    Changed { expected: Record, found: Line, fields: Vec<&'static str> },
    /// An expected event is missing. `found` is the line in its place.
    Missing { expected: Record, found: Option<Line> },
    /// The engine does not record this event here.
    Unexpected { found: Line },
}

/// The names of the fields that differ, or `None` if it is another event.
pub(crate) fn differing_fields(record: &Record, line: &Line, is_guessed: bool) -> Option<Vec<&'static str>> {
    if record.kind != line.kind {
        return None;
    }
    let differs = |name: &str, value: &FieldValue| {
        let found = line.fields.get(name);
        match found {
            _ if NOT_COMPARED.contains(&name) || (is_guessed && name == "slot") => false,
            None if ADDED_LATER.contains(&name) => false,
            found => *found.unwrap_or(&Value::Null) != to_json(value),
        }
    };
    let expected = record.fields.iter().filter(|(name, value)| differs(name, value)).map(|(name, _)| *name);
    let unexpected = ADDED_LATER.into_iter().filter(|name| is_unexpected(record, line, name));
    Some(expected.chain(unexpected).collect())
}

/// Whether the line has a field that the engine does not record, such as a counter that is zero.
fn is_unexpected(record: &Record, line: &Line, name: &str) -> bool {
    if record.fields.iter().any(|(own, _)| *own == name) {
        return false;
    }
    match line.fields.get(name) {
        None | Some(Value::Null) => false,
        Some(value) => *value != 0,
    }
}

/// The fields of a record as they are in a line, without the time.
pub fn record_fields(record: &Record) -> Map<String, Value> {
    let kind = ("type".to_owned(), json!(record.kind.name()));
    let fields = record.fields.iter().map(|(name, value)| ((*name).to_owned(), to_json(value)));
    std::iter::once(kind).chain(fields).collect()
}

fn to_json(value: &FieldValue) -> Value {
    match value {
        FieldValue::Text(text) => json!(text),
        FieldValue::Number(number) => json!(number),
        FieldValue::List(list) => json!(list),
        FieldValue::Objects(list) => list.iter().map(|fields| object(fields)).collect(),
        FieldValue::Nothing => Value::Null,
    }
}

fn object(fields: &[(&'static str, FieldValue)]) -> Value {
    let fields = fields.iter().map(|(name, value)| ((*name).to_owned(), to_json(value)));
    Value::Object(fields.collect())
}

#[cfg(test)]
mod tests {
    use crate::registry::EventKind;

    use super::*;
    use crate::replay::line::parse;

    fn line(text: &str) -> Line {
        parse(1, text.as_bytes()).unwrap().unwrap()
    }

    #[test]
    fn only_reproducible_fields_are_compared() {
        let record = Record::new(EventKind::AgentComplete)
            .with("stage", "DEV")
            .with("agent", "developer")
            .with("result", "pass")
            .with("durationMs", 5_i64)
            .with("slot", "developer");
        let found = |text: &str| differing_fields(&record, &line(text), false);
        let old =
            r#"{"type":"agent:complete","stage":"DEV","agent":"developer","result":"pass","durationMs":9}"#;
        assert_eq!(found(old), Some(vec![]));
        assert_eq!(found(&old.replace("pass", "fail")), Some(vec!["result"]));
        assert_eq!(found(&old.replace("\"result\"", "\"x\"")), Some(vec!["result"]));
        assert_eq!(found(&old.replace("9}", "9,\"slot\":null}")), Some(vec!["slot"]));
        assert_eq!(found(&old.replace("9}", "9,\"idle\":2}")), Some(vec!["idle"]));
        assert_eq!(found(r#"{"type":"agent:error"}"#), None);
    }
}
