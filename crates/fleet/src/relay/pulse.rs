//! Says that this machine is there, again and again.

use std::convert::Infallible;
use std::time::Duration;

use async_nats::jetstream::kv::{Operation, Store};
use overtone_store::clock;

use super::Worker;
use crate::error::{FleetError, Result};
use crate::link::Link;
use crate::message::{MachineInfo, VERSION, read, write};
use crate::names::token;

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
            let info = write(&self.info());
            put(&link.pulse, &key, info.clone()).await?;
            if beat % NOTE_EVERY == 0 {
                put(&link.machines, &key, info).await?;
            }
            beat += 1;
            self.write_status();
            tokio::time::sleep(EVERY).await;
        }
    }

    fn info(&self) -> MachineInfo {
        MachineInfo {
            v: VERSION,
            machine: self.machine.id.clone(),
            name: self.machine.name.clone(),
            version: self.setup.version.to_owned(),
            instance: self.instance.clone(),
            load: load(),
            processors: std::thread::available_parallelism().map_or(1, std::num::NonZero::get),
            sessions: self.tracks.count(),
            at: clock::to_iso(clock::now()),
        }
    }

    /// A home that was copied has the number of another machine. At first the pulse may be our own of before.
    async fn warn_of_twin(&self, pulse: &Store, key: &str, beat: usize) -> Result<()> {
        let entry = pulse.entry(key).await.map_err(|error| FleetError::server("look at the pulse", error))?;
        let entry = entry.filter(|entry| beat > 0 && entry.operation == Operation::Put);
        let other = entry.and_then(|entry| read::<MachineInfo>(&entry.value).ok());
        if let Some(other) = other.filter(|other| other.instance != self.instance) {
            let problem = format!(
                "{} uses this machine's number, too\nhint: on one of them, remove fleet/machine.json and start again",
                other.name
            );
            eprintln!("[overtone/fleet] {problem}");
            self.shared.update(|status| status.problem = Some(problem));
        }
        Ok(())
    }
}

async fn put(store: &Store, key: &str, bytes: bytes::Bytes) -> Result<()> {
    store.put(key, bytes).await.map(|_| ()).map_err(|error| FleetError::server("give a sign of life", error))
}

fn load() -> f64 {
    let text = std::fs::read_to_string("/proc/loadavg").unwrap_or_default();
    text.split(' ').next().and_then(|load| load.parse().ok()).unwrap_or_default()
}
