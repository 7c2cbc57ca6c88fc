//! The mirror: every session of the fleet as files in a home of its own, so that whatever shows the sessions of a
//! machine can show those of all.
//!
//! One thread keeps it: it watches what the server has of sessions, claims and machines, and follows the timelines.
//! What cannot be understood is counted and passed over. Whatever goes wrong on the way to the server is noted, and then
//! everything is tried again; nothing is written twice, because [`notes`] say how far each file is. Not here: orders to
//! other machines, which go their own way over the mirror's [`link`](Mirror::link).

mod copy;
mod follow;
mod known;
mod listen;
mod notes;
mod timeline;

use std::convert::Infallible;
use std::fs::File;
use std::io;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use async_nats::Client;
use async_nats::connection::State as Connection;
use overtone_engine::text::printable;
use overtone_store::{Home, create_private_dir, files};

use crate::config::Settings;
use crate::error::Result;
use crate::link::{self, Link};
use crate::machine::folder;
use crate::picture::MachineView;
use crate::supervise::{End, Ended, OneThread, supervise};
use crate::trust::Keyring;
use known::Known;
pub use known::{FeatureWork, FeatureWorker};
use notes::Notes;

/// How long to wait after something went wrong: longer and longer, up to the last.
const PAUSES: [Duration; 4] =
    [Duration::from_millis(200), Duration::from_millis(500), Duration::from_secs(2), Duration::from_secs(5)];

/// What a mirror needs.
#[derive(Debug, Clone)]
pub struct MirrorSetup {
    /// The machine's own home; the mirror is a folder in it.
    pub home: Home,
    pub settings: Settings,
}

/// How it goes.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct MirrorStatus {
    pub is_connected: bool,
    /// Events written since the start.
    pub events: u64,
    /// Messages that could not be understood, and the latest version that some of them were of.
    pub foreign: usize,
    pub later: Option<u32>,
    /// What went wrong last, while it does.
    pub problem: Option<String>,
}

/// A mirror that is kept. It ends when dropped.
#[derive(Debug)]
pub struct Mirror {
    shared: Arc<Shared>,
    thread: Option<JoinHandle<()>>,
}

#[derive(Debug, Default)]
struct Shared {
    end: End,
    status: Mutex<MirrorStatus>,
    known: Mutex<Known>,
    link: Mutex<Option<Link>>,
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    // What is inside is whole after every step.
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Shared {
    fn update(&self, change: impl FnOnce(&mut MirrorStatus)) {
        change(&mut lock(&self.status));
    }
}

impl Mirror {
    /// The home that is kept for a machine.
    pub fn home(home: &Home) -> Home {
        Home::at(folder(home).join("mirror"))
    }

    /// Begins. Its files are as far as was noted when this returns; the rest comes by and by.
    pub fn start(setup: MirrorSetup) -> io::Result<Self> {
        let home = Self::home(&setup.home);
        create_private_dir(&home.sessions_dir())?;
        let place = files::try_lock_file(&lock_path(&home))?.ok_or_else(taken)?;
        home.sweep_removed();
        Notes::load(&home).cut_back(&home)?;
        let shared = Arc::new(Shared::default());
        let keyring = Keyring::of(&setup.home, setup.settings.machine_name.as_deref())?;
        let keeper =
            Keeper { home, settings: setup.settings, keyring, shared: Arc::clone(&shared), _place: place };
        let work = move || {
            supervise(
                || keeper.run(),
                |problem| keeper.note_problem(problem),
                |time| keeper.shared.end.pause(time),
            );
        };
        let thread = thread::Builder::new().name("fleet-mirror".to_owned()).spawn(work)?;
        Ok(Self { shared, thread: Some(thread) })
    }

    pub fn status(&self) -> MirrorStatus {
        let known = lock(&self.shared.known).foreign();
        let status = lock(&self.shared.status).clone();
        MirrorStatus { foreign: status.foreign + known.0, later: status.later.max(known.1), ..status }
    }

    /// Every machine that was ever there, by name.
    pub fn machines(&self) -> Vec<MachineView> {
        lock(&self.shared.known).machines()
    }

    /// Everything that is worked on, and by whom.
    pub fn features(&self) -> Vec<FeatureWork> {
        lock(&self.shared.known).features()
    }

    /// The machine that a session belongs to: its number and its name.
    pub fn owner(&self, session: &str) -> Option<(String, String)> {
        lock(&self.shared.known).owner(session)
    }

    /// The connection, while there is one.
    pub fn link(&self) -> Option<Link> {
        lock(&self.shared.link).clone()
    }
}

impl Drop for Mirror {
    fn drop(&mut self) {
        self.shared.end.ask();
        if let Some(thread) = self.thread.take() {
            // A panic in there was told by itself.
            let _ = thread.join();
        }
    }
}

fn lock_path(home: &Home) -> PathBuf {
    home.root().join("mirror.lock")
}

fn taken() -> io::Error {
    io::Error::new(io::ErrorKind::WouldBlock, "another process keeps the fleet's mirror")
}

/// What keeps the mirror, beside the connection.
#[derive(Debug)]
struct Keeper {
    home: Home,
    settings: Settings,
    keyring: Keyring,
    shared: Arc<Shared>,
    _place: File,
}

impl Keeper {
    /// One life of the worker. Files are as far as was noted when it begins.
    fn run(&self) -> Ended {
        let lived = || -> io::Result<()> {
            let mut notes = Notes::load(&self.home);
            notes.cut_back(&self.home)?;
            OneThread::new()?.block_on(async {
                tokio::select! {
                    () = self.shared.end.asked() => {}
                    _ = self.go_on(&mut notes) => {}
                }
            });
            notes.save()
        };
        match lived() {
            Ok(()) => Ended::Asked,
            Err(error) if self.shared.end.is_asked() => {
                eprintln!("[overtone/fleet] {error}");
                Ended::Asked
            }
            Err(error) => Ended::Failed(error.to_string()),
        }
    }

    async fn go_on(&self, notes: &mut Notes) -> Infallible {
        let mut failures = 0;
        let mut client: Option<Client> = None;
        loop {
            let Err(error) = Box::pin(self.work(&mut client, notes)).await;
            // A while without trouble, and the next one is the first again.
            let was_well = lock(&self.shared.status).is_connected;
            failures = if was_well { 0 } else { failures + 1 };
            self.note_problem(&error.to_string());
            client = client.filter(|client| client.connection_state() == Connection::Connected);
            tokio::time::sleep(PAUSES[failures.min(PAUSES.len() - 1)]).await;
        }
    }

    /// Works until something goes wrong.
    async fn work(&self, client: &mut Option<Client>, notes: &mut Notes) -> Result<Infallible> {
        let open = match client.take() {
            Some(client) => client,
            None => link::connect(&self.settings, "overtone mirror").await?,
        };
        *client = Some(open.clone());
        let link = Box::pin(Link::with(open, &self.settings, &self.keyring)).await?;
        *lock(&self.shared.link) = Some(link.clone());
        Box::pin(self.follow(&link, notes)).await
    }

    /// Says it once, and not again and again while it stays the same.
    fn note_problem(&self, problem: &str) {
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
