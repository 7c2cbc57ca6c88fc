//! Which sessions are worth a look: told by the system when files change, and all of them now and then.

use std::collections::HashSet;
use std::path::Path;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use notify::{RecursiveMode, Watcher};
use overtone_store::{Home, SessionId, create_private_dir};
use tokio::sync::Notify;

/// What comes within this time is looked at together.
const GATHER: Duration = Duration::from_millis(15);

#[derive(Debug, Clone, Default)]
pub(crate) struct Dirty {
    sessions: Arc<Mutex<HashSet<SessionId>>>,
    news: Arc<Notify>,
}

/// Ends the watching when dropped.
#[derive(Debug)]
pub(crate) struct Watching {
    _watcher: Option<notify::RecommendedWatcher>,
}

impl Dirty {
    /// Where the system does not tell of changes, only the regular look finds them.
    pub(crate) fn watch(&self, home: &Home) -> Watching {
        let folder = home.sessions_dir();
        // The folder must be there to be watched.
        let _ = create_private_dir(&folder);
        let (dirty, root) = (self.clone(), folder.clone());
        let watcher = notify::recommended_watcher(move |change: notify::Result<notify::Event>| {
            if let Ok(change) = change
                && !change.kind.is_access()
            {
                dirty.mark(change.paths.iter().filter_map(|path| session_of(&root, path)));
            }
        });
        let watcher = watcher.and_then(|mut watcher| {
            watcher.watch(&folder, RecursiveMode::Recursive)?;
            Ok(watcher)
        });
        Watching { _watcher: watcher.ok() }
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

fn session_of(folder: &Path, path: &Path) -> Option<SessionId> {
    let mut parts = path.strip_prefix(folder).ok()?.components();
    let session = SessionId::parse(parts.next()?.as_os_str().to_str()?)?;
    let file = parts.next().map(|part| part.as_os_str().to_string_lossy().into_owned()).unwrap_or_default();
    // Locks and files that are being prepared.
    (!file.starts_with('.')).then_some(session)
}
