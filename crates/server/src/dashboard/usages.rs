//! What the sessions have used. A session that has used nothing new is not read again.

use std::collections::HashMap;
use std::sync::{Arc, Mutex};

use overtone_session::view::{History, SessionUsage};
use overtone_store::{Session, SessionId};

use crate::dashboard::app::lock;

#[derive(Debug, Default)]
pub(crate) struct Usages {
    /// Each with the version that was read.
    known: Mutex<HashMap<SessionId, (u64, Arc<SessionUsage>)>>,
}

impl Usages {
    /// The usage of a session. Returns `None` if it would have to be read and `may_read` is false. What cannot be read counts
    /// as unused.
    pub(crate) fn get(
        &self,
        session: &Session,
        history: &History,
        may_read: bool,
    ) -> Option<Arc<SessionUsage>> {
        let version = SessionUsage::version(session);
        if let Some((known, usage)) = lock(&self.known).get(session.id())
            && *known == version
        {
            return Some(Arc::clone(usage));
        }
        if !may_read {
            return None;
        }
        let usage = Arc::new(SessionUsage::load(session, history).unwrap_or_default());
        lock(&self.known).insert(session.id().clone(), (version, Arc::clone(&usage)));
        Some(usage)
    }

    /// Forgets sessions that no longer exist.
    pub(crate) fn retain(&self, sessions: &[Session]) {
        let mut known = lock(&self.known);
        if known.len() > sessions.len() {
            known.retain(|id, _| sessions.iter().any(|session| session.id() == id));
        }
    }
}
