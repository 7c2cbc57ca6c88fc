//! Sees what changes on disk and tells it. One thread, which sleeps while nothing happens.

use std::collections::HashMap;
use std::path::Path;
use std::sync::Arc;
use std::sync::mpsc::{self, Receiver, RecvTimeoutError};
use std::thread;
use std::time::{Duration, Instant};

use overtone_store::{Home, SessionId};
use overtone_watch::{Change, Watch};

use crate::app::App;
use crate::index::Changed;

/// What is heard within this time is told together; the watch has gathered before.
const GATHER: Duration = Duration::from_millis(2);
/// While somebody looks, what no watch reports is looked at this often.
const LOOK_AGAIN: Duration = Duration::from_secs(3);
/// Without watches everything is looked at this often, while somebody listens.
const POLL: Duration = Duration::from_secs(1);

/// Sessions that are looked at in one go.
const AT_ONCE: usize = 64;

/// What happens in the sessions. It begins before they are read for the first time, so that nothing falls in between.
#[derive(Debug)]
pub(crate) struct Following {
    /// None when the system does not report changes; then they are looked for.
    watch: Option<Watch>,
    changes: Receiver<Change>,
}

impl Following {
    pub(crate) fn begin(home: &Home) -> Self {
        let (sender, changes) = mpsc::channel();
        // The folder must be there to be watched.
        let _ = overtone_store::create_private_dir(&home.sessions_dir());
        // Nobody listens any more when it is over.
        let watch = Watch::begin(home, move |change| drop(sender.send(change)));
        Self { watch, changes }
    }

    pub(crate) fn is_told(&self) -> bool {
        self.watch.is_some()
    }

    /// Tells what changes, from now to the end of the process.
    pub(crate) fn follow(self, app: Arc<App>) {
        thread::spawn(move || if self.is_told() { follow(&app, &self.changes) } else { poll(&app) });
    }
}

fn follow(app: &App, changes: &Receiver<Change>) {
    let mut looked = Instant::now();
    loop {
        let mut dirty = Dirty::default();
        match changes.recv_timeout(LOOK_AGAIN) {
            Ok(change) => dirty.add(change),
            Err(RecvTimeoutError::Timeout) => {}
            Err(RecvTimeoutError::Disconnected) => return,
        }
        if !dirty.is_empty() {
            thread::sleep(GATHER);
            for change in changes.try_iter() {
                dirty.add(change);
            }
            app.tell(dirty.sessions, dirty.lost_some);
        }
        if app.hub.listeners() > 0 && looked.elapsed() >= LOOK_AGAIN {
            looked = Instant::now();
            app.look_again();
        }
    }
}

fn poll(app: &App) {
    loop {
        thread::sleep(POLL);
        if app.is_followed() {
            app.tell(HashMap::new(), true);
        }
    }
}

#[derive(Default)]
struct Dirty {
    sessions: HashMap<SessionId, Changed>,
    /// The system could not keep up: anything may have changed.
    lost_some: bool,
}

impl Dirty {
    fn is_empty(&self) -> bool {
        self.sessions.is_empty() && !self.lost_some
    }

    fn add(&mut self, change: Change) {
        match change {
            Change::Anything => self.lost_some = true,
            Change::In(session, file) => {
                let Some(changed) = what_changed(&file) else { return };
                let known = self.sessions.entry(session).or_default();
                *known = known.join(changed);
            }
        }
    }
}

fn what_changed(file: &Path) -> Option<Changed> {
    match file.to_str().unwrap_or_default() {
        "timeline.jsonl" => Some(Changed { timeline: true, state: false }),
        "workflow.json"
        | "loop.json"
        | "context.json"
        | "compact-count.json"
        | "session.json"
        | overtone_view::TOLD_FILE => Some(Changed { timeline: false, state: true }),
        // The folder itself came or went.
        "" => Some(Changed::ALL),
        // Locks, temporary files, handoffs.
        _ => None,
    }
}

impl App {
    /// Looks at these sessions again, or at all of them, and tells what is new.
    fn tell(&self, sessions: HashMap<SessionId, Changed>, all: bool) {
        // Those who show the fleet do not work in it: what happens there is no use of this server.
        if !self.fleet.is_shown() {
            self.touch();
        }
        let sessions = if all { self.everything() } else { sessions };
        let sessions: Vec<_> = sessions.into_iter().collect();
        // Together, since every listener is woken for each batch; and not too many, since others wait for the index.
        for some in sessions.chunks(AT_ONCE) {
            let mut index = self.index();
            let refresh = |(id, changed): &(SessionId, Changed)| index.refresh(&self.home, id, *changed);
            let news: Vec<_> = some.iter().flat_map(refresh).collect();
            self.publish(&news);
        }
    }

    fn everything(&self) -> HashMap<SessionId, Changed> {
        let on_disk = self.home.sessions().unwrap_or_default();
        let known: Vec<_> = self.index().entries().map(|entry| entry.summary.session.id().clone()).collect();
        let ids = on_disk.iter().map(|session| session.id().clone()).chain(known);
        ids.map(|id| (id, Changed::ALL)).collect()
    }

    fn look_again(&self) {
        let mut index = self.index();
        let news = index.refresh_open(&self.home);
        self.publish(&news);
    }
}
