//! Claims: which machine owns a session, or works on a feature of a repository.
//!
//! A claim stays until it is released or taken over, so a session whose machine is offline still has an owner. Whether
//! the owner is online is known from its heartbeat, which the server drops after
//! [`HEARTBEAT_TTL`](crate::link::HEARTBEAT_TTL). Every change names the revision that it replaces, so that of two
//! concurrent changes one fails. Only claims that are signed by a machine of the team count; anything else stored under
//! the key is replaced by the next machine that claims it.

use async_nats::jetstream::kv::{CreateErrorKind, Entry, Operation, Store, UpdateErrorKind};
use overtone_store::clock;
use serde::{Deserialize, Serialize};

use crate::error::{FleetError, Result};
use crate::link::Link;
use crate::machine::Machine;
use crate::message::{Claim, MachineInfo, MessageError};
use crate::names::encode_token;
use crate::trust::{CLOCK_SKEW, Keyring, Kind};

/// How often a claim that lost a race is tried again.
const MAX_ATTEMPTS: usize = 5;

/// The result of an attempt to claim something.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ClaimOutcome {
    /// It is ours since this epoch. `taken_from` is the claim that was replaced, if there was one.
    Ours { epoch: u64, taken_from: Option<Claim> },
    /// It belongs to a machine that is online.
    Theirs(Claim),
    /// It belongs to a machine that is gone. A take-over is possible, but has to be requested.
    Orphaned(Claim),
}

/// Whether a claim of another machine may be taken over.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TakeOver {
    Never,
    IfOwnerGone,
    Always,
}

/// A valid claim as it is stored on the server.
#[derive(Debug, Clone)]
pub struct StoredClaim {
    pub claim: Claim,
    pub revision: u64,
}

/// The owner in the last valid claim that this machine has seen.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct KnownClaim {
    pub(crate) epoch: u64,
    pub(crate) machine: String,
}

/// What is stored under the key of a claim.
#[derive(Debug)]
enum ClaimEntry {
    Missing,
    /// Not signed by a machine of the team, or older than a claim that this machine has already seen.
    Invalid {
        revision: u64,
    },
    Valid(StoredClaim),
}

impl Claim {
    pub fn new(machine: &Machine, session: Option<&str>) -> Self {
        Self {
            machine: machine.id.clone(),
            name: machine.name.clone(),
            session: session.map(str::to_owned),
            taken_from: None,
            at: clock::to_iso(clock::now()),
            epoch: 0,
        }
    }

    /// The epoch of the claim that replaces this one. Stays the same at the end of all numbers, which only a claim of
    /// a broken machine has.
    pub(crate) fn next_epoch(&self, since: u64) -> u64 {
        self.epoch.max(since).saturating_add(1)
    }
}

/// Tries to claim `key`. `since` is the epoch of the last claim that this machine knows: an earlier one is invalid.
pub async fn claim(
    link: &Link,
    key: &str,
    ours: Claim,
    take_over: TakeOver,
    since: u64,
) -> Result<ClaimOutcome> {
    // The loser of a race finds the winner's claim in the next attempt.
    for _ in 0..MAX_ATTEMPTS {
        let stored = match read_entry(link, key, since).await? {
            ClaimEntry::Valid(stored) => stored,
            ClaimEntry::Missing => {
                let ours = Claim { epoch: since.saturating_add(1), ..ours.clone() };
                match link.claims.create(key, seal(link, key, &ours)).await {
                    Ok(_) => return Ok(ClaimOutcome::Ours { epoch: ours.epoch, taken_from: None }),
                    Err(error) if error.kind() == CreateErrorKind::AlreadyExists => continue,
                    Err(error) => return Err(FleetError::server("claim", error)),
                }
            }
            ClaimEntry::Invalid { revision } => {
                let ours = Claim { epoch: since.saturating_add(1), ..ours.clone() };
                if replace_claim(link, key, &ours, revision).await? {
                    return Ok(ClaimOutcome::Ours { epoch: ours.epoch, taken_from: None });
                }
                continue;
            }
        };
        if stored.claim.machine == ours.machine && stored.claim.session == ours.session {
            return Ok(ClaimOutcome::Ours { epoch: stored.claim.epoch, taken_from: None });
        }
        if let Some(refused) = refusal(link, &stored, &ours, take_over).await? {
            return Ok(refused);
        }
        let taken = Claim {
            taken_from: Some(stored.claim.machine.clone()),
            epoch: stored.claim.next_epoch(since),
            ..ours.clone()
        };
        if replace_claim(link, key, &taken, stored.revision).await? {
            return Ok(ClaimOutcome::Ours { epoch: taken.epoch, taken_from: Some(stored.claim) });
        }
    }
    Err(FleetError::server("claim", "too many other machines try at the same time"))
}

