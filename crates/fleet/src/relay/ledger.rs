//! Records orders and claims on disk, so that a message that is sent again has no effect.
//!
//! An order is recorded before it is executed, and kept until it expires. Orders that are older than all records are
//! refused, so an order cannot become valid again when its record is dropped. For sessions, the epoch of the last claim
//! is recorded.

use std::collections::{BTreeMap, HashMap};
use std::io;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

use overtone_store::{Home, clock, files};
use serde::{Deserialize, Serialize};

use crate::claims::KnownClaim;
use crate::machine::fleet_dir;
use crate::message::{Answer, Claim};
use crate::trust::CLOCK_SKEW;

/// How long an order may be executed after it was signed. Orders wait for a machine that is offline for a day, and
/// clocks may differ.
pub(crate) const ORDER_LIFETIME: i64 = 24 * 60 * 60 * 1000 + CLOCK_SKEW;

/// The limit for recorded orders. More within a day are caused by a malfunction.
const MAX_ORDERS: usize = 10_000;

/// How often an order is started. One that ends the worker is likely to do so again.
const MAX_ATTEMPTS: u32 = 3;

/// What the ledger knows of an order before it is executed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum OrderStatus {
    /// It may be executed. `attempts` counts how often it was started before.
    Pending { attempts: u32 },
    /// It was executed, with this answer.
    Done(Answer),
    /// It was started too often and never finished.
    GivenUp,
    /// Signed too long ago, or in the future.
    OutOfTime { minutes: u64 },
}

#[derive(Debug, Clone, Serialize, Deserialize)]
struct OrderRecord {
    at: i64,
    #[serde(default)]
    attempts: u32,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    answer: Option<Answer>,
}

#[derive(Debug, Default, Serialize, Deserialize)]
struct Document {
    /// Orders that were signed at this time or before are refused.
    #[serde(default)]
    floor: i64,
    #[serde(default)]
    orders: HashMap<String, OrderRecord>,
    /// The last claim of each session.
    #[serde(default)]
    claims: BTreeMap<String, KnownClaim>,
}

#[derive(Debug)]
pub(crate) struct Ledger {
    path: PathBuf,
    document: Mutex<Document>,
    /// Whether claims have changed since the file was written.
    is_changed: AtomicBool,
}

impl Ledger {
    /// Loads the ledger. If it is unreadable, only orders that are signed from now on are executed.
    pub(crate) fn load(home: &Home) -> Self {
        let path = fleet_dir(home).join("orders.json");
        let document = match files::read_small(&path) {
            Ok(None) => Document::default(),
            Ok(Some(text)) => serde_json::from_str(&text).unwrap_or_else(|_| Self::unreadable()),
            Err(_) => Self::unreadable(),
        };
        Self { path, document: Mutex::new(document), is_changed: AtomicBool::new(false) }
    }

    fn unreadable() -> Document {
        Document { floor: clock::now().0, ..Document::default() }
    }

    fn lock(&self) -> MutexGuard<'_, Document> {
        self.document.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Records that the execution of an order starts, or returns why it must not.
    pub(crate) fn begin(&self, id: &str, at: i64, now: i64) -> io::Result<OrderStatus> {
        let mut document = self.lock();
        if let Some(known) = document.orders.get_mut(id) {
            if let Some(answer) = &known.answer {
                return Ok(OrderStatus::Done(answer.clone()));
            }
            if known.attempts >= MAX_ATTEMPTS {
                return Ok(OrderStatus::GivenUp);
            }
            known.attempts += 1;
            let attempts = known.attempts - 1;
            self.save(&document)?;
            return Ok(OrderStatus::Pending { attempts });
        }
        let is_in_time = at > document.floor && at > now - ORDER_LIFETIME && at <= now + CLOCK_SKEW;
        if !is_in_time {
            return Ok(OrderStatus::OutOfTime { minutes: now.abs_diff(at) / 60_000 });
        }
        document.orders.insert(id.to_owned(), OrderRecord { at, attempts: 1, answer: None });
        drop_old(&mut document, now);
        self.save(&document)?;
        Ok(OrderStatus::Pending { attempts: 0 })
    }

    /// Records the answer to an executed order.
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

    /// Records a claim, unless a later epoch is known. The file is written by [`save_claims`](Self::save_claims).
    pub(super) fn set_claim(&self, key: &str, claim: &Claim) {
        self.learn_claim(key, KnownClaim { epoch: claim.epoch, machine: claim.machine.clone() });
    }

