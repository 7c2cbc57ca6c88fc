//! Servers and machines for the tests: NATS servers on loopback, and homes with sessions.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::sync::Mutex;
use std::time::{Duration, Instant};

use futures_util::StreamExt as _;
use overtone_core::messages::Lang;
use overtone_fleet::{
    FleetSnapshot, Keyring, Link, Machine, MachineInfo, Membership, Names, OrderCommand, OrderOutcome, Relay,
    RelaySetup, Settings, Share, send_order_with_timeout,
};
use overtone_store::{Home, Session, SessionId, files};
use overtone_testkit::nats::{NatsServer, free_port};
use serde_json::{Value, json};
use tempfile::TempDir;

/// A watchdog for conditions that never become true. It is much longer than any of them takes.
pub(crate) const TIMEOUT: Duration = Duration::from_mins(10);

/// Reading all events takes a fraction of this, even on a busy machine.
const READ_TIMEOUT: Duration = Duration::from_mins(2);

pub(crate) const POLL_INTERVAL: Duration = Duration::from_millis(50);

/// One or three servers, and a folder for the files of the test.
#[derive(Debug)]
pub(crate) struct Servers {
    pub(crate) nodes: Vec<NatsServer>,
    pub(crate) dir: TempDir,
}

impl Servers {
    pub(crate) fn one() -> Self {
        Self::one_with(&[])
    }

    /// One server with additional lines in its configuration.
    pub(crate) fn one_with(lines: &[&str]) -> Self {
        let servers = Self { nodes: vec![NatsServer::start_with(lines)], dir: tempfile::tempdir().unwrap() };
        if lines.is_empty() {
            servers.wait();
        }
        servers
    }

    pub(crate) fn three() -> Self {
        let dir = tempfile::tempdir().unwrap();
        let (ports, routes): (Vec<_>, Vec<_>) = (0..3).map(|_| (free_port(), free_port())).unzip();
        let all: Vec<_> = routes.iter().map(|port| format!("nats://127.0.0.1:{port}")).collect();
        let start = |number: usize| {
            let store = dir.path().join(format!("store-{number}"));
            let arguments = [
                "-js".to_owned(),
                "-a=127.0.0.1".to_owned(),
                format!("-p={}", ports[number]),
                format!("-n=node-{number}"),
                format!("-sd={}", store.display()),
                "--cluster_name=fleet".to_owned(),
                format!("--cluster=nats://127.0.0.1:{}", routes[number]),
                format!("--routes={}", all.join(",")),
            ];
            NatsServer::start_with_arguments(ports[number], arguments.to_vec())
        };
        let nodes = (0..3).map(start).collect();
        let servers = Self { nodes, dir };
        servers.wait();
        servers
    }

    /// Waits until streams can be created.
    fn wait(&self) {
        block_on(open(&self.settings("ready")));
    }

    pub(crate) fn urls(&self) -> Vec<String> {
        self.nodes.iter().map(NatsServer::url).collect()
    }

    pub(crate) fn settings(&self, prefix: &str) -> Settings {
        Settings {
            urls: self.urls(),
            login: None,
            credentials: None,
            ca: None,
            identity: None,
            names: Names::new(prefix).unwrap(),
            machine_name: None,
            share: Share::State,
            keep_for: Duration::from_hours(24),
            keep_bytes: 1 << 30,
            replicas: self.nodes.len(),
        }
    }
}

pub(crate) fn block_on<T>(work: impl Future<Output = T>) -> T {
    tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap().block_on(work)
}

/// The first machine of every team, by the server's port and the prefix.
static FOUNDERS: Mutex<BTreeMap<String, (Home, String)>> = Mutex::new(BTreeMap::new());

fn team_of(settings: &Settings) -> String {
    let port = settings.urls[0].rsplit(':').next().unwrap_or_default();
    format!("{port} {}", settings.names.prefix())
}

/// The keyring of the team's first machine, or an anonymous one without a team.
fn keyring(settings: &Settings) -> Keyring {
    let founder = FOUNDERS.lock().unwrap().get(&team_of(settings)).cloned();
    match founder.filter(|(home, _)| home.root().exists()) {
        Some((home, name)) => Keyring::load_or_create(&home, Some(&name)).unwrap(),
        None => Keyring::anonymous().unwrap(),
    }
}

/// Connects as the team's first machine.
pub(crate) async fn open(settings: &Settings) -> Link {
    open_with(settings, &keyring(settings)).await
}

/// Connects in one attempt, for tests in which the server may be down.
pub(crate) async fn try_open(settings: &Settings) -> overtone_fleet::Result<Link> {
    Link::open(settings, &keyring(settings)).await
}

/// Connects, with more than one attempt if the server is busy.
pub(crate) async fn open_with(settings: &Settings, keyring: &Keyring) -> Link {
    let started = Instant::now();
    loop {
        match Link::open(settings, keyring).await {
            Ok(link) => return link,
            Err(error) => assert!(started.elapsed() < TIMEOUT, "no connection: {error}"),
        }
        tokio::time::sleep(POLL_INTERVAL).await;
    }
}

/// The state of the fleet on the server.
pub(crate) async fn snapshot(settings: &Settings) -> FleetSnapshot {
    let started = Instant::now();
    loop {
        match FleetSnapshot::fetch(&Box::pin(open(settings)).await).await {
            Ok(snapshot) => return snapshot,
            Err(error) => assert!(started.elapsed() < TIMEOUT, "no snapshot: {error}"),
        }
    }
}

/// Sends an order, and waits for the answer.
pub(crate) async fn order(
    link: &Link,
    machine: &str,
    session: &str,
    command: OrderCommand,
    user: &str,
) -> OrderOutcome {
    send_order_with_timeout(link, machine, session, command, user, TIMEOUT).await.unwrap()
}

