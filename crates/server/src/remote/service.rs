//! Starts the threads: one checks sessions, one per channel sends, one polls Telegram for commands.

use std::collections::HashMap;
use std::fmt::Debug;
use std::io;
use std::sync::mpsc::{self, Receiver, RecvTimeoutError, Sender};
use std::sync::{Arc, OnceLock};
use std::thread;
use std::time::{Duration, Instant};

use overtone_core::messages::Lang;
use overtone_session::view::Summary;
use overtone_store::{Home, Log, Session, SessionId, clock};

use crate::remote::channels::Channel;
use crate::remote::config::Settings;
use crate::remote::delivery::DeliveryWorker;
use crate::remote::outbox::{DAY_MS, Outbox};
use crate::remote::telegram_listener::TelegramListener;
use crate::remote::watcher::Watcher;
use overtone_net::{Backoff, Client};

/// How often the supervisor's folder is checked, and sessions that could not be recorded are retried.
const CHECK_INTERVAL: Duration = Duration::from_secs(3);
const CLEANUP_INTERVAL: Duration = Duration::from_mins(10);
/// How long [`RemoteService::stop`] waits for messages that are being sent.
const STOP_TIMEOUT: Duration = Duration::from_secs(5);
/// The longest delay between two attempts is this many times the first one: about half an hour.
const MAX_BACKOFF_FACTOR: u32 = 1024;
/// How many bytes of a service's response are read.
pub(crate) const MAX_RESPONSE_BYTES: u64 = 1024 * 1024;

/// Gives access to the sessions of the server.
pub trait SessionBackend: Debug + Send + Sync + 'static {
    fn sessions(&self) -> Vec<Summary>;
    fn session(&self, id: &SessionId) -> Option<Summary>;
    /// Stops the loop of a session. The error is a text for the user.
    fn stop(&self, session: &Session, by: &str) -> Result<(), String>;
    /// Records that the server is in use.
    fn touch(&self);
}

/// What a [`RemoteService`] needs to start.
#[derive(Debug)]
pub struct Setup {
    pub home: Home,
    pub version: &'static str,
    pub lang: Lang,
    pub backend: Arc<dyn SessionBackend>,
}

/// The running notifications of a server.
#[derive(Debug)]
pub struct RemoteService {
    changed_sessions: Sender<SessionId>,
    outbox: Arc<Outbox>,
    backend: Arc<dyn SessionBackend>,
    takes_commands: bool,
}

impl RemoteService {
    /// Returns `None` if no channel is configured. Errors in the configuration are logged.
    pub fn start(setup: Setup) -> io::Result<Option<Self>> {
        let log = Log::new(&setup.home, "remote", "dashboard/remote.log");
        let (settings, errors) = Settings::load(&setup.home);
        for error in errors.iter().filter(|error| !error.is_warning()) {
            log.write_line(&settings.redact(&error.message(setup.lang)));
        }
        if settings.is_empty() {
            return Ok(None);
        }
        let outbox = Arc::new(Outbox::open(&setup.home, log.clone())?);
        Self::spawn_threads(setup, Arc::new(settings), outbox, log).map(Some)
    }

    fn spawn_threads(
        setup: Setup,
        settings: Arc<Settings>,
        outbox: Arc<Outbox>,
        log: Log,
    ) -> io::Result<Self> {
        let client = Arc::new(Client::new(setup.version, MAX_RESPONSE_BYTES));
        let backoff = Backoff::from_env("OVERTONE_REMOTE_BACKOFF_MS", MAX_BACKOFF_FACTOR);
        for channel in Channel::all(&settings) {
            let worker = DeliveryWorker {
                channel,
                client: Arc::clone(&client),
                outbox: Arc::clone(&outbox),
                settings: Arc::clone(&settings),
                backoff,
                log: log.clone(),
            };
            spawn("remote-send", move || worker.run())?;
        }
        if let Some(telegram) = settings.telegram.clone() {
            let listener = TelegramListener {
                telegram,
                client,
                backend: Arc::clone(&setup.backend),
                outbox: Arc::clone(&outbox),
                backoff,
                lang: setup.lang,
                log: log.clone(),
                bot_name: OnceLock::new(),
            };
            spawn("remote-listen", move || listener.run())?;
        }
        let takes_commands = settings.telegram.is_some();
        let (sender, receiver) = mpsc::channel();
        let watcher = Watcher {
            backend: Arc::clone(&setup.backend),
            settings,
            outbox: Arc::clone(&outbox),
            lang: setup.lang,
            log,
            audit_times: HashMap::new(),
            skips_existing: outbox.lost_history,
        };
        spawn("remote-watch", move || run_watcher(watcher, &receiver))?;
        Ok(Self { changed_sessions: sender, outbox, backend: setup.backend, takes_commands })
    }

    /// Tells the service that a session has changed.
    pub fn notify_changed(&self, session: &str) {
        if let Some(session) = SessionId::parse(session) {
            // The receiving thread lives as long as the process.
            let _ = self.changed_sessions.send(session);
        }
    }

    /// Whether the server must keep running although nobody uses it: messages are queued, or the user may send a
    /// command about an open session.
    pub fn is_needed(&self) -> bool {
        let is_open =
            |summary: &Summary| summary.state.is_open() && clock::now().since(summary.last_activity) < DAY_MS;
        self.outbox.has_pending() || (self.takes_commands && self.backend.sessions().iter().any(is_open))
    }

    /// Stops sending. Messages being sent are waited for; queued ones are left for the next server.
    pub fn stop(&self) {
        self.outbox.close(STOP_TIMEOUT);
    }
}

fn spawn(name: &str, run: impl FnOnce() + Send + 'static) -> io::Result<()> {
    thread::Builder::new().name(name.to_owned()).spawn(run).map(|_| ())
}

fn run_watcher(mut watcher: Watcher, changed: &Receiver<SessionId>) {
    let mut pending = all_sessions(&watcher);
    watcher.outbox.remove_expired(&pending);
    let mut last_supervisor_check = None::<Instant>;
    let mut last_cleanup = Instant::now();
    loop {
        pending.extend(changed.try_iter());
        pending.sort_unstable_by(|a, b| a.as_str().cmp(b.as_str()));
        pending.dedup();
        // Sessions whose messages could not be written to the outbox are checked again.
        pending.retain(|session| !watcher.check_session(session));
        if last_supervisor_check.is_none_or(|at| at.elapsed() >= CHECK_INTERVAL) {
            last_supervisor_check = Some(Instant::now());
            watcher.check_supervisor();
        }
        if watcher.skips_existing {
            watcher.skips_existing = false;
            // The events that were skipped must not be found again after a restart.
            watcher.outbox.save_cursors();
        }
        if last_cleanup.elapsed() >= CLEANUP_INTERVAL {
            last_cleanup = Instant::now();
            watcher.outbox.remove_expired(&all_sessions(&watcher));
        }
        match changed.recv_timeout(CHECK_INTERVAL) {
            Ok(session) => pending.push(session),
            Err(RecvTimeoutError::Timeout) => {}
            Err(RecvTimeoutError::Disconnected) => return,
        }
    }
}

fn all_sessions(watcher: &Watcher) -> Vec<SessionId> {
    watcher.backend.sessions().iter().map(|summary| summary.session.id().clone()).collect()
}
