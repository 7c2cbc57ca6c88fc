//! The supervisor's record of a session, `supervisor-{session}.json`. Unknown fields are kept.

use std::io;
use std::path::PathBuf;

use crate::{SessionId, clock, files};
use overtone_core::engine::state::Millis;
use serde_json::{Map, Value, json};

use crate::supervision::folder::StateFolder;

/// The record cannot be read or written. There is no review then: without a count, nothing would limit the rounds.
#[derive(Debug, thiserror::Error)]
#[error("{}: {reason}", path.display())]
pub struct RecordError {
    path: PathBuf,
    reason: String,
}

/// The record of one session.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct SupervisionRecord {
    fields: Map<String, Value>,
}

/// The user's request, and when it was made.
#[derive(Debug, PartialEq, Eq)]
pub struct PinnedRequest {
    pub text: String,
    pub at: Option<String>,
}

/// A block, in the form in which the next one is compared with it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct BlockTrace {
    /// A fingerprint, since the feedback itself may contain secrets.
    pub feedback: String,
    /// A fingerprint of the working tree.
    pub tree: Option<String>,
    /// How many consecutive blocks made no progress.
    pub stalls: u32,
}

impl SupervisionRecord {
    pub fn load(folder: &StateFolder, session: &SessionId) -> Result<Self, RecordError> {
        let path = folder.record_file(session);
        let parsed = match files::read_small(&path) {
            Ok(text) => parse(text.as_deref()),
            Err(error) => Err(error.to_string()),
        };
        match parsed {
            Ok(fields) => Ok(Self { fields }),
            Err(reason) => Err(RecordError { path, reason }),
        }
    }

    /// Changes the record under the lock and saves it if it differs.
    pub fn change<T>(
        folder: &StateFolder,
        session: &SessionId,
        change: impl FnOnce(&mut Self) -> T,
    ) -> Result<T, RecordError> {
        let path = folder.record_file(session);
        let fail = |error: io::Error| RecordError { path: path.clone(), reason: error.to_string() };
        let _lock = folder.lock().map_err(fail)?;
        let mut record = Self::load(folder, session)?;
        let before = record.clone();
        let result = change(&mut record);
        if record != before {
            let now = clock::to_iso(clock::now());
            record.set_common_fields(session, &now);
            let text = format!("{:#}\n", Value::Object(record.fields));
            let saved = files::write_atomic(&path, text.as_bytes(), files::PRIVATE);
            saved.map_err(fail)?;
        }
        Ok(result)
    }

    fn set_common_fields(&mut self, session: &SessionId, now: &str) {
        self.set("session_id", json!(session.as_str()));
        self.fields.entry("count").or_insert(json!(0));
        self.fields.entry("created_at").or_insert_with(|| json!(now));
        self.set("updated_at", json!(now));
    }

    fn set(&mut self, name: &str, value: Value) {
        self.fields.insert(name.to_owned(), value);
    }

    /// Counts a round and returns its number; `None` if there were `limit` rounds already. A new turn after an approval is
    /// new work, for which the count restarts.
    pub fn count_round(&mut self, limit: u32, is_new_turn: bool) -> Option<u32> {
        let restarts = is_new_turn && self.fields.get("completed") == Some(&Value::Bool(true));
        let count = if restarts { 0 } else { self.count() };
        if count >= u64::from(limit) {
            return None;
        }
        let round = u32::try_from(count).ok()? + 1;
        self.set("count", json!(round));
        Some(round)
    }

    fn count(&self) -> u64 {
        self.fields.get("count").and_then(Value::as_u64).unwrap_or(0)
    }

    /// Whether the user has switched this session on or off; `None` if the default applies.
    pub fn enabled(&self) -> Option<bool> {
        self.fields.get("enabled").and_then(Value::as_bool)
    }

