//! Publishes updates to all listeners, once and in order.
//!
//! Every event has a number in this server and the offset of its line in the session's timeline. Both are in the event
//! id that a listener sends when it reconnects. A listener to all sessions gets what it missed from memory, or a resync
//! event that asks it to reload. A listener to one session gets it from the timeline, also after a restart of the server.

use std::collections::{HashMap, VecDeque};
use std::fmt::Write;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use bytes::Bytes;
use overtone_session::view::TimelineEvent;
use overtone_store::clock;
use serde::Serialize;
use serde_json::Value;
use tokio::sync::broadcast;

/// What is buffered for listeners that reconnect.
const MAX_BUFFERED_EVENTS: usize = 20_000;
const MAX_BUFFERED_BYTES: usize = 8 * 1024 * 1024;
/// How many batches a listener may lag behind before it has to reconnect.
const MAX_LAG: usize = 1024;

/// A change that is published.
#[derive(Debug, Clone)]
pub(crate) enum Update {
    Event {
        session: String,
        event: TimelineEvent,
    },
    Session {
        session: String,
        summary: Arc<Value>,
    },
    Removed {
        session: String,
    },
    /// More has happened in the session than is published one by one; listeners have to reload it.
    Resync {
        session: String,
    },
}

impl Update {
    pub(crate) fn session(&self) -> &str {
        match self {
            Self::Event { session, .. }
            | Self::Session { session, .. }
            | Self::Removed { session }
            | Self::Resync { session } => session,
        }
    }
}

/// Several updates, rendered for all listeners.
#[derive(Debug)]
pub(crate) struct Batch {
    all: Bytes,
    by_session: HashMap<String, Bytes>,
}

impl Batch {
    /// The part for a listener to one session, or to all of them.
    pub(crate) fn for_listener(&self, session: Option<&str>) -> Option<Bytes> {
        match session {
            None => Some(self.all.clone()),
            Some(session) => self.by_session.get(session).cloned(),
        }
    }
}

#[derive(Debug)]
pub(crate) struct Hub {
    /// Identifies this run of the server, because numbers are only valid within it.
    boot: String,
    inner: Mutex<Inner>,
    sender: broadcast::Sender<Arc<Batch>>,
}

#[derive(Debug, Default)]
struct Inner {
    number: u64,
    buffer: VecDeque<BufferedUpdate>,
    buffered_bytes: usize,
}

#[derive(Debug)]
struct BufferedUpdate {
    number: u64,
    text: Bytes,
}

/// The last event that a listener has received.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Position {
    boot: String,
    number: u64,
    /// The end of the event's line in the timeline of its session.
    pub(crate) offset: u64,
}

impl Position {
    /// Parses an event id such as `18f3-42:1234`.
    pub(crate) fn parse(id: &str) -> Option<Self> {
        let (number, offset) = id.split_once(':')?;
        let (boot, number) = number.split_once('-')?;
        Some(Self { boot: boot.to_owned(), number: number.parse().ok()?, offset: offset.parse().ok()? })
    }
}

/// A listener's subscription to all sessions.
#[derive(Debug)]
pub(crate) struct Subscription {
    /// `None` if too much was missed: the listener has to reload everything.
    pub(crate) missed: Option<Vec<Bytes>>,
    pub(crate) updates: broadcast::Receiver<Arc<Batch>>,
}

impl Hub {
    pub(crate) fn new() -> Self {
        let boot = format!("{:x}", clock::now().0);
        Self { boot, inner: Mutex::default(), sender: broadcast::channel(MAX_LAG).0 }
    }

    fn lock(&self) -> MutexGuard<'_, Inner> {
        // The state is consistent whenever the lock is released.
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn listeners(&self) -> usize {
        self.sender.receiver_count()
    }

    /// How many updates this server has published.
    pub(crate) fn published(&self) -> u64 {
        self.lock().number
    }

    pub(crate) fn publish(&self, updates: &[Update]) {
        if updates.is_empty() {
            return;
        }
        let mut inner = self.lock();
        let mut all = String::new();
        let mut by_session: HashMap<String, String> = HashMap::new();
        for update in updates {
            let text = inner.render(&self.boot, update);
            all.push_str(&text);
            by_session.entry(update.session().to_owned()).or_default().push_str(&text);
            inner.buffer(text);
        }
        let by_session = by_session.into_iter().map(|(session, text)| (session, text.into())).collect();
        // Sent under the lock, so that no listener subscribes between buffering and sending. Sending fails if there are
        // no listeners.
        let _ = self.sender.send(Arc::new(Batch { all: all.into(), by_session }));
    }

    /// Subscribes to all sessions from a position on, or from now on.
    pub(crate) fn subscribe_from(&self, from: Option<&Position>) -> Subscription {
        let inner = self.lock();
        let missed = match from {
            None => Some(Vec::new()),
            Some(position) if position.boot == self.boot => inner.since(position.number),
            Some(_) => None,
        };
        Subscription { missed, updates: self.sender.subscribe() }
    }

    /// Renders an event from the timeline like a published one.
    pub(crate) fn render_event(&self, session: &str, event: &TimelineEvent) -> String {
        render_event(&self.boot, 0, session, event)
    }

    /// Subscribes from now on.
    pub(crate) fn subscribe(&self) -> broadcast::Receiver<Arc<Batch>> {
        self.sender.subscribe()
    }
}

