//! The relay: a thread that publishes the sessions of this machine and executes the orders of other machines.
//!
//! It only reads session files; hooks do not know about it. After any error it reports the problem and connects again.
//! Nothing is lost, because unpublished events are still in the files.

mod claims;
mod events;
mod heartbeat;
pub(crate) mod ledger;
mod orders;
mod progress;
mod refused;
mod state;
mod sync;

use std::fs::File;
use std::io;
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use async_nats::Client;
use async_nats::connection::State as Connection;
use overtone_core::engine::settings::Settings as Limits;
use overtone_core::engine::text::printable;
use overtone_core::messages::Lang;
use overtone_store::config::Config;
use overtone_store::{Home, clock, create_private_dir, files};
use serde::Serialize;

use crate::config::Settings;
use crate::dirty::DirtySessions;
use crate::error::{FleetError, Result};
use crate::link::{self, Link};
use crate::machine::{Machine, fleet_dir, random_hex};
use crate::supervise::{SingleThreadRuntime, StopSignal, WorkerExit, reconnect_delay, supervise};
use crate::trust::{Keyring, Membership};
use ledger::Ledger;
use progress::ProgressMap;
pub use refused::{RefusalReason, RefusedOrder, RefusedOrders, refused_orders};

/// How often to try the relay lock while another process holds it. A home has one active relay.
const LOCK_RETRY_INTERVAL: Duration = Duration::from_secs(2);
/// How often all sessions are checked, in case a file notification was missed.
const RESCAN_INTERVAL: Duration = Duration::from_secs(30);

/// The configuration of a relay.
#[derive(Debug, Clone)]
pub struct RelaySetup {
    pub home: Home,
    pub version: &'static str,
    pub lang: Lang,
    pub settings: Settings,
}

/// The current state of a relay.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct RelayStatus {
    pub is_connected: bool,
    /// How many events were published since the start.
    pub published: u64,
    /// The current problem, if there is one.
    pub problem: Option<String>,
    /// How often the worker was restarted after a failure or a panic.
    pub restarts: u32,
    /// The reason of the last restart.
    pub last_failure: Option<String>,
    pub membership: Membership,
}

/// A running relay. Dropping it stops its thread.
#[derive(Debug)]
pub struct Relay {
    shared: Arc<Shared>,
    thread: Option<JoinHandle<()>>,
}

#[derive(Debug, Default)]
struct Shared {
    stop: StopSignal,
    status: Mutex<RelayStatus>,
}

impl Shared {
    fn update(&self, change: impl FnOnce(&mut RelayStatus)) {
        change(&mut self.status.lock().unwrap_or_else(PoisonError::into_inner));
    }

    fn now(&self) -> RelayStatus {
        self.status.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

impl Relay {
    pub fn start(setup: RelaySetup) -> io::Result<Self> {
        let shared = Arc::new(Shared::default());
        let inner = Arc::clone(&shared);
        let work = move || {
            let mut lock = None;
            supervise(
                || run(&setup, &inner, &mut lock),
                |problem| report_exit(&setup, &inner, problem),
                |time| inner.stop.pause(time),
            );
        };
        let thread = thread::Builder::new().name("fleet".to_owned()).spawn(work)?;
        Ok(Self { shared, thread: Some(thread) })
    }

    pub fn status(&self) -> RelayStatus {
        self.shared.now()
    }
}

impl Drop for Relay {
    fn drop(&mut self) {
        self.shared.stop.request();
        if let Some(thread) = self.thread.take() {
            // The panic hook has already reported a panic of the thread.
            let _ = thread.join();
        }
    }
}

/// The last status that a relay of this home has written, as JSON.
pub fn last_relay_status(home: &Home) -> Option<serde_json::Value> {
    let text = files::read_small(&status_file(home)).ok()??;
    serde_json::from_str(&text).ok()
}

/// Whether a relay for this home is running, in any process.
pub fn is_relay_running(home: &Home) -> bool {
    files::is_locked(&lock_path(home))
}

fn status_file(home: &Home) -> std::path::PathBuf {
    fleet_dir(home).join("status.json")
}

fn lock_path(home: &Home) -> std::path::PathBuf {
    fleet_dir(home).join("relay.lock")
}

/// Runs the worker once. The relay lock is kept across restarts.
fn run(setup: &RelaySetup, shared: &Shared, lock: &mut Option<File>) -> WorkerExit {
    run_worker(setup, shared, lock).unwrap_or_else(|error| WorkerExit::Failed(error.to_string()))
}

fn run_worker(setup: &RelaySetup, shared: &Shared, lock: &mut Option<File>) -> io::Result<WorkerExit> {
    create_private_dir(&fleet_dir(&setup.home))?;
    while lock.is_none() {
        *lock = files::try_lock_file(&lock_path(&setup.home))?;
        if lock.is_none() && !shared.stop.pause(LOCK_RETRY_INTERVAL) {
            return Ok(WorkerExit::Stopped);
        }
    }
    let ended = SingleThreadRuntime::new()?.block_on(async {
        tokio::select! {
            () = shared.stop.requested() => WorkerExit::Stopped,
            ended = reconnect_forever(setup.clone(), shared) => {
                let Err(error) = ended;
                WorkerExit::Failed(error.to_string())
            }
        }
    });
    Ok(ended.unwrap_or(WorkerExit::Stopped))
}

/// Reports that the worker has failed and will be restarted.
fn report_exit(setup: &RelaySetup, shared: &Shared, problem: &str) {
    eprintln!("[overtone/fleet] {}", printable(problem));
    shared.update(|status| {
        status.is_connected = false;
        status.problem = Some(problem.to_owned());
        status.restarts += 1;
        status.last_failure = Some(problem.to_owned());
    });
    let machine = Machine::load_or_create(&setup.home, setup.settings.machine_name.as_deref());
    write_status(&setup.home, machine.ok().as_ref(), &shared.now());
}

/// Connects again after every error. Returns only if the worker's own files cannot be loaded.
async fn reconnect_forever(
    setup: RelaySetup,
    shared: &Shared,
) -> std::result::Result<std::convert::Infallible, io::Error> {
    let mut worker = Worker::new(setup, shared)?;
    let _watching = worker.dirty.watch(&worker.setup.home);
    let mut failures = 0;
    let mut client: Option<Client> = None;
    loop {
        let Err(error) = Box::pin(worker.work(&mut client)).await;
        // A failure after a working connection counts as the first one.
        failures = if shared.now().is_connected { 0 } else { failures + 1 };
        worker.report_problem(&error);
        if let Some(open) = &client
            && open.connection_state() != Connection::Connected
        {
            client = None;
        }
        tokio::time::sleep(reconnect_delay(failures)).await;
        if client.is_none() {
            worker.reload_settings();
        }
    }
}

/// The state of the relay that is independent of the connection.
#[derive(Debug)]
struct Worker<'a> {
    setup: RelaySetup,
    limits: Limits,
    machine: Machine,
    keyring: Keyring,
    ledger: Ledger,
    /// Random id of this start, to detect a second machine with the same id.
    instance: String,
    dirty: DirtySessions,
    progress: ProgressMap,
    shared: &'a Shared,
}

impl<'a> Worker<'a> {
    fn new(setup: RelaySetup, shared: &'a Shared) -> io::Result<Self> {
        let keyring = Keyring::load_or_create(&setup.home, setup.settings.machine_name.as_deref())?;
        Ok(Self {
            limits: Config::load_or_default(&setup.home).settings(),
            machine: keyring.machine(),
            keyring,
            ledger: Ledger::load(&setup.home),
            instance: random_hex(8)?,
            dirty: DirtySessions::default(),
            progress: ProgressMap::load(&setup.home),
            shared,
            setup,
        })
    }

