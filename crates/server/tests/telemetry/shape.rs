//! The spans and sums of a workflow.

use opentelemetry_proto::tonic::common::v1::any_value::Value;
use opentelemetry_proto::tonic::trace::v1::Span;
use overtone_core::engine::{FieldValue, Record};
use overtone_core::registry::{EventKind as Kind, WarningReason};

use crate::collector::{Collector, text_attributes, value};
use crate::test_home::{
    MACHINE, TestHome, aborted, agent, agent_done, agent_failed, completed, stage, stage_done, workflow,
};

const OK: i32 = 1;
const ERROR: i32 = 2;

fn status(span: &Span) -> (i32, &str) {
    span.status.as_ref().map(|status| (status.code, status.message.as_str())).unwrap()
}

/// A workflow with a failure, an agent error and a second attempt.
fn write_workflow_with_failures(home: &TestHome) {
    home.write_conversation("s1", "a1");
    home.write(
        "s1",
        &[
            Record::new(Kind::SessionStart).with("source", "startup"),
            workflow("quick"),
            Record::new(Kind::LoopStart),
            stage("DEV", 1),
            agent("DEV", "developer"),
            agent_failed("DEV", "developer"),
            Record::new(Kind::LoopAdvance).with("iteration", 1_u32).with("stage", "DEV"),
            stage("DEV", 2),
            agent("DEV", "developer"),
            agent_done("DEV", "developer", "pass", "a1"),
            stage_done("DEV", "pass"),
            stage("TEST", 1),
            agent("TEST", "tester"),
            agent_done("TEST", "tester", "fail", "a2"),
            stage_done("TEST", "fail"),
            agent("TEST", "debugger"),
            agent_done("", "debugger", "pass", "a3"),
            completed("quick"),
        ],
    );
}

#[test]
fn a_workflow_is_a_trace() {
    let collector = Collector::start();
    let home = TestHome::new(&collector.url());
    write_workflow_with_failures(&home);
    home.export();
    let expected = [
        "agent developer",
        "stage DEV",
        "agent developer",
        "stage DEV",
        "agent tester",
        "stage TEST",
        "agent debugger",
        "workflow quick",
    ];
    assert_eq!(collector.span_names(), expected);
    let spans = collector.spans();
    let root = spans.last().unwrap();
    assert!(root.parent_span_id.is_empty() && root.trace_id.len() == 16 && root.span_id.len() == 8);
    assert!(spans.iter().all(|span| span.trace_id == root.trace_id && span.kind == 1));
    let parents: Vec<_> = spans
        .iter()
        .map(|span| spans.iter().position(|other| other.span_id == span.parent_span_id))
        .collect();
    assert_eq!(parents, [Some(1), Some(7), Some(3), Some(7), Some(5), Some(7), Some(7), None]);
    let times: Vec<_> =
        spans.iter().map(|span| (span.start_time_unix_nano, span.end_time_unix_nano)).collect();
    let seconds = [(4, 5), (3, 5), (8, 9), (7, 10), (12, 13), (11, 14), (15, 16), (1, 17)];
    assert_eq!(times, seconds.map(|(start, end)| (home.nanos(start), home.nanos(end))));
}

#[test]
fn spans_have_a_status_and_attributes() {
    let collector = Collector::start();
    let home = TestHome::new(&collector.url());
    write_workflow_with_failures(&home);
    home.export();
    let found = collector.spans();
    let all: Vec<_> = found.iter().map(status).collect();
    let (errored, failed) = ((ERROR, "agent error"), (ERROR, "verdict fail"));
    assert_eq!(all, [errored, errored, (OK, ""), (OK, ""), failed, failed, (OK, ""), (OK, "")]);
    let developer = &found[2].attributes;
    let named = [
        ("overtone.workflow", "quick"),
        ("overtone.stage", "DEV"),
        ("overtone.agent", "developer"),
        ("overtone.verdict", "pass"),
        ("overtone.model", "claude-sonnet-4-5"),
    ];
    assert_eq!(text_attributes(developer), named.map(|(key, value)| (key.to_owned(), value.to_owned())));
    let tokens = ["input", "output", "cache_read", "cache_write"]
        .map(|kind| value(developer, &format!("overtone.tokens.{kind}")));
    assert_eq!(tokens, [1000, 200, 50_000, 0].map(|count| Some(Value::IntValue(count))));
    let Some(Value::DoubleValue(cost)) = value(developer, "overtone.cost_usd") else {
        panic!("{developer:?}")
    };
    assert!((cost - 0.021).abs() < 1e-9, "{cost}");
    assert_eq!(value(&found[3].attributes, "overtone.attempt"), Some(Value::IntValue(2)));
    let root = &found[7].attributes;
    assert_eq!(value(root, "overtone.failures"), Some(Value::IntValue(1)));
    assert_eq!(value(root, "overtone.outcome"), Some(Value::StringValue("completed".to_owned())));
}

