//! The relay: one thread that tells the fleet what happens here, and does what the fleet asks for.
//!
//! It reads the same files as everybody else; hooks know nothing of it. Whatever goes wrong on the way to the server is
//! noted, and then everything is tried again: what was not told yet is in the files.

mod events;
mod heed;
mod obey;
mod pulse;
mod record;
mod refused;
mod state;
mod track;
mod visit;

use std::fs::File;
use std::io;
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use async_nats::Client;
use async_nats::connection::State as Connection;
use overtone_engine::settings::Settings as Limits;
use overtone_engine::text::printable;
use overtone_messages::Lang;
use overtone_store::config::Config;
use overtone_store::{Home, clock, create_private_dir, files};
use serde_json::json;

use crate::config::Settings;
use crate::dirty::Dirty;
use crate::error::{FleetError, Result};
use crate::link::{self, Link};
use crate::machine::{Machine, folder, random_hex};
use crate::supervise::{End, Ended, OneThread, supervise};
use crate::trust::{Keyring, Membership};
use record::Record;
pub use refused::{Reason, RefusedOrder, RefusedOrders, refused_orders};
use track::Tracks;

/// How long to wait after something went wrong: longer and longer, up to the last.
const PAUSES: [Duration; 4] =
    [Duration::from_millis(200), Duration::from_millis(500), Duration::from_secs(2), Duration::from_secs(5)];
/// How often the place of the one relay is asked for, while another process has it.
const ASK_EVERY: Duration = Duration::from_secs(2);
/// Everything is looked at so often, whatever the system told of changes.
const LOOK_EVERY: Duration = Duration::from_secs(30);

/// What a relay needs.
#[derive(Debug, Clone)]
pub struct Setup {
    pub home: Home,
    pub version: &'static str,
    pub lang: Lang,
    pub settings: Settings,
}

/// How it goes.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Status {
    pub is_connected: bool,
    /// Events told since the start.
    pub told: u64,
    /// What went wrong last, while it does.
    pub problem: Option<String>,
    /// How often the worker was started again because it had ended.
    pub restarts: u32,
    /// Why, the last time.
    pub last_failure: Option<String>,
    pub membership: Membership,
}

/// A relay at work. It ends when dropped.
#[derive(Debug)]
pub struct Relay {
    shared: Arc<Shared>,
    thread: Option<JoinHandle<()>>,
}

#[derive(Debug, Default)]
struct Shared {
    end: End,
    status: Mutex<Status>,
}

impl Shared {
    fn update(&self, change: impl FnOnce(&mut Status)) {
        change(&mut self.status.lock().unwrap_or_else(PoisonError::into_inner));
    }

