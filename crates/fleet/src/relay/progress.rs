//! How much of each session is published.

use std::collections::{HashMap, HashSet};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use overtone_store::{Home, SessionId};

use crate::cursors::{Cursors, TimelinePosition};

/// How often the positions are written. The server has them as well, so losing some is harmless.
const SAVE_INTERVAL: Duration = Duration::from_secs(1);

/// The progress of one session. After connecting, everything but the position is unknown.
#[derive(Debug, Clone, Default)]
pub(super) struct SessionProgress {
    pub(super) position: TimelinePosition,
    /// The sequence of the last message of its timeline; 0 if there is none, `None` if it is unknown.
    pub(super) sequence: Option<u64>,
    pub(super) is_ours: bool,
    pub(super) state: PublishedState,
    /// The key of the feature that is claimed for it.
    pub(super) feature: Option<String>,
    /// The published handoffs, with their length.
    pub(super) handoffs: HashMap<String, u64>,
}

/// The state that was published last.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct PublishedState {
    pub(super) fingerprint: u64,
    pub(super) revision: Option<u64>,
    pub(super) at: Option<Instant>,
    /// The time just before it was signed, by this machine's clock.
    pub(super) sealed_at: i64,
}

#[derive(Debug)]
pub(super) struct ProgressMap(Mutex<Inner>);

#[derive(Debug)]
struct Inner {
    known: HashMap<SessionId, SessionProgress>,
    /// Sessions whose owner may have changed while their progress was taken out.
    unsure: HashSet<SessionId>,
    cursors: Cursors,
    saved: Instant,
}

impl ProgressMap {
    pub(super) fn load(home: &Home) -> Self {
        let inner = Inner {
            known: HashMap::new(),
            unsure: HashSet::new(),
            cursors: Cursors::load(home),
            saved: Instant::now(),
        };
        Self(Mutex::new(inner))
    }

    fn lock(&self) -> MutexGuard<'_, Inner> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Drops everything that may have changed on the server, after connecting to this stream.
    pub(super) fn reset(&self, stream: &str) {
        let mut inner = self.lock();
        inner.known.clear();
        inner.unsure.clear();
        inner.cursors.reset_for_stream(stream);
    }

    /// Takes the progress of a session out of the map, until [`put`](Self::put) returns it. `None` if it was never
    /// published.
    pub(super) fn take(&self, id: &SessionId) -> Option<SessionProgress> {
        let mut inner = self.lock();
        if let Some(progress) = inner.known.remove(id) {
            return Some(progress);
        }
        let position = inner.cursors.get(id)?;
        Some(SessionProgress { position, ..SessionProgress::default() })
    }

    pub(super) fn put(&self, id: SessionId, mut progress: SessionProgress) {
        let mut inner = self.lock();
        inner.cursors.set(&id, progress.position);
        if inner.unsure.remove(&id) {
            progress.is_ours = false;
        }
        inner.known.insert(id, progress);
    }

    pub(super) fn forget(&self, id: &SessionId) {
        let mut inner = self.lock();
        inner.known.remove(id);
        inner.unsure.remove(id);
        inner.cursors.forget(id);
    }

    /// Makes the next sync check who owns the session, also if the session is being published at the moment.
    pub(super) fn recheck_owner(&self, id: &SessionId) {
        let mut inner = self.lock();
        match inner.known.get_mut(id) {
            Some(progress) => progress.is_ours = false,
            None => drop(inner.unsure.insert(id.clone())),
        }
    }

    pub(super) fn count(&self) -> usize {
        self.lock().known.len()
    }

    pub(super) fn save_if_due(&self) {
        let mut inner = self.lock();
        if inner.saved.elapsed() < SAVE_INTERVAL {
            return;
        }
        inner.saved = Instant::now();
        // The server has the positions as well, and the next save may succeed.
        let _ = inner.cursors.save();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn id() -> SessionId {
        SessionId::parse("s").unwrap()
    }

    fn is_ours_after(progress: &ProgressMap) -> bool {
        progress.take(&id()).unwrap().is_ours
    }

    /// Another machine may take a session over while this one publishes it.
    #[test]
    fn the_owner_is_checked_again_if_the_claim_changed_during_a_sync() {
        let folder = tempfile::tempdir().unwrap();
        let progress = ProgressMap::load(&Home::at(folder.path().to_owned()));
        let ours = SessionProgress { is_ours: true, ..SessionProgress::default() };
        progress.put(id(), ours.clone());
        assert!(is_ours_after(&progress), "nothing has changed");
        progress.recheck_owner(&id());
        progress.put(id(), ours.clone());
        assert!(!is_ours_after(&progress), "the change came while the progress was taken out");
        progress.put(id(), ours.clone());
        progress.recheck_owner(&id());
        assert!(!is_ours_after(&progress), "the change came afterwards");
        progress.put(id(), ours);
        assert!(is_ours_after(&progress), "each change is checked once");
    }
}
