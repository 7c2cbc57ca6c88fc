//! Collectors that are unreachable, busy or reject what they get.

use std::time::Duration;

use opentelemetry_proto::tonic::collector::trace::v1::{
    ExportTracePartialSuccess, ExportTraceServiceResponse,
};
use opentelemetry_proto::tonic::trace::v1::Span;
use overtone_core::messages::Lang;
use overtone_net::Backoff;
use overtone_server::telemetry::{Exporter, Setup};
use prost::Message;
use serde_json::json;

use crate::collector::Collector;
use crate::test_home::{TestHome, agent, completed, stage, stage_done, workflow};
use overtone_testkit::wait_until;

fn write_short_workflow(home: &TestHome) {
    home.write("s1", &[workflow("quick"), stage("DEV", 1), stage_done("DEV", "pass"), completed("quick")]);
}

#[test]
fn an_unreachable_collector_receives_everything_later() {
    let address = Collector::unused_address();
    let home = TestHome::new(&format!("http://{address}"));
    write_short_workflow(&home);
    let exporter = home.start();
    wait_until("the first attempt", || home.log().contains("cannot send"));
    assert!(exporter.is_needed());
    home.write("s1", &[workflow("standard"), completed("standard")]);
    exporter.notify_changed("s1");
    let collector = Collector::start_at(address);
    wait_until("an idle exporter", || !exporter.is_needed());
    exporter.stop();
    assert_eq!(collector.span_names(), ["stage DEV", "workflow quick", "workflow standard"]);
    // Attempts after the first are not logged.
    assert_eq!(home.log().lines().count(), 1, "{}", home.log());
}

#[test]
fn the_next_server_sends_what_could_not_be_sent() {
    let address = Collector::unused_address();
    let home = TestHome::new(&format!("http://{address}"));
    write_short_workflow(&home);
    let exporter = home.start();
    wait_until("the first attempt", || home.log().contains("cannot send"));
    exporter.stop();
    let collector = Collector::start_at(address);
    home.export();
    assert_eq!(collector.span_names(), ["stage DEV", "workflow quick"]);
}

#[test]
fn rejected_spans_are_dropped_and_logged() {
    let collector = Collector::start();
    collector.will_respond((400, "", b"no such thing, Bearer header-secret".to_vec()));
    let home = TestHome::new(&collector.url());
    write_short_workflow(&home);
    home.export();
    assert_eq!(collector.span_names(), [""; 0]);
    let log = home.log();
    assert_eq!(log.lines().count(), 1, "{log}");
    assert!(log.contains("dropped 2 spans of session s1: HTTP 400 no such thing"), "{log}");
    assert!(!log.contains("header-secret"), "{log}");
    home.write("s1", &[workflow("standard"), completed("standard")]);
    home.export();
    assert_eq!(collector.span_names(), ["workflow standard"]);
}

#[test]
fn a_busy_collector_is_retried_but_not_before_its_retry_after() {
    let collector = Collector::start();
    collector.will_respond((429, "retry-after: 1\r\n", Vec::new()));
    for status in [408, 503, 500] {
        collector.will_respond((status, "", Vec::new()));
    }
    let home = TestHome::new(&collector.url());
    write_short_workflow(&home);
    home.export();
    assert_eq!(collector.span_names(), ["stage DEV", "workflow quick"]);
    let requests = collector.requests();
    let traces: Vec<_> = requests.iter().filter(|request| request.path == "/v1/traces").collect();
    assert_eq!(traces.len(), 5);
    assert!(traces[1].at - traces[0].at >= Duration::from_secs(1));
    assert!(traces.iter().all(|request| request.body == traces[0].body));
}

#[test]
fn a_partial_rejection_is_logged() {
    let collector = Collector::start();
    let rejected = ExportTracePartialSuccess { rejected_spans: 1, error_message: "too old".to_owned() };
    let response = ExportTraceServiceResponse { partial_success: Some(rejected) };
    collector.will_respond((200, "", response.encode_to_vec()));
    let home = TestHome::new(&collector.url());
    write_short_workflow(&home);
    home.export();
    assert!(home.log().contains("refused 1 of 2 spans of session s1: too old"), "{}", home.log());
    let traces = collector.requests().iter().filter(|request| request.path == "/v1/traces").count();
    assert_eq!(traces, 1);
}

#[test]
fn batches_are_bounded() {
    let collector = Collector::start();
    let home = TestHome::new(&collector.url());
    let again = (1..=700).flat_map(|attempt| [stage("DEV", attempt), stage_done("DEV", "pass")]);
    // They end together, with their workflow.
    let open = (0..700).map(|_| agent("DEV", "developer"));
    let all: Vec<_> =
        [workflow("quick")].into_iter().chain(again).chain(open).chain([completed("quick")]).collect();
    home.write("s1", &all);
    home.export();
    let sizes: Vec<_> = collector.batches().iter().map(|(_, spans)| spans.len()).collect();
    assert_eq!(sizes.iter().sum::<usize>(), 1401, "{sizes:?}");
    assert!(sizes.iter().all(|size| *size <= 512), "{sizes:?}");
    let root = collector.spans().pop().unwrap();
    assert_eq!(root.name, "workflow quick");
    let is_below = |span: &Span| span.parent_span_id == root.span_id || span.span_id == root.span_id;
    assert!(collector.spans().iter().all(is_below));
}

#[test]
fn an_invalid_configuration_is_logged_and_nothing_is_started() {
    let home = TestHome::new("http://127.0.0.1:9");
    let start = || {
        let backoff = Backoff::new(Duration::from_millis(1), 150);
        let setup = Setup {
            home: home.overtone_home(),
            version: "1",
            machine_name: "m".to_owned(),
            lang: Lang::En,
            backoff,
        };
        Exporter::start(setup).unwrap()
    };
    home.configure(&json!({ "endpoint": "nonsense" }));
    assert!(start().is_none());
    assert!(home.log().contains("telemetry.endpoint: must be an http(s) address"), "{}", home.log());
    home.configure(&json!(null));
    assert!(start().is_none());
    assert_eq!(home.log().lines().count(), 1);
}
