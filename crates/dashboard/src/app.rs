//! What every answer is made from.

use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::atomic::AtomicU64;
use std::sync::{Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::{Duration, Instant};

use overtone_engine::settings::Settings;
use overtone_engine::state::Millis;
use overtone_messages::Lang;
use overtone_remote::Remote;
use overtone_store::{Home, clock};
use overtone_telemetry::Exporter;
use overtone_view::AgentUsage;

use crate::access::Access;
use crate::api::SharedAnswers;
use crate::fleet::Fleet;
use crate::histories::Histories;
use crate::hub::Hub;
use crate::index::{Index, Kind};

/// A conversation that was read, and how long it was then.
pub(crate) type KnownUsage = (u64, AgentUsage);

#[derive(Debug)]
pub(crate) struct App {
    pub(crate) home: Home,
    pub(crate) version: &'static str,
    pub(crate) settings: Settings,
    pub(crate) lang: Lang,
    pub(crate) door: Door,
    pub(crate) started: Millis,
    /// Which start of the server this is.
    pub(crate) instance: String,
    /// The system reports changes of files.
    pub(crate) is_told: bool,
    pub(crate) hub: Hub,
    /// Only when notifications are configured.
    pub(crate) remote: OnceLock<Remote>,
    /// Only when a collector is configured.
    pub(crate) telemetry: OnceLock<Exporter>,
    pub(crate) fleet: Fleet,
    index: Mutex<Index>,
    pub(crate) histories: Histories,
    /// The statistics that were asked for.
    pub(crate) answers: SharedAnswers,
    /// How often statistics were computed.
    pub(crate) computed: AtomicU64,
    pub(crate) usages: Mutex<HashMap<PathBuf, KnownUsage>>,
    last_use: Mutex<Instant>,
}

/// Who may ask, and under which names.
#[derive(Debug)]
pub(crate) struct Door {
    pub(crate) access: Access,
    /// Reachable from other machines, under any of its addresses.
    pub(crate) is_open: bool,
    pub(crate) port: u16,
    /// Names under which it may be asked for, beside its addresses.
    pub(crate) host_names: Vec<String>,
}

/// What is watched, and by which rules it is judged.
#[derive(Debug)]
pub(crate) struct Watched {
    pub(crate) settings: Settings,
    pub(crate) is_told: bool,
    pub(crate) fleet: Fleet,
    /// Which start of the server it is.
    pub(crate) instance: String,
}

impl App {
    pub(crate) fn new(home: Home, version: &'static str, lang: Lang, door: Door, watch: Watched) -> Self {
        let Watched { settings, is_told, fleet, instance } = watch;
        let kind = if fleet.is_shown() { Kind::Copies } else { Kind::Own };
        Self {
            index: Mutex::new(Index::load(&home, settings.clone(), kind)),
            home,
            version,
            settings,
            lang,
            door,
            started: clock::now(),
            instance,
            is_told,
            hub: Hub::new(),
            remote: OnceLock::new(),
            telemetry: OnceLock::new(),
            fleet,
            histories: Histories::default(),
            answers: SharedAnswers::default(),
            computed: AtomicU64::new(0),
            usages: Mutex::default(),
            last_use: Mutex::new(Instant::now()),
        }
    }

    /// Whoever tells news holds it, so that a listener who holds it joins between two of them.
    pub(crate) fn index(&self) -> MutexGuard<'_, Index> {
        lock(&self.index)
    }

    /// Somebody asked, or something happened.
    pub(crate) fn touch(&self) {
        *lock(&self.last_use) = Instant::now();
    }

    pub(crate) fn idle_for(&self) -> Duration {
        if self.hub.listeners() > 0 { Duration::ZERO } else { lock(&self.last_use).elapsed() }
    }
}

/// What is inside is whole after every step, so a panic elsewhere does not matter.
pub(crate) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
