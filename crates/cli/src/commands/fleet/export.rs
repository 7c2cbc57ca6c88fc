//! The telemetry export of the relay command, with or without a fleet.

use std::collections::HashMap;
use std::time::{Duration, Instant};

use overtone_fleet::Machine;
use overtone_server::telemetry::{Exporter, Setup, backoff};
use overtone_store::{Home, SessionId};

use crate::context::Context;
use crate::ui::error::{CommandError, CommandResult};

/// How often to look for new events. Exported spans are not time-critical.
const SCAN_INTERVAL: Duration = Duration::from_secs(2);

/// Notifies the exporter of timelines that have grown.
#[derive(Debug)]
pub(super) struct Export {
    exporter: Exporter,
    lengths: HashMap<SessionId, u64>,
    last_scan: Option<Instant>,
}

impl Export {
    /// `None` when no collector is configured.
    pub(super) fn start(context: &Context) -> CommandResult<Option<Self>> {
        let (home, lang) = (context.home()?, context.lang);
        let failed = |error| CommandError::io(lang, home.root(), &error);
        let setup = Setup {
            home: home.clone(),
            version: context.environment.version,
            machine_name: Machine::load_or_create(home, None).map_err(failed)?.name,
            lang,
            backoff: backoff(),
        };
        let exporter = Exporter::start(setup).map_err(failed)?;
        Ok(exporter.map(|exporter| Self { exporter, lengths: HashMap::new(), last_scan: None }))
    }

    pub(super) fn notify_changes(&mut self, home: &Home) {
        if self.last_scan.is_some_and(|at| at.elapsed() < SCAN_INTERVAL) {
            return;
        }
        self.last_scan = Some(Instant::now());
        for session in home.sessions().unwrap_or_default() {
            let length = session.timeline_file().symlink_metadata().map_or(0, |about| about.len());
            if self.lengths.insert(session.id().clone(), length) != Some(length) {
                self.exporter.notify_changed(session.id().as_str());
            }
        }
    }

    pub(super) fn stop(&self) {
        self.exporter.stop();
    }
}
