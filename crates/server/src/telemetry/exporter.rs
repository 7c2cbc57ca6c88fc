//! The export as a server uses it: start it, notify it of changed sessions, stop it.

use std::fs::File;
use std::io;
use std::path::Path;
use std::sync::Arc;
use std::thread;
use std::time::Duration;

use overtone_core::messages::Lang;
use overtone_net::Backoff;
use overtone_store::{Home, Log, SessionId, create_private_dir, files};

use crate::telemetry::config::Settings;
use crate::telemetry::http::Client;
use crate::telemetry::progress::ExportProgress;
use crate::telemetry::work_queue::WorkQueue;
use crate::telemetry::worker::Worker;

/// How long [`Exporter::stop`] waits for a request that is being sent.
const STOP_TIMEOUT: Duration = Duration::from_secs(5);
/// How often a server that stands by tries to take over the export.
const TAKE_OVER_INTERVAL: Duration = Duration::from_secs(2);

/// What an [`Exporter`] needs to start.
#[derive(Debug)]
pub struct Setup {
    pub home: Home,
    pub version: &'static str,
    /// Sent as `host.name`, and part of every id.
    pub machine_name: String,
    pub lang: Lang,
    pub backoff: Backoff,
}

/// The running export of a server. Of several servers with one home, one exports and the others stand by.
#[derive(Debug)]
pub struct Exporter {
    queue: Arc<WorkQueue>,
}

impl Exporter {
    /// Returns `None` if no collector is configured. Errors in the configuration are logged.
    pub fn start(setup: Setup) -> io::Result<Option<Self>> {
        let (settings, errors) = Settings::load(&setup.home);
        if settings.is_none() && errors.is_empty() {
            return Ok(None);
        }
        create_private_dir(&setup.home.root().join("telemetry"))?;
        let log = Log::new(&setup.home, "telemetry", "telemetry/export.log");
        for error in errors {
            log.write_line(&error.message(setup.lang));
        }
        let Some(settings) = settings else { return Ok(None) };
        let queue = Arc::new(WorkQueue::default());
        let worker_queue = Arc::clone(&queue);
        let run = move || run(setup, settings, log, worker_queue);
        thread::Builder::new().name("telemetry".to_owned()).spawn(run)?;
        Ok(Some(Self { queue }))
    }

    /// Tells the exporter that a session has changed.
    pub fn notify_changed(&self, session: &str) {
        if let Some(session) = SessionId::parse(session) {
            self.queue.push(session);
        }
    }

    /// Whether something waits to be sent to a collector that was reachable recently.
    pub fn is_needed(&self) -> bool {
        self.queue.has_work()
    }

    /// Stops the export. A request being sent is waited for; the rest is left for the next server.
    pub fn stop(&self) {
        self.queue.stop(STOP_TIMEOUT);
    }
}

/// Marks the thread as ended when it is dropped, also after a panic.
struct EndGuard(Arc<WorkQueue>);

impl Drop for EndGuard {
    fn drop(&mut self) {
        self.0.mark_ended();
    }
}

fn run(setup: Setup, settings: Settings, log: Log, queue: Arc<WorkQueue>) {
    let _end_guard = EndGuard(Arc::clone(&queue));
    let lock = match claim(&setup.home.root().join("telemetry/.lock"), &queue) {
        Ok(Some(lock)) => lock,
        Ok(None) => return,
        Err(error) => return log.write_line(&format!("cannot lock the telemetry folder: {error}")),
    };
    match ExportProgress::open(&setup.home, log.clone()) {
        Ok(progress) => {
            let client = Client::new(settings, setup.version);
            Worker::new(setup, client, progress, log, queue).run();
        }
        Err(error) => log.write_line(&format!("cannot read what was exported: {error}")),
    }
    drop(lock);
}

/// Waits until no other server exports from this home. Returns `None` if the export is stopped before.
fn claim(path: &Path, queue: &WorkQueue) -> io::Result<Option<File>> {
    loop {
        let lock = files::try_lock_file(path)?;
        queue.set_standing_by(lock.is_none());
        if lock.is_some() {
            return Ok(lock);
        }
        if queue.wait_for_stop(TAKE_OVER_INTERVAL) {
            return Ok(None);
        }
    }
}
