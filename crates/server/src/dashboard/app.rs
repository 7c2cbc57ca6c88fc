//! The state that all requests share.

use std::sync::atomic::AtomicU64;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::{Duration, Instant};

use crate::remote::RemoteService;
use crate::telemetry::Exporter;
use overtone_core::engine::settings::Settings;
use overtone_core::engine::state::Millis;
use overtone_core::messages::Lang;
use overtone_store::{Home, clock};

use crate::dashboard::access::Access;
use crate::dashboard::api::SharedStatisticsCache;
use crate::dashboard::fleet::Fleet;
use crate::dashboard::histories::Histories;
use crate::dashboard::hub::Hub;
use crate::dashboard::index::{Index, SessionOrigin};
use crate::dashboard::usages::Usages;

#[derive(Debug)]
pub(crate) struct App {
    pub(crate) home: Home,
    pub(crate) version: &'static str,
    pub(crate) settings: Settings,
    pub(crate) lang: Lang,
    pub(crate) endpoint: Endpoint,
    pub(crate) started: Millis,
    /// Identifies this run of the server.
    pub(crate) instance: String,
    /// Whether the system reports changes of files.
    pub(crate) is_watching: bool,
    pub(crate) hub: Hub,
    /// Set if notifications are configured.
    pub(crate) remote: OnceLock<RemoteService>,
    /// Set if a collector is configured.
    pub(crate) telemetry: OnceLock<Exporter>,
    pub(crate) fleet: Arc<dyn Fleet>,
    index: Mutex<Index>,
    pub(crate) histories: Histories,
    pub(crate) statistics: SharedStatisticsCache,
    /// How often statistics were computed.
    pub(crate) statistics_computed: AtomicU64,
    pub(crate) usages: Usages,
    last_use: Mutex<Instant>,
}

/// Where the server is reached, and who may use it.
#[derive(Debug)]
pub(crate) struct Endpoint {
    pub(crate) access: Access,
    /// Whether other machines can reach the server, under any of its addresses.
    pub(crate) is_open: bool,
    pub(crate) port: u16,
    /// Host names that are accepted in addition to addresses.
    pub(crate) host_names: Vec<String>,
}

/// What an [`App`] needs to start.
#[derive(Debug)]
pub(crate) struct AppSetup {
    pub(crate) home: Home,
    pub(crate) version: &'static str,
    pub(crate) settings: Settings,
    pub(crate) lang: Lang,
    pub(crate) endpoint: Endpoint,
    pub(crate) instance: String,
    pub(crate) is_watching: bool,
    pub(crate) fleet: Arc<dyn Fleet>,
}

impl App {
    /// Reads all sessions.
    pub(crate) fn new(setup: AppSetup) -> Self {
        let AppSetup { home, version, settings, lang, endpoint, instance, is_watching, fleet } = setup;
        let origin = if fleet.shows_all_machines() { SessionOrigin::Mirrored } else { SessionOrigin::Local };
        Self {
            index: Mutex::new(Index::load(&home, settings.clone(), origin)),
            home,
            version,
            settings,
            lang,
            endpoint,
            started: clock::now(),
            instance,
            is_watching,
            hub: Hub::new(),
            remote: OnceLock::new(),
            telemetry: OnceLock::new(),
            fleet,
            histories: Histories::default(),
            statistics: SharedStatisticsCache::default(),
            statistics_computed: AtomicU64::new(0),
            usages: Usages::default(),
            last_use: Mutex::new(Instant::now()),
        }
    }

    /// Locks the index. Updates are published under this lock, so a listener that subscribes under it misses none.
    pub(crate) fn index(&self) -> MutexGuard<'_, Index> {
        lock(&self.index)
    }

    /// Records that the server is in use.
    pub(crate) fn touch(&self) {
        *lock(&self.last_use) = Instant::now();
    }

    /// How long the server has not been used; zero while a client is connected.
    pub(crate) fn idle_for(&self) -> Duration {
        if self.hub.listeners() > 0 { Duration::ZERO } else { lock(&self.last_use).elapsed() }
    }
}

/// Locks a mutex whose content is consistent whenever it is unlocked, so a poisoned lock is usable.
pub(crate) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
