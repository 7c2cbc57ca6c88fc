//! Compares the response types with `openapi.json`, in both directions.

use std::collections::BTreeSet;

use overtone_core::economy::{PriceTable, TokenUsage, Tokens};
use overtone_core::engine::state::{Millis, SendBackReason, WorkflowState};
use overtone_core::evidence::{CheckEnd, Receipt, TestCounts};
use overtone_core::messages::Lang;
use overtone_core::registry::Workflow;
use overtone_session::view::{
    CheckOutcome, RecordedEvidence, SkippedFile, Summary, WorkflowEvidence, copied_session_json, registry,
};
use overtone_store::{Home, Session, SessionId, UsageEntry, UsageScope};
use serde_json::json;

use super::*;
use crate::dashboard::api::general::OPENAPI;

/// The document, and what was found to differ.
struct Checker {
    schemas: Value,
    differences: Vec<String>,
}

impl Checker {
    /// The schema itself, or the one that it refers to. Parts of `allOf` are merged.
    fn resolve(&self, schema: &Value) -> Value {
        if let Some(name) = schema["$ref"].as_str() {
            return self.resolve(&self.schemas[name.rsplit('/').next().unwrap()]);
        }
        let Some(parts) = schema["allOf"].as_array() else { return schema.clone() };
        let mut merged = json!({ "type": "object", "properties": {}, "required": [] });
        for part in parts.iter().map(|part| self.resolve(part)) {
            for (name, property) in part["properties"].as_object().unwrap() {
                merged["properties"][name] = property.clone();
            }
            let required = part["required"].as_array().unwrap();
            merged["required"].as_array_mut().unwrap().extend(required.iter().cloned());
        }
        merged
    }

    fn compare(&mut self, path: &str, schema: &Value, value: &Value) {
        let schema = self.resolve(schema);
        if let Some(options) = schema["anyOf"].as_array() {
            let fits = |option: &&Value| (option["type"] == "null") == value.is_null();
            match options.iter().find(fits) {
                Some(option) => self.compare(path, option, value),
                None => self.differences.push(format!("{path}: no option for {value}")),
            }
            return;
        }
        if !has_type(&schema["type"], value) {
            self.differences.push(format!("{path}: {value} is not documented as {}", schema["type"]));
        }
        match value {
            Value::Object(fields) => self.compare_fields(path, &schema, fields),
            Value::Array(items) => {
                for item in items {
                    self.compare(&format!("{path}[]"), &schema["items"], item);
                }
            }
            _ => {}
        }
    }

    fn compare_fields(&mut self, path: &str, schema: &Value, fields: &Map<String, Value>) {
        // An object without documented properties may have any.
        let Some(properties) = schema["properties"].as_object() else { return };
        for (name, value) in fields {
            match properties.get(name) {
                Some(property) => self.compare(&format!("{path}.{name}"), property, value),
                None => self.differences.push(format!("{path}.{name} is not documented")),
            }
        }
        for name in properties.keys().filter(|name| !fields.contains_key(*name)) {
            self.differences.push(format!("{path}.{name} is documented, but not in the response"));
        }
        let required: BTreeSet<_> =
            schema["required"].as_array().unwrap().iter().map(|name| name.as_str().unwrap()).collect();
        let documented: BTreeSet<_> = properties.keys().map(String::as_str).collect();
        for name in required.difference(&documented) {
            self.differences.push(format!("{path}.{name} is required, but not documented"));
        }
    }
}

fn has_type(documented: &Value, value: &Value) -> bool {
    let actual: &[&str] = match value {
        Value::Null => &["null"],
        Value::Bool(_) => &["boolean"],
        Value::Number(number) if number.is_f64() => &["number"],
        Value::Number(_) => &["integer", "number"],
        Value::String(_) => &["string"],
        Value::Array(_) => &["array"],
        Value::Object(_) => &["object"],
    };
    match documented {
        Value::Array(types) => types.iter().any(|name| actual.contains(&name.as_str().unwrap())),
        Value::String(name) => actual.contains(&name.as_str()),
        _ => false,
    }
}

