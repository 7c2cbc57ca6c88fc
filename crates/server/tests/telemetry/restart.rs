//! A server that ends in the middle of an export, and the next one.

use std::collections::HashSet;
use std::fs;

use overtone_store::files;

use crate::collector::Collector;
use crate::test_home::{TestHome, agent, agent_done, completed, stage, stage_done, workflow};
use overtone_testkit::wait_until;

fn write_first_half(home: &TestHome) {
    home.write(
        "s1",
        &[
            workflow("quick"),
            stage("DEV", 1),
            agent("DEV", "developer"),
            agent_done("DEV", "developer", "pass", "a1"),
            stage_done("DEV", "pass"),
            stage("TEST", 1),
            agent("TEST", "tester"),
        ],
    );
}

fn write_second_half(home: &TestHome) {
    home.write(
        "s1",
        &[agent_done("TEST", "tester", "fail", "a2"), stage_done("TEST", "fail"), completed("quick")],
    );
}

const ALL_SPANS: [&str; 5] = ["agent developer", "stage DEV", "agent tester", "stage TEST", "workflow quick"];

#[test]
fn a_restart_neither_loses_nor_repeats_spans() {
    let collector = Collector::start();
    let home = TestHome::new(&collector.url());
    write_first_half(&home);
    home.export();
    assert_eq!(collector.span_names(), ALL_SPANS[..2]);
    write_second_half(&home);
    home.export();
    home.export();
    assert_eq!(collector.span_names(), ALL_SPANS);
    let spans = collector.spans();
    let root = &spans[4];
    assert!(spans.iter().all(|span| span.trace_id == root.trace_id));
    let parents: Vec<_> = spans.iter().map(|span| &span.parent_span_id).collect();
    assert_eq!(parents, [&spans[1].span_id, &root.span_id, &spans[3].span_id, &root.span_id, &Vec::new()]);
}

#[test]
fn spans_sent_again_after_a_kill_have_the_same_ids_and_count_once() {
    let collector = Collector::start();
    let home = TestHome::new(&collector.url());
    write_first_half(&home);
    home.export();
    let cursors = home.path("telemetry/cursors.json");
    let before = fs::read(&cursors).unwrap();
    write_second_half(&home);
    home.export();
    // As if the process had been killed between the response and writing the progress.
    files::write_atomic(&cursors, &before, files::PRIVATE).unwrap();
    home.export();
    let ids: HashSet<_> =
        collector.spans().into_iter().map(|span| (span.trace_id, span.span_id, span.name)).collect();
    assert_eq!((collector.spans().len(), ids.len()), (8, 5));
    let completed = [("overtone.workflow", "quick"), ("overtone.outcome", "completed")];
    assert_eq!(collector.sum("overtone.workflows", &completed), Some(1.0));
}

#[test]
fn an_incomplete_line_is_read_once_it_is_complete() {
    let collector = Collector::start();
    let home = TestHome::new(&collector.url());
    write_first_half(&home);
    let whole = home.session("s1").timeline_file();
    write_second_half(&home);
    let text = fs::read_to_string(&whole).unwrap();
    // In the middle of the line that ends the tester.
    let torn = text.rfind("agent:complete").unwrap();
    let torn = torn + text[torn..].find("\"tester\"").unwrap();
    fs::write(&whole, &text[..torn]).unwrap();
    home.export();
    assert_eq!(collector.span_names(), ALL_SPANS[..2]);
    fs::write(&whole, &text).unwrap();
    home.export();
    assert_eq!(collector.span_names(), ALL_SPANS);
}

#[test]
fn a_second_server_takes_over() {
    let collector = Collector::start();
    let home = TestHome::new(&collector.url());
    write_first_half(&home);
    let first = home.start();
    wait_until("the first spans", || collector.spans().len() == 2);
    let second = home.start();
    write_second_half(&home);
    second.notify_changed("s1");
    wait_until("the second server to stand by", || !second.is_needed());
    first.stop();
    wait_until("the rest", || collector.spans().len() == 5);
    second.stop();
    assert_eq!(collector.span_names(), ALL_SPANS);
}

#[test]
fn a_running_exporter_continues_at_each_notification() {
    let collector = Collector::start();
    let home = TestHome::new(&collector.url());
    let exporter = home.start();
    write_first_half(&home);
    exporter.notify_changed("s1");
    wait_until("the first spans", || collector.spans().len() == 2);
    write_second_half(&home);
    exporter.notify_changed("s1");
    exporter.notify_changed("../no-session");
    wait_until("the rest", || collector.spans().len() == 5);
    exporter.stop();
    assert_eq!(collector.span_names(), ALL_SPANS);
    assert_eq!(home.log(), "");
}
