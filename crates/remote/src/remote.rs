//! The threads: one looks, one for each channel sends, one asks Telegram for commands.

use std::collections::HashMap;
use std::fmt::Debug;
use std::io;
use std::sync::mpsc::{self, Receiver, RecvTimeoutError, Sender};
use std::sync::{Arc, OnceLock};
use std::thread;
use std::time::{Duration, Instant};

use overtone_messages::Lang;
use overtone_store::{Home, Log, Session, SessionId, clock};
use overtone_view::Summary;

use crate::backoff::Backoff;
use crate::channels::Channel;
use crate::commands::Listener;
use crate::config::Settings;
use crate::deliver::Courier;
use crate::http::Client;
use crate::ledger::{DAY, Ledger};
use crate::watch::Watcher;

/// What no change reports is looked at this often: the supervisor's folder, and what has become too old.
const LOOK_EVERY: Duration = Duration::from_secs(3);
const SWEEP_EVERY: Duration = Duration::from_mins(10);
/// How long the end waits for a service that is being told something.
const PATIENCE: Duration = Duration::from_secs(5);

/// Who knows the sessions.
pub trait Host: Debug + Send + Sync + 'static {
    fn sessions(&self) -> Vec<Summary>;
    fn session(&self, id: &SessionId) -> Option<Summary>;
    /// Stops the loop of a session; otherwise why not, in words.
    fn stop(&self, session: &Session, by: &str) -> Result<(), String>;
    /// Somebody uses it.
    fn touch(&self);
}

/// What a [`Remote`] is made from.
#[derive(Debug)]
pub struct Setup {
    pub home: Home,
    pub version: &'static str,
    pub lang: Lang,
    pub host: Arc<dyn Host>,
}

/// The running notifications of a server.
#[derive(Debug)]
pub struct Remote {
    news: Sender<SessionId>,
    ledger: Arc<Ledger>,
    host: Arc<dyn Host>,
    takes_commands: bool,
}

impl Remote {
    /// `None` when nothing is configured. What is wrong with the configuration is in the log.
    pub fn start(setup: Setup) -> io::Result<Option<Self>> {
        let log = Log::new(&setup.home, "remote", "dashboard/remote.log");
        let (settings, problems) = Settings::load(&setup.home);
        for problem in problems.iter().filter(|problem| !problem.is_note()) {
            log.say(&settings.clean(&problem.text(setup.lang)));
        }
        if settings.is_empty() {
            return Ok(None);
        }
        let ledger = Arc::new(Ledger::open(&setup.home, log.clone())?);
        Self::begin(setup, Arc::new(settings), ledger, log).map(Some)
    }

    fn begin(setup: Setup, settings: Arc<Settings>, ledger: Arc<Ledger>, log: Log) -> io::Result<Self> {
        let client = Arc::new(Client::new(setup.version));
        let backoff = Backoff::from_process();
        for channel in Channel::all(&settings) {
            let (client, ledger, settings) =
                (Arc::clone(&client), Arc::clone(&ledger), Arc::clone(&settings));
            let courier = Courier { channel, client, ledger, settings, backoff, log: log.clone() };
            spawn("remote-send", move || courier.run())?;
        }
        if let Some(telegram) = settings.telegram.clone() {
            let (host, ledger) = (Arc::clone(&setup.host), Arc::clone(&ledger));
            let listener = Listener {
                telegram,
                client,
                host,
                ledger,
                backoff,
                lang: setup.lang,
                log: log.clone(),
                bot_name: OnceLock::new(),
            };
            spawn("remote-listen", move || listener.run())?;
        }
        let takes_commands = settings.telegram.is_some();
        let (news, changed) = mpsc::channel();
        let watcher = Watcher {
            host: Arc::clone(&setup.host),
            settings,
            ledger: Arc::clone(&ledger),
            lang: setup.lang,
            log,
            trails: HashMap::new(),
            begins_anew: ledger.begins_anew,
        };
        spawn("remote-watch", move || watch(watcher, &changed))?;
        Ok(Self { news, ledger, host: setup.host, takes_commands })
    }

    /// Something has changed in a session.
    pub fn tell(&self, session: &str) {
        if let Some(session) = SessionId::parse(session) {
            // The thread ends with the process only.
            let _ = self.news.send(session);
        }
    }

    /// Whether the server is needed although nobody uses it: something waits to be sent, or a person may send a
    /// command about a session that is not at its end.
    pub fn is_needed(&self) -> bool {
        let is_open =
            |summary: &Summary| summary.state.is_open() && clock::now().since(summary.last_activity) < DAY;
        self.ledger.has_pending() || (self.takes_commands && self.host.sessions().iter().any(is_open))
    }

    /// Ends the sending: what is under way is waited for, the rest is for the next server.
    pub fn stop(&self) {
        self.ledger.close(PATIENCE);
    }
}

fn spawn(name: &str, run: impl FnOnce() + Send + 'static) -> io::Result<()> {
    thread::Builder::new().name(name.to_owned()).spawn(run).map(|_| ())
}

fn watch(mut watcher: Watcher, changed: &Receiver<SessionId>) {
    let mut dirty = everything(&watcher);
    watcher.ledger.sweep(&dirty);
    let (mut looked, mut swept) = (None::<Instant>, Instant::now());
    loop {
        dirty.extend(changed.try_iter());
        dirty.sort_unstable_by(|a, b| a.as_str().cmp(b.as_str()));
        dirty.dedup();
        // What could not be noted is looked for again.
        dirty.retain(|session| !watcher.look(session));
        if looked.is_none_or(|at| at.elapsed() >= LOOK_EVERY) {
            looked = Some(Instant::now());
            watcher.look_at_supervisor();
        }
        watcher.begins_anew = false;
        if swept.elapsed() >= SWEEP_EVERY {
            swept = Instant::now();
            watcher.ledger.sweep(&everything(&watcher));
        }
        match changed.recv_timeout(LOOK_EVERY) {
            Ok(session) => dirty.push(session),
            Err(RecvTimeoutError::Timeout) => {}
            Err(RecvTimeoutError::Disconnected) => return,
        }
    }
}

fn everything(watcher: &Watcher) -> Vec<SessionId> {
    watcher.host.sessions().iter().map(|summary| summary.session.id().clone()).collect()
}
