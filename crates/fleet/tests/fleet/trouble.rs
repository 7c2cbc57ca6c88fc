//! Bad input and bad surroundings: said clearly, nothing lost here, and everything goes on without a restart.

use std::io::{Read as _, Write as _};
use std::net::{Ipv4Addr, Shutdown, TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

use crate::support::{self, Servers, Station, block_on, open, text, told, until};
use overtone_fleet::{Deed, Machine, Picture, Reply, Settings};
use serde_json::json;

fn counts(settings: &Settings) -> Vec<Vec<u64>> {
    told(settings).unwrap_or_default().into_values().collect()
}

fn all(count: u64) -> Vec<Vec<u64>> {
    vec![(0..count).collect()]
}

fn machine(station: &Station) -> Machine {
    station.machine()
}

#[test]
fn foreign_and_future_messages_disturb_nobody() {
    let servers = Servers::one();
    let settings = servers.settings("a");
    let station = Station::new(&settings, "one");
    station.workflow("s");
    (0..5).for_each(|n| station.append("s", n));
    let _relay = station.relay();
    until("they are there", || counts(&settings) == all(5));
    until("the session is shown", || block_on(support::picture(&settings)).sessions.len() == 1);
    let id = machine(&station).id;
    let bad = [
        &b"{"[..],
        b"\xff\xfe",
        b"",
        br#"{"v":1}"#,
        br#"{"v":99,"end":1,"id":"x","deed":{"do":"dance"}}"#,
        br#"{"v":2}"#,
    ];
    block_on(async {
        let link = open(&settings).await;
        for bytes in bad {
            for subject in [
                link.names.events_of(&id, "s"),
                link.names.events_of("stranger", "x"),
                link.names.orders_for(&id),
            ] {
                link.context.publish(subject, bytes.into()).await.unwrap().await.unwrap();
            }
            for (store, key) in
                [(&link.sessions, "stranger.x"), (&link.machines, "stranger"), (&link.claims, "session.x")]
            {
                store.put(key, bytes.into()).await.unwrap();
            }
        }
        let picture = support::picture(&settings).await;
        assert_eq!((picture.foreign, picture.sessions.len()), (2, 1), "{picture:?}");
        // After all of that, it listens and tells as before.
        let done = support::order(&link, &id, "s", Deed::Stop, "ann").await;
        assert_eq!(done, Reply::Done);
    });
    (5..10).for_each(|n| station.append("s", n));
    // The stop has left its own line, which has no number.
    until("the others are there", || counts(&settings) == all(10));
}

#[test]
fn a_later_version_in_the_bucket_is_noticed() {
    let servers = Servers::one();
    block_on(async {
        let link = open(&servers.settings("a")).await;
        link.sessions.put("m.s", json!({ "v": 7, "new": true }).to_string().into()).await.unwrap();
        let picture = support::picture(&servers.settings("a")).await;
        assert_eq!((picture.foreign, picture.later), (1, Some(7)));
    });
}

#[test]
fn a_clock_that_is_hours_off_changes_nothing() {
    // Nothing that decides is a time of this machine: events carry theirs along, presence is the server's business.
    let servers = Servers::one();
    let settings = servers.settings("a");
    let (early, late) = (Station::new(&settings, "early"), Station::new(&settings, "late"));
    let line =
        |ts: &str, count: u64| json!({ "ts": ts, "type": "tool:failure", "count": count }).to_string() + "\n";
    let write = |station: &Station, id: &str, ts: &str| {
        let path = station.session(id).timeline_file();
        (0..5).for_each(|n| overtone_store::files::append_lines(&path, &line(ts, n)).unwrap());
    };
    write(&early, "s-early", "1999-01-01T00:00:00.000Z");
    write(&late, "s-late", "2099-01-01T00:00:00.000Z");
    let _relays = [early.relay(), late.relay()];
    until("all are there", || counts(&settings) == [vec![0, 1, 2, 3, 4], vec![0, 1, 2, 3, 4]]);
    until("both are present", || {
        let machines = block_on(support::picture(&settings)).machines;
        machines.len() == 2 && machines.iter().all(|view| view.is_present)
    });
}

#[test]
fn a_full_server_is_said_and_nothing_is_lost() {
    // The server has no room left for anybody; then there is some.
    let mut servers = Servers::one_with(&[]);
    let settings = servers.settings("a");
    let station = Station::new(&settings, "one");
    block_on(async {
        let link = open(&settings).await;
        let mut config = link.events.cached_info().config.clone();
        config.max_messages = 1;
        config.discard = async_nats::jetstream::stream::DiscardPolicy::New;
        link.context.update_stream(config).await.unwrap();
    });
    (0..10).for_each(|n| station.append("s", n));
    let relay = station.relay();
    until("the first is there", || counts(&settings) == all(10));
    (10..20).for_each(|n| station.append("s", n));
    until("it says what is wrong", || {
        relay.status().problem.is_some_and(|problem| problem.contains("maximum messages"))
    });
    block_on(async {
        let link = open(&settings).await;
        let mut config = link.events.cached_info().config.clone();
        config.max_messages = -1;
        link.context.update_stream(config).await.unwrap();
    });
    until("the others are there", || counts(&settings) == all(20));
    until("nothing is wrong", || relay.status().problem.is_none());
    servers.nodes[0].kill();
}

#[test]
fn credentials_that_expire_are_said_and_renewed_ones_count_without_a_restart() {
    let rule = |password: &str| format!("authorization {{ user: ann, password: {password} }}");
    let mut servers = Servers::one_with(&[&rule("0ld-secret")]);
    let port = servers.nodes[0].port;
    let settings =
        |password: &str| json!({ "fleet": { "url": format!("nats://ann:{password}@127.0.0.1:{port}") } });
    let mut station = Station::new(&servers.settings("a"), "one");
    let home = station.home.clone();
    let configure = |password: &str| {
        let text = settings(password).to_string();
        overtone_store::files::write_atomic(&home.config_file(), text.as_bytes(), 0o600).unwrap();
        Settings::load(&home).0.unwrap()
    };
    station.settings = configure("0ld-secret");
    (0..5).for_each(|n| station.append("s", n));
    let relay = station.relay();
    until("they are there", || counts(&station.settings) == all(5));
    servers.reconfigure(&[&rule("new")]);
    (5..10).for_each(|n| station.append("s", n));
    until("it says so", || relay.status().problem.is_some_and(|problem| problem.contains("authorization")));
    let problem = relay.status().problem.unwrap();
    assert!(!problem.contains("0ld-secret"), "no password in it: {problem}");
    let renewed = configure("new");
    until("the others are there", || counts(&renewed) == all(10));
}

#[test]
fn a_bucket_that_is_deleted_under_us_is_made_again() {
    let servers = Servers::one();
    let settings = servers.settings("a");
    let station = Station::new(&settings, "one");
    station.workflow("s");
    let relay = station.relay();
    let is_shown = || {
        block_on(async {
            let Ok(link) = support::try_open(&settings).await else { return false };
            Picture::take(&link)
                .await
                .is_ok_and(|p| p.sessions.len() == 1 && p.machines.iter().any(|m| m.is_present))
        })
    };
    until("it is shown", is_shown);
    for bucket in ["sessions", "pulse", "machines", "claims"] {
        block_on(async {
            let link = open(&settings).await;
            link.context.delete_stream(format!("KV_a_{bucket}")).await.unwrap();
        });
        station.append("s", 0);
        until(&format!("{bucket} is there again"), is_shown);
    }
    drop(relay);
}

/// A way to the server that can be cut.
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

/// What is under way when the wire is cut is lost, and nobody is told.
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
fn a_network_that_is_cut_again_and_again_loses_and_doubles_nothing() {
    let servers = Servers::one();
    let wire = Wire::to(servers.nodes[0].port);
    let mut settings = servers.settings("a");
    settings.urls = vec![format!("nats://127.0.0.1:{}", wire.port)];
    let station = Station::new(&settings, "one");
    let relay = station.relay();
    for part in 0..10_usize {
        (part * 50..part * 50 + 25).for_each(|n| station.append("s", n));
        wire.is_cut.store(true, Ordering::Relaxed);
        (part * 50 + 25..part * 50 + 50).for_each(|n| station.append("s", n));
        thread::sleep(std::time::Duration::from_millis(30));
        wire.is_cut.store(false, Ordering::Relaxed);
    }
    until("all are there", || counts(&servers.settings("a")) == all(500));
    drop(relay);
    assert_eq!(text(&station.session("s").timeline_file()).lines().count(), 500);
}
