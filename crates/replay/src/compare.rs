//! What the engine writes against what was recorded.

use overtone_engine::{FieldValue, Record, Snapshot};
use serde_json::{Map, Value, json};

use crate::line::Line;

/// Times, ids and free texts, which the engine is not asked to reproduce; and the settings, which are taken from
/// the line itself.
const NOT_COMPARED: [&str; 6] = ["durationMs", "agentId", "error", "version", "limits", "from"];

/// Fields that earlier versions did not write. Where they are absent, nothing is known.
const LATER: [&str; 5] = ["slot", "slots", "handoff", "idle", "tasks"];

/// One place where the recorded session and the engine do not agree.
#[derive(Debug, Clone)]
pub struct Difference {
    /// The line it shows at; one past the last where the timeline ends too early.
    pub line: u64,
    pub finding: Finding,
    /// The lines before it.
    pub before: Vec<Line>,
    /// The state after the engine's decision.
    pub state: Box<Snapshot>,
}

#[derive(Debug, Clone)]
pub enum Finding {
    /// The right event with other fields.
    Changed { expected: Record, found: Line, fields: Vec<&'static str> },
    /// The engine writes an event here; `found` is what stands in its place.
    Missing { expected: Record, found: Option<Line> },
    /// The engine writes nothing like this here.
    Unexpected { found: Line },
}

/// The names of the fields that differ, or `None` for another event altogether.
pub(crate) fn differing(record: &Record, line: &Line, is_guessed: bool) -> Option<Vec<&'static str>> {
    if record.kind != line.kind {
        return None;
    }
    let differs = |name: &str, value: &FieldValue| {
        let found = line.fields.get(name);
        match found {
            _ if NOT_COMPARED.contains(&name) || (is_guessed && name == "slot") => false,
            None if LATER.contains(&name) => false,
            found => *found.unwrap_or(&Value::Null) != to_json(value),
        }
    };
    let expected = record.fields.iter().filter(|(name, value)| differs(name, value)).map(|(name, _)| *name);
    let unsaid = LATER.into_iter().filter(|name| says_more(record, line, name));
    Some(expected.chain(unsaid).collect())
}

/// A counter that the engine leaves out because it is zero here.
fn says_more(record: &Record, line: &Line, name: &str) -> bool {
    !record.fields.iter().any(|(own, _)| *own == name)
        && line.fields.get(name).is_some_and(|value| !value.is_null() && *value != json!(0))
}

/// A record as the fields of a line, without its time.
pub fn fields_of(record: &Record) -> Map<String, Value> {
    let kind = ("type".to_owned(), json!(record.kind.name()));
    let fields = record.fields.iter().map(|(name, value)| ((*name).to_owned(), to_json(value)));
    std::iter::once(kind).chain(fields).collect()
}

fn to_json(value: &FieldValue) -> Value {
    match value {
        FieldValue::Text(text) => json!(text),
        FieldValue::Number(number) => json!(number),
        FieldValue::List(list) => json!(list),
        FieldValue::Nothing => Value::Null,
    }
}

#[cfg(test)]
mod tests {
    use overtone_registry::EventKind;

    use super::*;
    use crate::line::parse;

    fn line(text: &str) -> Line {
        parse(1, text.as_bytes()).unwrap().unwrap()
    }

    #[test]
    fn what_counts_is_compared_and_the_rest_is_not() {
        let record = Record::new(EventKind::AgentComplete)
            .with("stage", "DEV")
            .with("agent", "developer")
            .with("result", "pass")
            .with("durationMs", 5_i64)
            .with("slot", "developer");
        let found = |text: &str| differing(&record, &line(text), false);
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
