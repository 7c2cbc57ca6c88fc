//! Whose something is: a session, or a feature of a repository.
//!
//! A claim stays until it is given up or taken over, so that a session without its machine still has an owner. Whether
//! the owner is there is said by its pulse, which the server forgets after [`PULSE_LASTS`](crate::link::PULSE_LASTS).
//! Every change names the revision that it is a change of, so of two who try, one is refused. A claim counts if a
//! machine of the team has signed it; anything else in its place is replaced by whoever claims next.

use async_nats::jetstream::kv::{CreateErrorKind, Entry, Operation, Store, UpdateErrorKind};
use overtone_store::clock;

use crate::error::{FleetError, Result};
use crate::link::Link;
use crate::machine::Machine;
use crate::message::{Claim, Foreign, MachineInfo};
use crate::names::token;
use crate::trust::{CLOCK_SKEW, Keyring, Kind};

/// How an attempt has ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Outcome {
    /// It is ours, since this epoch; from whom it was taken.
    Ours { epoch: u64, taken_from: Option<Claim> },
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

/// What is in the place of a claim.
#[derive(Debug)]
enum Found {
    Nothing,
    /// Signed by nobody of the team, or put there again after it was over.
    Void {
        revision: u64,
    },
    Standing(Standing),
}

impl Claim {
    pub fn by(machine: &Machine, session: Option<&str>) -> Self {
        Self {
            machine: machine.id.clone(),
            name: machine.name.clone(),
            session: session.map(str::to_owned),
            taken_from: None,
            at: clock::to_iso(clock::now()),
            epoch: 0,
        }
    }
}

/// Tries to make something ours. `since` is the epoch of the last claim that is known here: an earlier one is void.
pub async fn claim(link: &Link, key: &str, ours: Claim, insist: Insist, since: u64) -> Result<Outcome> {
    // Whoever loses a race sees the winner the next time.
    for _ in 0..5 {
        let standing = match find(link, key, since).await? {
            Found::Standing(standing) => standing,
            Found::Nothing => {
                let ours = Claim { epoch: since + 1, ..ours.clone() };
                match link.claims.create(key, seal(link, key, &ours)).await {
                    Ok(_) => return Ok(Outcome::Ours { epoch: ours.epoch, taken_from: None }),
                    Err(error) if error.kind() == CreateErrorKind::AlreadyExists => continue,
                    Err(error) => return Err(FleetError::server("claim", error)),
                }
            }
            Found::Void { revision } => {
                let ours = Claim { epoch: since + 1, ..ours.clone() };
                if change(link, key, &ours, revision).await? {
                    return Ok(Outcome::Ours { epoch: ours.epoch, taken_from: None });
                }
                continue;
            }
        };
        if standing.claim.machine == ours.machine && standing.claim.session == ours.session {
            return Ok(Outcome::Ours { epoch: standing.claim.epoch, taken_from: None });
        }
        if let Some(refused) = refusal(link, &standing, &ours, insist).await? {
            return Ok(refused);
        }
        let taken = Claim {
            taken_from: Some(standing.claim.machine.clone()),
            epoch: standing.claim.epoch.max(since) + 1,
            ..ours.clone()
        };
        if change(link, key, &taken, standing.revision).await? {
            return Ok(Outcome::Ours { epoch: taken.epoch, taken_from: Some(standing.claim) });
        }
    }
    Err(FleetError::server("claim", "too many others try at the same time"))
}

/// Why a claim of somebody else is left alone; `None` if it may be taken.
async fn refusal(link: &Link, standing: &Standing, ours: &Claim, insist: Insist) -> Result<Option<Outcome>> {
    let theirs = &standing.claim;
    let is_own = theirs.machine == ours.machine;
    let is_there = !is_own && is_present(link, &theirs.machine).await?;
    Ok(match (insist, is_there) {
        (Insist::Always, _) | (Insist::IfGone, false) => None,
        (_, true) => Some(Outcome::Theirs(theirs.clone())),
        (Insist::No, false) if is_own => Some(Outcome::Theirs(theirs.clone())),
        (Insist::No, false) => Some(Outcome::Orphaned(theirs.clone())),
    })
}

