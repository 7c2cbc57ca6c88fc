//! Watches the claims of sessions and the lists of the team.

use std::convert::Infallible;

use futures_util::StreamExt as _;
use overtone_store::{Session, SessionId};

use super::Worker;
use crate::claims::open_claim;
use crate::error::{FleetError, Result};
use crate::link::Link;
use crate::names::decode_token;
use crate::trust::Membership;

impl Worker<'_> {
    /// Marks sessions whose claims change. Changes while the relay is not connected are found by the next sync.
    pub(super) async fn watch_claims(&self, link: &Link) -> Result<Infallible> {
        let failed = |error: &dyn std::fmt::Display| FleetError::server("watch the claims", error);
        let mut changes = link.claims.watch("session.>").await.map_err(|error| failed(&error))?;
        while let Some(entry) = changes.next().await {
            let entry = entry.map_err(|error| failed(&error))?;
            let Some(id) = entry.key.strip_prefix("session.").and_then(decode_token) else { continue };
            let Some(session) = self.session(&id) else { continue };
            let is_ours = match open_claim(&self.keyring, &entry) {
                Ok(stored) => stored.claim.machine == self.machine.id,
                Err(_) => false,
            };
            if !is_ours {
                // The sync determines the owner, because it also knows earlier claims.
                self.progress.recheck_owner(session.id());
            }
            self.dirty.mark([session.id().clone()]);
        }
        Err(failed(&"the server closed the stream"))
    }

    /// Reads the team's lists as they change.
    pub(super) async fn follow_team(&self, link: &Link) -> Result<Infallible> {
        let failed = |error: &dyn std::fmt::Display| FleetError::server("watch the team", error);
        let mut changes = link.team.watch_all().await.map_err(|error| failed(&error))?;
        self.update_membership(link).await?;
        while let Some(entry) = changes.next().await {
            entry.map_err(|error| failed(&error))?;
            self.update_membership(link).await?;
        }
        Err(failed(&"the server closed the stream"))
    }

    async fn update_membership(&self, link: &Link) -> Result<()> {
        let before = self.shared.now().membership;
        let membership = link.sync_team().await?;
        self.shared.update(|status| status.membership = membership);
        if membership == Membership::Member && before != Membership::Member {
            link.update_name().await?;
        }
        self.write_status();
        Ok(())
    }

    /// The session with this id, if it exists on this machine.
    pub(super) fn session(&self, id: &str) -> Option<Session> {
        let session = self.setup.home.session(&SessionId::parse(id)?);
        if session.exists() { Some(session) } else { None }
    }
}
