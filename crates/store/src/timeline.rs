//! `timeline.jsonl`: one line per event, in the order of writing.

use std::borrow::Cow;
use std::fmt::Write as _;
use std::path::Path;

use overtone_core::engine::state::Millis;
use overtone_core::engine::suggestion::SinceCompact;
use overtone_core::engine::{FieldValue, Record};
use overtone_core::registry::EventKind;
use serde_json::{Map, Value, json};

use crate::{StoreError, clock, files};

/// How much of the end of a timeline is read. The cost of a hook must not grow with the session.
const TAIL_BYTES: usize = 16 * 1024;

/// Appends the records as whole lines with one write.
pub fn append(path: &Path, records: &[&Record], now: Millis) -> Result<(), StoreError> {
    if records.is_empty() {
        return Ok(());
    }
    let mut lines = String::new();
    for record in records {
        lines += &line(record, now);
        lines.push('\n');
    }
    files::append_lines(path, &lines).map_err(|error| StoreError::io(path, error))
}

/// One record as a line, without its end. Most hooks write such lines, so they are built without a map, which would hash
/// and copy every name.
pub fn line(record: &Record, now: Millis) -> String {
    let mut line = String::with_capacity(256);
    push_field(&mut line, "ts", &json!(clock::to_iso(now)));
    push_field(&mut line, "type", &json!(record.kind.name()));
    push_field(&mut line, "category", &json!(record.kind.category()));
    push_field(&mut line, "label", &json!(record.kind.label()));
    for (name, value) in &record.fields {
        push_field(&mut line, name, &to_json(value));
    }
    line.push('}');
    line
}

/// The names are ours and need no escapes.
fn push_field(line: &mut String, name: &str, value: &Value) {
    line.push(if line.is_empty() { '{' } else { ',' });
    // Writing to a string cannot fail.
    let _ = write!(line, "\"{name}\":{value}");
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

/// Counts the stages that were completed since the last compaction, backwards from the end of the timeline, up to `enough`.
/// A line that cannot be read makes the result unknown: a wrong suggestion is worse than none.
///
/// This is only used for workflows of earlier versions, which do not contain the count.
pub fn since_compact(path: &Path, enough: u32) -> SinceCompact {
    let Ok(found) = files::read_tail(path, TAIL_BYTES) else { return SinceCompact::Unknown };
    let Some((bytes, whole)) = found else { return SinceCompact::Never };
    let lines = if whole {
        bytes.as_slice()
    } else {
        // The first line of the tail is incomplete.
        let first_break = bytes.iter().position(|b| *b == b'\n').unwrap_or(bytes.len());
        &bytes[first_break..]
    };
    let mut stages = 0;
    for line in lines.rsplit(|b| *b == b'\n').filter(|line| !line.is_empty()) {
        let Some(name) = type_of(line) else { return SinceCompact::Unknown };
        if *name == *EventKind::SessionCompact.name().as_bytes() {
            return SinceCompact::Stages(stages);
        }
        stages += u32::from(*name == *EventKind::StageComplete.name().as_bytes());
        if stages >= enough {
            return SinceCompact::Stages(stages);
        }
    }
    // There was no compaction, or it is further back than the tail.
    SinceCompact::Never
}

/// The name of a line's type, or `None` if the line cannot be read.
pub fn type_of(line: &[u8]) -> Option<Cow<'_, [u8]>> {
    if let Some(name) = own_type(line) {
        return Some(Cow::Borrowed(name));
    }
    let event: Map<String, Value> = serde_json::from_slice(line).ok()?;
    Some(Cow::Owned(event.get("type")?.as_str()?.as_bytes().to_vec()))
}

/// The type of a line in the exact form that [`line`] writes, which spares parsing it.
fn own_type(line: &[u8]) -> Option<&[u8]> {
    const BEFORE: &[u8] = br#"{"ts":"1970-01-01T00:00:00.000Z","type":""#;
    let (head, rest) = line.split_at_checked(BEFORE.len())?;
    if !head.starts_with(b"{\"ts\":\"") || !head.ends_with(b"Z\",\"type\":\"") || !line.ends_with(b"}") {
        return None;
    }
    let end = rest.iter().position(|b| *b == b'"')?;
    Some(&rest[..end])
}

/// An event as it was recorded, perhaps by another version.
#[derive(Debug, Clone)]
pub struct Entry {
    pub fields: Map<String, Value>,
}

impl Entry {
    pub fn parse(line: &str) -> Option<Self> {
        serde_json::from_str(line).ok().map(|fields| Self { fields })
    }

    pub fn text(&self, name: &str) -> &str {
        self.fields.get(name).and_then(Value::as_str).unwrap_or_default()
    }

    pub fn at(&self) -> Option<Millis> {
        clock::from_iso(self.text("ts"))
    }

    pub fn kind(&self) -> Option<EventKind> {
        EventKind::from_name(self.text("type")).ok()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn with(lines: &[&str]) -> SinceCompact {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("timeline.jsonl");
        files::append_lines(&path, &(lines.join("\n") + "\n")).unwrap();
        since_compact(&path, 2)
    }

    const COMPACT: &str = r#"{"type":"session:compact"}"#;
    const STAGE: &str = r#"{"type":"stage:complete"}"#;
    const OTHER: &str = r#"{"type":"stage:start"}"#;

    #[test]
    fn stages_are_counted_back_to_the_last_compaction() {
        assert_eq!(with(&[OTHER, STAGE]), SinceCompact::Never);
        assert_eq!(with(&[STAGE, STAGE, COMPACT]), SinceCompact::Stages(0));
        assert_eq!(with(&[STAGE, COMPACT, OTHER, STAGE]), SinceCompact::Stages(1));
        assert_eq!(with(&[COMPACT, STAGE, STAGE, STAGE]), SinceCompact::Stages(2));
        assert_eq!(with(&[STAGE, "{broken", OTHER]), SinceCompact::Unknown);
        assert_eq!(since_compact(Path::new("/nonexistent/x"), 2), SinceCompact::Never);
    }

    #[test]
    fn records_have_time_type_category_and_label() {
        let record = Record::new(EventKind::SessionCompact)
            .with("workflowType", "quick")
            .with("currentStage", None::<String>);
        let event: Value = serde_json::from_str(&line(&record, Millis(0))).unwrap();
        assert_eq!(
            event,
            json!({"ts":"1970-01-01T00:00:00.000Z","type":"session:compact","category":"session","label":"Context 壓縮",
                   "workflowType":"quick","currentStage":null})
        );
    }
}
