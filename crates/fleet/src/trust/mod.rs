//! Signs messages with this machine's key, and verifies received ones with the keys of the team.

mod envelope;
mod invite;
mod key;
#[cfg(any(test, fuzzing))]
pub(crate) mod sample;
mod sync;
mod team;

use std::io;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use bytes::Bytes;
use overtone_store::{Home, clock, create_private_dir, files};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::value::to_raw_value;

use crate::machine::{Machine, fleet_dir};
use crate::message::{Claim, MessageError, Order};
pub(crate) use envelope::Kind;
use envelope::{Envelope, Header, seal};
pub(crate) use invite::InvitationProof;
pub use invite::{Invitation, InvitationError, Invited};
use key::MachineKey;
pub use key::PublicKey;
pub use sync::TeamError;
use team::Anchor;
pub use team::Member;
use team::Team;

/// How much the clocks of two machines may differ, in milliseconds.
pub(crate) const CLOCK_SKEW: i64 = 60 * 60 * 1000;

/// The relation of this machine to the team on the server.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Membership {
    /// The server was not asked yet.
    #[default]
    Unknown,
    Member,
    /// It was invited and waits to be accepted.
    Waiting,
    /// It was removed from the team.
    Removed,
    /// The server is used by a team that has not invited this machine.
    Outsider,
}

impl Membership {
    pub const fn name(self) -> &'static str {
        match self {
            Self::Unknown => "unknown",
            Self::Member => "member",
            Self::Waiting => "waiting",
            Self::Removed => "removed",
            Self::Outsider => "outsider",
        }
    }
}

/// A message whose signature was verified, with its sender.
#[derive(Debug)]
pub(crate) struct VerifiedMessage<T> {
    pub(crate) body: T,
    pub(crate) from: Member,
    pub(crate) id: String,
    pub(crate) at: i64,
}

/// A message of a machine outside of the team. Only the key is verified.
#[derive(Debug)]
pub(crate) struct Introduction<T> {
    pub(crate) body: T,
    pub(crate) id: String,
    pub(crate) key: PublicKey,
}

/// This machine's key and the keys of its team.
#[derive(Debug, Clone)]
pub struct Keyring(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    /// `None` for a keyring that belongs to no machine.
    home: Option<Home>,
    machine: Machine,
    key: MachineKey,
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    team: Option<Team>,
    /// The list of an invitation, until it was read from the server.
    anchor: Option<Anchor>,
    membership: Membership,
}

/// The content of `team.json`.
#[derive(Serialize, Deserialize)]
struct TeamFile {
    team: String,
    first: u64,
    lists: Vec<String>,
}

fn team_file(home: &Home) -> PathBuf {
    fleet_dir(home).join("team.json")
}

/// The file of a team that this machine has left. With its lists, the machine can join again without an invitation.
fn archived_team_file(home: &Home, team: &str) -> PathBuf {
    fleet_dir(home).join("teams").join(format!("{team}.json"))
}

fn load_team(path: &std::path::Path) -> io::Result<Option<Team>> {
    let Some(text) = files::read_small(path)? else { return Ok(None) };
    let broken =
        |why: String| io::Error::new(io::ErrorKind::InvalidData, format!("{}: {why}", path.display()));
    let TeamFile { team, first, lists } =
        serde_json::from_str(&text).map_err(|error| broken(error.to_string()))?;
    Team::from_lists(team, first, lists).map(Some).ok_or_else(|| broken("not a team's lists".to_owned()))
}

impl Keyring {
    /// Loads the keyring of a home. The machine's id and key are generated if they do not exist.
    pub fn load_or_create(home: &Home, name: Option<&str>) -> io::Result<Self> {
        let machine = Machine::load_or_create(home, name)?;
        let key = MachineKey::load_or_create(home)?;
        let state = State { team: load_team(&team_file(home))?, ..State::default() };
        Ok(Self(Arc::new(Inner { home: Some(home.clone()), machine, key, state: Mutex::new(state) })))
    }

