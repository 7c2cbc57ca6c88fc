//! The histories of all sessions. Each timeline is read once; afterwards only what was added.

use std::collections::HashMap;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::thread;

use overtone_session::view::HistoryReader;
use overtone_store::{Session, SessionId};

use crate::dashboard::app::lock;

/// Limits the threads so that the sessions themselves keep enough processors.
const MAX_THREADS: usize = 4;

type SharedReader = Arc<Mutex<HistoryReader>>;

#[derive(Debug, Default)]
pub(crate) struct Histories {
    readers: Mutex<HashMap<SessionId, SharedReader>>,
}

impl Histories {
    /// Updates the history of a session. An unreadable timeline leaves it as it was.
    pub(crate) fn update(&self, session: &Session) -> SharedReader {
        let shared = self.reader(session.id());
        let _ = lock(&shared).update(&session.timeline_file());
        shared
    }

    /// Updates the histories of these sessions and returns them in the same order. Other sessions are forgotten.
    pub(crate) fn update_all(&self, sessions: &[Session]) -> Vec<SharedReader> {
        let all: Vec<_> = sessions.iter().map(|session| self.reader(session.id())).collect();
        let next = AtomicUsize::new(0);
        let work = || {
            loop {
                let index = next.fetch_add(1, Ordering::Relaxed);
                if index >= all.len() {
                    return;
                }
                let _ = lock(&all[index]).update(&sessions[index].timeline_file());
            }
        };
        thread::scope(|scope| {
            for _ in 1..thread_count() {
                scope.spawn(work);
            }
            work();
        });
        let mut readers = lock(&self.readers);
        if readers.len() > sessions.len() {
            readers.retain(|id, _| sessions.iter().any(|session| session.id() == id));
        }
        all
    }

    fn reader(&self, id: &SessionId) -> SharedReader {
        Arc::clone(lock(&self.readers).entry(id.clone()).or_default())
    }
}

fn thread_count() -> usize {
    match thread::available_parallelism() {
        Ok(processors) => processors.get().min(MAX_THREADS),
        Err(_) => 1,
    }
}

#[cfg(test)]
mod tests {
    use overtone_store::{Home, files};

    use super::*;

    #[test]
    fn every_session_is_read_and_removed_ones_are_forgotten() {
        let dir = tempfile::tempdir().unwrap();
        let home = Home::at(dir.path().to_owned());
        for number in 0..50 {
            let session = home.session(&SessionId::parse(&format!("s{number}")).unwrap());
            session.create().unwrap();
            let line = "{\"type\":\"stage:complete\",\"stage\":\"DEV\"}\n";
            files::append_lines(&session.timeline_file(), &line.repeat(number)).unwrap();
        }
        let histories = Histories::default();
        let count = |shared: &SharedReader| {
            let reader = lock(shared);
            let verdicts = reader.history().stages.first().map(|run| run.verdicts.len());
            verdicts.unwrap_or(0)
        };
        let sessions = home.sessions().unwrap();
        let found: usize = histories.update_all(&sessions).iter().map(count).sum();
        assert_eq!(found, 49 * 50 / 2);
        assert_eq!(histories.update_all(&sessions[..1]).len(), 1);
        assert_eq!(lock(&histories.readers).len(), 1);
    }
}