/// What differs between a response and the schema with this name.
fn differences(name: &str, response: &impl Serialize) -> Vec<String> {
    let document: Value = serde_json::from_str(OPENAPI).unwrap();
    let schemas = document["components"]["schemas"].clone();
    let schema = schemas[name].clone();
    assert!(schema.is_object(), "{name} is not documented");
    let mut checker = Checker { schemas, differences: Vec::new() };
    checker.compare(name, &schema, &serde_json::to_value(response).unwrap());
    checker.differences
}

/// The summary of a new session.
fn summary() -> (tempfile::TempDir, Summary) {
    let dir = tempfile::tempdir().unwrap();
    let session = Home::at(dir.path().to_owned()).session(&SessionId::parse("s").unwrap());
    session.create().unwrap();
    (dir, Summary::load(&session))
}

fn skipped() -> Vec<Value> {
    let skipped =
        SkippedFile { session: "s".to_owned(), file: "workflow.json".to_owned(), error: "x".to_owned() };
    vec![skipped.to_json()]
}

fn figures(is_known: bool) -> Statistics {
    let (share, time) = (is_known.then_some(0.5), is_known.then_some(1));
    let stage = StageStatistics {
        stage: "DEV".to_owned(),
        pass_at_1: share,
        pass_at_3: share,
        median: time,
        p90: time,
        ..StageStatistics::default()
    };
    let agent = AgentStatistics { agent: "developer".to_owned(), median: time, ..AgentStatistics::default() };
    let workflow =
        WorkflowStatistics { workflow: "quick".to_owned(), median: time, ..WorkflowStatistics::default() };
    let day = DayStatistics { day: "2026-02-23".to_owned(), pass_at_1: share, ..DayStatistics::default() };
    Statistics {
        pass_at_1: share,
        pass_at_3: share,
        stages: vec![stage],
        agents: vec![agent],
        workflows: vec![workflow],
        days: vec![day],
        ..Statistics::default()
    }
}

fn session_usage(is_known: bool) -> SessionUsage {
    let text = |text: &str| is_known.then(|| text.to_owned());
    let mut usage = TokenUsage::default();
    let model = if is_known { "claude-opus-5" } else { "m" };
    let tokens = Tokens { input: 1_000_000, output: 2, cache_read: 3, cache_write: 4, cache_write_1h: 0 };
    usage.add(model, 1, tokens);
    let entry = UsageEntry {
        at: Millis(0),
        scope: UsageScope::Agent,
        agent: text("developer"),
        agent_id: text("a1"),
        stage: text("DEV"),
        attempt: is_known.then_some(2),
        workflow: None,
        file: String::new(),
        from: 0,
        to: 0,
        usage,
        last: None,
    };
    SessionUsage::new(&[entry], &PriceTable::default())
}

fn counts(is_known: bool) -> Option<TestCounts> {
    is_known.then_some(TestCounts { run: 3, failed: 1, skipped: 2 })
}

fn receipt(end: CheckEnd, is_known: bool) -> Receipt {
    Receipt {
        check: "test".to_owned(),
        command: "make test".to_owned(),
        stage: if is_known { "DEV".parse().ok() } else { None },
        end,
        started_at: Millis(6),
        duration_ms: 1,
        counts: counts(is_known),
        tree: "t".to_owned(),
        log: is_known.then(|| "checks/test.log".to_owned()),
    }
}

fn workflow() -> WorkflowState {
    WorkflowState::new("s", Workflow::Single, None, Millis(5))
}