    /// A keyring that belongs to no machine, trusts no other one, and writes no files.
    pub fn anonymous() -> io::Result<Self> {
        let machine = Machine { id: "0".repeat(16), name: "nobody".to_owned() };
        let key = MachineKey::temporary()?;
        Ok(Self(Arc::new(Inner { home: None, machine, key, state: Mutex::default() })))
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.0.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// This machine, with its name in the team's list if it is a member.
    pub fn machine(&self) -> Machine {
        match self.member(&self.0.machine.id) {
            Some(member) if member.key == *self.0.key.public() => {
                Machine { id: member.id, name: member.name }
            }
            _ => self.0.machine.clone(),
        }
    }

    pub fn fingerprint(&self) -> String {
        self.0.key.public().fingerprint()
    }

    pub fn membership(&self) -> Membership {
        self.state().membership
    }

    /// All machines of the team.
    pub fn members(&self) -> Vec<Member> {
        self.state().team.as_ref().map(|team| team.members().to_vec()).unwrap_or_default()
    }

    pub(crate) fn member(&self, id: &str) -> Option<Member> {
        self.state().team.as_ref()?.member(id).cloned()
    }

    /// A machine whose messages are accepted: this one, or a member of the team.
    pub(crate) fn trusted_machine(&self, id: &str) -> Option<Member> {
        if let Some(member) = self.member(id) {
            return Some(member);
        }
        let Inner { machine, key, .. } = &*self.0;
        if id != machine.id {
            return None;
        }
        Some(Member { id: machine.id.clone(), name: machine.name.clone(), key: key.public().clone() })
    }

    /// Signs a message. `to` is its destination, `id` its id there.
    pub(crate) fn seal<T: Serialize>(&self, kind: Kind, to: &str, id: &str, body: &T) -> Bytes {
        let key = matches!(kind, Kind::Heartbeat | Kind::Machine).then(|| self.0.key.public().clone());
        let header = Header {
            kind,
            team: self.team(),
            from: self.0.machine.id.clone(),
            to: to.to_owned(),
            id: id.to_owned(),
            at: clock::now().0,
            key,
        };
        // Types with string keys and finite numbers cannot fail to serialize.
        let body = to_raw_value(body).unwrap_or_default();
        seal(&header, &body, &self.0.key)
    }

    /// Signs an order to a machine.
    pub fn seal_order(&self, machine: &str, id: &str, order: &Order) -> Bytes {
        self.seal(Kind::Order, machine, id, order)
    }

    /// Verifies the sender and the destination of a message, and then parses its content.
    pub(crate) fn open<T: DeserializeOwned>(
        &self,
        kind: Kind,
        to: &str,
        bytes: &[u8],
    ) -> Result<VerifiedMessage<T>, MessageError> {
        let envelope = Envelope::parse(bytes)?;
        let from = self.check(kind, to, &envelope)?;
        let body = envelope.body()?;
        let Header { id, at, .. } = envelope.header;
        Ok(VerifiedMessage { body, from, id, at })
    }

    fn check(&self, kind: Kind, to: &str, envelope: &Envelope) -> Result<Member, MessageError> {
        let header = &envelope.header;
        if header.kind != kind || header.to != to {
            return Err(MessageError::Malformed("meant for another destination".to_owned()));
        }
        let unknown = || MessageError::Unknown { from: header.from.clone() };
        let team = self.team();
        let member = self.trusted_machine(&header.from).ok_or_else(unknown)?;
        if header.team != team {
            return Err(unknown());
        }
        if envelope.is_signed_by(&member.key) { Ok(member) } else { Err(MessageError::Forged) }
    }

    /// Parses a message of a machine outside of the team, if it is signed with the key that it contains.
    pub(crate) fn open_introduction<T: DeserializeOwned>(
        kind: Kind,
        to: &str,
        bytes: &[u8],
    ) -> Result<Introduction<T>, MessageError> {
        let envelope = Envelope::parse(bytes)?;
        let header = &envelope.header;
        if header.kind != kind || header.to != to {
            return Err(MessageError::Malformed("meant for another destination".to_owned()));
        }
        let key = header.key.clone().ok_or(MessageError::Forged)?;
        if !envelope.is_signed_by(&key) {
            return Err(MessageError::Forged);
        }
        Ok(Introduction { body: envelope.body()?, id: header.from.clone(), key })
    }

    /// Leaves the team. Its lists are archived, so that the machine can join again without an invitation.
    pub fn leave(home: &Home) -> io::Result<()> {
        let Some(team) = load_team(&team_file(home))? else { return Ok(()) };
        archive_team(home, &team)?;
        files::remove(&team_file(home)).map(drop)
    }

    /// Stores the team. `is_joined`: this machine has just joined it. Otherwise another team in the file, which another
    /// process joined meanwhile, is kept.
    fn save(&self, team: &Team, is_joined: bool) -> io::Result<()> {
        let Some(home) = &self.0.home else { return Ok(()) };
        create_private_dir(&fleet_dir(home))?;
        let _lock = files::lock_file(&fleet_dir(home).join("machine.lock"), files::lock_timeout())?;
        match load_team(&team_file(home))? {
            // Another process has already stored these lists, or newer ones.
            Some(stored) if stored.id == team.id && stored.number() >= team.number() => return Ok(()),
            Some(stored) if stored.id != team.id && !is_joined => return Ok(()),
            Some(stored) if stored.id != team.id => archive_team(home, &stored)?,
            _ => {}
        }
        write_team(&team_file(home), team)
    }

    /// The id of this machine's team; empty without a team.
    pub fn team(&self) -> String {
        self.state().team.as_ref().map(|team| team.id.clone()).unwrap_or_default()
    }
}

fn archive_team(home: &Home, team: &Team) -> io::Result<()> {
    let path = archived_team_file(home, &team.id);
    if let Some(folder) = path.parent() {
        create_private_dir(folder)?;
    }
    write_team(&path, team)
}

fn write_team(path: &std::path::Path, team: &Team) -> io::Result<()> {
    let (team, first, lists) = team.clone().into_parts();
    let text = serde_json::to_vec(&TeamFile { team, first, lists }).map_err(io::Error::other)?;
    files::write_atomic(path, &text, files::PRIVATE)
}

/// The machine in a claim. The signature is not verified.
pub(crate) fn claimed_machine(bytes: &[u8]) -> Option<String> {
    Envelope::parse(bytes).ok()?.body::<Claim>().ok().map(|claim| claim.machine)
}
