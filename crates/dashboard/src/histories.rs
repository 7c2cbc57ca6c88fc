//! What every session's timeline amounts to, read once and then only what is added.

use std::collections::HashMap;
use std::num::NonZero;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::thread;

use overtone_store::{Session, SessionId};
use overtone_view::HistoryReader;

use crate::app::lock;

/// More threads at once would take the machine from the sessions themselves.
const MAX_THREADS: usize = 4;

type Shared = Arc<Mutex<HistoryReader>>;

#[derive(Debug, Default)]
pub(crate) struct Histories {
    readers: Mutex<HashMap<SessionId, Shared>>,
}

impl Histories {
    /// One session, as its timeline is now. One that cannot be read has no history.
    pub(crate) fn update(&self, session: &Session) -> Shared {
        let shared = self.reader(session.id());
        let _ = lock(&shared).update(&session.timeline_file());
        shared
    }

    /// All of these sessions, in their order; the others are forgotten.
    pub(crate) fn update_all(&self, sessions: &[Session]) -> Vec<Shared> {
        let all: Vec<_> = sessions.iter().map(|session| self.reader(session.id())).collect();
        let next = AtomicUsize::new(0);
        let work = || {
            while let Some(index) = Some(next.fetch_add(1, Ordering::Relaxed)).filter(|at| *at < all.len()) {
                let _ = lock(&all[index]).update(&sessions[index].timeline_file());
            }
        };
        thread::scope(|scope| {
            for _ in 1..threads() {
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

    fn reader(&self, id: &SessionId) -> Shared {
        Arc::clone(lock(&self.readers).entry(id.clone()).or_default())
    }
}

fn threads() -> usize {
    thread::available_parallelism().map_or(1, NonZero::get).min(MAX_THREADS)
}

#[cfg(test)]
mod tests {
    use overtone_store::{Home, files};

    use super::*;

    #[test]
    fn every_session_is_read_and_those_that_are_gone_are_forgotten() {
        let dir = tempfile::tempdir().unwrap();
        let home = Home::at(dir.path().to_owned());
        for number in 0..50 {
            let session = home.session(&SessionId::parse(&format!("s{number}")).unwrap());
            session.create().unwrap();
            let line = "{\"type\":\"stage:complete\",\"stage\":\"DEV\"}\n";
            files::append_lines(&session.timeline_file(), &line.repeat(number)).unwrap();
        }
        let histories = Histories::default();
        let count =
            |shared: &Shared| lock(shared).history().stages.first().map_or(0, |run| run.verdicts.len());
        let sessions = home.sessions().unwrap();
        let found: usize = histories.update_all(&sessions).iter().map(count).sum();
        assert_eq!(found, 49 * 50 / 2);
        assert_eq!(histories.update_all(&sessions[..1]).len(), 1);
        assert_eq!(lock(&histories.readers).len(), 1);
    }
}