/// A stage with a check, and its receipts.
fn evidence(session: &Session, is_known: bool) -> EvidenceResponse {
    let receipt = |end| receipt(end, is_known);
    session.save_check_log("checks/test.log", b"boom").unwrap();
    let ends = [CheckEnd::Exited(1), CheckEnd::Signalled(9), CheckEnd::NotStarted("e".to_owned())];
    let receipts = ends.map(receipt).to_vec();
    let mut evidence = WorkflowEvidence::new(&workflow(), &RecordedEvidence::default(), receipts);
    let dev = &mut evidence.stages[0];
    dev.result = is_known.then(|| "pass".to_owned());
    dev.recorded.changed_files = is_known.then_some(1);
    dev.recorded.sent_back = vec![(SendBackReason::ChecksFailed, 2)];
    dev.recorded.not_accepted = vec![SendBackReason::ChecksFailed];
    dev.recorded.untrusted = vec!["lint".to_owned()];
    dev.recorded.notes = vec!["n".to_owned()];
    dev.recorded.checks =
        vec![CheckOutcome { check: "test".to_owned(), passed: true, counts: counts(is_known) }];
    EvidenceResponse::new(session, &evidence)
}

/// With every optional value, or without any.
fn feature(is_known: bool) -> FeatureResponse {
    let text = |text: &str| is_known.then(|| text.to_owned());
    FeatureResponse {
        name: "login".to_owned(),
        workflow: text("quick"),
        checked: 1,
        total: 2,
        created: text("2026-02-23"),
        archived_at: text("2026-02-24"),
    }
}

fn lesson(is_known: bool) -> LessonResponse {
    LessonResponse {
        id: "l".to_owned(),
        kind: "tool_preferences",
        trigger: "t".to_owned(),
        action: "a".to_owned(),
        confidence: 0.5,
        count: 1,
        applied: true,
        updated_at: is_known.then(|| clock::to_iso(Millis(0))),
    }
}

#[test]
fn every_response_has_the_documented_fields() {
    let (_dir, summary) = summary();
    let listed = copied_session_json(&summary, &Settings::default());
    for is_known in [true, false] {
        let text = |text: &str| is_known.then(|| text.to_owned());
        let all = [
            differences("Error", &ErrorResponse { error: "e".to_owned(), hint: text("h") }),
            differences("Done", &DoneResponse::OK),
            differences("Health", &HealthResponse { ok: true, version: "1" }),
            differences("Entry", &LoginResponse { key: "k".to_owned() }),
            differences(
                "Text",
                &TextResponse { lang: "en", text: Map::from_iter([("a".to_owned(), json!("b"))]) },
            ),
            differences(
                "Timeline",
                &TimelineResponse {
                    events: vec![json!({ "id": 0, "type": "a:b" })],
                    older: is_known.then_some(0),
                    newer: 1,
                    scanned: 1,
                    skipped: 0,
                },
            ),
            differences("Stats", &StatsResponse::new(&figures(is_known), 0)),
            differences("Feature", &feature(is_known)),
            differences("MovedFeature", &MovedFeatureResponse { ok: true, feature: feature(is_known) }),
            differences("Lesson", &lesson(is_known)),
            differences("JudgedLesson", &JudgedLessonResponse { ok: true, lesson: lesson(is_known) }),
            differences(
                "Instinct",
                &InstinctResponse {
                    projects: vec![ProjectLessons {
                        project: PathBuf::from("/p"),
                        name: "p".to_owned(),
                        lessons: vec![lesson(is_known)],
                    }],
                },
            ),
            differences(
                "Specs",
                &SpecsResponse {
                    projects: vec![ProjectFeatures {
                        project: PathBuf::from("/p"),
                        name: "p".to_owned(),
                        shelves: Shelves {
                            in_progress: vec![feature(is_known)],
                            paused: vec![feature(is_known)],
                            backlog: vec![feature(is_known)],
                            archive: vec![feature(is_known)],
                        },
                    }],
                },
            ),
            differences(
                "Sessions",
                &SessionListResponse {
                    sessions: vec![listed.clone()],
                    next: text("1~s"),
                    total: 1,
                    running: 0,
                    skipped: skipped(),
                },
            ),
        ];
        assert_eq!(all.concat(), [""; 0]);
    }
}

#[test]
fn the_status_has_the_documented_fields() {
    let fleet = json!({
        "connected": true, "told": 1, "heard": 1, "foreign": 0, "laterVersion": null, "problem": null,
    });
    let status = |fleet: Option<Value>| StatusResponse {
        version: "1",
        pid: 1,
        started_at: clock::to_iso(Millis(0)),
        sessions: 1,
        clients: 0,
        events: 0,
        watching: true,
        statistics_computed: 0,
        skipped: skipped(),
        fleet,
    };
    assert_eq!(differences("Status", &status(Some(fleet))), [""; 0]);
    assert_eq!(differences("Status", &status(None)), ["Status.fleet is documented, but not in the response"]);
}