/// Why a claim of another machine or session is left alone; `None` if it may be taken over.
async fn refusal(
    link: &Link,
    stored: &StoredClaim,
    ours: &Claim,
    take_over: TakeOver,
) -> Result<Option<ClaimOutcome>> {
    let theirs = &stored.claim;
    let is_own_machine = theirs.machine == ours.machine;
    let is_owner_present = !is_own_machine && is_present(link, &theirs.machine).await?;
    Ok(match (take_over, is_owner_present) {
        (TakeOver::Always, _) | (TakeOver::IfOwnerGone, false) => None,
        (_, true) => Some(ClaimOutcome::Theirs(theirs.clone())),
        (TakeOver::Never, false) if is_own_machine => Some(ClaimOutcome::Theirs(theirs.clone())),
        (TakeOver::Never, false) => Some(ClaimOutcome::Orphaned(theirs.clone())),
    })
}

fn seal(link: &Link, key: &str, claim: &Claim) -> bytes::Bytes {
    link.keyring.seal(Kind::Claim, key, "", claim)
}

/// Replaces the claim of this revision. Returns `false` if the stored one has changed meanwhile.
pub(crate) async fn replace_claim(link: &Link, key: &str, claim: &Claim, revision: u64) -> Result<bool> {
    match link.claims.update(key, seal(link, key, claim), revision).await {
        Ok(_) => Ok(true),
        Err(error) if error.kind() == UpdateErrorKind::WrongLastRevision => Ok(false),
        Err(error) => Err(FleetError::server("change the claim", error)),
    }
}

/// Releases a claim, if it belongs to the machine and the session of `ours`.
pub async fn release(link: &Link, key: &str, ours: &Claim) -> Result<()> {
    let Some(stored) = find_claim(link, key).await? else { return Ok(()) };
    if stored.claim.machine != ours.machine || stored.claim.session != ours.session {
        return Ok(());
    }
    match link.claims.delete_expect_revision(key, Some(stored.revision)).await {
        Ok(()) => Ok(()),
        Err(error) if error.kind() == UpdateErrorKind::WrongLastRevision => Ok(()),
        Err(error) => Err(FleetError::server("release the claim", error)),
    }
}

/// The current claim, if a machine of the team has signed it.
pub async fn find_claim(link: &Link, key: &str) -> Result<Option<StoredClaim>> {
    match read_entry(link, key, 0).await? {
        ClaimEntry::Valid(stored) => Ok(Some(stored)),
        ClaimEntry::Missing | ClaimEntry::Invalid { .. } => Ok(None),
    }
}

async fn read_entry(link: &Link, key: &str, since: u64) -> Result<ClaimEntry> {
    let Some(entry) = current_entry(&link.claims, key, "read the claim").await? else {
        return Ok(ClaimEntry::Missing);
    };
    match open_claim(&link.keyring, &entry) {
        Ok(stored) if stored.claim.epoch >= since => Ok(ClaimEntry::Valid(stored)),
        _ => Ok(ClaimEntry::Invalid { revision: entry.revision }),
    }
}

/// The entry of a key, unless it was deleted.
async fn current_entry(store: &Store, key: &str, action: &'static str) -> Result<Option<Entry>> {
    let entry = store.entry(key).await.map_err(|error| FleetError::server(action, error))?;
    Ok(entry.filter(|entry| entry.operation == Operation::Put))
}

/// Verifies the claim of an entry. It is valid if it is signed by its owner, or by the machine that handed the session
/// over to the owner.
pub(crate) fn open_claim(keyring: &Keyring, entry: &Entry) -> std::result::Result<StoredClaim, MessageError> {
    let opened = keyring.open::<Claim>(Kind::Claim, &entry.key, &entry.value)?;
    let claim = opened.body;
    let is_signed_by_owner =
        opened.from.id == claim.machine || Some(&opened.from.id) == claim.taken_from.as_ref();
    match keyring.trusted_machine(&claim.machine) {
        Some(owner) if is_signed_by_owner => {
            Ok(StoredClaim { claim: Claim { name: owner.name, ..claim }, revision: entry.revision })
        }
        _ => Err(MessageError::Unknown { from: claim.machine }),
    }
}

/// Whether a machine has sent a valid heartbeat recently.
pub async fn is_present(link: &Link, machine: &str) -> Result<bool> {
    match current_entry(&link.heartbeats, &encode_token(machine), "read the heartbeat").await? {
        Some(entry) => Ok(open_heartbeat(&link.keyring, &entry).is_ok()),
        None => Ok(false),
    }
}

/// Verifies a heartbeat: it is signed by the machine itself, and not an old one that somebody stored again.
pub(crate) fn open_heartbeat(
    keyring: &Keyring,
    entry: &Entry,
) -> std::result::Result<MachineInfo, MessageError> {
    let opened = keyring.open::<MachineInfo>(Kind::Heartbeat, &entry.key, &entry.value)?;
    let is_recent = clock::now().0.abs_diff(opened.at) <= CLOCK_SKEW.unsigned_abs();
    let is_own = opened.from.id == opened.body.machine && encode_token(&opened.from.id) == entry.key;
    if !is_recent || !is_own {
        return Err(MessageError::Malformed("a heartbeat that is not recent".to_owned()));
    }
    Ok(MachineInfo { name: opened.from.name, ..opened.body })
}
