//! What is remembered of a session from stop to stop: `supervisor-{session}.json`. Unknown fields survive.

use std::fmt;
use std::path::PathBuf;

use overtone_engine::state::Millis;
use overtone_store::{SessionId, clock, files};
use serde_json::{Map, Value, json};

use crate::folder::StateFolder;
use crate::request::Request;

/// Why the record could not be used. Without a count nothing would end the rounds, so there is no review then.
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

/// The record of one session.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct Record {
    fields: Map<String, Value>,
}

/// A block as the next one is compared with it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Trace {
    /// Fingerprints: the words themselves may hold secrets.
    pub(crate) feedback: String,
    pub(crate) tree: Option<String>,
    /// How many blocks in a row brought nothing new.
    pub(crate) stalls: u32,
}

impl Record {
    pub(crate) fn load(folder: &StateFolder, session: &SessionId) -> Result<Self, RecordError> {
        let path = folder.record_file(session);
        let text = files::read_small(&path).map_err(|error| error.to_string());
        let fields = text.and_then(|text| parse(text.as_deref()));
        fields.map(|fields| Self { fields }).map_err(|problem| RecordError { path, problem })
    }

    /// Changes the record while nobody else does.
    pub(crate) fn change<T>(
        folder: &StateFolder,
        session: &SessionId,
        change: impl FnOnce(&mut Self) -> T,
    ) -> Result<T, RecordError> {
        let path = folder.record_file(session);
        let fail = |problem: String| RecordError { path: path.clone(), problem };
        let _lock = folder.lock().map_err(|error| fail(error.to_string()))?;
        let mut record = Self::load(folder, session)?;
        let before = record.clone();
        let result = change(&mut record);
        if record != before {
            let now = clock::to_iso(clock::now());
            record.stamp(session, &now);
            let text = format!("{:#}\n", Value::Object(record.fields));
            let saved = files::write_atomic(&path, text.as_bytes(), files::PRIVATE);
            saved.map_err(|error| fail(error.to_string()))?;
        }
        Ok(result)
    }

    fn stamp(&mut self, session: &SessionId, now: &str) {
        self.set("session_id", json!(session.as_str()));
        self.fields.entry("count").or_insert(json!(0));
        self.fields.entry("created_at").or_insert_with(|| json!(now));
        self.set("updated_at", json!(now));
    }

    fn set(&mut self, name: &str, value: Value) {
        self.fields.insert(name.to_owned(), value);
    }

    /// Counts a round and returns its number; `None` when there were `limit` rounds already. What was asked for
    /// after an approval is new work, with rounds of its own.
    pub(crate) fn count_round(&mut self, limit: u32, is_new_turn: bool) -> Option<u32> {
        let starts_anew = is_new_turn && self.fields.get("completed") == Some(&Value::Bool(true));
        let count = if starts_anew { 0 } else { self.count() };
        let count = u32::try_from(count).ok().filter(|count| *count < limit)?;
        self.set("count", json!(count + 1));
        Some(count + 1)
    }

    fn count(&self) -> u64 {
        self.fields.get("count").and_then(Value::as_u64).unwrap_or(0)
    }

    /// Whether the person has switched this very session on or off.
    pub(crate) fn switched(&self) -> Option<bool> {
        self.fields.get("enabled").and_then(Value::as_bool)
    }