    fn now(&self) -> Status {
        self.status.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

impl Relay {
    pub fn start(setup: Setup) -> io::Result<Self> {
        let shared = Arc::new(Shared::default());
        let inner = Arc::clone(&shared);
        let work = move || {
            let mut place = None;
            supervise(
                || run(&setup, &inner, &mut place),
                |problem| note_end(&setup, &inner, problem),
                |time| inner.end.pause(time),
            );
        };
        let thread = thread::Builder::new().name("fleet".to_owned()).spawn(work)?;
        Ok(Self { shared, thread: Some(thread) })
    }

    pub fn status(&self) -> Status {
        self.shared.now()
    }
}

impl Drop for Relay {
    fn drop(&mut self) {
        self.shared.end.ask();
        if let Some(thread) = self.thread.take() {
            // A panic in there was told by itself.
            let _ = thread.join();
        }
    }
}

/// The last status that a relay of this home has written down, as JSON.
pub fn last_status(home: &Home) -> Option<serde_json::Value> {
    let text = files::read_small(&status_file(home)).ok()??;
    serde_json::from_str(&text).ok()
}

/// Whether some process relays for this home now.
pub fn is_running(home: &Home) -> bool {
    files::is_locked(&lock_path(home))
}

fn status_file(home: &Home) -> std::path::PathBuf {
    folder(home).join("status.json")
}

fn lock_path(home: &Home) -> std::path::PathBuf {
    folder(home).join("relay.lock")
}

/// One life of the worker. The place of the home's one relay is kept over all of them.
fn run(setup: &Setup, shared: &Shared, place: &mut Option<File>) -> Ended {
    live(setup, shared, place).unwrap_or_else(|error| Ended::Failed(error.to_string()))
}

fn live(setup: &Setup, shared: &Shared, place: &mut Option<File>) -> io::Result<Ended> {
    create_private_dir(&folder(&setup.home))?;
    while place.is_none() {
        *place = files::try_lock_file(&lock_path(&setup.home))?;
        if place.is_none() && !shared.end.pause(ASK_EVERY) {
            return Ok(Ended::Asked);
        }
    }
    let ended = OneThread::new()?.block_on(async {
        tokio::select! {
            () = shared.end.asked() => Ended::Asked,
            ended = go_on(setup.clone(), shared) => {
                let Err(error) = ended;
                Ended::Failed(error.to_string())
            }
        }
    });
    Ok(ended.unwrap_or(Ended::Asked))
}

/// The worker has ended and is started again: until then it is neither connected nor does it do anything.
fn note_end(setup: &Setup, shared: &Shared, problem: &str) {
    eprintln!("[overtone/fleet] {}", printable(problem));
    shared.update(|status| {
        status.is_connected = false;
        status.problem = Some(problem.to_owned());
        status.restarts += 1;
        status.last_failure = Some(problem.to_owned());
    });
    let machine = Machine::of(&setup.home, setup.settings.machine_name.as_deref());
    write_status(&setup.home, machine.ok().as_ref(), &shared.now());
}

/// Ends only if this machine cannot even keep its own number.
async fn go_on(setup: Setup, shared: &Shared) -> std::result::Result<std::convert::Infallible, io::Error> {
    let mut worker = Worker::new(setup, shared)?;
    let _watching = worker.dirty.watch(&worker.setup.home);
    let mut failures = 0;
    let mut client: Option<Client> = None;
    loop {
        let Err(error) = Box::pin(worker.work(&mut client)).await;
        // A while without trouble, and the next one is the first again.
        failures = if shared.now().is_connected { 0 } else { failures + 1 };
        worker.note_problem(&error);
        client = client.filter(|client| client.connection_state() == Connection::Connected);
        tokio::time::sleep(PAUSES[failures.min(PAUSES.len() - 1)]).await;
        if client.is_none() {
            worker.read_settings_again();
        }
    }
}

/// Everything that a relay works with, beside the connection.
#[derive(Debug)]
struct Worker<'a> {
    setup: Setup,
    limits: Limits,
    machine: Machine,
    keyring: Keyring,
    record: Record,
    /// Of this start.
    instance: String,
    dirty: Dirty,
    tracks: Tracks,
    shared: &'a Shared,
}

impl<'a> Worker<'a> {
    fn new(setup: Setup, shared: &'a Shared) -> io::Result<Self> {
        let keyring = Keyring::of(&setup.home, setup.settings.machine_name.as_deref())?;
        Ok(Self {
            limits: Config::load_or_default(&setup.home).settings(),
            machine: keyring.machine(),
            keyring,
            record: Record::load(&setup.home),
            instance: random_hex(8)?,
            dirty: Dirty::default(),
            tracks: Tracks::load(&setup.home),
            shared,
            setup,
        })
    }

    /// Somebody may have put a new address or new credentials there. What cannot be used is left alone.
    fn read_settings_again(&mut self) {
        if let (Some(settings), _) = Settings::load(&self.setup.home) {
            self.setup.settings = settings;
        }
    }

    /// Works until something goes wrong.
    async fn work(
        &self,
        client: &mut Option<Client>,
    ) -> std::result::Result<std::convert::Infallible, FleetError> {
        let open = match client.take() {
            Some(client) => client,
            None => link::connect(&self.setup.settings, &self.machine.name).await?,
        };
        *client = Some(open.clone());
        let link = Box::pin(Link::with(open, &self.setup.settings, &self.keyring)).await?;
        // Whoever is in another team believes nothing that was signed for the one before, so all is told again.
        self.tracks.begin(&format!("{} {}", link.events_made_at(), self.keyring.team()));
        self.dirty.mark_all(&self.setup.home);
        self.shared.update(|status| *status = Status { is_connected: true, problem: None, ..status.clone() });
        self.write_status();
        // Each of them ends only with an error; then all begin anew.
        tokio::select! {
            outcome = self.tell(&link) => outcome,
            outcome = self.pulse(&link) => outcome,
            outcome = self.obey(&link) => outcome,
            outcome = self.heed(&link) => outcome,
            outcome = self.follow_team(&link) => outcome,
            outcome = self.look_at_everything() => outcome,
        }
    }

    async fn look_at_everything(&self) -> Result<std::convert::Infallible> {
        loop {
            tokio::time::sleep(LOOK_EVERY).await;
            self.dirty.mark_all(&self.setup.home);
        }
    }

    /// Says it once, and not again and again while it stays the same.
    fn note_problem(&self, error: &FleetError) {
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

    /// This machine, by the name that the team knows.
    fn machine(&self) -> Machine {
        self.keyring.machine()
    }
}

/// For `status`, `doctor` and whoever else asks without a server.
fn write_status(home: &Home, machine: Option<&Machine>, status: &Status) {
    let json = json!({
        "connected": status.is_connected, "told": status.told, "problem": status.problem,
        "restarts": status.restarts, "lastFailure": status.last_failure, "membership": status.membership.name(),
        "machine": machine.map(|machine| &machine.id), "name": machine.map(|machine| &machine.name),
        "at": clock::to_iso(clock::now()),
    });
    // It is for looking at only.
    let _ = files::write_atomic(&status_file(home), json.to_string().as_bytes(), files::PRIVATE);
}
