//! Says that this machine is there, again and again.

use std::convert::Infallible;
use std::time::Duration;

use async_nats::jetstream::kv::{Operation, Store};
use overtone_engine::text::printable;

use super::Worker;
use crate::error::{FleetError, Result};
use crate::link::Link;
use crate::message::MachineInfo;
use crate::names::token;
use crate::trust::{CLOCK_SKEW, Kind};

/// Three of them may get lost before the machine counts as gone.
const EVERY: Duration = Duration::from_secs(8);
/// So many pulses, then it is also noted for those who ask when the machine is gone.
const NOTE_EVERY: usize = 8;

impl Worker<'_> {
    pub(super) async fn pulse(&self, link: &Link) -> Result<Infallible> {
        let key = token(&self.machine.id);
        let mut beat = 0;
        loop {
            self.warn_of_twin(&link.pulse, &key, beat).await?;
            link.is_still_the_same().await?;
            let info = self.info();
            link.give_sign_of_life(&info).await?;
            if beat % NOTE_EVERY == 0 {
                link.introduce(&info).await?;
            }
            beat += 1;
            self.write_status();
            tokio::time::sleep(EVERY).await;
        }
    }

    fn info(&self) -> MachineInfo {
        MachineInfo {
            load: load(),
            processors: std::thread::available_parallelism().map_or(1, std::num::NonZero::get),
            sessions: self.tracks.count(),
            ..MachineInfo::new(&self.machine(), self.setup.version, &self.instance)
        }
    }

    /// A home that was copied has the number of another machine. At first the pulse may be our own of before.
    async fn warn_of_twin(&self, pulse: &Store, key: &str, beat: usize) -> Result<()> {
        let entry = pulse.entry(key).await.map_err(|error| FleetError::server("look at the pulse", error))?;
        let Some(entry) = entry.filter(|entry| beat > 0 && entry.operation == Operation::Put) else {
            return Ok(());
        };
        let Ok(opened) = self.keyring.open::<MachineInfo>(Kind::Pulse, key, &entry.value) else {
            return Ok(());
        };
        if opened.body.instance != self.instance {
            self.warn(&format!(
                "{} uses this machine's number, too\nhint: on one of them, remove fleet/machine.json and \
                 fleet/machine.key and join again",
                printable(&opened.body.name)
            ));
            return Ok(());
        }
        let skew = (entry.created.unix_timestamp() * 1000 - opened.at) / 60_000;
        if skew.abs() >= CLOCK_SKEW / 60_000 {
            self.warn(&format!(
                "this machine's clock is {skew} minutes away from the server's: others do not believe what is signed \
                 here\nhint: set the clock"
            ));
        }
        Ok(())
    }

    fn warn(&self, problem: &str) {
        if self.shared.now().problem.as_deref() != Some(problem) {
            eprintln!("[overtone/fleet] {problem}");
            self.shared.update(|status| status.problem = Some(problem.to_owned()));
        }
    }
}

fn load() -> f64 {
    let text = std::fs::read_to_string("/proc/loadavg").unwrap_or_default();
    text.split(' ').next().and_then(|load| load.parse().ok()).unwrap_or_default()
}
