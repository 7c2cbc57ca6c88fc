//! The mirror: copies of all sessions of the fleet in a separate home, so that everything that shows the sessions of a
//! home can show those of all machines.
//!
//! A thread watches sessions, claims and machines on the server, and follows the timelines. Unreadable messages are
//! counted and skipped. After any error it reports the problem and connects again. Nothing is written twice, because
//! [`progress`] records the position of each file. Orders to other machines are not part of the mirror; they are sent
//! over its [`link`](Mirror::link).

pub(crate) mod copy;
pub(crate) mod fleet_state;
mod follow;
pub(crate) mod listen;
pub(crate) mod progress;
pub(crate) mod timeline;

use std::convert::Infallible;
use std::fs::File;
use std::io;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::{self, JoinHandle};

use async_nats::Client;
use async_nats::connection::State as Connection;
use overtone_core::engine::text::printable;
use overtone_store::{Home, create_private_dir, files};

use crate::config::Settings;
use crate::error::Result;
use crate::link::{self, Link};
use crate::machine::fleet_dir;
use crate::snapshot::MachineView;
use crate::supervise::{SingleThreadRuntime, StopSignal, WorkerExit, reconnect_delay, supervise};
use crate::trust::Keyring;
use fleet_state::FleetState;
pub use fleet_state::{FeatureWork, FeatureWorker};
use progress::MirrorProgress;

/// The configuration of a mirror.
#[derive(Debug, Clone)]
pub struct MirrorSetup {
    /// The machine's own home; the mirror is a folder in it.
    pub home: Home,
    pub settings: Settings,
}

/// The current state of a mirror.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct MirrorStatus {
    pub is_connected: bool,
    /// How many events were written since the start.
    pub events: u64,
    /// How many messages could not be read.
    pub unreadable: usize,
    /// The highest later version among the unreadable messages.
    pub newer_version: Option<u32>,
    /// The current problem, if there is one.
    pub problem: Option<String>,
}

/// A running mirror. Dropping it stops its thread.
#[derive(Debug)]
pub struct Mirror {
    shared: Arc<Shared>,
    thread: Option<JoinHandle<()>>,
}

#[derive(Debug, Default)]
struct Shared {
    stop: StopSignal,
    status: Mutex<MirrorStatus>,
    fleet: Mutex<FleetState>,
    link: Mutex<Option<Link>>,
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    // Every update is complete in itself, so a poisoned lock is still consistent.
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Shared {
    fn update(&self, change: impl FnOnce(&mut MirrorStatus)) {
        change(&mut lock(&self.status));
    }
}

impl Mirror {
    /// The home of the mirror, in the machine's own home.
    pub fn home(home: &Home) -> Home {
        Home::at(fleet_dir(home).join("mirror"))
    }

    /// Starts the mirror. The files are consistent when this returns; new content follows in the background.
    pub fn start(setup: MirrorSetup) -> io::Result<Self> {
        let home = Self::home(&setup.home);
        create_private_dir(&home.sessions_dir())?;
        let lock_file = files::try_lock_file(&lock_path(&home))?.ok_or_else(already_running)?;
        home.sweep_removed();
        MirrorProgress::load(&home).truncate_timelines(&home)?;
        let shared = Arc::new(Shared::default());
        let keyring = Keyring::load_or_create(&setup.home, setup.settings.machine_name.as_deref())?;
        let worker = MirrorWorker {
            home,
            settings: setup.settings,
            keyring,
            shared: Arc::clone(&shared),
            _lock: lock_file,
        };
        let work = move || {
            supervise(
                || worker.run(),
                |problem| worker.report_problem(problem),
                |time| worker.shared.stop.pause(time),
            );
        };
        let thread = thread::Builder::new().name("fleet-mirror".to_owned()).spawn(work)?;
        Ok(Self { shared, thread: Some(thread) })
    }

