//! A NATS server, and machines that are private homes side by side.

use std::cell::RefCell;
use std::fs;
use std::io::{BufRead as _, BufReader};
use std::ops::{Deref, DerefMut};
use std::path::Path;
use std::process::{Child, Stdio};
use std::rc::Rc;
use std::thread;

use overtone_fleet::{Keyring, Link, Settings};
use overtone_store::Home;
use overtone_testkit::nats::{self, NatsServer};
use overtone_testkit::wait_until;
use serde_json::Value;

use crate::common::{Output, TestContext};

/// A NATS server, and the first machine of its team.
pub(crate) struct Server {
    nats: NatsServer,
    /// Invites and accepts the other machines.
    founder: RefCell<Option<Rc<TestContext>>>,
}

impl Deref for Server {
    type Target = NatsServer;

    fn deref(&self) -> &NatsServer {
        &self.nats
    }
}

impl DerefMut for Server {
    fn deref_mut(&mut self) -> &mut NatsServer {
        &mut self.nats
    }
}

impl Server {
    pub(crate) fn start() -> Self {
        Self::start_with("")
    }

    /// With these lines in the server's configuration.
    pub(crate) fn start_with(lines: &str) -> Self {
        Self { nats: NatsServer::start_with(&[lines]), founder: RefCell::new(None) }
    }
}

/// A home and a clone of the project, with a relay if one was started.
pub(crate) struct Machine {
    context: Rc<TestContext>,
    relay: Option<Child>,
}

impl Deref for Machine {
    type Target = TestContext;

    fn deref(&self) -> &TestContext {
        &self.context
    }
}

impl Drop for Machine {
    fn drop(&mut self) {
        self.end_relay();
    }
}

impl Machine {
    pub(crate) fn new() -> Self {
        Self::with_search_path(Path::new("/nowhere"))
    }

    /// A machine on which `nats-server` is installed.
    pub(crate) fn with_nats_server() -> Self {
        Self::with_search_path(nats::program().parent().unwrap())
    }

    fn with_search_path(folder: &Path) -> Self {
        let context = TestContext::new();
        context.create_folders(&["state"]);
        context.write("project/.git/config", "[remote \"origin\"]\n\turl = git@example.org:ann/shop.git\n");
        let state = context.path("state");
        let context = context.with_env("OVERTONE_HOME", state).with_env("USER", "ann");
        Self { context: Rc::new(context.with_env("PATH", folder)), relay: None }
    }

    /// A member of the team with a running relay.
    pub(crate) fn joined(server: &Server, name: &str) -> Self {
        Self::sharing(server, name, "state")
    }

    pub(crate) fn sharing(server: &Server, name: &str, share: &str) -> Self {
        let mut machine = Self::new();
        let founder = server.founder.borrow().clone();
        match founder {
            None => {
                let url = server.url();
                machine.run_args(&["fleet", "join", &url, "--name", name, "--share", share]).succeeds();
                server.founder.replace(Some(Rc::clone(&machine.context)));
            }
            Some(founder) => {
                let invitation = founder.run("fleet invite").succeeds().stdout;
                let join = format!("fleet join --name {name} --share {share}");
                machine.run_with_stdin(&join, invitation.trim()).succeeds();
                founder.run("fleet accept --invited").succeeds();
            }
        }
        machine.start_relay();
        wait_until("the other machines see it", || {
            let list = machine.json("fleet list");
            let machines = list["machines"].as_array().unwrap();
            machines.iter().any(|shown| shown["name"] == name && shown["present"] == true)
        });
        machine
    }

    pub(crate) fn overtone_home(&self) -> Home {
        Home::at(self.state())
    }

    pub(crate) fn keyring(&self) -> Keyring {
        let settings = Settings::load(&self.overtone_home()).0.unwrap();
        Keyring::load_or_create(&self.overtone_home(), settings.machine_name.as_deref()).unwrap()
    }

    /// The JSON output of a command that must succeed.
    #[track_caller]
    pub(crate) fn json(&self, line: &str) -> Value {
        self.run(&format!("{line} --json")).succeeds().json()
    }

    /// Starts a session with a workflow; `options` are those of `overtone init`.
    pub(crate) fn start_workflow(&self, session: &str, options: &str) -> Output {
        self.start_session(session);
        self.run(&format!("init quick --session {session} {options}"))
    }

    /// Returns when the relay is connected.
    pub(crate) fn start_relay(&mut self) {
        self.start_relay_with(&[]);
    }

    /// As [`start_relay`](Self::start_relay), with additional variables in its environment.
    pub(crate) fn start_relay_with(&mut self, environment: &[(&str, &str)]) {
        let mut command = self.command(&["relay", "--json"]);
        command.envs(environment.iter().copied());
        let mut child = command.stderr(Stdio::null()).spawn().unwrap();
        let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
        let is_connected = |line: &String| line.contains("\"connected\"");
        assert!(lines.by_ref().map_while(Result::ok).any(|line| is_connected(&line)), "it never connected");
        // The pipe is read until the relay ends, so that it never blocks on a full one.
        thread::spawn(move || lines.count());
        self.relay = Some(child);
    }

    pub(crate) fn end_relay(&mut self) {
        if let Some(mut relay) = self.relay.take() {
            let _ = relay.kill();
            let _ = relay.wait();
        }
    }

    /// Kills the relay and deletes its heartbeat, so that the machine counts as offline at once.
    pub(crate) fn go_offline(&mut self) {
        self.end_relay();
        let settings = Settings::load(&self.overtone_home()).0.unwrap();
        block_on(async {
            let link = Link::open(&settings, &self.keyring()).await.unwrap();
            link.heartbeats.delete(&self.keyring().machine().id).await.unwrap();
        });
    }

    /// Waits until the fleet lists a session in this state.
    pub(crate) fn wait_for_state(&self, session: &str, state: &str) {
        self.wait_for_session(session, state, |shown| shown["state"] == state);
    }

    /// Waits until the fleet lists a session as one of this machine.
    pub(crate) fn wait_for_owner(&self, session: &str, machine: &str) {
        self.wait_for_session(session, machine, |shown| shown["machine"]["name"] == machine);
    }

    fn wait_for_session(&self, session: &str, what: &str, matches: impl Fn(&Value) -> bool) {
        wait_until(&format!("{session} is listed: {what}"), || {
            let list = self.json("fleet list");
            let sessions = list["sessions"].as_array().unwrap();
            sessions.iter().any(|shown| shown["id"] == session && matches(shown))
        });
    }

    pub(crate) fn timeline(&self, session: &str) -> String {
        fs::read_to_string(self.session_dir(session).join("timeline.jsonl")).unwrap_or_default()
    }
}

pub(crate) fn block_on<T>(work: impl Future<Output = T>) -> T {
    tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap().block_on(work)
}
