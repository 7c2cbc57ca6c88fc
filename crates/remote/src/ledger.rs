//! What is still to be sent, and how far everything has been looked at: `dashboard/outbox.json`.
//!
//! One file, replaced in one step: what is to be sent and the place in the timeline that it came from change together,
//! so nothing is found twice and nothing is passed over. A notification is written down before it is sent, and crossed
//! out as soon as the service has taken it. A kill in the moment between the two repeats that one after the restart:
//! with the same id, by which a webhook's receiver knows it again.

use std::collections::BTreeMap;
use std::io;
use std::path::PathBuf;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use overtone_engine::state::Millis;
use overtone_store::{Home, Log, SessionId, clock, create_private_dir, files};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// What happened longer ago is no news any more, and what could not be sent for so long is given up.
pub(crate) const DAY: i64 = 24 * 3600 * 1000;
/// More at once are not for people.
const MAX_PENDING: usize = 500;
/// Telegram numbers its updates anew after a week without any.
const NUMBERS_HOLD: i64 = 6 * DAY;

/// One message to one place.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Entry {
    /// `session:offset:target`.
    pub(crate) id: String,
    /// `telegram/<chat>`, `webhook` or `ntfy`.
    pub(crate) target: String,
    /// The key of an event, or `reply` or `test`.
    pub(crate) event: String,
    pub(crate) title: String,
    pub(crate) text: String,
    /// The same for programs.
    #[serde(default)]
    pub(crate) fields: Value,
    /// When it is of no use any more.
    pub(crate) until: i64,
    #[serde(default)]
    pub(crate) tries: u32,
    /// Not before this.
    #[serde(default)]
    pub(crate) due: i64,
    /// Fields of other versions, which stay as they are.
    #[serde(flatten)]
    pub(crate) other: Map<String, Value>,
}

/// How far a session has been looked at.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(crate) struct Cursor {
    pub(crate) place: u64,
    /// A person was asked for, and nobody has let it go on since.
    pub(crate) asked: bool,
    /// It makes no progress, and that was told.
    pub(crate) stalled: bool,
    /// That it costs too much was told.
    pub(crate) budget: bool,
    /// Fields of other versions, which stay as they are.
    #[serde(flatten)]
    pub(crate) other: Map<String, Value>,
}

#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct Telegram {
    /// The number of the bot, which is no secret; another one counts anew.
    bot: String,
    /// The first update that was not taken yet.
    next: Option<i64>,
    at: i64,
    /// Messages from chats that may not command.
    foreign: u64,
    /// What waits there now may have been carried out already.
    skip_waiting: bool,
    /// Fields of other versions, which stay as they are.
    #[serde(flatten)]
    other: Map<String, Value>,
}

#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct State {
    pending: Vec<Entry>,
    sessions: BTreeMap<String, Cursor>,
    /// The time of the last round of each supervised session that was looked at.
    rounds: BTreeMap<String, String>,
    telegram: Telegram,
    sent: u64,
    dropped: u64,
    /// Fields of other versions, which stay as they are.
    #[serde(flatten)]
    other: Map<String, Value>,
}

#[derive(Debug, Default)]
struct Inner {
    state: State,
    /// The file is behind.
    is_dirty: bool,
    /// Nothing new is begun.
    is_closing: bool,
    /// Another process may have the file from now on.
    is_closed: bool,
    sending: usize,
}

#[derive(Debug)]
pub(crate) struct Ledger {
    path: PathBuf,
    log: Log,
    inner: Mutex<Inner>,
    changed: Condvar,
    /// Nothing is known of what was sent before: only what happens from now on counts.
    pub(crate) begins_anew: bool,
}

fn path(home: &Home) -> PathBuf {
    home.root().join("dashboard/outbox.json")
}

/// What was sent and what waits, for people.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Figures {
    pub pending: usize,
    pub sent: u64,
    pub dropped: u64,
    pub foreign: u64,
}

/// As the file says; none if there is no usable one.
pub fn figures(home: &Home) -> Figures {
    let text = files::read_small(&path(home)).ok().flatten();
    text.and_then(|text| serde_json::from_str(&text).ok()).map(|state| of(&state)).unwrap_or_default()
}

fn of(state: &State) -> Figures {
    Figures {
        pending: state.pending.len(),
        sent: state.sent,
        dropped: state.dropped,
        foreign: state.telegram.foreign,
    }
}

impl Ledger {
    pub(crate) fn open(home: &Home, log: Log) -> io::Result<Self> {
        let path = path(home);
        create_private_dir(&home.root().join("dashboard"))?;
        let (state, begins_anew) = match files::read_small(&path)?.as_deref().map(serde_json::from_str) {
            None => (State::default(), false),
            Some(Ok(state)) => (state, false),
            Some(Err(error)) => {
                log.say(&format!(
                    "broken file {}: {error}; it is kept as outbox.broken.json",
                    path.display()
                ));
                std::fs::rename(&path, path.with_file_name("outbox.broken.json"))?;
                let telegram = Telegram { skip_waiting: true, ..Telegram::default() };
                (State { telegram, ..State::default() }, true)
            }
        };
        let inner = Mutex::new(Inner { state, ..Inner::default() });
        Ok(Self { path, log, inner, changed: Condvar::new(), begins_anew })
    }

