//! A server that ends in the middle, and the next one.

use std::collections::HashSet;
use std::fs;

use overtone_store::files;

use crate::collector::{Collector, wait_for};
use crate::world::{World, agent, agent_done, completed, stage, stage_done, workflow};

fn first_half(world: &World) {
    world.write(
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

fn second_half(world: &World) {
    world.write(
        "s1",
        &[agent_done("TEST", "tester", "fail", "a2"), stage_done("TEST", "fail"), completed("quick")],
    );
}

const ALL: [&str; 5] = ["agent developer", "stage DEV", "agent tester", "stage TEST", "workflow quick"];

#[test]
fn nothing_is_lost_and_nothing_repeated() {
    let collector = Collector::start();
    let world = World::new(&collector.url());
    first_half(&world);
    world.export();
    assert_eq!(collector.names(), ALL[..2]);
    second_half(&world);
    world.export();
    world.export();
    assert_eq!(collector.names(), ALL);
    let spans = collector.spans();
    let root = &spans[4];
    assert!(spans.iter().all(|span| span.trace_id == root.trace_id));
    let parents: Vec<_> = spans.iter().map(|span| &span.parent_span_id).collect();
    assert_eq!(parents, [&spans[1].span_id, &root.span_id, &spans[3].span_id, &root.span_id, &Vec::new()]);
}

#[test]
fn what_is_sent_again_after_a_kill_has_the_same_ids_and_counts_once() {
    let collector = Collector::start();
    let world = World::new(&collector.url());
    first_half(&world);
    world.export();
    let cursors = world.path("telemetry/cursors.json");
    let before = fs::read(&cursors).unwrap();
    second_half(&world);
    world.export();
    // As if it had been killed between the answer and the note.
    files::write_atomic(&cursors, &before, files::PRIVATE).unwrap();
    world.export();
    let ids: HashSet<_> =
        collector.spans().into_iter().map(|span| (span.trace_id, span.span_id, span.name)).collect();
    assert_eq!((collector.spans().len(), ids.len()), (8, 5));
    let completed = [("overtone.workflow", "quick"), ("overtone.outcome", "completed")];
    assert_eq!(collector.sum("overtone.workflows", &completed), Some(1.0));
}

#[test]
fn a_torn_line_is_waited_for() {
    let collector = Collector::start();
    let world = World::new(&collector.url());
    first_half(&world);
    let whole = world.session("s1").timeline_file();
    second_half(&world);
    let text = fs::read_to_string(&whole).unwrap();
    // In the middle of the line that ends the tester.
    let torn = text.rfind("agent:complete").unwrap();
    let torn = torn + text[torn..].find("\"tester\"").unwrap();
    fs::write(&whole, &text[..torn]).unwrap();
    world.export();
    assert_eq!(collector.names(), ALL[..2]);
    fs::write(&whole, &text).unwrap();
    world.export();
    assert_eq!(collector.names(), ALL);
}

#[test]
fn a_second_server_takes_over() {
    let collector = Collector::start();
    let world = World::new(&collector.url());
    first_half(&world);
    let first = world.start();
    wait_for("the first spans", || collector.spans().len() == 2);
    let second = world.start();
    second_half(&world);
    second.tell("s1");
    wait_for("the second server to stand by", || !second.is_needed());
    first.stop();
    wait_for("the rest", || collector.spans().len() == 5);
    second.stop();
    assert_eq!(collector.names(), ALL);
}

#[test]
fn one_that_runs_goes_on_with_every_word() {
    let collector = Collector::start();
    let world = World::new(&collector.url());
    let exporter = world.start();
    first_half(&world);
    exporter.tell("s1");
    wait_for("the first spans", || collector.spans().len() == 2);
    second_half(&world);
    exporter.tell("s1");
    exporter.tell("../no-session");
    wait_for("the rest", || collector.spans().len() == 5);
    exporter.stop();
    assert_eq!(collector.names(), ALL);
    assert_eq!(world.log(), "");
}