impl Inner {
    /// Assigns the next number and renders the update as a server-sent event.
    fn render(&mut self, boot: &str, update: &Update) -> String {
        self.number += 1;
        match update {
            Update::Event { session, event } => render_event(boot, self.number, session, event),
            Update::Session { summary, .. } => format!("event: session\ndata: {summary}\n\n"),
            Update::Resync { .. } => RESYNC.to_owned(),
            Update::Removed { session } => {
                // A string cannot fail to serialize.
                let data = serde_json::to_string(&RemovedSession { id: session }).unwrap_or_default();
                format!("event: removed\ndata: {data}\n\n")
            }
        }
    }

    fn buffer(&mut self, text: String) {
        self.buffered_bytes += text.len();
        self.buffer.push_back(BufferedUpdate { number: self.number, text: text.into() });
        while self.buffer.len() > MAX_BUFFERED_EVENTS || self.buffered_bytes > MAX_BUFFERED_BYTES {
            let Some(oldest) = self.buffer.pop_front() else { break };
            self.buffered_bytes -= oldest.text.len();
        }
    }

    /// Everything after a number; `None` if some of it is no longer buffered.
    fn since(&self, number: u64) -> Option<Vec<Bytes>> {
        let oldest = match self.buffer.front() {
            Some(update) => update.number,
            None => self.number + 1,
        };
        if number > self.number || (number < self.number && number + 1 < oldest) {
            return None;
        }
        let missed = self.buffer.iter().filter(|update| update.number > number);
        Some(missed.map(|update| update.text.clone()).collect())
    }
}

/// The data of the event `removed`.
#[derive(Serialize)]
struct RemovedSession<'a> {
    id: &'a str,
}

/// Renders a timeline event as a server-sent event. Compact JSON contains no line breaks, so the data is one line.
fn render_event(boot: &str, number: u64, session: &str, event: &TimelineEvent) -> String {
    let mut data = serde_json::Map::new();
    data.insert("session".to_owned(), session.into());
    data.insert("id".to_owned(), event.offset.into());
    data.extend(
        event
            .fields
            .iter()
            .filter(|(name, _)| *name != "session" && *name != "id")
            .map(|(name, value)| (name.clone(), value.clone())),
    );
    let mut text = String::new();
    // Writing to a string cannot fail.
    let _ =
        write!(text, "id: {boot}-{number}:{}\nevent: timeline\ndata: {}\n\n", event.end, Value::Object(data));
    text
}

/// Asks a listener that has missed too much to reload.
pub(crate) const RESYNC: &str = "event: resync\ndata: {}\n\n";

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn event(session: &str, offset: u64) -> Update {
        let fields = serde_json::from_value(json!({"type": "a:b", "n": offset})).unwrap();
        Update::Event {
            session: session.to_owned(),
            event: TimelineEvent { offset, end: offset + 10, fields },
        }
    }

    fn texts(missed: Option<Vec<Bytes>>) -> Option<Vec<String>> {
        let text = |bytes: &Bytes| String::from_utf8(bytes.to_vec()).unwrap();
        missed.map(|all| all.iter().map(text).collect())
    }

    #[test]
    fn a_returning_listener_gets_what_it_missed_once() {
        let hub = Hub::new();
        hub.publish(&[event("a", 0), event("b", 0)]);
        let at = Position::parse(&format!("{}-1:10", hub.boot)).unwrap();
        let missed = texts(hub.subscribe_from(Some(&at)).missed).unwrap();
        assert_eq!(missed.len(), 1);
        assert!(missed[0].starts_with(&format!("id: {}-2:10\n", hub.boot)), "{missed:?}");
        assert!(missed[0].contains("\"session\":\"b\""));
        let now = Position::parse(&format!("{}-2:10", hub.boot)).unwrap();
        assert_eq!(texts(hub.subscribe_from(Some(&now)).missed), Some(Vec::new()));
    }

    #[test]
    fn a_listener_of_another_server_has_to_reload() {
        let hub = Hub::new();
        for id in ["other-1:10".to_owned(), format!("{}-7:10", hub.boot)] {
            assert!(hub.subscribe_from(Position::parse(&id).as_ref()).missed.is_none(), "{id}");
        }
        assert_eq!(Position::parse("nonsense"), None);
    }

    #[test]
    fn a_gap_in_the_buffer_requires_a_reload() {
        let hub = Hub::new();
        for round in 0..(MAX_BUFFERED_EVENTS as u64 + 10) {
            hub.publish(&[event("a", round)]);
        }
        let at = |number: u64| Position { boot: hub.boot.clone(), number, offset: 0 };
        assert!(hub.subscribe_from(Some(&at(5))).missed.is_none());
        assert_eq!(hub.subscribe_from(Some(&at(hub.published() - 3))).missed.unwrap().len(), 3);
    }

    #[test]
    fn a_listener_to_one_session_gets_no_other_updates() {
        let hub = Hub::new();
        let mut updates = hub.subscribe();
        hub.publish(&[event("a", 0), event("b", 0), Update::Removed { session: "b".into() }]);
        let batch = updates.try_recv().unwrap();
        assert!(batch.for_listener(Some("c")).is_none());
        let text = String::from_utf8(batch.for_listener(Some("b")).unwrap().to_vec()).unwrap();
        assert!(text.contains("event: removed") && !text.contains("\"session\":\"a\""), "{text}");
    }
}
