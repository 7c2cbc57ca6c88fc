//! The work that waits for the export thread.

use std::collections::VecDeque;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use overtone_store::SessionId;

/// A server does not keep running for a collector that is unreachable for longer: the next server continues.
const MAX_UNREACHABLE: Duration = Duration::from_hours(1);

#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Work {
    /// The session may have new events.
    Session(SessionId),
    /// Send the sums.
    Metrics,
    /// Check all sessions for changes that were not reported.
    Scan,
    Stop,
}

#[derive(Debug, Default)]
struct Inner {
    sessions: VecDeque<SessionId>,
    has_new_sums: bool,
    /// The thread is working.
    is_busy: bool,
    /// No work is handed out before this time, because the collector is unreachable.
    not_before: Option<Instant>,
    unreachable_since: Option<Instant>,
    phase: Phase,
    is_stopping: bool,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
enum Phase {
    #[default]
    Running,
    /// Another server exports and does the waiting work.
    StandingBy,
    Ended,
}

#[derive(Debug, Default)]
pub(crate) struct WorkQueue {
    inner: Mutex<Inner>,
    changed: Condvar,
}

impl WorkQueue {
    /// The state is consistent whenever the lock is released, so a poisoned lock is usable.
    fn lock(&self) -> MutexGuard<'_, Inner> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn change(&self, change: impl FnOnce(&mut Inner)) {
        change(&mut self.lock());
        self.changed.notify_all();
    }

    /// Queues a session unless it is queued already.
    pub(crate) fn push(&self, session: SessionId) {
        self.change(|inner| {
            if !inner.sessions.contains(&session) {
                inner.sessions.push_back(session);
            }
        });
    }

    pub(crate) fn request_metrics(&self) {
        self.change(|inner| inner.has_new_sums = true);
    }

    /// Hands out no work for this time, because the collector is unreachable.
    pub(crate) fn pause(&self, wait: Duration) {
        let now = Instant::now();
        self.change(|inner| {
            inner.not_before = now.checked_add(wait);
            inner.unreachable_since.get_or_insert(now);
        });
    }

    /// Records that the collector responds again.
    pub(crate) fn mark_reachable(&self) {
        self.change(|inner| inner.unreachable_since = None);
    }

    /// Waits for work, but not longer than until `scan_at`.
    pub(crate) fn next(&self, scan_at: Instant) -> Work {
        let mut inner = self.lock();
        inner.is_busy = false;
        loop {
            if inner.is_stopping {
                return Work::Stop;
            }
            let now = Instant::now();
            let paused_until = inner.not_before.filter(|at| *at > now);
            let is_paused = paused_until.is_some();
            if !is_paused && let Some(work) = inner.pop() {
                inner.is_busy = true;
                return work;
            }
            if !is_paused && scan_at <= now {
                return Work::Scan;
            }
            let wait = paused_until.unwrap_or(scan_at).saturating_duration_since(now);
            inner = self.changed.wait_timeout(inner, wait).unwrap_or_else(PoisonError::into_inner).0;
        }
    }

    /// Sets whether another server exports.
    pub(crate) fn set_standing_by(&self, is_standing_by: bool) {
        let phase = if is_standing_by { Phase::StandingBy } else { Phase::Running };
        self.change(|inner| inner.phase = phase);
    }

    /// Waits up to this time for a stop, and returns whether it was requested.
    pub(crate) fn wait_for_stop(&self, wait: Duration) -> bool {
        let inner = self.lock();
        let waited = self.changed.wait_timeout_while(inner, wait, |inner| !inner.is_stopping);
        waited.unwrap_or_else(PoisonError::into_inner).0.is_stopping
    }

    pub(crate) fn has_work(&self) -> bool {
        let inner = self.lock();
        if let Some(since) = inner.unreachable_since
            && since.elapsed() > MAX_UNREACHABLE
        {
            return false;
        }
        let has_work = inner.is_busy || inner.has_new_sums || !inner.sessions.is_empty();
        has_work && inner.phase == Phase::Running
    }

    /// Asks the thread to end and waits for it up to this time.
    pub(crate) fn stop(&self, timeout: Duration) {
        self.change(|inner| inner.is_stopping = true);
        let inner = self.lock();
        drop(self.changed.wait_timeout_while(inner, timeout, |inner| inner.phase != Phase::Ended));
    }

    pub(crate) fn mark_ended(&self) {
        self.change(|inner| inner.phase = Phase::Ended);
    }
}

impl Inner {
    /// Metrics come last, so that they are sent once for all sessions.
    fn pop(&mut self) -> Option<Work> {
        if let Some(session) = self.sessions.pop_front() {
            return Some(Work::Session(session));
        }
        if self.has_new_sums {
            self.has_new_sums = false;
            return Some(Work::Metrics);
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn id(text: &str) -> SessionId {
        SessionId::parse(text).unwrap()
    }

    #[test]
    fn a_session_is_queued_once_and_metrics_come_last() {
        let queue = WorkQueue::default();
        queue.request_metrics();
        for name in ["a", "b", "a"] {
            queue.push(id(name));
        }
        assert!(queue.has_work());
        let past = Instant::now();
        let order = [Work::Session(id("a")), Work::Session(id("b")), Work::Metrics, Work::Scan];
        for expected in order {
            assert_eq!(queue.next(past), expected);
        }
        assert!(!queue.has_work());
    }

    #[test]
    fn a_pause_holds_until_a_stop() {
        let queue = WorkQueue::default();
        queue.push(id("a"));
        queue.pause(Duration::from_hours(9));
        assert!(queue.has_work());
        queue.mark_ended();
        queue.stop(Duration::ZERO);
        assert_eq!(queue.next(Instant::now()), Work::Stop);
        assert!(!queue.has_work());
    }
}
