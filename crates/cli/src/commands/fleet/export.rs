//! The export to a collector, beside the relay or without one.

use std::collections::HashMap;
use std::time::{Duration, Instant};

use overtone_fleet::Machine;
use overtone_store::{Home, SessionId};
use overtone_telemetry::{Exporter, Pace, Setup};

use crate::context::Context;
use crate::ui::error::Failure;

/// Spans are looked at long after they have ended; nobody waits for them.
const LOOK_EVERY: Duration = Duration::from_secs(2);

/// An export that is told which timelines have grown.
#[derive(Debug)]
pub(super) struct Export {
    exporter: Exporter,
    lengths: HashMap<SessionId, u64>,
    looked: Option<Instant>,
}

impl Export {
    /// `None` when no collector is configured.
    pub(super) fn start(context: &Context) -> Result<Option<Self>, Failure> {
        let (home, lang) = (context.home()?, context.lang);
        let failed = |error| Failure::io(lang, home.root(), &error);
        let setup = Setup {
            home: home.clone(),
            version: context.environment.version,
            machine_name: Machine::of(home, None).map_err(failed)?.name,
            lang,
            pace: Pace::from_process(),
        };
        let exporter = Exporter::start(setup).map_err(failed)?;
        Ok(exporter.map(|exporter| Self { exporter, lengths: HashMap::new(), looked: None }))
    }

    pub(super) fn look(&mut self, home: &Home) {
        if self.looked.is_some_and(|at| at.elapsed() < LOOK_EVERY) {
            return;
        }
        self.looked = Some(Instant::now());
        for session in home.sessions().unwrap_or_default() {
            let length = session.timeline_file().symlink_metadata().map_or(0, |about| about.len());
            if self.lengths.insert(session.id().clone(), length) != Some(length) {
                self.exporter.tell(session.id().as_str());
            }
        }
    }

    pub(super) fn stop(&self) {
        self.exporter.stop();
    }
}
