//! Notices when another machine takes one of our sessions, and when the team changes.

use std::convert::Infallible;

use futures_util::StreamExt as _;
use overtone_store::{Session, SessionId};

use super::Worker;
use crate::claims::standing;
use crate::error::{FleetError, Result};
use crate::link::Link;
use crate::names::word;
use crate::trust::Membership;

impl Worker<'_> {
    /// What was taken while nobody listened is seen at the next visit.
    pub(super) async fn heed(&self, link: &Link) -> Result<Infallible> {
        let failed = |error: &dyn std::fmt::Display| FleetError::server("watch the claims", error);
        let mut news = link.claims.watch("session.>").await.map_err(|error| failed(&error))?;
        while let Some(entry) = news.next().await {
            let entry = entry.map_err(|error| failed(&error))?;
            let session = entry.key.strip_prefix("session.").and_then(word);
            let Some(session) = session.and_then(|id| self.session(&id)) else { continue };
            let is_ours = standing(&self.keyring, &entry)
                .is_ok_and(|standing| standing.claim.machine == self.machine.id);
            if !is_ours {
                // Whose it is now is looked at by the visit, which also knows earlier claims.
                self.tracks.doubt(session.id());
            }
            self.dirty.mark([session.id().clone()]);
        }
        Err(failed(&"the server has ended it"))
    }

    /// Reads the team's lists as they come.
    pub(super) async fn follow_team(&self, link: &Link) -> Result<Infallible> {
        let failed = |error: &dyn std::fmt::Display| FleetError::server("watch the team", error);
        let mut news = link.team.watch_all().await.map_err(|error| failed(&error))?;
        self.note_membership(link).await?;
        while let Some(entry) = news.next().await {
            entry.map_err(|error| failed(&error))?;
            self.note_membership(link).await?;
        }
        Err(failed(&"the server has ended it"))
    }

    async fn note_membership(&self, link: &Link) -> Result<()> {
        let before = self.shared.now().membership;
        let membership = link.sync_team().await?;
        self.shared.update(|status| status.membership = membership);
        if membership == Membership::Member && before != Membership::Member {
            link.take_name().await?;
        }
        self.write_status();
        Ok(())
    }

    pub(super) fn session(&self, id: &str) -> Option<Session> {
        let session = self.setup.home.session(&SessionId::parse(id)?);
        session.exists().then_some(session)
    }
}
