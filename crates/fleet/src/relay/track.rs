//! What the relay knows of each session: how far it was told, and in which shape.

use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use overtone_store::{Home, SessionId};

use crate::cursors::{Cursors, Place};

/// How often the places are written down: the server knows them, too.
const SAVE_EVERY: Duration = Duration::from_secs(1);

/// One session. What the server said is unknown after every new beginning.
#[derive(Debug, Clone, Default)]
pub(super) struct Track {
    pub(super) place: Place,
    /// The number of the last message of its timeline; 0 if there is none.
    pub(super) sequence: Option<u64>,
    pub(super) is_ours: bool,
    pub(super) state: Told,
    /// The feature that is claimed for it, by its key.
    pub(super) feature: Option<String>,
    /// Agents' messages that were told, with their length.
    pub(super) handoffs: HashMap<String, u64>,
}

/// The state that was told last.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Told {
    pub(super) fingerprint: u64,
    pub(super) revision: Option<u64>,
    pub(super) at: Option<Instant>,
    /// Just before it was signed, by this machine's clock.
    pub(super) sealed_at: i64,
}

#[derive(Debug)]
pub(super) struct Tracks(Mutex<Inner>);

#[derive(Debug)]
struct Inner {
    known: HashMap<SessionId, Track>,
    cursors: Cursors,
    saved: Instant,
}

impl Tracks {
    pub(super) fn load(home: &Home) -> Self {
        let inner = Inner { known: HashMap::new(), cursors: Cursors::load(home), saved: Instant::now() };
        Self(Mutex::new(inner))
    }

    fn lock(&self) -> MutexGuard<'_, Inner> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A new connection to this stream: everything is to be asked for again.
    pub(super) fn begin(&self, stream: &str) {
        let mut inner = self.lock();
        inner.known.clear();
        inner.cursors.belong_to(stream);
    }

    /// Takes a session's track, to give it back after a visit; `None` for one that was never visited.
    pub(super) fn take(&self, id: &SessionId) -> Option<Track> {
        let mut inner = self.lock();
        let place = inner.cursors.get(id);
        inner.known.remove(id).or_else(|| place.map(|place| Track { place, ..Track::default() }))
    }

    pub(super) fn put(&self, id: SessionId, track: Track) {
        let mut inner = self.lock();
        inner.cursors.set(&id, track.place);
        inner.known.insert(id, track);
    }

    pub(super) fn forget(&self, id: &SessionId) {
        let mut inner = self.lock();
        inner.known.remove(id);
        inner.cursors.forget(id);
    }

    /// Somebody else may have got the session.
    pub(super) fn doubt(&self, id: &SessionId) {
        if let Some(track) = self.lock().known.get_mut(id) {
            track.is_ours = false;
        }
    }

    pub(super) fn count(&self) -> usize {
        self.lock().known.len()
    }

    pub(super) fn save_if_due(&self) {
        let mut inner = self.lock();
        if inner.saved.elapsed() < SAVE_EVERY {
            return;
        }
        inner.saved = Instant::now();
        // The server knows as well; the next time it may work.
        let _ = inner.cursors.save();
    }
}
