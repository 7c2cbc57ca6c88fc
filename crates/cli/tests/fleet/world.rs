//! A server, and machines that are homes side by side.

use std::cell::RefCell;
use std::fs;
use std::io::{BufRead as _, BufReader, Write as _};
use std::net::{Ipv4Addr, TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use overtone_fleet::{Keyring, Link, Settings};
use overtone_store::Home;
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::nats_server;

/// Longer than anything takes that will ever come: a watchdog, not a measure.
const TIMEOUT: Duration = Duration::from_mins(10);

pub(crate) fn free_port() -> u16 {
    TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap().local_addr().unwrap().port()
}

/// A server that ends with the test.
pub(crate) struct Server {
    pub(crate) port: u16,
    child: Child,
    _dir: TempDir,
    /// The first machine of the team, which invites and accepts the others.
    founder: RefCell<Option<PathBuf>>,
}

impl Server {
    pub(crate) fn start() -> Self {
        Self::start_with("")
    }

    /// With lines of the server's own configuration.
    pub(crate) fn start_with(lines: &str) -> Self {
        let (dir, port) = (TempDir::with_prefix("overtone-nats-").unwrap(), free_port());
        let config = dir.path().join("server.conf");
        fs::write(&config, format!("jetstream: enabled\n{lines}\n")).unwrap();
        let mut command = Command::new(nats_server::program());
        command.args(["-a", "127.0.0.1", "-p", &port.to_string(), "-sd"]).arg(dir.path().join("data"));
        command.arg("-c").arg(config);
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        let founder = RefCell::new(None);
        let server = Self { port, child: command.spawn().unwrap(), _dir: dir, founder };
        wait_until("the server answers", || TcpStream::connect((Ipv4Addr::LOCALHOST, port)).is_ok());
        server
    }

    pub(crate) fn url(&self) -> String {
        format!("nats://127.0.0.1:{}", self.port)
    }

    pub(crate) fn kill(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.kill();
    }
}

/// A home and a clone of the project, with a relay if one was started.
pub(crate) struct Machine {
    pub(crate) root: TempDir,
    relay: Option<Child>,
}

impl Drop for Machine {
    fn drop(&mut self) {
        self.end_relay();
    }
}

impl Machine {
    pub(crate) fn new() -> Self {
        let root = TempDir::with_prefix("overtone-fleet-").unwrap();
        fs::create_dir_all(root.path().join("shop/.git")).unwrap();
        fs::create_dir(root.path().join("state")).unwrap();
        let config = "[remote \"origin\"]\n\turl = git@example.org:ann/shop.git\n";
        fs::write(root.path().join("shop/.git/config"), config).unwrap();
        Self { root, relay: None }
    }

    /// Part of the fleet, and telling.
    pub(crate) fn joined(server: &Server, name: &str) -> Self {
        Self::sharing(server, name, "state")
    }

    pub(crate) fn sharing(server: &Server, name: &str, share: &str) -> Self {
        let mut machine = Self::new();
        let founder = server.founder.borrow().clone();
        match founder {
            None => {
                machine.run(&["fleet", "join", &server.url(), "--name", name, "--share", share]).ok();
                server.founder.replace(Some(machine.root.path().to_owned()));
            }
            Some(founder) => {
                let at_founder =
                    |arguments: &[&str]| Output::of(command(&founder, arguments), arguments).ok();
                let line = at_founder(&["fleet", "invite"]).stdout;
                machine.run_with(&["fleet", "join", "--name", name, "--share", share], line.trim()).ok();
                at_founder(&["fleet", "accept", "--invited"]);
            }
        }
        machine.start_relay();
        wait_until("the others see it", || {
            let list = machine.json(&["fleet", "list"]);
            let machines = list["machines"].as_array().unwrap();
            machines.iter().any(|shown| shown["name"] == name && shown["present"] == true)
        });
        machine
    }

    pub(crate) fn state(&self, below: &str) -> PathBuf {
        self.root.path().join("state").join(below)
    }

    pub(crate) fn project(&self) -> PathBuf {
        self.root.path().join("shop")
    }

    pub(crate) fn command(&self, arguments: &[&str]) -> Command {
        command(self.root.path(), arguments)
    }

    /// With a text on stdin.
    pub(crate) fn run_with(&self, arguments: &[&str], input: &str) -> Output {
        let mut command = self.command(arguments);
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().unwrap();
        child.stdin.take().unwrap().write_all(format!("{input}\n").as_bytes()).unwrap();
        Output::read(child.wait_with_output().unwrap(), arguments)
    }

    pub(crate) fn home(&self) -> Home {
        Home::at(self.state(""))
    }

    pub(crate) fn keyring(&self) -> Keyring {
        let settings = Settings::load(&self.home()).0.unwrap();
        Keyring::load_or_create(&self.home(), settings.machine_name.as_deref()).unwrap()
    }

    pub(crate) fn run(&self, arguments: &[&str]) -> Output {
        Output::of(self.command(arguments), arguments)
    }

    #[track_caller]
    pub(crate) fn json(&self, arguments: &[&str]) -> Value {
        let arguments: Vec<_> = arguments.iter().copied().chain(["--json"]).collect();
        serde_json::from_str(&self.run(&arguments).ok().stdout).unwrap()
    }

    /// As the client does at the start of a session.
    pub(crate) fn begin(&self, session: &str) {
        let mut child = self.command(&["hook", "on-start"]);
        let mut child = child.stdin(Stdio::piped()).stdout(Stdio::null()).spawn().unwrap();
        let payload = json!({
            "session_id": session, "cwd": self.project(), "hook_event_name": "SessionStart", "source": "startup",
        });
        child.stdin.take().unwrap().write_all(payload.to_string().as_bytes()).unwrap();
        assert!(child.wait().unwrap().success());
    }

    /// A session with a workflow, with the name of a feature or without.
    pub(crate) fn start(&self, session: &str, more: &[&str]) -> Output {
        self.begin(session);
        let arguments: Vec<_> =
            ["init", "quick", "--session", session].into_iter().chain(more.iter().copied()).collect();
        self.run(&arguments)
    }

    /// Returns when it is connected.
    pub(crate) fn start_relay(&mut self) {
        self.start_relay_with(&[]);
    }

    /// With more in its environment.
    pub(crate) fn start_relay_with(&mut self, environment: &[(&str, &str)]) {
        let mut command = self.command(&["relay", "--json"]);
        command.envs(environment.iter().copied());
        let mut child = command.stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
        let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
        let is_connected = |line: &String| line.contains("\"connected\"");
        assert!(lines.by_ref().map_while(Result::ok).any(|line| is_connected(&line)), "it never connected");
        // Its pipe stays open and read.
        thread::spawn(move || lines.count());
        self.relay = Some(child);
    }

    pub(crate) fn end_relay(&mut self) {
        if let Some(mut relay) = self.relay.take() {
            let _ = relay.kill();
            let _ = relay.wait();
        }
    }

    /// As if its relay had been silent for half a minute.
    pub(crate) fn vanish(&mut self) {
        self.end_relay();
        let settings = Settings::load(&self.home()).0.unwrap();
        block_on(async {
            let link = Link::open(&settings, &self.keyring()).await.unwrap();
            link.heartbeats.delete(&self.keyring().machine().id).await.unwrap();
        });
    }

    /// Waits until the fleet shows a session in this state.
    pub(crate) fn until_shown(&self, session: &str, state: &str) {
        wait_until(&format!("{session} is shown as {state}"), || {
            let list = self.json(&["fleet", "list"]);
            let sessions = list["sessions"].as_array().unwrap();
            sessions.iter().any(|shown| shown["id"] == session && shown["state"] == state)
        });
    }

    /// Waits until the fleet shows a session as that of a machine.
    pub(crate) fn until_owned_by(&self, session: &str, machine: &str) {
        wait_until(&format!("{session} is shown at {machine}"), || {
            let list = self.json(&["fleet", "list"]);
            let sessions = list["sessions"].as_array().unwrap();
            sessions.iter().any(|shown| shown["id"] == session && shown["machine"]["name"] == machine)
        });
    }

    pub(crate) fn timeline(&self, session: &str) -> String {
        fs::read_to_string(self.state("sessions").join(session).join("timeline.jsonl")).unwrap_or_default()
    }
}

fn command(root: &Path, arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_overtone"));
    command
        .args(arguments)
        .env_clear()
        .env("HOME", root)
        .env("OVERTONE_HOME", root.join("state"))
        .env("OVERTONE_LANG", "en")
        .env("OVERTONE_NO_DASHBOARD", "1")
        .env("OVERTONE_TEST_PATIENCE", "600")
        .env("USER", "ann")
        // For `fleet up`; nothing else of the person's programs is found.
        .env("PATH", nats_server::program().parent().unwrap())
        .current_dir(root.join("shop"))
        .stdin(Stdio::null());
    command
}

pub(crate) fn block_on<T>(work: impl Future<Output = T>) -> T {
    tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap().block_on(work)
}

pub(crate) fn wait_until(what: &str, mut condition: impl FnMut() -> bool) {
    let started = Instant::now();
    while !condition() {
        assert!(started.elapsed() < TIMEOUT, "never happened: {what}");
        thread::sleep(Duration::from_millis(50));
    }
}

pub(crate) fn read(path: &Path) -> Value {
    serde_json::from_str(&fs::read_to_string(path).unwrap()).unwrap()
}

#[derive(Debug)]
pub(crate) struct Output {
    pub(crate) code: Option<i32>,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

impl Output {
    fn of(mut command: Command, arguments: &[&str]) -> Self {
        Self::read(command.output().unwrap(), arguments)
    }

    fn read(output: std::process::Output, arguments: &[&str]) -> Self {
        let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
        let output =
            Self { code: output.status.code(), stdout: text(output.stdout), stderr: text(output.stderr) };
        println!("=== overtone {}\n{output:?}", arguments.join(" "));
        output
    }

    #[track_caller]
    pub(crate) fn ok(self) -> Self {
        assert_eq!(self.code, Some(0), "{self:?}");
        self
    }

    /// Failed with this code, and said why and what to do.
    #[track_caller]
    pub(crate) fn fails(self, code: i32, why: &str) -> Self {
        assert_eq!(self.code, Some(code), "{self:?}");
        assert!(self.stderr.contains(why) && self.stderr.contains("\nhint: "), "{self:?}");
        self
    }
}