    /// Like [`set_claim`](Self::set_claim), for a claim that was recorded before.
    pub(super) fn learn_claim(&self, key: &str, claim: KnownClaim) {
        let mut document = self.lock();
        let known = document.claims.entry(key.to_owned()).or_default();
        if known.epoch < claim.epoch || known.machine.is_empty() {
            *known = claim;
            self.is_changed.store(true, Ordering::Relaxed);
        }
    }

    pub(super) fn forget_claim(&self, claim: &str) {
        if self.lock().claims.remove(claim).is_some() {
            self.is_changed.store(true, Ordering::Relaxed);
        }
    }

    /// Writes the file if claims have changed. One write covers many sessions.
    pub(super) fn save_claims(&self) -> io::Result<()> {
        if self.is_changed.swap(false, Ordering::Relaxed) { self.save(&self.lock()) } else { Ok(()) }
    }

    fn save(&self, document: &Document) -> io::Result<()> {
        let text = serde_json::to_vec(document).map_err(io::Error::other)?;
        files::write_atomic(&self.path, &text, files::PRIVATE)
    }
}

/// Drops expired orders, and the oldest ones if there are too many. `floor` keeps the dropped ones from being executed.
fn drop_old(document: &mut Document, now: i64) {
    let mut times: Vec<_> = document.orders.values().map(|order| order.at).collect();
    times.sort_unstable();
    let surplus = times.len().saturating_sub(MAX_ORDERS);
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
        create_private_dir(&fleet_dir(&home)).unwrap();
        (dir, home)
    }

    fn done() -> Answer {
        Answer { ok: true, reason: None, handover: None }
    }

    #[test]
    fn an_order_is_executed_once_even_after_a_restart() {
        let (_dir, home) = home();
        let ledger = Ledger::load(&home);
        assert_eq!(ledger.begin("one", NOW, NOW).unwrap(), OrderStatus::Pending { attempts: 0 });
        ledger.finish("one", &done()).unwrap();
        let again = Ledger::load(&home);
        assert_eq!(again.begin("one", NOW, NOW + HOUR).unwrap(), OrderStatus::Done(done()));
        // Also after it has expired, and when the clock is set back.
        again.begin("two", NOW + 50 * HOUR, NOW + 50 * HOUR).unwrap();
        for now in [NOW + 50 * HOUR, NOW] {
            assert!(matches!(again.begin("one", NOW, now).unwrap(), OrderStatus::OutOfTime { .. }), "{now}");
        }
    }

    #[test]
    fn an_order_that_ends_the_worker_is_given_up() {
        let (_dir, home) = home();
        for attempts in 0..3 {
            assert_eq!(
                Ledger::load(&home).begin("bad", NOW, NOW).unwrap(),
                OrderStatus::Pending { attempts }
            );
        }
        assert_eq!(Ledger::load(&home).begin("bad", NOW, NOW).unwrap(), OrderStatus::GivenUp);
    }

    #[test]
    fn an_order_is_valid_for_a_limited_time() {
        let (_dir, home) = home();
        let ledger = Ledger::load(&home);
        for (at, is_in_time) in
            [(NOW - 24 * HOUR, true), (NOW + HOUR, true), (NOW - 26 * HOUR, false), (NOW + 2 * HOUR, false)]
        {
            let before = ledger.begin(&format!("order{at}"), at, NOW).unwrap();
            assert_eq!(matches!(before, OrderStatus::Pending { .. }), is_in_time, "{at}: {before:?}");
        }
    }

    #[test]
    fn an_unreadable_ledger_refuses_earlier_orders() {
        let (_dir, home) = home();
        files::write_atomic(&fleet_dir(&home).join("orders.json"), b"{", files::PRIVATE).unwrap();
        let now = clock::now().0;
        let ledger = Ledger::load(&home);
        assert!(matches!(ledger.begin("old", now - 1000, now).unwrap(), OrderStatus::OutOfTime { .. }));
        assert!(matches!(ledger.begin("new", now + 1000, now).unwrap(), OrderStatus::Pending { .. }));
    }

    #[test]
    fn an_earlier_claim_does_not_replace_a_later_one() {
        let (_dir, home) = home();
        let ledger = Ledger::load(&home);
        let claim = |epoch, machine: &str| {
            let machine = crate::Machine { id: machine.to_owned(), name: String::new() };
            Claim { epoch, ..Claim::new(&machine, None) }
        };
        ledger.set_claim("session.s", &claim(3, "a"));
        ledger.set_claim("session.s", &claim(2, "b"));
        ledger.save_claims().unwrap();
        let known = Ledger::load(&home).known_claim("session.s");
        assert_eq!(known, Some(KnownClaim { epoch: 3, machine: "a".to_owned() }));
    }
}
