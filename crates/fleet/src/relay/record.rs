//! What this machine remembers of orders and claims, on disk, so that nothing that is sent again counts again.
//!
//! An order is remembered from before it is carried out until its time is over. One that is older than everything that
//! is remembered is refused, so forgetting cannot make an order new. For sessions, the epoch of the last claim is
//! remembered.

use std::collections::{BTreeMap, HashMap};
use std::io;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

use overtone_store::{Home, clock, files};
use serde::{Deserialize, Serialize};

use crate::machine::folder;
use crate::message::{Answer, Claim};
use crate::trust::CLOCK_SKEW;

/// How long after it was given an order may be carried out: it waits for a machine that is away for a day, and clocks
/// may differ.
pub(super) const ORDER_LIFETIME: i64 = 24 * 60 * 60 * 1000 + CLOCK_SKEW;

/// So many orders are remembered; more within a day come from something that has gone wrong.
const MOST_ORDERS: usize = 10_000;

/// How often an order is begun: whatever ends the worker in the middle of it may do so again.
const MOST_ATTEMPTS: u32 = 3;

/// What is known of an order before it is carried out.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Before {
    /// It may be carried out; so often it was begun before.
    Begin { attempts: u32 },
    /// It was carried out, with this answer.
    Done(Answer),
    /// It was begun too often and never ended.
    GivenUp,
    /// Given too long ago, or in the future.
    OutOfTime { minutes: u64 },
}

#[derive(Debug, Clone, Serialize, Deserialize)]
struct Remembered {
    at: i64,
    #[serde(default)]
    attempts: u32,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    answer: Option<Answer>,
}

#[derive(Debug, Default, Serialize, Deserialize)]
struct Document {
    /// Orders that were given at this time or before are over.
    #[serde(default)]
    floor: i64,
    #[serde(default)]
    orders: HashMap<String, Remembered>,
    /// The last claim of each session.
    #[serde(default)]
    claims: BTreeMap<String, KnownClaim>,
}

/// Whose a session was when this machine last knew for sure.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct KnownClaim {
    pub(super) epoch: u64,
    pub(super) machine: String,
}

#[derive(Debug)]
pub(super) struct Record {
    path: PathBuf,
    document: Mutex<Document>,
    /// Claims that are not in the file yet.
    is_changed: AtomicBool,
}

impl Record {
    /// What cannot be read counts as lost: then only orders of from now on are carried out.
    pub(super) fn load(home: &Home) -> Self {
        let path = folder(home).join("orders.json");
        let document = match files::read_small(&path) {
            Ok(None) => Document::default(),
            Ok(Some(text)) => serde_json::from_str(&text).unwrap_or_else(|_| Self::lost()),
            Err(_) => Self::lost(),
        };
        Self { path, document: Mutex::new(document), is_changed: AtomicBool::new(false) }
    }

    fn lost() -> Document {
        Document { floor: clock::now().0, ..Document::default() }
    }

    fn lock(&self) -> MutexGuard<'_, Document> {
        self.document.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Notes that an order is begun, before anything is done.
    pub(super) fn begin(&self, id: &str, at: i64, now: i64) -> io::Result<Before> {
        let mut document = self.lock();
        if let Some(known) = document.orders.get_mut(id) {
            if let Some(answer) = &known.answer {
                return Ok(Before::Done(answer.clone()));
            }
            if known.attempts >= MOST_ATTEMPTS {
                return Ok(Before::GivenUp);
            }
            known.attempts += 1;
            let attempts = known.attempts - 1;
            self.save(&document)?;
            return Ok(Before::Begin { attempts });
        }
        let is_in_time = at > document.floor && at > now - ORDER_LIFETIME && at <= now + CLOCK_SKEW;
        if !is_in_time {
            return Ok(Before::OutOfTime { minutes: (now - at).unsigned_abs() / 60_000 });
        }
        document.orders.insert(id.to_owned(), Remembered { at, attempts: 1, answer: None });
        forget_old(&mut document, now);
        self.save(&document)?;
        Ok(Before::Begin { attempts: 0 })
    }

    /// Notes how an order has ended.
    pub(super) fn finish(&self, id: &str, answer: &Answer) -> io::Result<()> {
        let mut document = self.lock();
        if let Some(known) = document.orders.get_mut(id) {
            known.answer = Some(answer.clone());
        }
        self.save(&document)
    }

    pub(super) fn known_claim(&self, key: &str) -> Option<KnownClaim> {
        self.lock().claims.get(key).cloned()
    }

    /// An epoch never goes back. It is written with the next [`save_claims`](Self::save_claims).
    pub(super) fn set_claim(&self, key: &str, claim: &Claim) {
        let mut document = self.lock();
        let known = document.claims.entry(key.to_owned()).or_default();
        if known.epoch < claim.epoch || known.machine.is_empty() {
            *known = KnownClaim { epoch: claim.epoch, machine: claim.machine.clone() };
            self.is_changed.store(true, Ordering::Relaxed);
        }
    }

