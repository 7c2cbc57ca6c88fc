//! Notices when another machine takes one of our sessions.

use std::convert::Infallible;

use futures_util::StreamExt as _;
use overtone_store::{Session, SessionId};

use super::Worker;
use crate::claims::standing;
use crate::error::{FleetError, Result};
use crate::link::Link;
use crate::names::word;

impl Worker<'_> {
    /// What was taken while nobody listened is seen at the next visit.
    pub(super) async fn heed(&self, link: &Link) -> Result<Infallible> {
        let failed = |error: &dyn std::fmt::Display| FleetError::server("watch the claims", error);
        let mut news = link.claims.watch("session.>").await.map_err(|error| failed(&error))?;
        while let Some(entry) = news.next().await {
            let entry = entry.map_err(|error| failed(&error))?;
            let session = entry.key.strip_prefix("session.").and_then(word);
            let Some(session) = session.and_then(|id| self.session(&id)) else { continue };
            match standing(&entry) {
                Some(standing) if standing.claim.machine != self.machine.id => {
                    self.tracks.doubt(session.id());
                    self.step_aside(&session, &standing.claim);
                }
                _ => self.dirty.mark([session.id().clone()]),
            }
        }
        Err(failed(&"the server has ended it"))
    }

    pub(super) fn session(&self, id: &str) -> Option<Session> {
        let session = self.setup.home.session(&SessionId::parse(id)?);
        session.exists().then_some(session)
    }
}
