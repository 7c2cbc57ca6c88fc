//! The queue of messages to send, and how far each timeline was read: `dashboard/outbox.json`.
//!
//! It is one file, replaced atomically: a message and the offset of the event that caused it change together, so no
//! event is reported twice or skipped. A message is written to the file before it is sent and removed as soon as the
//! service has accepted it. If the process is killed between the two, the message is sent again after the restart with
//! the same id, by which the receiver of a webhook can recognize it.

use std::collections::BTreeMap;
use std::io;
use std::path::PathBuf;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use overtone_core::engine::state::Millis;
use overtone_store::{Home, Log, SessionId, clock, create_private_dir, files};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// Notifications older than a day are dropped: nobody acts on them any more.
pub(crate) const DAY_MS: i64 = 24 * 3600 * 1000;
/// Cap the queue so that a burst of events does not flood a chat.
const MAX_PENDING: usize = 500;
/// Telegram may restart its numbering after a week without updates, so older numbers are ignored.
const UPDATE_NUMBER_TTL_MS: i64 = 6 * DAY_MS;

/// A message to one target.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct OutgoingMessage {
    /// `session:key:target`.
    pub(crate) id: String,
    /// `telegram/<chat>`, `webhook` or `ntfy`.
    pub(crate) target: String,
    /// The key of an event, or `reply` or `test`.
    pub(crate) event: String,
    pub(crate) title: String,
    pub(crate) text: String,
    /// The content as JSON, for webhooks.
    #[serde(default)]
    pub(crate) fields: Value,
    #[serde(rename = "until")]
    pub(crate) expires_at: i64,
    #[serde(rename = "tries", default)]
    pub(crate) attempts: u32,
    /// The earliest time of the next attempt.
    #[serde(default)]
    pub(crate) due: i64,
    /// Fields of other versions, which are preserved.
    #[serde(flatten)]
    pub(crate) other: Map<String, Value>,
}

/// How far a session's timeline was read, and what was reported about its state.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(crate) struct Cursor {
    #[serde(rename = "place")]
    pub(crate) offset: u64,
    /// The user's attention was requested, and the session has not continued since.
    #[serde(rename = "asked")]
    pub(crate) attention_reported: bool,
    #[serde(rename = "stalled")]
    pub(crate) stall_reported: bool,
    #[serde(rename = "budget")]
    pub(crate) budget_reported: bool,
    /// Fields of other versions, which are preserved.
    #[serde(flatten)]
    pub(crate) other: Map<String, Value>,
}

#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct TelegramState {
    /// The number of the bot, which is not secret. The numbering of updates is per bot.
    bot: String,
    /// The first update that was not accepted yet.
    #[serde(rename = "next")]
    next_update: Option<i64>,
    #[serde(rename = "at")]
    updated_at: i64,
    /// How many messages came from chats that are not configured.
    foreign: u64,
    /// The waiting updates may have been carried out already and are skipped.
    skip_waiting: bool,
    /// Fields of other versions, which are preserved.
    #[serde(flatten)]
    other: Map<String, Value>,
}

#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct OutboxState {
    pending: Vec<OutgoingMessage>,
    sessions: BTreeMap<String, Cursor>,
    /// The time of the last checked round of each supervised session.
    rounds: BTreeMap<String, String>,
    telegram: TelegramState,
    sent: u64,
    dropped: u64,
    /// Fields of other versions, which are preserved.
    #[serde(flatten)]
    other: Map<String, Value>,
}

#[derive(Debug, Default)]
struct Inner {
    state: OutboxState,
    /// The file does not have the latest state.
    is_dirty: bool,
    /// No new message is handed out.
    is_closing: bool,
    /// The file is no longer written, because another process may own it.
    is_closed: bool,
    sending: usize,
}

#[derive(Debug)]
pub(crate) struct Outbox {
    path: PathBuf,
    log: Log,
    inner: Mutex<Inner>,
    changed: Condvar,
    /// The file was unreadable, so it is not known what was sent before.
    pub(crate) lost_history: bool,
}

fn outbox_file(home: &Home) -> PathBuf {
    home.root().join("dashboard/outbox.json")
}