#[test]
fn sums_accumulate() {
    let collector = Collector::start();
    let home = TestHome::new(&collector.url());
    write_workflow_with_failures(&home);
    home.export();
    let of_stage = |stage| [("overtone.workflow", "quick"), ("overtone.stage", stage)];
    let with = |stage, key, value| [of_stage(stage).to_vec(), vec![(key, value)]].concat();
    assert_eq!(
        collector.sum("overtone.stage.failures", &with("TEST", "overtone.verdict", "fail")),
        Some(1.0)
    );
    assert_eq!(collector.sum("overtone.retries", &of_stage("DEV")), Some(1.0));
    assert_eq!(collector.sum("overtone.blocks", &of_stage("DEV")), Some(1.0));
    let ended = |outcome| [("overtone.workflow", "quick"), ("overtone.outcome", outcome)];
    assert_eq!(collector.sum("overtone.workflows", &ended("completed")), Some(1.0));
    assert_eq!(collector.sum("overtone.tokens", &with("DEV", "overtone.token.type", "input")), Some(1000.0));
    assert_eq!(collector.sum("overtone.tokens", &with("DEV", "overtone.token.type", "cache_write")), None);
    let cost = collector.sum("overtone.cost_usd", &of_stage("DEV")).unwrap();
    assert!((cost - 0.021).abs() < 1e-9, "{cost}");
    home.write("s1", &[workflow("quick"), completed("quick"), workflow("quick"), workflow("quick")]);
    home.export();
    assert_eq!(collector.sum("overtone.workflows", &ended("completed")), Some(2.0));
    assert_eq!(collector.sum("overtone.workflows", &ended("replaced")), Some(1.0));
}

/// A check of a report; without counts its runner is not known.
fn check(name: &str, result: &str, counts: Option<[u32; 3]>) -> Vec<(&'static str, FieldValue)> {
    let mut fields = vec![("check", name.into()), ("result", result.into())];
    if let Some([run, failed, skipped]) = counts {
        fields.extend([("run", run.into()), ("failed", failed.into()), ("skipped", skipped.into())]);
    }
    fields
}

