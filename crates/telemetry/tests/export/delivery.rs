//! Collectors that are away, busy or unwilling.

use std::time::Duration;

use opentelemetry_proto::tonic::collector::trace::v1::{
    ExportTracePartialSuccess, ExportTraceServiceResponse,
};
use opentelemetry_proto::tonic::trace::v1::Span;
use overtone_messages::Lang;
use overtone_telemetry::{Exporter, Pace, Setup};
use prost::Message;
use serde_json::json;

use crate::collector::{Collector, wait_for};
use crate::world::{World, agent, completed, stage, stage_done, workflow};

fn short(world: &World) {
    world.write("s1", &[workflow("quick"), stage("DEV", 1), stage_done("DEV", "pass"), completed("quick")]);
}

#[test]
fn one_that_is_away_gets_it_later() {
    let address = Collector::nowhere();
    let world = World::new(&format!("http://{address}"));
    short(&world);
    let exporter = world.start();
    wait_for("the first attempt", || world.log().contains("cannot send"));
    assert!(exporter.is_needed());
    world.write("s1", &[workflow("standard"), completed("standard")]);
    exporter.tell("s1");
    let collector = Collector::start_at(address);
    wait_for("an idle exporter", || !exporter.is_needed());
    exporter.stop();
    assert_eq!(collector.names(), ["stage DEV", "workflow quick", "workflow standard"]);
    // Not one line for every attempt.
    assert_eq!(world.log().lines().count(), 1, "{}", world.log());
}

#[test]
fn what_could_not_be_sent_is_sent_by_the_next_server() {
    let address = Collector::nowhere();
    let world = World::new(&format!("http://{address}"));
    short(&world);
    let exporter = world.start();
    wait_for("the first attempt", || world.log().contains("cannot send"));
    exporter.stop();
    let collector = Collector::start_at(address);
    world.export();
    assert_eq!(collector.names(), ["stage DEV", "workflow quick"]);
}

#[test]
fn what_is_refused_is_dropped_with_a_word() {
    let collector = Collector::start();
    collector.will_answer((400, "", b"no such thing, Bearer header-secret".to_vec()));
    let world = World::new(&collector.url());
    short(&world);
    world.export();
    assert_eq!(collector.names(), [""; 0]);
    let log = world.log();
    assert_eq!(log.lines().count(), 1, "{log}");
    assert!(log.contains("dropped 2 spans of session s1: HTTP 400 no such thing"), "{log}");
    assert!(!log.contains("header-secret"), "{log}");
    world.write("s1", &[workflow("standard"), completed("standard")]);
    world.export();
    assert_eq!(collector.names(), ["workflow standard"]);
}

#[test]
fn a_busy_one_is_asked_again_but_not_before_it_wants() {
    let collector = Collector::start();
    collector.will_answer((429, "retry-after: 1\r\n", Vec::new()));
    for status in [408, 503, 500] {
        collector.will_answer((status, "", Vec::new()));
    }
    let world = World::new(&collector.url());
    short(&world);
    world.export();
    assert_eq!(collector.names(), ["stage DEV", "workflow quick"]);
    let requests = collector.requests();
    let traces: Vec<_> = requests.iter().filter(|request| request.path == "/v1/traces").collect();
    assert_eq!(traces.len(), 5);
    assert!(traces[1].at - traces[0].at >= Duration::from_secs(1));
    assert!(traces.iter().all(|request| request.body == traces[0].body));
}

#[test]
fn what_is_taken_in_part_is_told() {
    let collector = Collector::start();
    let refused = ExportTracePartialSuccess { rejected_spans: 1, error_message: "too old".to_owned() };
    let answer = ExportTraceServiceResponse { partial_success: Some(refused) };
    collector.will_answer((200, "", answer.encode_to_vec()));
    let world = World::new(&collector.url());
    short(&world);
    world.export();
    assert!(world.log().contains("refused 1 of 2 spans of session s1: too old"), "{}", world.log());
    let traces = collector.requests().iter().filter(|request| request.path == "/v1/traces").count();
    assert_eq!(traces, 1);
}

#[test]
fn batches_are_bounded() {
    let collector = Collector::start();
    let world = World::new(&collector.url());
    let again = (1..=700).flat_map(|attempt| [stage("DEV", attempt), stage_done("DEV", "pass")]);
    // They end together, with their workflow.
    let open = (0..700).map(|_| agent("DEV", "developer"));
    let all: Vec<_> =
        [workflow("quick")].into_iter().chain(again).chain(open).chain([completed("quick")]).collect();
    world.write("s1", &all);
    world.export();
    let sizes: Vec<_> = collector.batches().iter().map(|(_, spans)| spans.len()).collect();
    assert_eq!(sizes.iter().sum::<usize>(), 1401, "{sizes:?}");
    assert!(sizes.iter().all(|size| *size <= 512), "{sizes:?}");
    let root = collector.spans().pop().unwrap();
    assert_eq!(root.name, "workflow quick");
    let is_below = |span: &Span| span.parent_span_id == root.span_id || span.span_id == root.span_id;
    assert!(collector.spans().iter().all(is_below));
}

#[test]
fn a_wrong_configuration_is_told_and_nothing_is_started() {
    let world = World::new("http://127.0.0.1:9");
    let start = || {
        let pace = Pace::new(Duration::from_millis(1));
        let setup =
            Setup { home: world.home(), version: "1", machine_name: "m".to_owned(), lang: Lang::En, pace };
        Exporter::start(setup).unwrap()
    };
    world.configure(&json!({ "endpoint": "nonsense" }));
    assert!(start().is_none());
    assert!(world.log().contains("telemetry.endpoint: must be an http(s) address"), "{}", world.log());
    world.configure(&json!(null));
    assert!(start().is_none());
    assert_eq!(world.log().lines().count(), 1);
}
