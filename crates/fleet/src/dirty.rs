//! The set of sessions whose files have changed since they were last published.

use std::collections::HashSet;
use std::path::Path;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use overtone_session::watch::{Change, SessionWatcher};
use overtone_store::{Home, SessionId, create_private_dir};
use tokio::sync::Notify;

/// Changes within this time are handled together. The file watch has already merged most of them.
const DEBOUNCE: Duration = Duration::from_millis(2);

#[derive(Debug, Clone, Default)]
pub(crate) struct DirtySessions {
    sessions: Arc<Mutex<HashSet<SessionId>>>,
    notify: Arc<Notify>,
}

impl DirtySessions {
    /// Marks sessions when their files change. Without file notifications (`None`), only the regular rescan finds
    /// changes.
    pub(crate) fn watch(&self, home: &Home) -> Option<SessionWatcher> {
        // Only an existing folder can be watched.
        let _ = create_private_dir(&home.sessions_dir());
        let (dirty, all) = (self.clone(), home.clone());
        SessionWatcher::start(home, move |change| match change {
            Change::File(session, file) if is_relevant(&file) => dirty.mark([session]),
            Change::File(..) => {}
            Change::Rescan => dirty.mark_all(&all),
        })
    }

    fn lock(&self) -> MutexGuard<'_, HashSet<SessionId>> {
        self.sessions.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn mark(&self, sessions: impl IntoIterator<Item = SessionId>) {
        let mut known = self.lock();
        let before = known.len();
        known.extend(sessions);
        if known.len() > before {
            self.notify.notify_one();
        }
    }

    pub(crate) fn mark_all(&self, home: &Home) {
        self.mark(home.sessions().unwrap_or_default().into_iter().map(|session| session.id().clone()));
    }

    /// Waits until a session is marked, and takes all that are.
    pub(crate) async fn take(&self) -> HashSet<SessionId> {
        loop {
            if !self.lock().is_empty() {
                tokio::time::sleep(DEBOUNCE).await;
                return std::mem::take(&mut *self.lock());
            }
            self.notify.notified().await;
        }
    }
}

/// Locks and temporary files begin with a dot; their changes are ignored.
fn is_relevant(file: &Path) -> bool {
    !file.as_os_str().as_encoded_bytes().starts_with(b".")
}