    /// Switches the session on or off. Switching it on resets the rounds and the cost. With `skips_turn`, the current turn
    /// is not reviewed.
    pub fn set_enabled(&mut self, on: bool, skips_turn: bool) {
        self.set("enabled", json!(on));
        for name in ["cost_usd", "last_block", "skip_turn"] {
            self.fields.remove(name);
        }
        if on {
            self.set("count", json!(0));
        }
        if on && skips_turn {
            self.set("skip_turn", json!(true));
        }
    }

    /// Whether the current turn is not reviewed. Clears the flag.
    pub fn take_skip_turn(&mut self) -> bool {
        self.fields.remove("skip_turn").is_some()
    }

    /// The cost of all reviews so far.
    pub fn cost_usd(&self) -> f64 {
        self.fields.get("cost_usd").and_then(Value::as_f64).unwrap_or(0.0)
    }

    pub fn add_cost(&mut self, dollars: f64) {
        if dollars > 0.0 {
            self.set("cost_usd", json!(self.cost_usd() + dollars));
        }
    }

    pub fn request(&self) -> Option<&str> {
        self.fields.get("request").and_then(Value::as_str)
    }

    /// The offset in the transcript from which to search for the request.
    pub fn request_from(&self) -> u64 {
        self.fields.get("request_from").and_then(Value::as_u64).unwrap_or(0)
    }

    /// The fingerprint of the tree before the request.
    pub fn tree_at_request(&self) -> Option<&str> {
        self.fields.get("request_tree").and_then(Value::as_str)
    }

    pub fn requested_at(&self) -> Option<Millis> {
        self.fields.get("requested_at").and_then(Value::as_str).and_then(clock::from_iso)
    }

    /// Pins the user's request. A request that is pinned already stays.
    pub fn pin_request(&mut self, request: Option<PinnedRequest>) {
        if self.request().is_some() {
            return;
        }
        if let Some(request) = request {
            self.set("request", json!(request.text));
            self.set("requested_at", json!(request.at));
        }
    }

    pub fn last_block(&self) -> Option<BlockTrace> {
        let last = self.fields.get("last_block")?;
        let text = |name: &str| last.get(name).and_then(Value::as_str).map(str::to_owned);
        let stalls = last.get("stalls").and_then(Value::as_u64).unwrap_or(0);
        let stalls = u32::try_from(stalls).unwrap_or(u32::MAX);
        Some(BlockTrace { feedback: text("feedback")?, tree: text("tree"), stalls })
    }

    pub fn record_block(&mut self, trace: &BlockTrace) {
        self.set("completed", json!(false));
        let last = json!({"feedback": trace.feedback, "tree": trace.tree, "stalls": trace.stalls});
        self.set("last_block", last);
    }

    /// Records that the work is done. The next request is searched from the end of the transcript.
    pub fn record_approval(&mut self, transcript_end: u64, tree: Option<&str>) {
        self.set("completed", json!(true));
        for name in ["last_block", "request", "requested_at", "request_tree"] {
            self.fields.remove(name);
        }
        self.set("request_from", json!(transcript_end));
        if let Some(tree) = tree {
            self.set("request_tree", json!(tree));
        }
    }
}