    pub fn status(&self) -> MirrorStatus {
        let (unreadable, newer_version) = lock(&self.shared.fleet).unreadable();
        let status = lock(&self.shared.status).clone();
        MirrorStatus {
            unreadable: status.unreadable + unreadable,
            newer_version: status.newer_version.max(newer_version),
            ..status
        }
    }

    /// All machines that were ever online, sorted by name.
    pub fn machines(&self) -> Vec<MachineView> {
        lock(&self.shared.fleet).machines()
    }

    /// All features with the sessions that work on them.
    pub fn features(&self) -> Vec<FeatureWork> {
        lock(&self.shared.fleet).features()
    }

    /// The id and the name of the machine that owns a session.
    pub fn owner(&self, session: &str) -> Option<(String, String)> {
        lock(&self.shared.fleet).owner(session)
    }

    /// The connection, while there is one.
    pub fn link(&self) -> Option<Link> {
        lock(&self.shared.link).clone()
    }
}

impl Drop for Mirror {
    fn drop(&mut self) {
        self.shared.stop.request();
        if let Some(thread) = self.thread.take() {
            // The panic hook has already reported a panic of the thread.
            let _ = thread.join();
        }
    }
}

fn lock_path(home: &Home) -> PathBuf {
    home.root().join("mirror.lock")
}

fn already_running() -> io::Error {
    io::Error::new(io::ErrorKind::WouldBlock, "another process runs the fleet's mirror")
}

/// The state of the mirror that is independent of the connection.
#[derive(Debug)]
struct MirrorWorker {
    home: Home,
    settings: Settings,
    keyring: Keyring,
    shared: Arc<Shared>,
    /// Held as long as the mirror runs.
    _lock: File,
}

impl MirrorWorker {
    /// Runs the worker once.
    fn run(&self) -> WorkerExit {
        let run = || -> io::Result<()> {
            let mut progress = MirrorProgress::load(&self.home);
            progress.truncate_timelines(&self.home)?;
            SingleThreadRuntime::new()?.block_on(async {
                tokio::select! {
                    () = self.shared.stop.requested() => {}
                    _ = self.reconnect_forever(&mut progress) => {}
                }
            });
            progress.save()
        };
        match run() {
            Ok(()) => WorkerExit::Stopped,
            Err(error) if self.shared.stop.is_requested() => {
                eprintln!("[overtone/fleet] {error}");
                WorkerExit::Stopped
            }
            Err(error) => WorkerExit::Failed(error.to_string()),
        }
    }

    async fn reconnect_forever(&self, progress: &mut MirrorProgress) -> Infallible {
        let mut failures = 0;
        let mut client: Option<Client> = None;
        loop {
            let Err(error) = Box::pin(self.work(&mut client, progress)).await;
            // A failure after a working connection counts as the first one.
            let was_connected = lock(&self.shared.status).is_connected;
            failures = if was_connected { 0 } else { failures + 1 };
            self.report_problem(&error.to_string());
            if let Some(open) = &client
                && open.connection_state() != Connection::Connected
            {
                client = None;
            }
            tokio::time::sleep(reconnect_delay(failures)).await;
        }
    }

    /// Connects and follows the fleet until an error occurs.
    async fn work(&self, client: &mut Option<Client>, progress: &mut MirrorProgress) -> Result<Infallible> {
        let open = match client.take() {
            Some(client) => client,
            None => link::connect(&self.settings, "overtone mirror").await?,
        };
        *client = Some(open.clone());
        let link = Box::pin(Link::with_client(open, &self.settings, &self.keyring)).await?;
        *lock(&self.shared.link) = Some(link.clone());
        Box::pin(self.follow(&link, progress)).await
    }

    /// Records a problem. It is printed once, not again while it stays the same.
    fn report_problem(&self, problem: &str) {
        *lock(&self.shared.link) = None;
        let mut is_new = false;
        self.shared.update(|status| {
            is_new = status.problem.as_deref() != Some(problem);
            status.is_connected = false;
            status.problem = Some(problem.to_owned());
        });
        if is_new {
            eprintln!("[overtone/fleet] {}", printable(problem));
        }
    }
}
