//! How often a session was reviewed: `supervisor-{session}.json`. Unknown fields survive.

use std::fmt;
use std::io;
use std::path::PathBuf;

use overtone_store::{SessionId, clock, files};
use serde_json::{Map, Value, json};

use crate::folder::StateFolder;

/// Why a round could not be counted. Without a count nothing would end the rounds, so there is no review then.
#[derive(Debug)]
pub(crate) struct RecordError {
    path: PathBuf,
    problem: String,
}

impl fmt::Display for RecordError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.path.display(), self.problem)
    }
}

/// Counts a round and returns its number; `None` when there were `limit` rounds already.
pub(crate) fn count_round(
    folder: &StateFolder,
    session: &SessionId,
    limit: u32,
) -> Result<Option<u32>, RecordError> {
    let path = folder.record_file(session);
    let fail = |problem: String| RecordError { path: path.clone(), problem };
    let _lock = folder.lock().map_err(|error| fail(error.to_string()))?;
    let text = files::read_small(&path).map_err(|error| fail(error.to_string()))?;
    let fields = parse(text.as_deref()).map_err(fail)?;
    let Some((round, fields)) = next_round(fields, session, limit, &clock::to_iso(clock::now())) else {
        return Ok(None);
    };
    let saved: io::Result<()> =
        files::write_atomic(&path, format!("{:#}\n", Value::Object(fields)).as_bytes(), files::PRIVATE);
    saved.map_err(|error| fail(error.to_string()))?;
    Ok(Some(round))
}

fn parse(text: Option<&str>) -> Result<Map<String, Value>, String> {
    let fields: Map<String, Value> =
        text.map_or(Ok(Map::new()), |text| serde_json::from_str(text).map_err(|error| error.to_string()))?;
    match fields.get("count") {
        Some(count) if count.as_u64().is_none() => Err("`count` is not a whole number".to_owned()),
        _ => Ok(fields),
    }
}

fn next_round(
    mut fields: Map<String, Value>,
    session: &SessionId,
    limit: u32,
    now: &str,
) -> Option<(u32, Map<String, Value>)> {
    let count = fields.get("count").and_then(Value::as_u64).unwrap_or(0);
    let count = u32::try_from(count).ok().filter(|count| *count < limit)?;
    fields.insert("session_id".to_owned(), json!(session.as_str()));
    fields.insert("count".to_owned(), json!(count + 1));
    fields.entry("created_at").or_insert_with(|| json!(now));
    fields.insert("updated_at".to_owned(), json!(now));
    Some((count + 1, fields))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn next(text: &str) -> Option<(u32, Value)> {
        let session = SessionId::parse("abc123").unwrap();
        let next = next_round(parse(Some(text)).unwrap(), &session, 10, "now");
        next.map(|(round, fields)| (round, Value::Object(fields)))
    }

    #[test]
    fn a_round_is_added_and_the_rest_is_kept() {
        let (round, fields) = next(r#"{"future":[1],"count":3,"created_at":"then"}"#).unwrap();
        assert_eq!(round, 4);
        let wanted =
            json!({"future":[1],"count":4,"created_at":"then","session_id":"abc123","updated_at":"now"});
        assert_eq!(fields, wanted);
    }

    #[test]
    fn the_limit_ends_it() {
        assert!(next(r#"{"count":9}"#).is_some());
        assert!(next(r#"{"count":10}"#).is_none());
        assert!(next(r#"{"count":18446744073709551615}"#).is_none());
    }

    #[test]
    fn what_is_no_record_is_not_overwritten() {
        for bad in ["", "[]", "{broken", r#"{"count":"3"}"#, r#"{"count":-1}"#] {
            assert!(parse(Some(bad)).is_err(), "{bad}");
        }
    }
}
