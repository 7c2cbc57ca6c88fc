//! Sends what waits for one channel, again and again until it is taken or too old.

use std::sync::Arc;
use std::time::Duration;

use overtone_engine::state::Millis;
use overtone_store::{Log, clock};

use crate::backoff::Backoff;
use crate::channels::{Attempt, Channel};
use crate::config::Settings;
use crate::http::Client;
use crate::ledger::{DAY, Entry, Ledger};

const MAX_TRIES: u32 = 50;

#[derive(Debug)]
pub(crate) struct Courier {
    pub(crate) channel: Channel,
    pub(crate) client: Arc<Client>,
    pub(crate) ledger: Arc<Ledger>,
    pub(crate) settings: Arc<Settings>,
    pub(crate) backoff: Backoff,
    pub(crate) log: Log,
}

impl Courier {
    /// To the end of the server.
    pub(crate) fn run(&self) {
        while let Some(entry) = self.ledger.next_for(self.channel.name()) {
            match self.channel.send(&self.client, &entry) {
                Attempt::Taken => self.ledger.finish(&entry.id, true),
                Attempt::Never(problem) => self.give_up(&entry, &problem),
                Attempt::Later { problem, after } => self.put_off(&entry, &problem, after),
            }
        }
    }

    fn give_up(&self, entry: &Entry, problem: &str) {
        self.ledger.finish(&entry.id, false);
        let problem = self.settings.clean(problem);
        self.log.say(&format!("dropped {} ({}): {problem}", entry.id, entry.event));
    }

    fn put_off(&self, entry: &Entry, problem: &str, after: Option<Duration>) {
        let tries = entry.tries + 1;
        // A service that says when to come back is not asked before.
        let wait = self.backoff.after(tries).max(after.unwrap_or_default());
        let due = Millis(clock::now().0.saturating_add(millis(wait)));
        if tries >= MAX_TRIES || due.0 >= entry.until {
            return self.give_up(entry, problem);
        }
        self.ledger.postpone(&entry.id, due);
        // The first failure says what is wrong; the others would only repeat it.
        if tries == 1 {
            let problem = self.settings.clean(problem);
            self.log.say(&format!("cannot send {} ({}) yet: {problem}", entry.id, entry.event));
        }
    }
}

fn millis(wait: Duration) -> i64 {
    i64::try_from(wait.as_millis()).unwrap_or(DAY)
}