/// How many messages were sent, are queued, were dropped or came from foreign chats.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct OutboxCounts {
    pub pending: usize,
    pub sent: u64,
    pub dropped: u64,
    pub foreign: u64,
}

/// The counts in the outbox file; all zero if there is no readable one.
pub fn outbox_counts(home: &Home) -> OutboxCounts {
    let Ok(Some(text)) = files::read_small(&outbox_file(home)) else { return OutboxCounts::default() };
    let Ok(state) = serde_json::from_str::<OutboxState>(&text) else { return OutboxCounts::default() };
    OutboxCounts {
        pending: state.pending.len(),
        sent: state.sent,
        dropped: state.dropped,
        foreign: state.telegram.foreign,
    }
}

impl Outbox {
    pub(crate) fn open(home: &Home, log: Log) -> io::Result<Self> {
        let path = outbox_file(home);
        create_private_dir(&home.root().join("dashboard"))?;
        let (state, lost_history) = match files::read_small(&path)?.as_deref().map(serde_json::from_str) {
            None => (OutboxState::default(), false),
            Some(Ok(state)) => (state, false),
            Some(Err(error)) => {
                log.write_line(&format!(
                    "broken file {}: {error}; it is kept as outbox.broken.json",
                    path.display()
                ));
                std::fs::rename(&path, path.with_file_name("outbox.broken.json"))?;
                let telegram = TelegramState { skip_waiting: true, ..TelegramState::default() };
                (OutboxState { telegram, ..OutboxState::default() }, true)
            }
        };
        let inner = Mutex::new(Inner { state, ..Inner::default() });
        Ok(Self { path, log, inner, changed: Condvar::new(), lost_history })
    }

    /// The state is consistent whenever the lock is released, so a poisoned lock is usable.
    fn lock(&self) -> MutexGuard<'_, Inner> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Applies a change only if it can be written to the file: a message that is not in the file is not sent.
    fn commit<T>(&self, change: impl FnOnce(&mut OutboxState) -> T) -> io::Result<T> {
        let mut inner = self.lock();
        let mut next = inner.state.clone();
        let result = change(&mut next);
        self.write(&inner, &next)?;
        inner.state = next;
        inner.is_dirty = false;
        self.changed.notify_all();
        Ok(result)
    }

    /// Applies a change that has happened in any case, and writes it to the file if possible.
    fn record(&self, change: impl FnOnce(&mut OutboxState)) {
        let mut inner = self.lock();
        change(&mut inner.state);
        inner.is_dirty = true;
        self.save(&mut inner);
        self.changed.notify_all();
    }

    fn save(&self, inner: &mut Inner) {
        match self.write(inner, &inner.state) {
            Ok(()) => inner.is_dirty = false,
            Err(error) => self.log.write_line(&format!("cannot write {}: {error}", self.path.display())),
        }
    }

    fn write(&self, inner: &Inner, state: &OutboxState) -> io::Result<()> {
        if inner.is_closed {
            return Err(io::Error::other("the server has ended"));
        }
        let text = serde_json::to_string(state).map_err(io::Error::other)?;
        files::write_atomic(&self.path, format!("{text}\n").as_bytes(), files::PRIVATE)
    }

    pub(crate) fn cursor(&self, session: &SessionId) -> Option<Cursor> {
        self.lock().state.sessions.get(session.as_str()).cloned()
    }

    /// Moves a session's cursor without queueing a message. A new offset alone is not written to the file: reading from
    /// the older offset finds nothing to report either.
    pub(crate) fn advance(&self, session: &SessionId, cursor: Cursor) -> io::Result<()> {
        let mut inner = self.lock();
        let known = inner.state.sessions.get(session.as_str()).cloned().unwrap_or_default();
        if (Cursor { offset: known.offset, ..cursor.clone() }) == known {
            inner.state.sessions.insert(session.to_string(), cursor);
            return Ok(());
        }
        drop(inner);
        self.queue(Vec::new(), |_| {}, session, Some(cursor))
    }

