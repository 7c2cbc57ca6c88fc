//! Tells everybody who listens what has happened, once and in order.
//!
//! Every event has a number in this server and the place of its line in the session's timeline; both are in the id
//! that a listener sends back when it returns. A listener of all sessions gets what it missed from memory, or is told
//! to begin anew; a listener of one session gets it from the file, also after a restart of the server.

use std::collections::{HashMap, VecDeque};
use std::fmt::Write;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use bytes::Bytes;
use overtone_store::clock;
use overtone_view::Seen;
use serde_json::{Value, json};
use tokio::sync::broadcast;

/// What is kept for listeners who come back.
const KEPT_EVENTS: usize = 20_000;
const KEPT_BYTES: usize = 8 * 1024 * 1024;
/// How far behind a listener may be before it has to come back.
const MAX_BEHIND: usize = 1024;

/// Something to tell.
#[derive(Debug, Clone)]
pub(crate) enum News {
    Event {
        session: String,
        seen: Seen,
    },
    Session {
        session: String,
        summary: Arc<Value>,
    },
    Removed {
        session: String,
    },
    /// More has happened in it than is told.
    Resync {
        session: String,
    },
}

impl News {
    pub(crate) fn session(&self) -> &str {
        match self {
            Self::Event { session, .. }
            | Self::Session { session, .. }
            | Self::Removed { session }
            | Self::Resync { session } => session,
        }
    }
}

/// Several at once, written out for everybody.
#[derive(Debug)]
pub(crate) struct Batch {
    all: Bytes,
    by_session: HashMap<String, Bytes>,
}

impl Batch {
    /// What a listener gets of it.
    pub(crate) fn text(&self, session: Option<&str>) -> Option<Bytes> {
        match session {
            None => Some(self.all.clone()),
            Some(session) => self.by_session.get(session).cloned(),
        }
    }
}

#[derive(Debug)]
pub(crate) struct Hub {
    /// Tells this server's numbers from another one's.
    boot: String,
    inner: Mutex<Inner>,
    sender: broadcast::Sender<Arc<Batch>>,
}

#[derive(Debug, Default)]
struct Inner {
    number: u64,
    kept: VecDeque<Kept>,
    kept_bytes: usize,
}

#[derive(Debug)]
struct Kept {
    number: u64,
    text: Bytes,
}

/// Where a listener was.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Position {
    boot: String,
    number: u64,
    /// In the timeline of the event's session.
    pub(crate) place: u64,
}

impl Position {
    /// From an id such as `18f3-42:1234`.
    pub(crate) fn parse(id: &str) -> Option<Self> {
        let (number, place) = id.split_once(':')?;
        let (boot, number) = number.split_once('-')?;
        Some(Self { boot: boot.to_owned(), number: number.parse().ok()?, place: place.parse().ok()? })
    }
}

/// What a new listener begins with.
#[derive(Debug)]
pub(crate) struct Joined {
    /// `None` when too much was missed: everything is to be fetched anew.
    pub(crate) missed: Option<Vec<Bytes>>,
    pub(crate) news: broadcast::Receiver<Arc<Batch>>,
}

impl Hub {
    pub(crate) fn new() -> Self {
        let boot = format!("{:x}", clock::now().0);
        Self { boot, inner: Mutex::default(), sender: broadcast::channel(MAX_BEHIND).0 }
    }

    fn lock(&self) -> MutexGuard<'_, Inner> {
        // What is inside is whole after every step.
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn listeners(&self) -> usize {
        self.sender.receiver_count()
    }

    /// How much this server has told.
    pub(crate) fn told(&self) -> u64 {
        self.lock().number
    }

    pub(crate) fn publish(&self, news: &[News]) {
        if news.is_empty() {
            return;
        }
        let mut inner = self.lock();
        let mut all = String::new();
        let mut by_session: HashMap<String, String> = HashMap::new();
        for one in news {
            let text = inner.number_and_write(&self.boot, one);
            all.push_str(&text);
            by_session.entry(one.session().to_owned()).or_default().push_str(&text);
            inner.keep(text);
        }
        let by_session = by_session.into_iter().map(|(session, text)| (session, text.into())).collect();
        // Under the lock, so that nobody joins between the two. Without listeners there is nobody to tell.
        let _ = self.sender.send(Arc::new(Batch { all: all.into(), by_session }));
    }

    /// Joins from a position on, or from now on.
    pub(crate) fn join(&self, from: Option<&Position>) -> Joined {
        let inner = self.lock();
        let missed = match from {
            None => Some(Vec::new()),
            Some(position) if position.boot == self.boot => inner.since(position.number),
            Some(_) => None,
        };
        Joined { missed, news: self.sender.subscribe() }
    }

    /// An event as this server would have told it.
    pub(crate) fn event_text(&self, session: &str, seen: &Seen) -> String {
        event_text(&self.boot, 0, session, seen)
    }