/// A machine: a home, and settings for its relay.
#[derive(Debug)]
pub(crate) struct TestMachine {
    pub(crate) dir: TempDir,
    pub(crate) home: Home,
    pub(crate) settings: Settings,
}

impl TestMachine {
    /// A machine of the team. The first one of a prefix creates the team when it connects; the others are invited and
    /// accepted.
    pub(crate) fn new(settings: &Settings, name: &str) -> Self {
        let machine = Self::outside(settings, name);
        let mut founders = FOUNDERS.lock().unwrap();
        let founder =
            founders.entry(team_of(settings)).or_insert_with(|| (machine.home.clone(), name.to_owned()));
        let is_first = founder.0.root() == machine.home.root();
        drop(founders);
        if !is_first {
            block_on(machine.join_team());
        }
        machine
    }

    /// A machine that is part of no team.
    pub(crate) fn outside(settings: &Settings, name: &str) -> Self {
        let dir = tempfile::tempdir().unwrap();
        let home = Home::at(dir.path().to_owned());
        let settings = Settings { machine_name: Some(name.to_owned()), ..settings.clone() };
        Self { dir, home, settings }
    }

    async fn join_team(&self) {
        let member = open(&self.settings).await;
        let invitation = member.keyring.invite(&self.settings).unwrap().unwrap();
        let keyring = self.keyring();
        keyring.accept_invitation(&invitation).unwrap();
        let link = open_with(&self.settings, &keyring).await;
        link.publish_machine_info(&MachineInfo::new(&keyring.machine(), "0.0.0", "x")).await.unwrap();
        let unknown = FleetSnapshot::fetch(&member).await.unwrap().unknown_machines;
        let stranger = unknown.iter().find(|stranger| stranger.id == keyring.machine().id).unwrap();
        member.admit(stranger).await.unwrap();
        assert_eq!(link.sync_team().await.unwrap(), Membership::Member);
    }

    pub(crate) fn keyring(&self) -> Keyring {
        Keyring::load_or_create(&self.home, self.settings.machine_name.as_deref()).unwrap()
    }

    /// Connects as this machine.
    pub(crate) async fn link(&self) -> Link {
        open_with(&self.settings, &self.keyring()).await
    }

    pub(crate) fn machine(&self) -> Machine {
        self.keyring().machine()
    }

    pub(crate) fn relay(&self) -> Relay {
        let setup = RelaySetup {
            home: self.home.clone(),
            version: "0.0.0",
            lang: Lang::En,
            settings: self.settings.clone(),
        };
        Relay::start(setup).unwrap()
    }

    pub(crate) fn session(&self, id: &str) -> Session {
        let session = self.home.session(&SessionId::parse(id).unwrap());
        session.create().unwrap();
        session
    }

    /// Appends an event to a timeline, like a hook.
    pub(crate) fn append(&self, id: &str, number: usize) {
        files::append_lines(&self.session(id).timeline_file(), &format!("{}\n", event(id, number))).unwrap();
    }

    /// Appends several events in one write.
    pub(crate) fn append_many(&self, id: &str, numbers: std::ops::Range<usize>) {
        let lines: String = numbers.map(|number| event(id, number) + "\n").collect();
        files::append_lines(&self.session(id).timeline_file(), &lines).unwrap();
    }

    pub(crate) fn workflow(&self, id: &str) {
        let state = json!({
            "sessionId": id, "workflowType": "quick", "createdAt": "2026-01-01T00:00:00.000Z",
            "currentStage": "DEV", "stages": { "DEV": { "status": "pending" } }, "activeAgents": {},
        });
        let path = self.session(id).workflow_file();
        files::write_atomic(&path, state.to_string().as_bytes(), 0o600).unwrap();
    }
}

pub(crate) fn event(session: &str, number: usize) -> String {
    json!({
        "ts": "2026-01-01T00:00:00.000Z", "type": "tool:failure", "category": "tool", "label": "x",
        "count": number, "by": session,
    })
    .to_string()
}

/// The numbers of the published events, by machine and session.
pub(crate) type PublishedEvents = BTreeMap<(String, String), Vec<u64>>;

/// All events on the server in their order; `None` if the server cannot be reached.
pub(crate) fn published_events(settings: &Settings) -> Option<PublishedEvents> {
    block_on(async {
        let link = try_open(settings).await.ok()?;
        // A reader whose server has just died may wait forever.
        tokio::time::timeout(READ_TIMEOUT, read_events(&link)).await.ok()?
    })
}

async fn read_events(link: &Link) -> Option<PublishedEvents> {
    use async_nats::jetstream::consumer::pull;
    let mut all = PublishedEvents::new();
    let count = link.events.get_info().await.ok()?.state.messages;
    let consumer = link.events.create_consumer(pull::OrderedConfig::default()).await.ok()?;
    let mut messages = consumer.messages().await.ok()?;
    for _ in 0..count {
        let message = messages.next().await?.ok()?;
        let origin = link.names.parse_events_subject(&message.subject).unwrap();
        let Ok(message) = serde_json::from_slice::<Value>(&message.payload) else { continue };
        let Some(lines) = message["body"]["lines"].as_array() else { continue };
        let number = |line: &Value| serde_json::from_str::<Value>(line.as_str()?).ok()?["count"].as_u64();
        all.entry(origin).or_default().extend(lines.iter().filter_map(number));
    }
    Some(all)
}

pub(crate) fn read_or_empty(path: &Path) -> String {
    fs::read_to_string(path).unwrap_or_default()
}