    /// Writes the cursors that [`advance`](Self::advance) has moved in memory only.
    pub(crate) fn save_cursors(&self) {
        self.record(|_| {});
    }

    /// Queues messages and moves the cursor of their session in one step.
    pub(crate) fn enqueue(
        &self,
        messages: Vec<OutgoingMessage>,
        session: &SessionId,
        cursor: Cursor,
    ) -> io::Result<()> {
        self.queue(messages, |_| {}, session, Some(cursor))
    }

    /// Queues messages about a supervised session and records its last checked round.
    pub(crate) fn enqueue_rounds(
        &self,
        messages: Vec<OutgoingMessage>,
        session: &SessionId,
        last: &str,
    ) -> io::Result<()> {
        let record_round = |state: &mut OutboxState| {
            state.rounds.insert(session.to_string(), last.to_owned());
        };
        self.queue(messages, record_round, session, None)
    }

    fn queue(
        &self,
        messages: Vec<OutgoingMessage>,
        also: impl FnOnce(&mut OutboxState),
        session: &SessionId,
        cursor: Option<Cursor>,
    ) -> io::Result<()> {
        let dropped = self.commit(|state| {
            also(state);
            if let Some(cursor) = cursor {
                state.sessions.insert(session.to_string(), cursor);
            }
            state.add(messages)
        })?;
        self.log_dropped(&dropped);
        Ok(())
    }

    /// Queues the reply to a command.
    pub(crate) fn enqueue_reply(&self, message: OutgoingMessage) -> io::Result<()> {
        let dropped = self.commit(|state| state.add(vec![message]))?;
        self.log_dropped(&dropped);
        Ok(())
    }

    fn log_dropped(&self, dropped: &[OutgoingMessage]) {
        for message in dropped {
            self.log.write_line(&format!("dropped {} ({}): too many wait", message.id, message.event));
        }
    }

    pub(crate) fn last_round(&self, session: &SessionId) -> Option<String> {
        self.lock().state.rounds.get(session.as_str()).cloned()
    }

    /// Removes sessions that no longer exist, old rounds and expired messages.
    pub(crate) fn remove_expired(&self, sessions: &[SessionId]) {
        let now = clock::now();
        let two_days_ago = clock::to_iso(Millis(now.0 - 2 * DAY_MS));
        let mut inner = self.lock();
        let before = inner.state.clone();
        inner.state.sessions.retain(|id, _| sessions.iter().any(|session| session.as_str() == id));
        // Older rounds are never reported.
        inner.state.rounds.retain(|_, time| *time >= two_days_ago);
        drop(inner);
        self.drop_expired_messages(now);
        let mut inner = self.lock();
        if inner.is_dirty || inner.state != before {
            self.save(&mut inner);
        }
    }

    fn drop_expired_messages(&self, now: Millis) {
        let mut inner = self.lock();
        let (kept, expired): (Vec<_>, Vec<_>) = std::mem::take(&mut inner.state.pending)
            .into_iter()
            .partition(|message| message.expires_at > now.0);
        inner.state.pending = kept;
        inner.state.dropped += expired.len() as u64;
        inner.is_dirty |= !expired.is_empty();
        drop(inner);
        for message in expired {
            self.log.write_line(&format!("dropped {} ({}): too old", message.id, message.event));
        }
    }

    /// Waits for a message that is due on a channel and reserves it. Messages to one target keep their order. Returns
    /// `None` when the outbox is closed.
    pub(crate) fn next_for(&self, channel: &str) -> Option<OutgoingMessage> {
        let mut inner = self.lock();
        loop {
            if inner.is_closing {
                return None;
            }
            let now = clock::now().0;
            let first_messages = inner.state.first_per_target(channel);
            if let Some(message) = first_messages.iter().find(|message| message.due <= now) {
                let message = (*message).clone();
                inner.sending += 1;
                return Some(message);
            }
            let wait = first_messages.iter().map(|message| message.due - now).min().unwrap_or(DAY_MS);
            let wait = Duration::from_millis(u64::try_from(wait).unwrap_or(1).max(1));
            inner = self.changed.wait_timeout(inner, wait).unwrap_or_else(PoisonError::into_inner).0;
        }
    }

