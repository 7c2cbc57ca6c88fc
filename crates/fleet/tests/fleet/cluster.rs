//! Five machines and a cluster of three servers, with everything breaking in the middle: nothing is lost or doubled.

use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

use crate::support::{Servers, Station, block_on, told, try_open, until};
use overtone_fleet::Relay;

const MACHINES: usize = 5;
const SESSIONS: usize = 200;
const EVENTS: usize = 200;

/// All of it, as it is on the disks of the machines.
fn wanted() -> Vec<u64> {
    (0..EVENTS as u64).collect()
}

/// Everywhere another one, as it is with the numbers that clients give.
fn name(station: &Station, session: usize) -> String {
    format!("{}.{session:03}", station.settings.machine_name.as_deref().unwrap_or_default())
}

/// Every machine goes on with all of its sessions at the same time, a part at a time.
fn happen(stations: &[Station], events: std::ops::Range<usize>) {
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
fn whatever_breaks_in_the_middle_every_event_is_there_once_and_in_order() {
    let mut servers = Servers::three();
    let settings = servers.settings("fleet");
    let stations: Vec<_> = (0..MACHINES).map(|n| Station::new(&settings, &format!("machine-{n}"))).collect();
    let mut relays: Vec<Option<Relay>> = stations.iter().map(|station| Some(station.relay())).collect();
    let ended = AtomicBool::new(false);
    thread::scope(|scope| {
        scope.spawn(|| {
            for part in 0..10 {
                happen(&stations, part * EVENTS / 10..(part + 1) * EVENTS / 10);
                thread::sleep(Duration::from_millis(200));
            }
            ended.store(true, Ordering::Relaxed);
        });
        // A node, the leader, and each relay in turn, until everything has happened.
        let mut turn = 0;
        while !ended.load(Ordering::Relaxed) || turn < 6 {
            let victim = if turn % 2 == 0 { leader(&servers, "fleet").unwrap_or(0) } else { turn % 3 };
            servers.nodes[victim].kill();
            relays[turn % MACHINES] = None;
            thread::sleep(Duration::from_millis(300));
            servers.nodes[victim].restart();
            relays[turn % MACHINES] = Some(stations[turn % MACHINES].relay());
            thread::sleep(Duration::from_millis(1500));
            turn += 1;
        }
    });
    let mut last = None;
    until("everything is there", || {
        last = told(&settings);
        last.as_ref()
            .is_some_and(|told| told.values().map(Vec::len).sum::<usize>() >= MACHINES * SESSIONS * EVENTS)
    });
    let told = last.unwrap();
    assert_eq!(told.len(), MACHINES * SESSIONS);
    let wrong: Vec<_> =
        told.iter().filter(|(_, events)| **events != wanted()).map(|(origin, _)| origin).collect();
    assert!(wrong.is_empty(), "{} sessions are not as they were: {:?}", wrong.len(), wrong.first());
}