fn parse(text: Option<&str>) -> Result<Map<String, Value>, String> {
    let Some(text) = text else { return Ok(Map::new()) };
    let fields: Map<String, Value> = serde_json::from_str(text).map_err(|error| error.to_string())?;
    match fields.get("count") {
        Some(count) if count.as_u64().is_none() => Err("`count` is not a whole number".to_owned()),
        _ => Ok(fields),
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn record(text: &str) -> SupervisionRecord {
        SupervisionRecord { fields: parse(Some(text)).unwrap() }
    }

    #[test]
    fn counting_a_round_keeps_unknown_fields() {
        let mut record = record(r#"{"future":[1],"count":3,"created_at":"then"}"#);
        assert_eq!(record.count_round(10, true), Some(4));
        record.set_common_fields(&SessionId::parse("abc123").unwrap(), "now");
        let expected =
            json!({"future":[1],"count":4,"created_at":"then","session_id":"abc123","updated_at":"now"});
        assert_eq!(Value::Object(record.fields), expected);
    }

    #[test]
    fn no_round_is_counted_beyond_the_limit() {
        let next = |text: &str| record(text).count_round(10, true);
        assert_eq!(next(r#"{"count":9}"#), Some(10));
        assert_eq!(next(r#"{"count":10}"#), None);
        assert_eq!(next(r#"{"count":18446744073709551615}"#), None);
    }

    #[test]
    fn the_count_restarts_with_the_next_request_after_an_approval() {
        let mut record = record(r#"{"count":10,"completed":true}"#);
        assert_eq!(record.clone().count_round(10, false), None);
        assert_eq!(record.count_round(10, true), Some(1));
    }

    #[test]
    fn a_request_stays_until_it_is_approved() {
        let mut record = SupervisionRecord::default();
        for text in ["one", "two"] {
            record.pin_request(Some(PinnedRequest {
                text: text.into(),
                at: Some("2026-01-01T00:00:00Z".into()),
            }));
        }
        assert!(record.requested_at().is_some());
        assert_eq!(record.request(), Some("one"));
        record.record_approval(7, Some("t"));
        assert_eq!((record.request(), record.request_from(), record.tree_at_request()), (None, 7, Some("t")));
    }

    #[test]
    fn the_last_block_is_recorded_until_the_session_is_switched_on() {
        let mut record = SupervisionRecord::default();
        let trace = BlockTrace { feedback: "f".into(), tree: Some("t".into()), stalls: 1 };
        record.record_block(&trace);
        assert_eq!(record.last_block(), Some(trace));
        record.set_enabled(true, true);
        assert_eq!((record.last_block(), record.enabled()), (None, Some(true)));
        assert_eq!((record.take_skip_turn(), record.take_skip_turn()), (true, false));
    }

    proptest! {
        #![proptest_config(ProptestConfig { cases: 64, failure_persistence: None, ..ProptestConfig::default() })]

        /// Any sequence of changes keeps the fields of another version, in their order.
        #[test]
        fn fields_of_another_version_are_kept(names in prop::collection::vec(".{0,6}", 0..5), values in prop::collection::vec(any::<i64>(), 5), steps in prop::collection::vec(0..7, 0..9)) {
            let dir = tempfile::tempdir().unwrap();
            let folder = StateFolder::resolve(Some(dir.path().into()), None, None).unwrap();
            let session = SessionId::parse("abc").unwrap();
            let future: Map<String, Value> =
                names.iter().zip(&values).map(|(name, value)| (format!("\u{e000}{name}"), json!([value, {"x": null}]))).collect();
            folder.create().unwrap();
            let text = Value::Object(future.clone()).to_string();
            files::write_atomic(&folder.record_file(&session), text.as_bytes(), files::PRIVATE).unwrap();
            for step in steps {
                let changed = SupervisionRecord::change(&folder, &session, |record| {
                    match step {
                        0 => drop(record.count_round(10, true)),
                        1 => record.set_enabled(true, true),
                        2 => record.set_enabled(false, false),
                        3 => record.add_cost(0.25),
                        4 => record.pin_request(Some(PinnedRequest { text: "fix".into(), at: None })),
                        5 => record.record_block(&BlockTrace { feedback: "f".into(), tree: None, stalls: 1 }),
                        _ => record.record_approval(7, Some("t")),
                    }
                    record.clone()
                });
                let expected = changed.unwrap();
                let read = SupervisionRecord::load(&folder, &session).unwrap();
                for (name, value) in &expected.fields {
                    prop_assert!(name == "updated_at" || read.fields.get(name) == Some(value), "{} differs", name);
                }
                let kept = read.fields.iter().filter(|(name, _)| name.starts_with('\u{e000}'));
                prop_assert_eq!(kept.collect::<Vec<_>>(), future.iter().collect::<Vec<_>>());
            }
        }
    }

    #[test]
    fn a_malformed_record_is_an_error() {
        for bad in ["", "[]", "{broken", r#"{"count":"3"}"#, r#"{"count":-1}"#] {
            assert!(parse(Some(bad)).is_err(), "{bad}");
        }
    }
}