    /// What is inside is whole after every step, so a panic elsewhere does not matter.
    fn lock(&self) -> MutexGuard<'_, Inner> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A change that counts only when it is written: what is not written is not sent.
    fn commit<T>(&self, change: impl FnOnce(&mut State) -> T) -> io::Result<T> {
        let mut inner = self.lock();
        let mut next = inner.state.clone();
        let result = change(&mut next);
        self.write(&inner, &next)?;
        inner.state = next;
        inner.is_dirty = false;
        self.changed.notify_all();
        Ok(result)
    }

    /// A change that has happened whether it can be written or not.
    fn note(&self, change: impl FnOnce(&mut State)) {
        let mut inner = self.lock();
        change(&mut inner.state);
        inner.is_dirty = true;
        self.save(&mut inner);
        self.changed.notify_all();
    }

    fn save(&self, inner: &mut Inner) {
        match self.write(inner, &inner.state) {
            Ok(()) => inner.is_dirty = false,
            Err(error) => self.log.say(&format!("cannot write {}: {error}", self.path.display())),
        }
    }

    fn write(&self, inner: &Inner, state: &State) -> io::Result<()> {
        if inner.is_closed {
            return Err(io::Error::other("the server has ended"));
        }
        let text = serde_json::to_string(state).map_err(io::Error::other)?;
        files::write_atomic(&self.path, format!("{text}\n").as_bytes(), files::PRIVATE)
    }

    pub(crate) fn cursor(&self, session: &SessionId) -> Option<Cursor> {
        self.lock().state.sessions.get(session.as_str()).cloned()
    }

    /// Goes on in a session without anything to send. If only the place is new, the file may be behind: whoever reads
    /// from an older place finds nothing there either.
    pub(crate) fn advance(&self, session: &SessionId, cursor: Cursor) -> io::Result<()> {
        let mut inner = self.lock();
        let known = inner.state.sessions.get(session.as_str()).cloned().unwrap_or_default();
        if (Cursor { place: known.place, ..cursor.clone() }) == known {
            inner.state.sessions.insert(session.to_string(), cursor);
            return Ok(());
        }
        drop(inner);
        self.queue(Vec::new(), |_| {}, session, Some(cursor))
    }

    /// Takes entries in, together with how far their session has been looked at.
    pub(crate) fn enqueue(&self, entries: Vec<Entry>, session: &SessionId, cursor: Cursor) -> io::Result<()> {
        self.queue(entries, |_| {}, session, Some(cursor))
    }

    pub(crate) fn enqueue_rounds(
        &self,
        entries: Vec<Entry>,
        session: &SessionId,
        last: &str,
    ) -> io::Result<()> {
        let rounds = |state: &mut State| {
            state.rounds.insert(session.to_string(), last.to_owned());
        };
        self.queue(entries, rounds, session, None)
    }

    fn queue(
        &self,
        entries: Vec<Entry>,
        also: impl FnOnce(&mut State),
        session: &SessionId,
        cursor: Option<Cursor>,
    ) -> io::Result<()> {
        let lost = self.commit(|state| {
            also(state);
            if let Some(cursor) = cursor {
                state.sessions.insert(session.to_string(), cursor);
            }
            state.add(entries)
        })?;
        self.tell_lost(&lost);
        Ok(())
    }

    /// An answer to a person who waits for it.
    pub(crate) fn enqueue_reply(&self, entry: Entry) -> io::Result<()> {
        let lost = self.commit(|state| state.add(vec![entry]))?;
        self.tell_lost(&lost);
        Ok(())
    }

    fn tell_lost(&self, lost: &[Entry]) {
        for entry in lost {
            self.log.say(&format!("dropped {} ({}): too many wait", entry.id, entry.event));
        }
    }

    pub(crate) fn last_round(&self, session: &SessionId) -> Option<String> {
        self.lock().state.rounds.get(session.as_str()).cloned()
    }

    /// Forgets what has gone, and gives up what is too old.
    pub(crate) fn sweep(&self, sessions: &[SessionId]) {
        let now = clock::now();
        let day_ago = clock::to_iso(Millis(now.0 - 2 * DAY));
        let mut inner = self.lock();
        let before = inner.state.clone();
        inner.state.sessions.retain(|id, _| sessions.iter().any(|session| session.as_str() == id));
        // An older round would not be told anyhow.
        inner.state.rounds.retain(|_, time| *time >= day_ago);
        drop(inner);
        self.expire(now);
        let mut inner = self.lock();
        if inner.is_dirty || inner.state != before {
            self.save(&mut inner);
        }
    }

    fn expire(&self, now: Millis) {
        let mut inner = self.lock();
        let (kept, late): (Vec<_>, Vec<_>) =
            std::mem::take(&mut inner.state.pending).into_iter().partition(|entry| entry.until > now.0);
        inner.state.pending = kept;
        inner.state.dropped += late.len() as u64;
        inner.is_dirty |= !late.is_empty();
        drop(inner);
        for entry in late {
            self.log.say(&format!("dropped {} ({}): too old", entry.id, entry.event));
        }
    }

