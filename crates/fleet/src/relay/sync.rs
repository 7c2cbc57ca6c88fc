//! Synchronizes a session with the server: claims it, and publishes its events and its state.

use std::convert::Infallible;
use std::time::{Duration, SystemTime};

use futures_util::StreamExt as _;
use futures_util::stream;
use overtone_core::engine::text::printable;
use overtone_store::{Session, SessionId};

use super::Worker;
use super::progress::SessionProgress;
use crate::claims::{self, ClaimOutcome, TakeOver};
use crate::error::{FleetError, Result};
use crate::link::Link;
use crate::local::LocalController;
use crate::message::Claim;
use crate::names::session_claim_key;
use crate::pulled::pulled_claim;

/// How many sessions are published concurrently. Each has one message in flight.
const MAX_CONCURRENT_SESSIONS: usize = 64;

/// A limit for each step. Requests have their own timeouts; this one catches anything that hangs in spite of them.
const STEP_TIMEOUT: Duration = Duration::from_secs(30);

async fn with_timeout<T>(what: &'static str, work: impl Future<Output = Result<T>>) -> Result<T> {
    let late = |_| FleetError::server(what, "no answer");
    tokio::time::timeout(STEP_TIMEOUT, work).await.map_err(late)?
}

impl Worker<'_> {
    /// Publishes all sessions that change, until an error occurs.
    pub(super) async fn publish_changes(&self, link: &Link) -> Result<Infallible> {
        loop {
            let sessions = self.dirty.take().await;
            let syncs = sessions.iter().map(|id| self.sync_session(link, id));
            let mut syncs = stream::iter(syncs).buffer_unordered(MAX_CONCURRENT_SESSIONS);
            while let Some(result) = syncs.next().await {
                if let Err(error) = result {
                    drop(syncs);
                    self.dirty.mark(sessions);
                    return Err(error);
                }
            }
            drop(syncs);
            self.progress.save_if_due();
            self.ledger.save_claims()?;
        }
    }

    async fn sync_session(&self, link: &Link, id: &SessionId) -> Result<()> {
        let session = self.setup.home.session(id);
        let progress = self.progress.take(id);
        if !session.exists() {
            self.progress.forget(id);
            return self.withdraw(link, id, progress).await;
        }
        if progress.is_none() && self.is_expired(&session) {
            return Ok(());
        }
        let mut progress = progress.unwrap_or_default();
        let published = self.publish_session(link, &session, &mut progress).await;
        self.progress.put(id.clone(), progress);
        published
    }

    /// Whether a session has not changed for longer than the server keeps anything. Such sessions are not published
    /// when a machine joins.
    fn is_expired(&self, session: &Session) -> bool {
        let changed = |path| std::fs::metadata(path).and_then(|about| about.modified()).ok();
        let last = changed(session.timeline_file()).max(changed(session.workflow_file()));
        let Some(last) = last else { return false };
        match SystemTime::now().duration_since(last) {
            Ok(age) => age > self.setup.settings.keep_for,
            Err(_) => false,
        }
    }

    async fn publish_session(
        &self,
        link: &Link,
        session: &Session,
        progress: &mut SessionProgress,
    ) -> Result<()> {
        if !with_timeout("claim a session", self.claim_if_free(link, session, progress)).await? {
            return Ok(());
        }
        let has_more = with_timeout("publish events", self.publish_events(link, session, progress)).await?;
        let needs_retry =
            with_timeout("put a session's state", self.publish_state(link, session, progress)).await?;
        if has_more || needs_retry {
            self.dirty.mark([session.id().clone()]);
        }
        Ok(())
    }

    /// Claims a session, and returns whether it is ours. One that another machine has taken over is marked as handed
    /// over.
    async fn claim_if_free(
        &self,
        link: &Link,
        session: &Session,
        progress: &mut SessionProgress,
    ) -> Result<bool> {
        if progress.is_ours {
            return Ok(true);
        }
        let key = session_claim_key(session.id().as_str());
        if let Some(pulled) = pulled_claim(session) {
            self.ledger.learn_claim(&key, pulled);
        }
        let known = self.ledger.known_claim(&key).unwrap_or_default();
        // If the claim of another machine is lost, that machine claims the session again.
        let is_known_as_theirs = !known.machine.is_empty() && known.machine != self.machine.id;
        if is_known_as_theirs && self.is_still_theirs(link, &key, known.epoch).await? {
            return Ok(false);
        }
        let ours = Claim::new(&self.machine(), None);
        match claims::claim(link, &key, ours.clone(), TakeOver::Never, known.epoch).await? {
            ClaimOutcome::Ours { epoch, .. } => {
                self.ledger.set_claim(&key, &Claim { epoch, ..ours });
                progress.is_ours = true;
            }
            ClaimOutcome::Theirs(claim) | ClaimOutcome::Orphaned(claim) => {
                self.ledger.set_claim(&key, &claim);
                self.hand_over_locally(session, &claim);
            }
        }
        Ok(progress.is_ours)
    }

    /// Whether the server has no newer claim than the known one of another machine.
    async fn is_still_theirs(&self, link: &Link, key: &str, epoch: u64) -> Result<bool> {
        match claims::find_claim(link, key).await? {
            Some(stored) => Ok(stored.claim.epoch < epoch),
            None => Ok(true),
        }
    }

    fn hand_over_locally(&self, session: &Session, claim: &Claim) {
        if let Err(problem) = self.controller().hand_over(session, &claim.name) {
            eprintln!("[overtone/fleet] {}: {}", session.id(), printable(&problem));
        }
    }

    pub(super) fn controller(&self) -> LocalController<'_> {
        LocalController { home: &self.setup.home, settings: &self.limits, lang: self.setup.lang }
    }
}
