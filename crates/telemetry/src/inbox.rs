//! What the thread has to do next, and whether there is anything.

use std::collections::VecDeque;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use overtone_store::SessionId;

/// A collector that was away for so long is no reason for a server to stay: the next one goes on.
const AWAY_LIMIT: Duration = Duration::from_hours(1);

#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Work {
    /// Something may be new there.
    Session(SessionId),
    /// The sums are to be sent.
    Metrics,
    /// Nothing else was to do for a while.
    LookAround,
    Stop,
}

#[derive(Debug, Default)]
struct Inner {
    sessions: VecDeque<SessionId>,
    has_new_sums: bool,
    /// The thread does something just now.
    is_busy: bool,
    /// The collector is away: not before this.
    not_before: Option<Instant>,
    away_since: Option<Instant>,
    phase: Phase,
    is_stopping: bool,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
enum Phase {
    #[default]
    Running,
    /// Another server exports; what waits is for that one.
    StandingBy,
    Ended,
}

#[derive(Debug, Default)]
pub(crate) struct Inbox {
    inner: Mutex<Inner>,
    changed: Condvar,
}

impl Inbox {
    /// What is inside is whole after every step, so a panic elsewhere does not matter.
    fn lock(&self) -> MutexGuard<'_, Inner> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn change(&self, change: impl FnOnce(&mut Inner)) {
        change(&mut self.lock());
        self.changed.notify_all();
    }

    pub(crate) fn put(&self, session: SessionId) {
        self.change(|inner| {
            if !inner.sessions.contains(&session) {
                inner.sessions.push_back(session);
            }
        });
    }

    pub(crate) fn ask_for_metrics(&self) {
        self.change(|inner| inner.has_new_sums = true);
    }

    /// The collector cannot be reached; nothing is begun before this time is over.
    pub(crate) fn pause(&self, wait: Duration) {
        let now = Instant::now();
        self.change(|inner| {
            inner.not_before = now.checked_add(wait);
            inner.away_since.get_or_insert(now);
        });
    }

    /// The collector answers.
    pub(crate) fn is_back(&self) {
        self.change(|inner| inner.away_since = None);
    }

    /// Waits for something to do, but not longer than `look_at`.
    pub(crate) fn next(&self, look_at: Instant) -> Work {
        let mut inner = self.lock();
        inner.is_busy = false;
        loop {
            if inner.is_stopping {
                return Work::Stop;
            }
            let now = Instant::now();
            let is_paused = inner.not_before.is_some_and(|at| at > now);
            if !is_paused && let Some(work) = inner.take() {
                inner.is_busy = true;
                return work;
            }
            if !is_paused && look_at <= now {
                return Work::LookAround;
            }
            let until = inner.not_before.filter(|_| is_paused).unwrap_or(look_at);
            let wait = until.saturating_duration_since(now);
            inner = self.changed.wait_timeout(inner, wait).unwrap_or_else(PoisonError::into_inner).0;
        }
    }

    pub(crate) fn stand_by(&self, stands_by: bool) {
        let phase = if stands_by { Phase::StandingBy } else { Phase::Running };
        self.change(|inner| inner.phase = phase);
    }

    /// Waits for the end; `false` when it has not come within this time.
    pub(crate) fn wait_for_stop(&self, wait: Duration) -> bool {
        let inner = self.lock();
        let waited = self.changed.wait_timeout_while(inner, wait, |inner| !inner.is_stopping);
        waited.unwrap_or_else(PoisonError::into_inner).0.is_stopping
    }

    pub(crate) fn has_work(&self) -> bool {
        let inner = self.lock();
        let is_away = inner.away_since.is_some_and(|since| since.elapsed() > AWAY_LIMIT);
        let waits = inner.is_busy || inner.has_new_sums || !inner.sessions.is_empty();
        waits && !is_away && inner.phase == Phase::Running
    }

    /// Asks the thread to end and waits for it, but not for ever.
    pub(crate) fn stop(&self, patience: Duration) {
        self.change(|inner| inner.is_stopping = true);
        let inner = self.lock();
        drop(self.changed.wait_timeout_while(inner, patience, |inner| inner.phase != Phase::Ended));
    }

    pub(crate) fn note_end(&self) {
        self.change(|inner| inner.phase = Phase::Ended);
    }
}

impl Inner {
    /// Sums come last, so that they are sent once for all.
    fn take(&mut self) -> Option<Work> {
        if let Some(session) = self.sessions.pop_front() {
            return Some(Work::Session(session));
        }
        std::mem::take(&mut self.has_new_sums).then_some(Work::Metrics)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn id(text: &str) -> SessionId {
        SessionId::parse(text).unwrap()
    }

    #[test]
    fn a_session_waits_once_and_sums_come_last() {
        let inbox = Inbox::default();
        inbox.ask_for_metrics();
        for name in ["a", "b", "a"] {
            inbox.put(id(name));
        }
        assert!(inbox.has_work());
        let past = Instant::now();
        let order = [Work::Session(id("a")), Work::Session(id("b")), Work::Metrics, Work::LookAround];
        for wanted in order {
            assert_eq!(inbox.next(past), wanted);
        }
        assert!(!inbox.has_work());
    }

    #[test]
    fn a_pause_is_kept_and_ends_with_a_stop() {
        let inbox = Inbox::default();
        inbox.put(id("a"));
        inbox.pause(Duration::from_hours(9));
        assert!(inbox.has_work());
        inbox.note_end();
        inbox.stop(Duration::ZERO);
        assert_eq!(inbox.next(Instant::now()), Work::Stop);
        assert!(!inbox.has_work());
    }
}
