//! Detects changes on disk and publishes them. One thread, which sleeps while nothing changes.

use std::collections::HashMap;
use std::path::Path;
use std::sync::Arc;
use std::sync::mpsc::{self, Receiver, RecvTimeoutError};
use std::thread;
use std::time::{Duration, Instant};

use overtone_session::watch::{Change, SessionWatcher};
use overtone_store::{Home, SessionId};

use crate::dashboard::app::App;
use crate::dashboard::index::ChangedFiles;

/// Changes within this time are published together, in addition to the batching of the watch itself.
const BATCH_WINDOW: Duration = Duration::from_millis(2);
/// While a client is connected, open sessions are refreshed this often for changes that no watch reports.
const REFRESH_INTERVAL: Duration = Duration::from_secs(3);
/// Without watches, all sessions are read this often while somebody is interested.
const POLL_INTERVAL: Duration = Duration::from_secs(1);
/// How many sessions are refreshed under one lock of the index.
const MAX_SESSIONS_PER_BATCH: usize = 64;

/// Receives changes of the sessions' files. It is started before they are first read, so that no change is missed.
#[derive(Debug)]
pub(crate) struct ChangeListener {
    /// `None` if the system does not report changes; then the sessions are polled.
    watch: Option<SessionWatcher>,
    changes: Receiver<Change>,
}

impl ChangeListener {
    pub(crate) fn start(home: &Home) -> Self {
        let (sender, changes) = mpsc::channel();
        // Only an existing folder can be watched.
        let _ = overtone_store::create_private_dir(&home.sessions_dir());
        // Sending fails only after the receiving thread has ended.
        let watch = SessionWatcher::start(home, move |change| drop(sender.send(change)));
        Self { watch, changes }
    }

    /// Whether the system reports changes.
    pub(crate) fn is_watching(&self) -> bool {
        self.watch.is_some()
    }

    /// Publishes changes until the process ends.
    pub(crate) fn spawn(self, app: Arc<App>) {
        thread::spawn(move || if self.is_watching() { watch(&app, &self.changes) } else { poll(&app) });
    }
}

fn watch(app: &App, changes: &Receiver<Change>) {
    let mut last_refresh = Instant::now();
    loop {
        let mut pending = PendingChanges::default();
        match changes.recv_timeout(REFRESH_INTERVAL) {
            Ok(change) => pending.add(change),
            Err(RecvTimeoutError::Timeout) => {}
            Err(RecvTimeoutError::Disconnected) => return,
        }
        if !pending.is_empty() {
            thread::sleep(BATCH_WINDOW);
            for change in changes.try_iter() {
                pending.add(change);
            }
            app.refresh_sessions(pending.sessions, pending.has_overflowed);
        }
        if app.hub.listeners() > 0 && last_refresh.elapsed() >= REFRESH_INTERVAL {
            last_refresh = Instant::now();
            app.refresh_open_sessions();
        }
    }
}

fn poll(app: &App) {
    loop {
        thread::sleep(POLL_INTERVAL);
        if app.has_subscribers() {
            app.refresh_sessions(HashMap::new(), true);
        }
    }
}

#[derive(Default)]
struct PendingChanges {
    sessions: HashMap<SessionId, ChangedFiles>,
    /// The system dropped changes, so every session may have changed.
    has_overflowed: bool,
}

impl PendingChanges {
    fn is_empty(&self) -> bool {
        self.sessions.is_empty() && !self.has_overflowed
    }

    fn add(&mut self, change: Change) {
        match change {
            Change::Rescan => self.has_overflowed = true,
            Change::File(session, file) => {
                let Some(changed) = classify_file(&file) else { return };
                let known = self.sessions.entry(session).or_default();
                *known = known.join(changed);
            }
        }
    }
}

fn classify_file(file: &Path) -> Option<ChangedFiles> {
    match file.to_str().unwrap_or_default() {
        "timeline.jsonl" => Some(ChangedFiles { timeline: true, state: false }),
        "workflow.json"
        | "loop.json"
        | "context.json"
        | "compact-count.json"
        | "session.json"
        | overtone_session::view::COPY_SUMMARY_FILE => Some(ChangedFiles { timeline: false, state: true }),
        // The folder itself was created or removed.
        "" => Some(ChangedFiles::ALL),
        // Locks, temporary files, handoffs.
        _ => None,
    }
}

impl App {
    /// Reads these sessions again, or all of them, and publishes what is new.
    fn refresh_sessions(&self, sessions: HashMap<SessionId, ChangedFiles>, all: bool) {
        // Activity of other machines does not count as use of this server.
        if !self.fleet.shows_all_machines() {
            self.touch();
        }
        let sessions = if all { self.all_sessions() } else { sessions };
        let sessions: Vec<_> = sessions.into_iter().collect();
        // In batches, since each one wakes every listener; bounded, since requests wait for the index.
        for batch in sessions.chunks(MAX_SESSIONS_PER_BATCH) {
            let mut index = self.index();
            let mut updates = Vec::new();
            for (id, changed) in batch {
                updates.extend(index.refresh(&self.home, id, *changed));
            }
            self.publish(&updates);
        }
    }

    fn all_sessions(&self) -> HashMap<SessionId, ChangedFiles> {
        let on_disk = self.home.sessions().unwrap_or_default();
        let known: Vec<_> = self.index().entries().map(|entry| entry.summary.session.id().clone()).collect();
        let ids = on_disk.iter().map(|session| session.id().clone()).chain(known);
        ids.map(|id| (id, ChangedFiles::ALL)).collect()
    }

    fn refresh_open_sessions(&self) {
        let mut index = self.index();
        let updates = index.refresh_open(&self.home);
        self.publish(&updates);
    }
}