fn sent_back(key: &str, checks: Vec<Vec<(&'static str, FieldValue)>>) -> Record {
    let record = Record::warning(WarningReason::ReportSentBack).with("agent", "developer").with("stage", key);
    record.with("missing", "checks-failed").with("checks", FieldValue::Objects(checks))
}

/// A stage with two checks that is sent back once, and one without checks.
fn write_workflow_with_checks(home: &TestHome) {
    let passed = vec![check("secret-test", "pass", Some([24, 0, 1])), check("secret-lint", "pass", None)];
    let failed =
        vec![check("secret-test", "fail", Some([20, 3, 1])), check("secret-unit", "pass", Some([4, 0, 2]))];
    let receipts = vec!["secret-test: passed, `make secret`".to_owned()];
    home.write(
        "s1",
        &[
            workflow("quick"),
            stage("DEV", 1),
            agent("DEV", "developer"),
            sent_back("DEV", failed.clone()),
            agent_done("DEV", "developer", "fail", "a1").with("checks", FieldValue::Objects(failed)),
            stage_done("DEV", "fail"),
            stage("DEV", 2),
            agent("DEV", "developer"),
            agent_done("DEV", "developer", "pass", "a2")
                .with("receipts", receipts)
                .with("checks", FieldValue::Objects(passed)),
            stage_done("DEV", "pass"),
            stage("TEST", 1),
            Record::warning(WarningReason::Message).with("stage", "TEST"),
            stage_done("TEST", "pass"),
            completed("quick"),
        ],
    );
}

#[test]
fn a_stage_has_the_counts_of_its_checks_and_of_the_reports_sent_back() {
    let collector = Collector::start();
    let home = TestHome::new(&collector.url());
    write_workflow_with_checks(&home);
    home.export();
    let names =
        ["checks.passed", "checks.failed", "tests.run", "tests.failed", "tests.skipped", "reports.sent_back"];
    let counts = |span: &Span| {
        names.map(|name| match value(&span.attributes, &format!("overtone.{name}")) {
            Some(Value::IntValue(count)) => Some(count),
            None => None,
            other => panic!("{name}: {other:?}"),
        })
    };
    let spans = collector.spans();
    let of_spans = |prefix: &str| -> Vec<_> {
        spans.iter().filter(|span| span.name.starts_with(prefix)).map(counts).collect()
    };
    let expected = [
        [Some(1), Some(1), Some(24), Some(3), Some(3), Some(1)],
        [Some(2), Some(0), Some(24), Some(0), Some(1), Some(0)],
        [None, None, None, None, None, Some(0)],
    ];
    assert_eq!(of_spans("stage"), expected);
    assert_eq!(of_spans("agent"), [[None; 6]; 2]);
    assert_eq!(of_spans("workflow"), [[None; 6]]);
    let with = |outcome| {
        [("overtone.workflow", "quick"), ("overtone.stage", "DEV"), ("overtone.check.outcome", outcome)]
    };
    assert_eq!(collector.sum("overtone.checks", &with("passed")), Some(4.0));
    assert_eq!(collector.sum("overtone.checks", &with("failed")), Some(2.0));
}

#[test]
fn the_resource_names_the_service_machine_and_session() {
    let collector = Collector::start();
    let home = TestHome::new(&collector.url());
    write_workflow_with_failures(&home);
    home.export();
    let (resource, _) = collector.batches().remove(0);
    let found = text_attributes(&resource.attributes);
    let expected = [
        ("service.name", "overtone"),
        ("service.version", "9.8.7"),
        ("host.name", MACHINE),
        ("overtone.session", "s1"),
        ("overtone.project", "shop"),
    ];
    for (key, value) in expected {
        assert!(found.contains(&(key.to_owned(), value.to_owned())), "{key}: {found:?}");
    }
    let request = collector.requests().remove(0);
    assert!(request.head.contains("content-type: application/x-protobuf"), "{}", request.head);
    assert!(request.head.contains("authorization: bearer header-secret"), "{}", request.head);
}

#[test]
fn an_aborted_workflow_is_an_error_and_resumes_in_the_same_trace() {
    let collector = Collector::start();
    let home = TestHome::new(&collector.url());
    home.write(
        "s1",
        &[
            workflow("quick"),
            stage("DEV", 1),
            agent("DEV", "developer"),
            aborted("retry-limit"),
            Record::new(Kind::LoopStart).with("reason", "resumed").with("by", "user"),
            stage("DEV", 2),
            stage_done("DEV", "reject"),
            aborted("replaced"),
            workflow("standard"),
            completed("standard"),
        ],
    );
    home.export();
    let found = collector.spans();
    assert_eq!(
        collector.span_names(),
        [
            "stage DEV",
            "agent developer",
            "workflow quick",
            "stage DEV",
            "workflow quick",
            "workflow standard"
        ]
    );
    let aborted = (ERROR, "workflow aborted");
    let all: Vec<_> = found.iter().map(status).collect();
    assert_eq!(all, [aborted, aborted, aborted, (ERROR, "verdict reject"), (0, ""), (OK, "")]);
    assert_eq!(
        value(&found[2].attributes, "overtone.reason"),
        Some(Value::StringValue("retry-limit".to_owned()))
    );
    let (first, resumed) = (&found[2], &found[4]);
    assert_eq!((&resumed.trace_id, &resumed.parent_span_id), (&first.trace_id, &first.span_id));
    assert_eq!(value(&resumed.attributes, "overtone.resumed"), Some(Value::BoolValue(true)));
    assert_eq!(found[3].parent_span_id, resumed.span_id);
    assert_ne!(found[5].trace_id, first.trace_id);
}

#[test]
fn only_names_and_numbers_are_sent() {
    let collector = Collector::start();
    let home = TestHome::new(&collector.url());
    write_workflow_with_failures(&home);
    write_workflow_with_checks(&home);
    home.write(
        "s1",
        &[
            workflow("secret workflow"),
            stage("/home/secret-person", 1),
            agent("/home/secret-person", "secret agent"),
            agent_done("/home/secret-person", "secret agent", "secret verdict", "a9"),
            aborted("secret reason"),
        ],
    );
    home.export();
    assert_eq!(collector.spans().len(), 17);
    for request in collector.requests() {
        let body = String::from_utf8_lossy(&request.body);
        for leak in ["secret", "/home", "main.rs", "header"] {
            assert!(!body.contains(leak), "{leak} in {}: {body}", request.path);
        }
    }
    assert!(!home.log().contains("secret"), "{}", home.log());
}
