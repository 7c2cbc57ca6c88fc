//! Five machines and a cluster of three servers, with crashes of all parts: no event is lost or duplicated.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use std::time::Duration;

use crate::support::{Servers, TestMachine, block_on, published_events, try_open, wait_until};
use overtone_fleet::Relay;

const MACHINES: usize = 5;
const SESSIONS: usize = 60;
const EVENTS: usize = 100;
const CRASHES: usize = 10;

/// The events of each session.
fn expected() -> Vec<u64> {
    (0..EVENTS as u64).collect()
}

/// A session id that is unique in the fleet.
fn name(station: &TestMachine, session: usize) -> String {
    format!("{}.{session:03}", station.settings.machine_name.as_deref().unwrap_or_default())
}

/// Appends events to all sessions of all machines concurrently.
fn append_events(stations: &[TestMachine], events: std::ops::Range<usize>) {
    thread::scope(|scope| {
        for station in stations {
            let events = events.clone();
            scope.spawn(move || {
                for session in 0..SESSIONS {
                    station.append_many(&name(station, session), events.clone());
                }
            });
        }
    });
}

/// The name of the server that leads a stream.
fn leader(servers: &Servers, prefix: &str) -> Option<usize> {
    block_on(async {
        let link = try_open(&servers.settings(prefix)).await.ok()?;
        let info = link.events.get_info().await.ok()?;
        info.cluster?.leader?.strip_prefix("node-")?.parse().ok()
    })
}

#[test]
fn every_event_arrives_once_and_in_order_despite_crashes() {
    let mut servers = Servers::three();
    let settings = servers.settings("fleet");
    let stations: Vec<_> =
        (0..MACHINES).map(|n| TestMachine::new(&settings, &format!("machine-{n}"))).collect();
    let mut relays: Vec<Option<Relay>> = stations.iter().map(|station| Some(station.relay())).collect();
    let crashes = AtomicUsize::new(0);
    thread::scope(|scope| {
        // Each part arrives while something crashes.
        scope.spawn(|| {
            for part in 0..CRASHES {
                append_events(&stations, part * EVENTS / CRASHES..(part + 1) * EVENTS / CRASHES);
                wait_until("the next crash", || crashes.load(Ordering::Relaxed) > part);
            }
        });
        // The leader or another node, and each relay in turn.
        for turn in 0..CRASHES {
            let victim = if turn % 2 == 0 { leader(&servers, "fleet").unwrap_or(0) } else { turn % 3 };
            servers.nodes[victim].kill();
            relays[turn % MACHINES] = None;
            thread::sleep(Duration::from_millis(300));
            servers.nodes[victim].restart();
            relays[turn % MACHINES] = Some(stations[turn % MACHINES].relay());
            crashes.fetch_add(1, Ordering::Relaxed);
            wait_until("the cluster has a leader", || leader(&servers, "fleet").is_some());
        }
    });
    let mut last = None;
    wait_until("everything is there", || {
        last = published_events(&settings);
        last.as_ref().is_some_and(|published_events| {
            published_events.values().map(Vec::len).sum::<usize>() >= MACHINES * SESSIONS * EVENTS
        })
    });
    let published_events = last.unwrap();
    assert_eq!(published_events.len(), MACHINES * SESSIONS);
    let wrong: Vec<_> = published_events
        .iter()
        .filter(|(_, events)| **events != expected())
        .map(|(origin, _)| origin)
        .collect();
    assert!(wrong.is_empty(), "{} sessions are not as they were: {:?}", wrong.len(), wrong.first());
}
