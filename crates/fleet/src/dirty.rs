//! Which sessions are worth a look: told by the system when files change, and all of them now and then.

use std::collections::HashSet;
use std::path::Path;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use overtone_store::{Home, SessionId, create_private_dir};
use overtone_watch::{Change, Watch};
use tokio::sync::Notify;

/// What is told within this time is looked at together; the watch has gathered before.
const GATHER: Duration = Duration::from_millis(2);

#[derive(Debug, Clone, Default)]
pub(crate) struct Dirty {
    sessions: Arc<Mutex<HashSet<SessionId>>>,
    news: Arc<Notify>,
}

impl Dirty {
    /// Where the system does not tell of changes, only the regular look finds them.
    pub(crate) fn watch(&self, home: &Home) -> Option<Watch> {
        // The folder must be there to be watched.
        let _ = create_private_dir(&home.sessions_dir());
        let (dirty, all) = (self.clone(), home.clone());
        Watch::begin(home, move |change| match change {
            Change::In(session, file) if is_told(&file) => dirty.mark([session]),
            Change::In(..) => {}
            Change::Anything => dirty.mark_all(&all),
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
            self.news.notify_one();
        }
    }

    pub(crate) fn mark_all(&self, home: &Home) {
        self.mark(home.sessions().unwrap_or_default().into_iter().map(|session| session.id().clone()));
    }

    /// All that are worth a look, as soon as there is one.
    pub(crate) async fn take(&self) -> HashSet<SessionId> {
        loop {
            if !self.lock().is_empty() {
                tokio::time::sleep(GATHER).await;
                return std::mem::take(&mut *self.lock());
            }
            self.news.notified().await;
        }
    }
}

/// Not locks and files that are being prepared.
fn is_told(file: &Path) -> bool {
    !file.as_os_str().as_encoded_bytes().starts_with(b".")
}