fn seal(link: &Link, key: &str, claim: &Claim) -> bytes::Bytes {
    link.keyring.seal(Kind::Claim, key, "", claim)
}

/// Changes a claim that is at this revision; `false` if it no longer is.
pub(crate) async fn change(link: &Link, key: &str, claim: &Claim, revision: u64) -> Result<bool> {
    match link.claims.update(key, seal(link, key, claim), revision).await {
        Ok(_) => Ok(true),
        Err(error) if error.kind() == UpdateErrorKind::WrongLastRevision => Ok(false),
        Err(error) => Err(FleetError::server("change the claim", error)),
    }
}

/// Gives a claim up, if it is this session's.
pub async fn release(link: &Link, key: &str, ours: &Claim) -> Result<()> {
    let Some(standing) = look(link, key).await? else { return Ok(()) };
    if standing.claim.machine != ours.machine || standing.claim.session != ours.session {
        return Ok(());
    }
    match link.claims.delete_expect_revision(key, Some(standing.revision)).await {
        Ok(()) => Ok(()),
        Err(error) if error.kind() == UpdateErrorKind::WrongLastRevision => Ok(()),
        Err(error) => Err(FleetError::server("give the claim up", error)),
    }
}

/// What is claimed now, by a machine of the team.
pub async fn look(link: &Link, key: &str) -> Result<Option<Standing>> {
    match find(link, key, 0).await? {
        Found::Standing(standing) => Ok(Some(standing)),
        Found::Nothing | Found::Void { .. } => Ok(None),
    }
}

async fn find(link: &Link, key: &str, since: u64) -> Result<Found> {
    let entry = entry(&link.claims, key).await?;
    let Some(entry) = entry.filter(|entry| entry.operation == Operation::Put) else {
        return Ok(Found::Nothing);
    };
    match standing(&link.keyring, &entry) {
        Ok(standing) if standing.claim.epoch >= since => Ok(Found::Standing(standing)),
        _ => Ok(Found::Void { revision: entry.revision }),
    }
}

async fn entry(store: &Store, key: &str) -> Result<Option<Entry>> {
    store.entry(key).await.map_err(|error| FleetError::server("look at the claim", error))
}

/// The claim of an entry. It counts if its owner has signed it, or whoever handed the thing over to its owner.
pub(crate) fn standing(keyring: &Keyring, entry: &Entry) -> std::result::Result<Standing, Foreign> {
    let opened = keyring.open::<Claim>(Kind::Claim, &entry.key, &entry.value)?;
    let claim = opened.body;
    let is_by_owner = opened.from.id == claim.machine || Some(&opened.from.id) == claim.taken_from.as_ref();
    let unknown = || Foreign::Unknown { from: claim.machine.clone() };
    let owner = keyring.known(&claim.machine).filter(|_| is_by_owner).ok_or_else(unknown)?;
    Ok(Standing { claim: Claim { name: owner.name, ..claim }, revision: entry.revision })
}

/// Whether a machine has spoken of late.
pub async fn is_present(link: &Link, machine: &str) -> Result<bool> {
    let entry = link.pulse.entry(token(machine)).await;
    let entry = entry.map_err(|error| FleetError::server("look for the machine", error))?;
    let entry = entry.filter(|entry| entry.operation == Operation::Put);
    Ok(entry.is_some_and(|entry| pulse(&link.keyring, &entry).is_ok()))
}

/// A sign of life that counts: signed by the machine itself, and not an old one that was put there again.
pub(crate) fn pulse(keyring: &Keyring, entry: &Entry) -> std::result::Result<MachineInfo, Foreign> {
    let opened = keyring.open::<MachineInfo>(Kind::Pulse, &entry.key, &entry.value)?;
    let is_recent = (clock::now().0 - opened.at).abs() <= CLOCK_SKEW;
    let is_own = opened.from.id == opened.body.machine && token(&opened.from.id) == entry.key;
    if !is_recent || !is_own {
        return Err(Foreign::Malformed("a sign of life that is not from now".to_owned()));
    }
    Ok(MachineInfo { name: opened.from.name, ..opened.body })
}