    /// Removes a message that the service has accepted, or that is dropped.
    pub(crate) fn finish(&self, id: &str, is_sent: bool) {
        self.record(|state| {
            state.pending.retain(|message| message.id != id);
            if is_sent { state.sent += 1 } else { state.dropped += 1 }
        });
        self.release();
    }

    pub(crate) fn postpone(&self, id: &str, due: Millis) {
        self.record(|state| {
            for message in state.pending.iter_mut().filter(|message| message.id == id) {
                message.attempts += 1;
                message.due = due.0;
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

    /// Waits up to `timeout` for the messages being sent, then stops writing the file.
    pub(crate) fn close(&self, timeout: Duration) {
        let mut inner = self.lock();
        inner.is_closing = true;
        self.changed.notify_all();
        let busy = |inner: &mut Inner| inner.sending > 0;
        let waited = self.changed.wait_timeout_while(inner, timeout, busy);
        let mut inner = waited.unwrap_or_else(PoisonError::into_inner).0;
        if inner.is_dirty {
            self.save(&mut inner);
        }
        inner.is_closed = true;
    }

    /// Waits until the time is over or the outbox is closed, and returns whether it is still open.
    pub(crate) fn sleep(&self, wait: Duration) -> bool {
        let inner = self.lock();
        let waited = self.changed.wait_timeout_while(inner, wait, |inner| !inner.is_closing);
        !waited.unwrap_or_else(PoisonError::into_inner).0.is_closing
    }

    /// The number of the first update of this bot that was not accepted yet, if it is still valid.
    pub(crate) fn next_update(&self, bot: &str) -> Option<i64> {
        let inner = self.lock();
        let telegram = &inner.state.telegram;
        let is_valid = telegram.bot == bot && clock::now().0 - telegram.updated_at < UPDATE_NUMBER_TTL_MS;
        if is_valid { telegram.next_update } else { None }
    }

    /// Records an update before it is carried out. Returns whether it is new and has to be carried out.
    pub(crate) fn accept_update(&self, bot: &str, update: i64, is_known_chat: bool) -> io::Result<bool> {
        if let Some(next) = self.next_update(bot)
            && update < next
        {
            return Ok(false);
        }
        self.commit(|state| {
            let telegram = &mut state.telegram;
            bot.clone_into(&mut telegram.bot);
            telegram.next_update = Some(update + 1);
            telegram.updated_at = clock::now().0;
            telegram.foreign += u64::from(!is_known_chat);
            is_known_chat && !telegram.skip_waiting
        })
    }

    /// Called when no update is waiting any more: from now on all updates are new.
    pub(crate) fn stop_skipping_updates(&self) -> io::Result<()> {
        if !self.lock().state.telegram.skip_waiting {
            return Ok(());
        }
        self.commit(|state| state.telegram.skip_waiting = false)
    }
}

impl OutboxState {
    /// Queues the messages that are not queued yet. Returns the oldest ones, which had to make room.
    fn add(&mut self, messages: Vec<OutgoingMessage>) -> Vec<OutgoingMessage> {
        let is_new = |message: &OutgoingMessage| !self.pending.iter().any(|known| known.id == message.id);
        let messages: Vec<_> = messages.into_iter().filter(is_new).collect();
        self.pending.extend(messages);
        let excess = self.pending.len().saturating_sub(MAX_PENDING);
        self.dropped += excess as u64;
        self.pending.drain(..excess).collect()
    }

    /// The oldest message for each target of a channel.
    fn first_per_target(&self, channel: &str) -> Vec<&OutgoingMessage> {
        let mut firsts: Vec<&OutgoingMessage> = Vec::new();
        for message in self.pending.iter().filter(|message| channel_name(&message.target) == channel) {
            if !firsts.iter().any(|first| first.target == message.target) {
                firsts.push(message);
            }
        }
        firsts
    }
}

/// The channel of a target such as `telegram/<chat>`.
fn channel_name(target: &str) -> &str {
    target.split('/').next().unwrap_or_default()
}

#[cfg(test)]
mod tests;
