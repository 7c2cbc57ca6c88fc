//! Sends the queued messages of one channel, and retries each until it is accepted or expired.

use std::sync::Arc;
use std::time::Duration;

use overtone_core::engine::state::Millis;
use overtone_store::{Log, clock};

use crate::remote::channels::{Channel, SendOutcome};
use crate::remote::config::Settings;
use crate::remote::outbox::{DAY_MS, Outbox, OutgoingMessage};
use overtone_net::{Backoff, Client};

const MAX_ATTEMPTS: u32 = 50;

#[derive(Debug)]
pub(crate) struct DeliveryWorker {
    pub(crate) channel: Channel,
    pub(crate) client: Arc<Client>,
    pub(crate) outbox: Arc<Outbox>,
    pub(crate) settings: Arc<Settings>,
    pub(crate) backoff: Backoff,
    pub(crate) log: Log,
}

impl DeliveryWorker {
    /// Runs until the outbox is closed.
    pub(crate) fn run(&self) {
        while let Some(message) = self.outbox.next_for(self.channel.name()) {
            match self.channel.send(&self.client, &message) {
                SendOutcome::Accepted => self.outbox.finish(&message.id, true),
                SendOutcome::Rejected(error) => self.drop_message(&message, &error),
                SendOutcome::Retry { error, after } => self.schedule_retry(&message, &error, after),
            }
        }
    }

    fn drop_message(&self, message: &OutgoingMessage, error: &str) {
        self.outbox.finish(&message.id, false);
        let error = self.settings.redact(error);
        self.log.write_line(&format!("dropped {} ({}): {error}", message.id, message.event));
    }

    fn schedule_retry(&self, message: &OutgoingMessage, error: &str, after: Option<Duration>) {
        let attempts = message.attempts + 1;
        // `after` is the time the service asked for; it is never tried earlier.
        let delay = self.backoff.delay(attempts, after);
        let delay = i64::try_from(delay.as_millis()).unwrap_or(DAY_MS);
        let due = Millis(clock::now().0.saturating_add(delay));
        if attempts >= MAX_ATTEMPTS || due.0 >= message.expires_at {
            return self.drop_message(message, error);
        }
        self.outbox.postpone(&message.id, due);
        // Only the first failure is logged; the others would repeat it.
        if attempts == 1 {
            let error = self.settings.redact(error);
            self.log.write_line(&format!("cannot send {} ({}) yet: {error}", message.id, message.event));
        }
    }
}