    /// Joins from now on; whoever calls knows where to find what was before.
    pub(crate) fn subscribe(&self) -> broadcast::Receiver<Arc<Batch>> {
        self.sender.subscribe()
    }
}

impl Inner {
    fn number_and_write(&mut self, boot: &str, news: &News) -> String {
        self.number += 1;
        match news {
            News::Event { session, seen } => event_text(boot, self.number, session, seen),
            News::Session { summary, .. } => format!("event: session\ndata: {summary}\n\n"),
            News::Resync { .. } => RESYNC.to_owned(),
            News::Removed { session } => format!("event: removed\ndata: {}\n\n", json!({ "id": session })),
        }
    }

    fn keep(&mut self, text: String) {
        self.kept_bytes += text.len();
        self.kept.push_back(Kept { number: self.number, text: text.into() });
        while self.kept.len() > KEPT_EVENTS || self.kept_bytes > KEPT_BYTES {
            let Some(oldest) = self.kept.pop_front() else { break };
            self.kept_bytes -= oldest.text.len();
        }
    }

    /// Everything after a number; `None` when some of it is forgotten.
    fn since(&self, number: u64) -> Option<Vec<Bytes>> {
        let oldest = self.kept.front().map_or(self.number + 1, |kept| kept.number);
        if number > self.number || (number < self.number && number + 1 < oldest) {
            return None;
        }
        let missed = self.kept.iter().filter(|kept| kept.number > number);
        Some(missed.map(|kept| kept.text.clone()).collect())
    }
}

/// JSON has no line breaks of its own, so a line of data is one line.
fn event_text(boot: &str, number: u64, session: &str, seen: &Seen) -> String {
    let mut data = serde_json::Map::new();
    data.insert("session".to_owned(), json!(session));
    data.insert("id".to_owned(), json!(seen.place));
    data.extend(
        seen.fields
            .iter()
            .filter(|(name, _)| *name != "session" && *name != "id")
            .map(|(name, value)| (name.clone(), value.clone())),
    );
    let mut text = String::new();
    // Writing into a text cannot fail.
    let _ =
        write!(text, "id: {boot}-{number}:{}\nevent: timeline\ndata: {}\n\n", seen.end, Value::Object(data));
    text
}

/// For a listener who has missed too much.
pub(crate) const RESYNC: &str = "event: resync\ndata: {}\n\n";

#[cfg(test)]
mod tests {
    use super::*;

    fn event(session: &str, place: u64) -> News {
        let fields = serde_json::from_value(json!({"type": "a:b", "n": place})).unwrap();
        News::Event { session: session.to_owned(), seen: Seen { place, end: place + 10, fields } }
    }

    fn texts(missed: Option<Vec<Bytes>>) -> Option<Vec<String>> {
        let text = |bytes: &Bytes| String::from_utf8(bytes.to_vec()).unwrap();
        missed.map(|all| all.iter().map(text).collect())
    }

    #[test]
    fn who_comes_back_gets_what_was_missed_and_nothing_twice() {
        let hub = Hub::new();
        hub.publish(&[event("a", 0), event("b", 0)]);
        let at = Position::parse(&format!("{}-1:10", hub.boot)).unwrap();
        let missed = texts(hub.join(Some(&at)).missed).unwrap();
        assert_eq!(missed.len(), 1);
        assert!(missed[0].starts_with(&format!("id: {}-2:10\n", hub.boot)), "{missed:?}");
        assert!(missed[0].contains("\"session\":\"b\""));
        let now = Position::parse(&format!("{}-2:10", hub.boot)).unwrap();
        assert_eq!(texts(hub.join(Some(&now)).missed), Some(Vec::new()));
    }

    #[test]
    fn who_was_with_another_server_begins_anew() {
        let hub = Hub::new();
        for id in ["other-1:10".to_owned(), format!("{}-7:10", hub.boot)] {
            assert!(hub.join(Position::parse(&id).as_ref()).missed.is_none(), "{id}");
        }
        assert_eq!(Position::parse("nonsense"), None);
    }

    #[test]
    fn what_is_forgotten_is_not_passed_over() {
        let hub = Hub::new();
        for round in 0..(KEPT_EVENTS as u64 + 10) {
            hub.publish(&[event("a", round)]);
        }
        let at = |number: u64| Position { boot: hub.boot.clone(), number, place: 0 };
        assert!(hub.join(Some(&at(5))).missed.is_none());
        assert_eq!(hub.join(Some(&at(hub.told() - 3))).missed.unwrap().len(), 3);
    }

    #[test]
    fn a_listener_of_one_session_hears_of_no_other() {
        let hub = Hub::new();
        let mut news = hub.subscribe();
        hub.publish(&[event("a", 0), event("b", 0), News::Removed { session: "b".into() }]);
        let batch = news.try_recv().unwrap();
        assert!(batch.text(Some("c")).is_none());
        let text = String::from_utf8(batch.text(Some("b")).unwrap().to_vec()).unwrap();
        assert!(text.contains("event: removed") && !text.contains("\"session\":\"a\""), "{text}");
    }
}