    /// Reads the settings again, because the address or the credentials may have changed. Unusable settings are
    /// ignored.
    fn reload_settings(&mut self) {
        if let (Some(settings), _) = Settings::load(&self.setup.home) {
            self.setup.settings = settings;
        }
    }

    /// Connects and works until an error occurs.
    async fn work(
        &self,
        client: &mut Option<Client>,
    ) -> std::result::Result<std::convert::Infallible, FleetError> {
        let open = match client.take() {
            Some(client) => client,
            None => link::connect(&self.setup.settings, &self.machine.name).await?,
        };
        *client = Some(open.clone());
        let link = Box::pin(Link::with_client(open, &self.setup.settings, &self.keyring)).await?;
        // Messages are signed for a team, so everything is published again after a change of the team.
        self.progress.reset(&format!("{} {}", link.events_created_at(), self.keyring.team()));
        self.dirty.mark_all(&self.setup.home);
        self.shared
            .update(|status| *status = RelayStatus { is_connected: true, problem: None, ..status.clone() });
        self.write_status();
        // None of these returns without an error; then all of them start again.
        tokio::select! {
            outcome = self.publish_changes(&link) => outcome,
            outcome = self.send_heartbeats(&link) => outcome,
            outcome = self.process_orders(&link) => outcome,
            outcome = self.watch_claims(&link) => outcome,
            outcome = self.follow_team(&link) => outcome,
            outcome = self.rescan_periodically() => outcome,
        }
    }

    async fn rescan_periodically(&self) -> Result<std::convert::Infallible> {
        loop {
            tokio::time::sleep(RESCAN_INTERVAL).await;
            self.dirty.mark_all(&self.setup.home);
        }
    }

    /// Records a problem. It is printed once, not again while it stays the same.
    fn report_problem(&self, error: &FleetError) {
        let problem = error.to_string();
        let mut is_new = false;
        self.shared.update(|status| {
            is_new = status.problem.as_deref() != Some(&problem);
            status.is_connected = false;
            status.problem = Some(problem.clone());
        });
        if is_new {
            eprintln!("[overtone/fleet] {}", printable(&problem));
        }
        self.write_status();
    }

    fn write_status(&self) {
        write_status(&self.setup.home, Some(&self.machine()), &self.shared.now());
    }

    /// This machine, with its name in the team's list.
    fn machine(&self) -> Machine {
        self.keyring.machine()
    }
}

/// The content of `status.json`.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct StatusFile<'a> {
    connected: bool,
    #[serde(rename = "told")]
    published: u64,
    problem: Option<&'a str>,
    restarts: u32,
    last_failure: Option<&'a str>,
    membership: &'static str,
    machine: Option<&'a str>,
    name: Option<&'a str>,
    at: String,
}

/// Writes the status file, which `status` and `doctor` read.
fn write_status(home: &Home, machine: Option<&Machine>, status: &RelayStatus) {
    let content = StatusFile {
        connected: status.is_connected,
        published: status.published,
        problem: status.problem.as_deref(),
        restarts: status.restarts,
        last_failure: status.last_failure.as_deref(),
        membership: status.membership.name(),
        machine: machine.map(|machine| machine.id.as_str()),
        name: machine.map(|machine| machine.name.as_str()),
        at: clock::to_iso(clock::now()),
    };
    // Strings and numbers cannot fail to serialize.
    let text = serde_json::to_vec(&content).unwrap_or_default();
    // The file is informational, so a failure is ignored.
    let _ = files::write_atomic(&status_file(home), &text, files::PRIVATE);
}
