//! The relay with a real server: every event is published once and in order.

use crate::support::{Servers, TestMachine, block_on, open, published_events};
use overtone_testkit::wait_until;

fn counts(servers: &Servers, prefix: &str) -> Vec<Vec<u64>> {
    published_events(&servers.settings(prefix)).unwrap_or_default().into_values().collect()
}

#[test]
fn events_are_published_once_and_in_order() {
    let servers = Servers::one();
    let machine = TestMachine::new(&servers.settings("a"), "one");
    (0..10).for_each(|n| machine.append("s.1", n));
    let relay = machine.relay();
    wait_until("the first are there", || counts(&servers, "a") == [(0..10).collect::<Vec<_>>()]);
    (10..600).for_each(|n| machine.append("s.1", n));
    wait_until("the others are there", || counts(&servers, "a").iter().map(Vec::len).sum::<usize>() >= 600);
    drop(relay);
    wait_until("each is there once", || counts(&servers, "a") == [(0..600).collect::<Vec<_>>()]);
}

#[test]
fn a_restarted_relay_continues_even_without_its_cursors() {
    let servers = Servers::one();
    let machine = TestMachine::new(&servers.settings("a"), "one");
    for round in 0..4 {
        (round * 50..(round + 1) * 50).for_each(|n| machine.append("s", n));
        let relay = machine.relay();
        wait_until("they are there", || {
            counts(&servers, "a").iter().map(Vec::len).sum::<usize>() == (round + 1) * 50
        });
        drop(relay);
        let _ = std::fs::remove_file(machine.dir.path().join("fleet/cursors.json"));
    }
    assert_eq!(counts(&servers, "a"), [(0..200).collect::<Vec<_>>()]);
}

#[test]
fn a_relay_that_starts_offline_catches_up() {
    let mut servers = Servers::one();
    servers.nodes[0].kill();
    let machine = TestMachine::new(&servers.settings("a"), "one");
    (0..100).for_each(|n| machine.append("s", n));
    let relay = machine.relay();
    wait_until("it says what is wrong", || relay.status().problem.is_some());
    servers.nodes[0].restart();
    wait_until("all are there", || counts(&servers, "a") == [(0..100).collect::<Vec<_>>()]);
    wait_until("nothing is wrong", || relay.status().problem.is_none());
}

#[test]
fn a_deleted_stream_is_filled_again() {
    let servers = Servers::one();
    let settings = servers.settings("a");
    let machine = TestMachine::new(&settings, "one");
    (0..20).for_each(|n| machine.append("s", n));
    let relay = machine.relay();
    wait_until("all are there", || counts(&servers, "a") == [(0..20).collect::<Vec<_>>()]);
    block_on(async {
        let link = open(&settings).await;
        link.context.delete_stream(link.names.events_stream()).await.unwrap();
        link.context.delete_key_value(link.names.sessions_bucket()).await.unwrap();
    });
    (20..30).for_each(|n| machine.append("s", n));
    wait_until("all are there again", || counts(&servers, "a") == [(0..30).collect::<Vec<_>>()]);
    drop(relay);
}