    pub(super) fn forget_claim(&self, claim: &str) {
        if self.lock().claims.remove(claim).is_some() {
            self.is_changed.store(true, Ordering::Relaxed);
        }
    }

    /// Writes claims that have changed, for many sessions at once.
    pub(super) fn save_claims(&self) -> io::Result<()> {
        if self.is_changed.swap(false, Ordering::Relaxed) { self.save(&self.lock()) } else { Ok(()) }
    }

    fn save(&self, document: &Document) -> io::Result<()> {
        let text = serde_json::to_vec(document).map_err(io::Error::other)?;
        files::write_atomic(&self.path, &text, files::PRIVATE)
    }
}

/// Orders whose time is over, and the oldest if there are too many. Whatever is forgotten raises the floor.
fn forget_old(document: &mut Document, now: i64) {
    let mut times: Vec<_> = document.orders.values().map(|order| order.at).collect();
    times.sort_unstable();
    let surplus = times.len().saturating_sub(MOST_ORDERS);
    let by_count = if surplus > 0 { times[surplus - 1] } else { i64::MIN };
    let floor = by_count.max(now - ORDER_LIFETIME);
    document.orders.retain(|_, order| order.at > floor);
    document.floor = document.floor.max(floor);
}

#[cfg(test)]
mod tests {
    use overtone_store::create_private_dir;

    use super::*;

    const NOW: i64 = 1_700_000_000_000;
    const HOUR: i64 = 60 * 60 * 1000;

    fn home() -> (tempfile::TempDir, Home) {
        let dir = tempfile::tempdir().unwrap();
        let home = Home::at(dir.path().to_owned());
        create_private_dir(&folder(&home)).unwrap();
        (dir, home)
    }

    fn done() -> Answer {
        Answer { ok: true, reason: None, handed: None }
    }

    #[test]
    fn an_order_is_begun_once_and_remembered_across_a_restart() {
        let (_dir, home) = home();
        let record = Record::load(&home);
        assert_eq!(record.begin("one", NOW, NOW).unwrap(), Before::Begin { attempts: 0 });
        record.finish("one", &done()).unwrap();
        let again = Record::load(&home);
        assert_eq!(again.begin("one", NOW, NOW + HOUR).unwrap(), Before::Done(done()));
        // Also when its time is over, and when the clock was put back.
        again.begin("two", NOW + 50 * HOUR, NOW + 50 * HOUR).unwrap();
        for now in [NOW + 50 * HOUR, NOW] {
            assert!(matches!(again.begin("one", NOW, now).unwrap(), Before::OutOfTime { .. }), "{now}");
        }
    }

    #[test]
    fn an_order_that_ends_the_worker_is_given_up() {
        let (_dir, home) = home();
        for attempts in 0..3 {
            assert_eq!(Record::load(&home).begin("bad", NOW, NOW).unwrap(), Before::Begin { attempts });
        }
        assert_eq!(Record::load(&home).begin("bad", NOW, NOW).unwrap(), Before::GivenUp);
    }

    #[test]
    fn an_order_has_its_time() {
        let (_dir, home) = home();
        let record = Record::load(&home);
        for (at, is_in_time) in
            [(NOW - 24 * HOUR, true), (NOW + HOUR, true), (NOW - 26 * HOUR, false), (NOW + 2 * HOUR, false)]
        {
            let before = record.begin(&format!("order{at}"), at, NOW).unwrap();
            assert_eq!(matches!(before, Before::Begin { .. }), is_in_time, "{at}: {before:?}");
        }
    }

    #[test]
    fn a_lost_record_makes_no_old_order_new() {
        let (_dir, home) = home();
        files::write_atomic(&folder(&home).join("orders.json"), b"{", files::PRIVATE).unwrap();
        let now = clock::now().0;
        let record = Record::load(&home);
        assert!(matches!(record.begin("old", now - 1000, now).unwrap(), Before::OutOfTime { .. }));
        assert!(matches!(record.begin("new", now + 1000, now).unwrap(), Before::Begin { .. }));
    }

    #[test]
    fn an_earlier_claim_does_not_come_back() {
        let (_dir, home) = home();
        let record = Record::load(&home);
        let claim = |epoch, machine: &str| {
            let machine = crate::Machine { id: machine.to_owned(), name: String::new() };
            Claim { epoch, ..Claim::by(&machine, None) }
        };
        record.set_claim("session.s", &claim(3, "a"));
        record.set_claim("session.s", &claim(2, "b"));
        record.save_claims().unwrap();
        let known = Record::load(&home).known_claim("session.s");
        assert_eq!(known, Some(KnownClaim { epoch: 3, machine: "a".to_owned() }));
    }
}