#[test]
fn a_session_has_the_documented_fields() {
    let (_dir, summary) = summary();
    for is_known in [true, false] {
        let text = |text: &str| is_known.then(|| text.to_owned());
        let count = || CountWithLimit { count: 1, limit: 3 };
        let mut fields = summary.to_json(&Settings::default());
        fields["failures"] = json!(count());
        fields["rejections"] = json!(count());
        let session = SessionResponse {
            summary: fields,
            retros: count(),
            next: text("n"),
            feature: is_known.then(|| FeatureTasks {
                name: "f".to_owned(),
                checked: 1,
                total: 2,
                pending: vec!["t".to_owned()],
            }),
            handoffs: vec![Handoff {
                file: "f.md".to_owned(),
                stage: text("DEV"),
                agent: is_known.then_some("developer"),
                bytes: 1,
            }],
            supervisor: is_known
                .then(|| SupervisorRounds { enabled: Some(true), rounds: vec![json!({ "round": 1 })] }),
            machine: Some(if is_known { json!({ "id": "m", "name": "n" }) } else { Value::Null }),
            evidence: Some(evidence(&summary.session, is_known)),
            usage: session_usage(is_known),
            spans: Vec::new(),
            compactions_at: vec![json!("2026-02-23T14:00:00.000Z")],
        };
        assert_eq!(differences("Session", &session), [""; 0]);
    }
}

#[test]
fn only_the_newest_receipts_are_sent() {
    let (_dir, summary) = summary();
    let receipts = (0..205).map(|number| receipt(CheckEnd::Exited(number), true)).collect();
    let evidence = WorkflowEvidence::new(&workflow(), &RecordedEvidence::default(), receipts);
    let response = json!(EvidenceResponse::new(&summary.session, &evidence));
    let receipts = response["receipts"].as_array().unwrap();
    assert_eq!((receipts.len(), &receipts[199]["exitCode"]), (200, &json!(204)));
}

#[test]
fn the_registry_has_the_documented_fields() {
    let mut registry = registry(Lang::En, "1");
    registry["fleet"] = json!(true);
    assert_eq!(differences("Registry", &registry), [""; 0]);
}

#[test]
fn a_difference_is_found_in_both_directions() {
    let feature = serde_json::to_value(feature(true)).unwrap();
    let mut more = feature.clone();
    more["new"] = json!(1);
    assert_eq!(differences("Feature", &more), ["Feature.new is not documented"]);
    let mut less = feature;
    less.as_object_mut().unwrap().remove("total");
    less["checked"] = json!("one");
    assert_eq!(differences("Feature", &less).len(), 2);
}

#[test]
fn the_usage_of_an_agent_begins_with_its_tokens() {
    let usage = serde_json::to_string(&session_usage(false)).unwrap();
    let tokens = "\"inputTokens\":1000000,\"outputTokens\":2,\"cacheReadTokens\":3,\"cacheWriteTokens\":4,\
                  \"costUsd\":0.0,\"unpricedTokens\":1000009";
    let agent =
        format!("{{{tokens},\"agent\":null,\"stage\":null,\"agentId\":null,\"model\":\"m\",\"messages\":1}}");
    let stage = format!("{{{tokens},\"stage\":null,\"attempts\":0}}");
    let expected = format!("{{\"agents\":[{agent}],\"stages\":[{stage}],\"total\":{{{tokens}}}}}");
    assert_eq!(usage, expected);
    let known = serde_json::to_value(session_usage(true)).unwrap();
    let stage = &known["stages"][0];
    assert_eq!((&stage["stage"], &stage["attempts"]), (&json!("DEV"), &json!(2)));
    assert!((known["total"]["costUsd"].as_f64().unwrap() - 5.000_076_5).abs() < 1e-9, "{known}");
}
