//! Real servers and machines for the tests: `nats-server` processes on loopback, and homes with sessions.

use std::collections::BTreeMap;
use std::fs;
use std::net::{Ipv4Addr, SocketAddr, TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::Mutex;
use std::time::{Duration, Instant};

use futures_util::StreamExt as _;
use overtone_fleet::{
    Deed, Keyring, Link, Machine, MachineInfo, Membership, Names, Picture, Relay, Reply, Settings, Setup,
    Share, send_within,
};
use overtone_messages::Lang;
use overtone_store::{Home, Session, SessionId, files};
use serde_json::{Value, json};
use tempfile::TempDir;

/// Longer than anything takes that will ever come: a watchdog, not a measure.
pub(crate) const PATIENCE: Duration = Duration::from_mins(10);

/// Everything can be read in a fraction of this, also on a busy machine.
const READING: Duration = Duration::from_mins(2);

pub(crate) const LOOK_EVERY: Duration = Duration::from_millis(50);

/// Where `nats-server` is; tests without it would say nothing.
fn program() -> PathBuf {
    let places = ["/usr/sbin/nats-server", "/usr/local/bin/nats-server", "/usr/bin/nats-server"];
    let found = places.iter().map(PathBuf::from).find(|path| path.exists());
    found.expect("nats-server is not installed\nhint: apt-get install nats-server")
}

pub(crate) fn free_port() -> u16 {
    TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap().local_addr().unwrap().port()
}

/// One server process. It ends with the test.
#[derive(Debug)]
pub(crate) struct Node {
    pub(crate) port: u16,
    arguments: Vec<String>,
    child: Option<Child>,
}

impl Node {
    pub(crate) fn start(arguments: Vec<String>, port: u16) -> Self {
        let mut node = Self { port, arguments, child: None };
        node.restart();
        node
    }

    /// Starts it, or starts it again, and returns when it accepts connections.
    pub(crate) fn restart(&mut self) {
        self.kill();
        let mut child = self.spawn();
        until("the server accepts connections", || {
            // Another program may have had the port for a moment while nobody listened there.
            if child.try_wait().unwrap().is_some() {
                child = self.spawn();
            }
            self.accepts_connections()
        });
        self.child = Some(child);
    }

    fn spawn(&self) -> Child {
        let mut command = Command::new(program());
        command.args(&self.arguments).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        command.spawn().unwrap()
    }

    fn accepts_connections(&self) -> bool {
        let address = SocketAddr::from((Ipv4Addr::LOCALHOST, self.port));
        let Ok(stream) = TcpStream::connect(address) else { return false };
        // Where nobody listens, the system may connect a socket to itself.
        stream.local_addr().unwrap() != address
    }

    /// As a crash does.
    pub(crate) fn kill(&mut self) {
        if let Some(mut child) = self.child.take() {
            let _ = child.kill();
            let _ = child.wait();
        }
    }

    pub(crate) fn url(&self) -> String {
        format!("nats://127.0.0.1:{}", self.port)
    }
}

impl Drop for Node {
    fn drop(&mut self) {
        self.kill();
    }
}

/// One or three servers with a folder of their own.
#[derive(Debug)]
pub(crate) struct Servers {
    pub(crate) nodes: Vec<Node>,
    pub(crate) dir: TempDir,
}

impl Servers {
    pub(crate) fn one() -> Self {
        Self::one_with(&[])
    }

    /// With lines of the server's own configuration.
    pub(crate) fn one_with(lines: &[&str]) -> Self {
        let dir = tempfile::tempdir().unwrap();
        let port = free_port();
        let config = configure(dir.path(), port, lines);
        let node = Node::start(vec!["-c".to_owned(), config.display().to_string()], port);
        let servers = Self { nodes: vec![node], dir };
        if lines.is_empty() {
            servers.wait();
        }
        servers
    }

    /// The same server with other lines, and all connections new.
    pub(crate) fn reconfigure(&mut self, lines: &[&str]) {
        configure(self.dir.path(), self.nodes[0].port, lines);
        self.nodes[0].restart();
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
            Node::start(arguments.to_vec(), ports[number])
        };
        let nodes = (0..3).map(start).collect();
        let servers = Self { nodes, dir };
        servers.wait();
        servers
    }

    /// Until streams can be made.
    fn wait(&self) {
        block_on(open(&self.settings("ready")));
    }

    pub(crate) fn urls(&self) -> Vec<String> {
        self.nodes.iter().map(Node::url).collect()
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

fn configure(dir: &Path, port: u16, lines: &[&str]) -> PathBuf {
    let (config, store) = (dir.join("server.conf"), dir.join("store").display().to_string());
    let text =
        format!("listen: 127.0.0.1:{port}\njetstream {{ store_dir: {store:?} }}\n{}\n", lines.join("\n"));
    files::write_atomic(&config, text.as_bytes(), 0o600).unwrap();
    config
}

pub(crate) fn block_on<T>(work: impl Future<Output = T>) -> T {
    tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap().block_on(work)
}

/// The first machine of every team in these tests, by the server's port and the prefix.
static FOUNDERS: Mutex<BTreeMap<String, (Home, String)>> = Mutex::new(BTreeMap::new());

fn team_of(settings: &Settings) -> String {
    let port = settings.urls[0].rsplit(':').next().unwrap_or_default();
    format!("{port} {}", settings.names.prefix())
}

/// The key of the team's first machine; without a team, one that nobody knows.
fn keyring(settings: &Settings) -> Keyring {
    let founder = FOUNDERS.lock().unwrap().get(&team_of(settings)).cloned();
    match founder.filter(|(home, _)| home.root().exists()) {
        Some((home, name)) => Keyring::of(&home, Some(&name)).unwrap(),
        None => Keyring::nobody().unwrap(),
    }
}

/// A connection of the team's first machine.
pub(crate) async fn open(settings: &Settings) -> Link {
    open_with(settings, &keyring(settings)).await
}

/// One try, where the server may be away.
pub(crate) async fn try_open(settings: &Settings) -> overtone_fleet::Result<Link> {
    Link::open(settings, &keyring(settings)).await
}

/// A busy server may need more than one attempt.
pub(crate) async fn open_with(settings: &Settings, keyring: &Keyring) -> Link {
    let begun = Instant::now();
    loop {
        match Link::open(settings, keyring).await {
            Ok(link) => return link,
            Err(error) => assert!(begun.elapsed() < PATIENCE, "no connection: {error}"),
        }
        tokio::time::sleep(LOOK_EVERY).await;
    }
}

/// What the server knows of the fleet.
pub(crate) async fn picture(settings: &Settings) -> Picture {
    let begun = Instant::now();
    loop {
        match Picture::take(&Box::pin(open(settings)).await).await {
            Ok(picture) => return picture,
            Err(error) => assert!(begun.elapsed() < PATIENCE, "no picture: {error}"),
        }
    }
}

/// Gives an order, and waits for the answer as long as it takes.
pub(crate) async fn order(link: &Link, machine: &str, session: &str, deed: Deed, user: &str) -> Reply {
    send_within(link, machine, session, deed, user, PATIENCE).await.unwrap()
}

/// A machine: a home, and settings for its relay.
#[derive(Debug)]
pub(crate) struct Station {
    pub(crate) dir: TempDir,
    pub(crate) home: Home,
    pub(crate) settings: Settings,
}

impl Station {
    /// The first one of a prefix makes a team as soon as it reaches the server; the others are invited and accepted.
    pub(crate) fn new(settings: &Settings, name: &str) -> Self {
        let station = Self::outside(settings, name);
        let mut founders = FOUNDERS.lock().unwrap();
        let founder =
            founders.entry(team_of(settings)).or_insert_with(|| (station.home.clone(), name.to_owned()));
        let is_first = founder.0.root() == station.home.root();
        drop(founders);
        if !is_first {
            block_on(station.be_accepted());
        }
        station
    }

    /// A machine that is part of no team.
    pub(crate) fn outside(settings: &Settings, name: &str) -> Self {
        let dir = tempfile::tempdir().unwrap();
        let home = Home::at(dir.path().to_owned());
        let settings = Settings { machine_name: Some(name.to_owned()), ..settings.clone() };
        Self { dir, home, settings }
    }

    async fn be_accepted(&self) {
        let member = open(&self.settings).await;
        let invitation = member.keyring.invite(&self.settings).unwrap().unwrap();
        let keyring = self.keyring();
        keyring.follow(&invitation).unwrap();
        let link = open_with(&self.settings, &keyring).await;
        link.introduce(&MachineInfo::new(&keyring.machine(), "0.0.0", "x")).await.unwrap();
        let unknown = Picture::take(&member).await.unwrap().unknown;
        let stranger = unknown.iter().find(|stranger| stranger.id == keyring.machine().id).unwrap();
        member.admit(stranger).await.unwrap();
        assert_eq!(link.sync_team().await.unwrap(), Membership::Member);
    }

    pub(crate) fn keyring(&self) -> Keyring {
        Keyring::of(&self.home, self.settings.machine_name.as_deref()).unwrap()
    }

    /// A connection as this machine.
    pub(crate) async fn link(&self) -> Link {
        open_with(&self.settings, &self.keyring()).await
    }

    pub(crate) fn machine(&self) -> Machine {
        self.keyring().machine()
    }

    pub(crate) fn relay(&self) -> Relay {
        let setup = Setup {
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

    /// As a hook does.
    pub(crate) fn append(&self, id: &str, number: usize) {
        files::append_lines(&self.session(id).timeline_file(), &format!("{}\n", event(id, number))).unwrap();
    }

    /// Several at once, as after a while without a look.
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

/// What is on the server, by machine and session.
pub(crate) type Told = BTreeMap<(String, String), Vec<u64>>;

/// All events on the server, in the order in which they are there; `None` if it cannot be asked just now.
pub(crate) fn told(settings: &Settings) -> Option<Told> {
    block_on(async {
        let link = try_open(settings).await.ok()?;
        // A reader whose server has just gone may wait for ever; the next one will not.
        tokio::time::timeout(READING, on_the_server(&link)).await.ok()?
    })
}

async fn on_the_server(link: &Link) -> Option<Told> {
    use async_nats::jetstream::consumer::pull;
    let mut all = Told::new();
    let wanted = link.events.get_info().await.ok()?.state.messages;
    let consumer = link.events.create_consumer(pull::OrderedConfig::default()).await.ok()?;
    let mut messages = consumer.messages().await.ok()?;
    for _ in 0..wanted {
        let message = messages.next().await?.ok()?;
        let origin = link.names.origin_of(&message.subject).unwrap();
        let Ok(said) = serde_json::from_slice::<Value>(&message.payload) else { continue };
        let Some(lines) = said["body"]["lines"].as_array() else { continue };
        let count = |line: &Value| serde_json::from_str::<Value>(line.as_str()?).ok()?["count"].as_u64();
        all.entry(origin).or_default().extend(lines.iter().filter_map(count));
    }
    Some(all)
}

/// Waits until something is so.
pub(crate) fn until(what: &str, mut is_so: impl FnMut() -> bool) {
    let begun = Instant::now();
    while !is_so() {
        assert!(begun.elapsed() < PATIENCE, "never happened: {what}");
        std::thread::sleep(LOOK_EVERY);
    }
}

pub(crate) fn text(path: &Path) -> String {
    fs::read_to_string(path).unwrap_or_default()
}
