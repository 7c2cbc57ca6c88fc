//! One look at a session: is it ours, what happened, what has it come to.

use std::convert::Infallible;
use std::time::{Duration, SystemTime};

use futures_util::StreamExt as _;
use futures_util::stream;
use overtone_engine::text::printable;
use overtone_store::{Session, SessionId};

use super::Worker;
use super::track::Track;
use crate::claims::{self, Insist, Outcome};
use crate::error::{FleetError, Result};
use crate::link::Link;
use crate::local::Here;
use crate::message::Claim;
use crate::names::session_claim;

/// How many sessions are told of at the same time, each with one message under way.
const AT_ONCE: usize = 64;

/// Every request has its own limit; this is for what hangs in spite of that.
const PATIENCE: Duration = Duration::from_secs(30);

async fn within<T>(what: &'static str, work: impl Future<Output = Result<T>>) -> Result<T> {
    let late = |_| FleetError::server(what, "no answer");
    tokio::time::timeout(PATIENCE, work).await.map_err(late)?
}

impl Worker<'_> {
    /// Tells of whatever changes, from now on.
    pub(super) async fn tell(&self, link: &Link) -> Result<Infallible> {
        loop {
            let sessions = self.dirty.take().await;
            let visits = sessions.iter().map(|id| self.visit(link, id));
            let mut visits = stream::iter(visits).buffer_unordered(AT_ONCE);
            while let Some(visited) = visits.next().await {
                if let Err(error) = visited {
                    drop(visits);
                    self.dirty.mark(sessions);
                    return Err(error);
                }
            }
            drop(visits);
            self.tracks.save_if_due();
            self.record.save_claims()?;
        }
    }

    async fn visit(&self, link: &Link, id: &SessionId) -> Result<()> {
        let session = self.setup.home.session(id);
        let track = self.tracks.take(id);
        if !session.exists() {
            self.tracks.forget(id);
            return self.withdraw(link, id, track).await;
        }
        if track.is_none() && self.is_history(&session) {
            return Ok(());
        }
        let mut track = track.unwrap_or_default();
        let told = self.tell_session(link, &session, &mut track).await;
        self.tracks.put(id.clone(), track);
        told
    }

    /// A session that was over before this machine joined, for longer than anything is kept.
    fn is_history(&self, session: &Session) -> bool {
        let changed = |path| std::fs::metadata(path).and_then(|about| about.modified()).ok();
        let last = changed(session.timeline_file()).max(changed(session.workflow_file()));
        let age = last.and_then(|last| SystemTime::now().duration_since(last).ok()).unwrap_or_default();
        age > self.setup.settings.keep_for
    }

    async fn tell_session(&self, link: &Link, session: &Session, track: &mut Track) -> Result<()> {
        if !within("claim a session", self.is_ours(link, session, track)).await? {
            return Ok(());
        }
        let has_more = within("publish events", self.tell_events(link, session, track)).await?;
        let is_later = within("put a session's state", self.tell_state(link, session, track)).await?;
        if has_more || is_later {
            self.dirty.mark([session.id().clone()]);
        }
        Ok(())
    }

    /// Claims a session that nobody has. One that another machine has taken over is let go here.
    async fn is_ours(&self, link: &Link, session: &Session, track: &mut Track) -> Result<bool> {
        if track.is_ours {
            return Ok(true);
        }
        let key = session_claim(session.id().as_str());
        let known = self.record.known_claim(&key).unwrap_or_default();
        // What another machine owns is claimed again by that machine, should its claim be lost.
        let is_known_as_theirs = !known.machine.is_empty() && known.machine != self.machine.id;
        if is_known_as_theirs && self.theirs(link, &key, known.epoch).await? {
            return Ok(false);
        }
        let ours = Claim::by(&self.machine(), None);
        match claims::claim(link, &key, ours.clone(), Insist::No, known.epoch).await? {
            Outcome::Ours { epoch, .. } => {
                self.record.set_claim(&key, &Claim { epoch, ..ours });
                track.is_ours = true;
            }
            Outcome::Theirs(claim) | Outcome::Orphaned(claim) => {
                self.record.set_claim(&key, &claim);
                self.step_aside(session, &claim);
            }
        }
        Ok(track.is_ours)
    }

    /// Whether nothing newer is known of a session that another machine had last.
    async fn theirs(&self, link: &Link, key: &str, epoch: u64) -> Result<bool> {
        let standing = claims::look(link, key).await?;
        Ok(standing.is_none_or(|standing| standing.claim.epoch < epoch))
    }

    pub(super) fn step_aside(&self, session: &Session, claim: &Claim) {
        if let Err(problem) = self.here().step_aside(session, &claim.name) {
            eprintln!("[overtone/fleet] {}: {}", session.id(), printable(&problem));
        }
    }

    pub(super) fn here(&self) -> Here<'_> {
        Here { home: &self.setup.home, settings: &self.limits, lang: self.setup.lang }
    }
}
