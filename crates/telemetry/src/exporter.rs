//! The export as a server has it: started, told of news, stopped.

use std::fs::File;
use std::io;
use std::path::Path;
use std::sync::Arc;
use std::thread;
use std::time::Duration;

use overtone_messages::Lang;
use overtone_store::{Home, Log, SessionId, create_private_dir, files};

use crate::config::Settings;
use crate::http::Client;
use crate::inbox::Inbox;
use crate::ledger::Ledger;
use crate::pace::Pace;
use crate::worker::Worker;

/// How long the end waits for a collector that is being told something.
const PATIENCE: Duration = Duration::from_secs(5);
/// How often the place of another server is asked for.
const TAKE_OVER_EVERY: Duration = Duration::from_secs(2);

/// What an [`Exporter`] is made from.
#[derive(Debug)]
pub struct Setup {
    pub home: Home,
    pub version: &'static str,
    /// Sent as `host.name`, and part of every id.
    pub machine_name: String,
    pub lang: Lang,
    pub pace: Pace,
}

/// The running export of a server. Of several servers with one home, one exports and the others stand by.
#[derive(Debug)]
pub struct Exporter {
    inbox: Arc<Inbox>,
}

impl Exporter {
    /// `None` when nothing is configured. What is wrong with the configuration is in the log.
    pub fn start(setup: Setup) -> io::Result<Option<Self>> {
        let (settings, problems) = Settings::load(&setup.home);
        if settings.is_none() && problems.is_empty() {
            return Ok(None);
        }
        create_private_dir(&setup.home.root().join("telemetry"))?;
        let log = Log::new(&setup.home, "telemetry", "telemetry/export.log");
        for problem in problems {
            log.say(&problem.text(setup.lang));
        }
        let Some(settings) = settings else { return Ok(None) };
        let inbox = Arc::new(Inbox::default());
        let own = Arc::clone(&inbox);
        let run = move || run(setup, settings, log, own);
        thread::Builder::new().name("telemetry".to_owned()).spawn(run)?;
        Ok(Some(Self { inbox }))
    }

    /// Something has changed in a session.
    pub fn tell(&self, session: &str) {
        if let Some(session) = SessionId::parse(session) {
            self.inbox.put(session);
        }
    }

    /// Whether something waits to be sent, to a collector that was there lately.
    pub fn is_needed(&self) -> bool {
        self.inbox.has_work()
    }

    /// Ends the export: what is under way is waited for, the rest is for the next server.
    pub fn stop(&self) {
        self.inbox.stop(PATIENCE);
    }
}

/// Says that the thread has ended, however it did.
struct Farewell(Arc<Inbox>);

impl Drop for Farewell {
    fn drop(&mut self) {
        self.0.note_end();
    }
}

fn run(setup: Setup, settings: Settings, log: Log, inbox: Arc<Inbox>) {
    let _farewell = Farewell(Arc::clone(&inbox));
    let lock = match claim(&setup.home.root().join("telemetry/.lock"), &inbox) {
        Ok(Some(lock)) => lock,
        Ok(None) => return,
        Err(error) => return log.say(&format!("cannot lock the telemetry folder: {error}")),
    };
    match Ledger::open(&setup.home, log.clone()) {
        Ok(ledger) => {
            let client = Client::new(settings, setup.version);
            Worker::new(setup, client, ledger, log, inbox).run();
        }
        Err(error) => log.say(&format!("cannot read what was exported: {error}")),
    }
    drop(lock);
}

/// Waits until no other server exports from this home. `None` when it is to end before.
fn claim(path: &Path, inbox: &Inbox) -> io::Result<Option<File>> {
    loop {
        let lock = files::try_lock_file(path)?;
        inbox.stand_by(lock.is_none());
        if lock.is_some() {
            return Ok(lock);
        }
        if inbox.wait_for_stop(TAKE_OVER_EVERY) {
            return Ok(None);
        }
    }
}
