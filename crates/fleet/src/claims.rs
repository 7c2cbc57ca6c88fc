//! Whose something is: a session, or a feature of a repository.
//!
//! A claim stays until it is given up or taken over, so that a session without its machine still has an owner. Whether
//! the owner is there is said by its pulse, which the server forgets after [`PULSE_LASTS`](crate::link::PULSE_LASTS).
//! Every change names the revision that it is a change of, so of two who try, one is refused.

use async_nats::jetstream::kv::{CreateErrorKind, Entry, Operation, Store, UpdateErrorKind};
use overtone_store::clock;

use crate::error::{FleetError, Result};
use crate::link::Link;
use crate::machine::Machine;
use crate::message::{Claim, VERSION, read, write};

/// How an attempt has ended.
#[derive(Debug, Clone, PartialEq)]
pub enum Outcome {
    /// It is ours; from whom it was taken.
    Ours { taken_from: Option<Claim> },
    /// It belongs to a machine that is there.
    Theirs(Claim),
    /// It belongs to a machine that is gone. It can be taken over by whoever says so.
    Orphaned(Claim),
}

/// What may be done about a claim of somebody else.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Insist {
    No,
    /// If its owner is gone.
    IfGone,
    Always,
}

/// A claim as it stands on the server.
#[derive(Debug, Clone)]
pub struct Standing {
    pub claim: Claim,
    pub revision: u64,
}

impl Claim {
    pub fn by(machine: &Machine, session: Option<&str>) -> Self {
        Self {
            v: VERSION,
            machine: machine.id.clone(),
            name: machine.name.clone(),
            session: session.map(str::to_owned),
            taken_from: None,
            at: clock::to_iso(clock::now()),
        }
    }
}

/// Tries to make something ours.
pub async fn claim(link: &Link, key: &str, ours: Claim, insist: Insist) -> Result<Outcome> {
    // Whoever loses a race sees the winner the next time.
    for _ in 0..5 {
        let Some(standing) = look(&link.claims, key).await? else {
            match link.claims.create(key, write(&ours)).await {
                Ok(_) => return Ok(Outcome::Ours { taken_from: None }),
                Err(error) if error.kind() == CreateErrorKind::AlreadyExists => continue,
                Err(error) => return Err(FleetError::server("claim", error)),
            }
        };
        if standing.claim.machine == ours.machine && standing.claim.session == ours.session {
            return Ok(Outcome::Ours { taken_from: None });
        }
        let is_own = standing.claim.machine == ours.machine;
        let is_there = !is_own && is_present(link, &standing.claim.machine).await?;
        match (insist, is_there) {
            (Insist::Always, _) | (Insist::IfGone, false) => {}
            (_, true) => return Ok(Outcome::Theirs(standing.claim)),
            (Insist::No, false) if is_own => return Ok(Outcome::Theirs(standing.claim)),
            (Insist::No, false) => return Ok(Outcome::Orphaned(standing.claim)),
        }
        let taken = Claim { taken_from: Some(standing.claim.machine.clone()), ..ours.clone() };
        if change(&link.claims, key, &taken, standing.revision).await? {
            return Ok(Outcome::Ours { taken_from: Some(standing.claim) });
        }
    }
    Err(FleetError::server("claim", "too many others try at the same time"))
}

/// Changes a claim that is at this revision; `false` if it no longer is.
pub(crate) async fn change(claims: &Store, key: &str, claim: &Claim, revision: u64) -> Result<bool> {
    match claims.update(key, write(claim), revision).await {
        Ok(_) => Ok(true),
        Err(error) if error.kind() == UpdateErrorKind::WrongLastRevision => Ok(false),
        Err(error) => Err(FleetError::server("change the claim", error)),
    }
}

/// Gives a claim up, if it is this session's.
pub async fn release(link: &Link, key: &str, ours: &Claim) -> Result<()> {
    let Some(standing) = look(&link.claims, key).await? else { return Ok(()) };
    if standing.claim.machine != ours.machine || standing.claim.session != ours.session {
        return Ok(());
    }
    match link.claims.delete_expect_revision(key, Some(standing.revision)).await {
        Ok(()) => Ok(()),
        Err(error) if error.kind() == UpdateErrorKind::WrongLastRevision => Ok(()),
        Err(error) => Err(FleetError::server("give the claim up", error)),
    }
}

/// What is claimed now. A claim that nobody can read is in nobody's way: it is replaced.
pub async fn look(claims: &Store, key: &str) -> Result<Option<Standing>> {
    let entry = claims.entry(key).await.map_err(|error| FleetError::server("look at the claim", error))?;
    Ok(entry.as_ref().and_then(standing))
}

pub(crate) fn standing(entry: &Entry) -> Option<Standing> {
    let is_there = entry.operation == Operation::Put;
    let claim = read::<Claim>(&entry.value).ok().filter(|_| is_there)?;
    Some(Standing { claim, revision: entry.revision })
}

/// Whether a machine has spoken of late.
pub async fn is_present(link: &Link, machine: &str) -> Result<bool> {
    let entry = link.pulse.entry(crate::names::token(machine)).await;
    let entry = entry.map_err(|error| FleetError::server("look for the machine", error))?;
    Ok(entry.is_some_and(|entry| entry.operation == Operation::Put))
}
