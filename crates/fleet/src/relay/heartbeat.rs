//! Publishes heartbeats and the details of this machine.

use std::convert::Infallible;
use std::time::Duration;

use async_nats::jetstream::kv::{Operation, Store};
use overtone_core::engine::text::printable;

use super::Worker;
use crate::error::{FleetError, Result};
use crate::link::Link;
use crate::machine::processor_count;
use crate::message::MachineInfo;
use crate::names::encode_token;
use crate::trust::{CLOCK_SKEW, Kind};

/// Three heartbeats may get lost before the machine counts as gone.
const HEARTBEAT_INTERVAL: Duration = Duration::from_secs(8);
/// After this many heartbeats, the machine's details are published as well. They remain visible while it is offline.
const BEATS_PER_MACHINE_INFO: usize = 8;

impl Worker<'_> {
    pub(super) async fn send_heartbeats(&self, link: &Link) -> Result<Infallible> {
        let key = encode_token(&self.machine.id);
        let mut beat = 0;
        loop {
            self.warn_about_duplicate_id(&link.heartbeats, &key, beat).await?;
            link.check_not_recreated().await?;
            let info = self.info();
            link.publish_heartbeat(&info).await?;
            if beat % BEATS_PER_MACHINE_INFO == 0 {
                link.publish_machine_info(&info).await?;
            }
            beat += 1;
            self.write_status();
            tokio::time::sleep(HEARTBEAT_INTERVAL).await;
        }
    }

    fn info(&self) -> MachineInfo {
        MachineInfo {
            load: load(),
            processors: processor_count(),
            sessions: self.progress.count(),
            ..MachineInfo::new(&self.machine(), self.setup.version, &self.instance)
        }
    }

    /// Warns if another machine uses the same id, because its home was copied, or if the clock is wrong. The first
    /// heartbeat is skipped: the stored one may be from before a restart.
    async fn warn_about_duplicate_id(&self, heartbeats: &Store, key: &str, beat: usize) -> Result<()> {
        let entry =
            heartbeats.entry(key).await.map_err(|error| FleetError::server("read the heartbeat", error))?;
        let Some(entry) = entry else { return Ok(()) };
        if beat == 0 || entry.operation != Operation::Put {
            return Ok(());
        }
        let Ok(opened) = self.keyring.open::<MachineInfo>(Kind::Heartbeat, key, &entry.value) else {
            return Ok(());
        };
        if opened.body.instance != self.instance {
            self.warn(&format!(
                "{} has the same machine id as this one\nhint: on one of them, remove fleet/machine.json and \
                 fleet/machine.key and join again",
                printable(&opened.body.name)
            ));
            return Ok(());
        }
        let skew = (entry.created.unix_timestamp() * 1000).saturating_sub(opened.at) / 60_000;
        if skew.abs() >= CLOCK_SKEW / 60_000 {
            self.warn(&format!(
                "this machine's clock differs from the server's by {skew} minutes, so other machines reject its \
                 messages\nhint: set the clock"
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
