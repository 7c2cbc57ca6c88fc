//! Invalid messages and failing infrastructure: problems are reported, nothing is lost, and no restart is needed.

use std::io::{Read as _, Write as _};
use std::net::{Ipv4Addr, Shutdown, TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

use crate::support::{self, Servers, TestMachine, block_on, open, published_events, read_or_empty};
use overtone_fleet::{FleetSnapshot, OrderCommand, OrderOutcome, Settings};
use overtone_testkit::wait_until;
use serde_json::json;

fn counts(settings: &Settings) -> Vec<Vec<u64>> {
    published_events(settings).unwrap_or_default().into_values().collect()
}

fn all(count: u64) -> Vec<Vec<u64>> {
    vec![(0..count).collect()]
}

#[test]
fn invalid_messages_and_later_versions_are_skipped() {
    let servers = Servers::one();
    let settings = servers.settings("a");
    let machine = TestMachine::new(&settings, "one");
    machine.workflow("s");
    (0..5).for_each(|n| machine.append("s", n));
    let _relay = machine.relay();
    wait_until("they are there", || counts(&settings) == all(5));
    wait_until("the session is shown", || block_on(support::snapshot(&settings)).sessions.len() == 1);
    let id = machine.machine().id;
    let bad = [
        &b"{"[..],
        b"\xff\xfe",
        b"",
        br#"{"v":1}"#,
        br#"{"v":99,"end":1,"id":"x","command":{"do":"dance"}}"#,
        br#"{"v":2}"#,
    ];
    block_on(async {
        let link = open(&settings).await;
        for bytes in bad {
            for subject in [
                link.names.events_subject(&id, "s"),
                link.names.events_subject("stranger", "x"),
                link.names.orders_subject(&id),
            ] {
                link.context.publish(subject, bytes.into()).await.unwrap().await.unwrap();
            }
            for (store, key) in
                [(&link.sessions, "stranger.x"), (&link.machines, "stranger"), (&link.claims, "session.x")]
            {
                store.put(key, bytes.into()).await.unwrap();
            }
        }
        let snapshot = support::snapshot(&settings).await;
        assert_eq!((snapshot.unreadable, snapshot.sessions.len()), (2, 1), "{snapshot:?}");
        // The relay still executes orders and publishes.
        let done = support::order(&link, &id, "s", OrderCommand::Stop, "ann").await;
        assert_eq!(done, OrderOutcome::Done);
    });
    (5..10).for_each(|n| machine.append("s", n));
    // The stop has added an event without a number.
    wait_until("the others are there", || counts(&settings) == all(10));
}

#[test]
fn a_later_version_in_the_bucket_is_reported() {
    let servers = Servers::one();
    block_on(async {
        let link = open(&servers.settings("a")).await;
        link.sessions.put("m.s", json!({ "v": 7, "new": true }).to_string().into()).await.unwrap();
        let snapshot = support::snapshot(&servers.settings("a")).await;
        assert_eq!((snapshot.unreadable, snapshot.newer_version), (1, Some(7)));
    });
}

#[test]
fn wrong_times_of_events_have_no_effect() {
    // No decision depends on the times of events, and presence depends on the server's clock.
    let servers = Servers::one();
    let settings = servers.settings("a");
    let (early, late) = (TestMachine::new(&settings, "early"), TestMachine::new(&settings, "late"));
    let line =
        |ts: &str, count: u64| json!({ "ts": ts, "type": "tool:failure", "count": count }).to_string() + "\n";
    let write = |machine: &TestMachine, id: &str, ts: &str| {
        let path = machine.session(id).timeline_file();
        (0..5).for_each(|n| overtone_store::files::append_lines(&path, &line(ts, n)).unwrap());
    };
    write(&early, "s-early", "1999-01-01T00:00:00.000Z");
    write(&late, "s-late", "2099-01-01T00:00:00.000Z");
    let _relays = [early.relay(), late.relay()];
    wait_until("all are there", || counts(&settings) == [vec![0, 1, 2, 3, 4], vec![0, 1, 2, 3, 4]]);
    wait_until("both are present", || {
        let machines = block_on(support::snapshot(&settings)).machines;
        machines.len() == 2 && machines.iter().all(|view| view.is_present)
    });
}

#[test]
fn a_full_server_is_reported_and_nothing_is_lost() {
    // The stream is full; then its limit is raised.
    let mut servers = Servers::one_with(&[]);
    let settings = servers.settings("a");
    let machine = TestMachine::new(&settings, "one");
    block_on(async {
        let link = open(&settings).await;
        let mut config = link.events.cached_info().config.clone();
        config.max_messages = 1;
        config.discard = async_nats::jetstream::stream::DiscardPolicy::New;
        link.context.update_stream(config).await.unwrap();
    });
    (0..10).for_each(|n| machine.append("s", n));
    let relay = machine.relay();
    wait_until("the first is there", || counts(&settings) == all(10));
    (10..20).for_each(|n| machine.append("s", n));
    wait_until("it says what is wrong", || {
        relay.status().problem.is_some_and(|problem| problem.contains("maximum messages"))
    });
    block_on(async {
        let link = open(&settings).await;
        let mut config = link.events.cached_info().config.clone();
        config.max_messages = -1;
        link.context.update_stream(config).await.unwrap();
    });
    wait_until("the others are there", || counts(&settings) == all(20));
    wait_until("nothing is wrong", || relay.status().problem.is_none());
    servers.nodes[0].kill();
}

#[test]
fn renewed_credentials_are_used_without_a_restart() {
    let rule = |password: &str| format!("authorization {{ user: ann, password: {password} }}");
    let mut servers = Servers::one_with(&[&rule("0ld-secret")]);
    let port = servers.nodes[0].port;
    let settings =
        |password: &str| json!({ "fleet": { "url": format!("nats://ann:{password}@127.0.0.1:{port}") } });
    let mut machine = TestMachine::new(&servers.settings("a"), "one");
    let home = machine.home.clone();
    let configure = |password: &str| {
        let text = settings(password).to_string();
        overtone_store::files::write_atomic(&home.config_file(), text.as_bytes(), 0o600).unwrap();
        Settings::load(&home).0.unwrap()
    };
    machine.settings = configure("0ld-secret");
    (0..5).for_each(|n| machine.append("s", n));
    let relay = machine.relay();
    wait_until("they are there", || counts(&machine.settings) == all(5));
    servers.nodes[0].reconfigure(&[&rule("new")]);
    (5..10).for_each(|n| machine.append("s", n));
    wait_until("it says so", || {
        relay.status().problem.is_some_and(|problem| problem.contains("authorization"))
    });
    let problem = relay.status().problem.unwrap();
    assert!(!problem.contains("0ld-secret"), "no password in it: {problem}");
    let renewed = configure("new");
    wait_until("the others are there", || counts(&renewed) == all(10));
}

#[test]
fn a_deleted_bucket_is_created_again() {
    let servers = Servers::one();
    let settings = servers.settings("a");
    let machine = TestMachine::new(&settings, "one");
    machine.workflow("s");
    let relay = machine.relay();
    let is_shown = || {
        block_on(async {
            let Ok(link) = support::try_open(&settings).await else { return false };
            FleetSnapshot::fetch(&link)
                .await
                .is_ok_and(|p| p.sessions.len() == 1 && p.machines.iter().any(|m| m.is_present))
        })
    };
    wait_until("it is shown", is_shown);
    for bucket in ["sessions", "pulse", "machines", "claims"] {
        block_on(async {
            let link = open(&settings).await;
            link.context.delete_stream(format!("KV_a_{bucket}")).await.unwrap();
        });
        machine.append("s", 0);
        wait_until(&format!("{bucket} is there again"), is_shown);
    }
    drop(relay);
}

/// A TCP proxy to the server that can be interrupted.
struct Wire {
    port: u16,
    is_cut: Arc<AtomicBool>,
}

impl Wire {
    fn to(port: u16) -> Self {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
        let wire = Self { port: listener.local_addr().unwrap().port(), is_cut: Arc::default() };
        let is_cut = Arc::clone(&wire.is_cut);
        thread::spawn(move || {
            for near in listener.incoming().flatten() {
                let Ok(far) = TcpStream::connect((Ipv4Addr::LOCALHOST, port)) else { continue };
                for (from, to) in [(near.try_clone(), far.try_clone()), (Ok(far), Ok(near))] {
                    let is_cut = Arc::clone(&is_cut);
                    thread::spawn(move || pass_on(from.unwrap(), to.unwrap(), &is_cut));
                }
            }
        });
        wire
    }
}

/// Forwards bytes until the proxy is interrupted. Bytes in flight are lost then.
fn pass_on(mut from: TcpStream, mut to: TcpStream, is_cut: &AtomicBool) {
    let mut buffer = [0; 4096];
    while let Ok(count @ 1..) = from.read(&mut buffer) {
        if is_cut.load(Ordering::Relaxed) || to.write_all(&buffer[..count]).is_err() {
            break;
        }
    }
    let _ = (from.shutdown(Shutdown::Both), to.shutdown(Shutdown::Both));
}

#[test]
fn interrupted_connections_lose_and_duplicate_nothing() {
    let servers = Servers::one();
    let wire = Wire::to(servers.nodes[0].port);
    let mut settings = servers.settings("a");
    settings.urls = vec![format!("nats://127.0.0.1:{}", wire.port)];
    let machine = TestMachine::new(&settings, "one");
    let relay = machine.relay();
    for part in 0..10_usize {
        (part * 50..part * 50 + 25).for_each(|n| machine.append("s", n));
        wire.is_cut.store(true, Ordering::Relaxed);
        (part * 50 + 25..part * 50 + 50).for_each(|n| machine.append("s", n));
        thread::sleep(std::time::Duration::from_millis(30));
        wire.is_cut.store(false, Ordering::Relaxed);
    }
    wait_until("all are there", || counts(&servers.settings("a")) == all(500));
    drop(relay);
    assert_eq!(read_or_empty(&machine.session("s").timeline_file()).lines().count(), 500);
}