    /// Waits for something to send by a channel, and reserves it. The first of each target comes before the second,
    /// so that a story is told in its order. `None` when the ledger is closed.
    pub(crate) fn next_for(&self, channel: &str) -> Option<Entry> {
        let mut inner = self.lock();
        loop {
            if inner.is_closing {
                return None;
            }
            let now = clock::now().0;
            let firsts = inner.state.firsts(channel);
            if let Some(entry) = firsts.iter().find(|entry| entry.due <= now) {
                let entry = (*entry).clone();
                inner.sending += 1;
                return Some(entry);
            }
            let wait = firsts.iter().map(|entry| entry.due - now).min().unwrap_or(DAY);
            let wait = Duration::from_millis(u64::try_from(wait).unwrap_or(1).max(1));
            inner = self.changed.wait_timeout(inner, wait).unwrap_or_else(PoisonError::into_inner).0;
        }
    }

    /// The service has taken it, or it is given up.
    pub(crate) fn finish(&self, id: &str, is_sent: bool) {
        self.note(|state| {
            state.pending.retain(|entry| entry.id != id);
            if is_sent { state.sent += 1 } else { state.dropped += 1 }
        });
        self.release();
    }

    pub(crate) fn postpone(&self, id: &str, due: Millis) {
        self.note(|state| {
            for entry in state.pending.iter_mut().filter(|entry| entry.id == id) {
                entry.tries += 1;
                entry.due = due.0;
            }
        });
        self.release();
    }

    fn release(&self) {
        self.lock().sending -= 1;
        self.changed.notify_all();
    }

    pub(crate) fn has_pending(&self) -> bool {
        !self.lock().state.pending.is_empty()
    }

    /// Waits until what is being sent has an answer, then writes no more.
    pub(crate) fn close(&self, patience: Duration) {
        let mut inner = self.lock();
        inner.is_closing = true;
        self.changed.notify_all();
        let busy = |inner: &mut Inner| inner.sending > 0;
        let waited = self.changed.wait_timeout_while(inner, patience, busy);
        let mut inner = waited.unwrap_or_else(PoisonError::into_inner).0;
        if inner.is_dirty {
            self.save(&mut inner);
        }
        inner.is_closed = true;
    }

    /// Waits, but not longer than the ledger is open; whether it still is.
    pub(crate) fn sleep(&self, wait: Duration) -> bool {
        let inner = self.lock();
        let waited = self.changed.wait_timeout_while(inner, wait, |inner| !inner.is_closing);
        !waited.unwrap_or_else(PoisonError::into_inner).0.is_closing
    }

    /// The first update that this bot has not brought yet.
    pub(crate) fn next_update(&self, bot: &str) -> Option<i64> {
        let inner = self.lock();
        let telegram = &inner.state.telegram;
        let holds = telegram.bot == bot && clock::now().0 - telegram.at < NUMBERS_HOLD;
        telegram.next.filter(|_| holds)
    }

    /// Takes an update, once: it is remembered before anything is done about it. Whether it is to be acted on.
    pub(crate) fn take_update(&self, bot: &str, update: i64, is_known_chat: bool) -> io::Result<bool> {
        if self.next_update(bot).is_some_and(|next| update < next) {
            return Ok(false);
        }
        self.commit(|state| {
            let telegram = &mut state.telegram;
            bot.clone_into(&mut telegram.bot);
            telegram.next = Some(update + 1);
            telegram.at = clock::now().0;
            telegram.foreign += u64::from(!is_known_chat);
            is_known_chat && !telegram.skip_waiting
        })
    }

    /// Everything that waited has been seen.
    pub(crate) fn updates_are_new(&self) -> io::Result<()> {
        if !self.lock().state.telegram.skip_waiting {
            return Ok(());
        }
        self.commit(|state| state.telegram.skip_waiting = false)
    }
}

impl State {
    /// Returns what there is no room for: the oldest.
    fn add(&mut self, entries: Vec<Entry>) -> Vec<Entry> {
        let is_new = |entry: &Entry| !self.pending.iter().any(|known| known.id == entry.id);
        let entries: Vec<_> = entries.into_iter().filter(is_new).collect();
        self.pending.extend(entries);
        let over = self.pending.len().saturating_sub(MAX_PENDING);
        self.dropped += over as u64;
        self.pending.drain(..over).collect()
    }

    /// What is first in line for each target of a channel.
    fn firsts(&self, channel: &str) -> Vec<&Entry> {
        let mut firsts: Vec<&Entry> = Vec::new();
        for entry in self.pending.iter().filter(|entry| channel_of(&entry.target) == channel) {
            if !firsts.iter().any(|first| first.target == entry.target) {
                firsts.push(entry);
            }
        }
        firsts
    }
}

pub(crate) fn channel_of(target: &str) -> &str {
    target.split('/').next().unwrap_or_default()
}

#[cfg(test)]
mod tests;