    /// Switching on begins anew: rounds and money. The turn in which somebody does it need not be reviewed.
    pub(crate) fn switch(&mut self, on: bool, skips_turn: bool) {
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

    /// Whether this turn is the one that is not reviewed; asked once.
    pub(crate) fn skips_turn(&mut self) -> bool {
        self.fields.remove("skip_turn").is_some()
    }

    pub(crate) fn spent(&self) -> f64 {
        self.fields.get("cost_usd").and_then(Value::as_f64).unwrap_or(0.0)
    }

    pub(crate) fn add_cost(&mut self, dollars: f64) {
        if dollars > 0.0 {
            self.set("cost_usd", json!(self.spent() + dollars));
        }
    }

    pub(crate) fn request(&self) -> Option<&str> {
        self.fields.get("request").and_then(Value::as_str)
    }

    /// Where in the transcript the request is to be looked for.
    pub(crate) fn request_from(&self) -> u64 {
        self.fields.get("request_from").and_then(Value::as_u64).unwrap_or(0)
    }

    /// The tree as it was when the request was pinned.
    pub(crate) fn tree_at_request(&self) -> Option<&str> {
        self.fields.get("request_tree").and_then(Value::as_str)
    }

    pub(crate) fn requested_at(&self) -> Option<Millis> {
        self.fields.get("requested_at").and_then(Value::as_str).and_then(clock::from_iso)
    }

    /// The first one stays.
    pub(crate) fn pin(&mut self, request: Option<Request>) {
        if let (None, Some(request)) = (self.request(), request) {
            self.set("request", json!(request.text));
            self.set("requested_at", json!(request.at));
        }
    }

    pub(crate) fn last_block(&self) -> Option<Trace> {
        let last = self.fields.get("last_block")?;
        let text = |name: &str| last.get(name).and_then(Value::as_str).map(str::to_owned);
        let stalls = last.get("stalls").and_then(Value::as_u64).unwrap_or(0);
        let stalls = u32::try_from(stalls).unwrap_or(u32::MAX);
        Some(Trace { feedback: text("feedback")?, tree: text("tree"), stalls })
    }

    pub(crate) fn blocked(&mut self, trace: &Trace) {
        self.set("completed", json!(false));
        let last = json!({"feedback": trace.feedback, "tree": trace.tree, "stalls": trace.stalls});
        self.set("last_block", last);
    }

    /// The work is done, as it was asked for: the next request is to be pinned, from there on.
    pub(crate) fn approved(&mut self, transcript_end: u64, tree: Option<&str>) {
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
    let fields: Map<String, Value> =
        text.map_or(Ok(Map::new()), |text| serde_json::from_str(text).map_err(|error| error.to_string()))?;
    match fields.get("count") {
        Some(count) if count.as_u64().is_none() => Err("`count` is not a whole number".to_owned()),
        _ => Ok(fields),
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn record(text: &str) -> Record {
        Record { fields: parse(Some(text)).unwrap() }
    }

    #[test]
    fn a_round_is_added_and_the_rest_is_kept() {
        let mut record = record(r#"{"future":[1],"count":3,"created_at":"then"}"#);
        assert_eq!(record.count_round(10, true), Some(4));
        record.stamp(&SessionId::parse("abc123").unwrap(), "now");
        let wanted =
            json!({"future":[1],"count":4,"created_at":"then","session_id":"abc123","updated_at":"now"});
        assert_eq!(Value::Object(record.fields), wanted);
    }

    #[test]
    fn the_limit_ends_it() {
        let next = |text: &str| record(text).count_round(10, true);
        assert_eq!(next(r#"{"count":9}"#), Some(10));
        assert_eq!(next(r#"{"count":10}"#), None);
        assert_eq!(next(r#"{"count":18446744073709551615}"#), None);
    }

    #[test]
    fn after_an_approval_the_next_request_has_rounds_of_its_own() {
        let mut record = record(r#"{"count":10,"completed":true}"#);
        assert_eq!(record.clone().count_round(10, false), None);
        assert_eq!(record.count_round(10, true), Some(1));
    }

    #[test]
    fn a_request_stays_until_it_is_approved() {
        let mut record = Record::default();
        for text in ["one", "two"] {
            record.pin(Some(Request { text: text.into(), at: Some("2026-01-01T00:00:00Z".into()) }));
        }
        assert!(record.requested_at().is_some());
        assert_eq!(record.request(), Some("one"));
        record.approved(7, Some("t"));
        assert_eq!((record.request(), record.request_from(), record.tree_at_request()), (None, 7, Some("t")));
    }

    #[test]
    fn blocks_are_remembered() {
        let mut record = Record::default();
        let trace = Trace { feedback: "f".into(), tree: Some("t".into()), stalls: 1 };
        record.blocked(&trace);
        assert_eq!(record.last_block(), Some(trace));
        record.switch(true, true);
        assert_eq!((record.last_block(), record.switched()), (None, Some(true)));
        assert_eq!((record.skips_turn(), record.skips_turn()), (true, false));
    }

    proptest! {
        #![proptest_config(ProptestConfig { cases: 64, failure_persistence: None, ..ProptestConfig::default() })]

        /// Whatever is done with a record, the fields of another version stay, in their order.
        #[test]
        fn fields_of_another_version_stay(names in prop::collection::vec(".{0,6}", 0..5), values in prop::collection::vec(any::<i64>(), 5), steps in prop::collection::vec(0..7, 0..9)) {
            let dir = tempfile::tempdir().unwrap();
            let folder = StateFolder::resolve(Some(dir.path().into()), None, None).unwrap();
            let session = SessionId::parse("abc").unwrap();
            let future: Map<String, Value> =
                names.iter().zip(&values).map(|(name, value)| (format!("\u{e000}{name}"), json!([value, {"x": null}]))).collect();
            folder.make().unwrap();
            let text = Value::Object(future.clone()).to_string();
            files::write_atomic(&folder.record_file(&session), text.as_bytes(), files::PRIVATE).unwrap();
            for step in steps {
                let changed = Record::change(&folder, &session, |record| {
                    match step {
                        0 => drop(record.count_round(10, true)),
                        1 => record.switch(true, true),
                        2 => record.switch(false, false),
                        3 => record.add_cost(0.25),
                        4 => record.pin(Some(Request { text: "mend".into(), at: None })),
                        5 => record.blocked(&Trace { feedback: "f".into(), tree: None, stalls: 1 }),
                        _ => record.approved(7, Some("t")),
                    }
                    record.clone()
                });
                let expected = changed.unwrap();
                let read = Record::load(&folder, &session).unwrap();
                for (name, value) in &expected.fields {
                    prop_assert!(name == "updated_at" || read.fields.get(name) == Some(value), "{} differs", name);
                }
                let kept = read.fields.iter().filter(|(name, _)| name.starts_with('\u{e000}'));
                prop_assert_eq!(kept.collect::<Vec<_>>(), future.iter().collect::<Vec<_>>());
            }
        }
    }

    #[test]
    fn what_is_no_record_is_not_overwritten() {
        for bad in ["", "[]", "{broken", r#"{"count":"3"}"#, r#"{"count":-1}"#] {
            assert!(parse(Some(bad)).is_err(), "{bad}");
        }
    }
}
