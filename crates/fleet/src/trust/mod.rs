//! Whom this machine believes: its own key, the team's list of keys, and the check of everything that arrives.

mod envelope;
mod invite;
mod key;
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

use crate::machine::{Machine, folder};
use crate::message::{Claim, Foreign, Order};
pub(crate) use envelope::Kind;
use envelope::{Envelope, Header, seal};
pub(crate) use invite::Proof;
pub use invite::{BadInvitation, Invitation, Invited};
use key::MachineKey;
pub use key::PublicKey;
pub use sync::NotChanged;
use team::Anchor;
pub use team::Member;
use team::Team;

/// How far the clocks of two machines may be apart, in milliseconds.
pub(crate) const CLOCK_SKEW: i64 = 60 * 60 * 1000;

/// What this machine is to the team.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Membership {
    /// No server was asked yet.
    #[default]
    Unknown,
    Member,
    /// It knows the team, and the team does not know it yet.
    Waiting,
    /// It was part of the team.
    Removed,
    /// Another team uses the server, and has not invited this machine.
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

/// A message that was checked: its content, and who has really sent it.
#[derive(Debug)]
pub(crate) struct Opened<T> {
    pub(crate) body: T,
    pub(crate) from: Member,
    pub(crate) id: String,
    pub(crate) at: i64,
}

/// What a machine that nobody knows says of itself. Only the key is sure to be its own.
#[derive(Debug)]
pub(crate) struct Introduced<T> {
    pub(crate) body: T,
    pub(crate) id: String,
    pub(crate) key: PublicKey,
}

/// This machine's key and the team's list.
#[derive(Debug, Clone)]
pub struct Keyring(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    /// `None` for whoever only looks at a server.
    home: Option<Home>,
    machine: Machine,
    key: MachineKey,
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    team: Option<Team>,
    /// The list that an invitation names, until it was read.
    anchor: Option<Anchor>,
    membership: Membership,
}

/// `team.json`.
#[derive(Serialize, Deserialize)]
struct TeamFile {
    team: String,
    first: u64,
    lists: Vec<String>,
}

fn team_file(home: &Home) -> PathBuf {
    folder(home).join("team.json")
}

/// Teams that this machine has left: with their lists it can come back.
fn left_team_file(home: &Home, team: &str) -> PathBuf {
    folder(home).join("teams").join(format!("{team}.json"))
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
    /// Of a home. Its key is made if it has none.
    pub fn of(home: &Home, name: Option<&str>) -> io::Result<Self> {
        let machine = Machine::of(home, name)?;
        let key = MachineKey::of(home)?;
        let state = State { team: load_team(&team_file(home))?, ..State::default() };
        Ok(Self(Arc::new(Inner { home: Some(home.clone()), machine, key, state: Mutex::new(state) })))
    }

    /// Belongs to nobody, believes nobody, and writes no file.
    pub fn nobody() -> io::Result<Self> {
        let machine = Machine { id: "0".repeat(16), name: "nobody".to_owned() };
        let key = MachineKey::temporary()?;
        Ok(Self(Arc::new(Inner { home: None, machine, key, state: Mutex::default() })))
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.0.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// This machine, under the name that the team knows it by.
    pub fn machine(&self) -> Machine {
        let known = self.member(&self.0.machine.id).filter(|member| member.key == *self.0.key.public());
        match known {
            Some(member) => Machine { id: member.id, name: member.name },
            None => self.0.machine.clone(),
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

    /// A machine whose word counts: this one, or one of the team.
    pub(crate) fn known(&self, id: &str) -> Option<Member> {
        if let Some(member) = self.member(id) {
            return Some(member);
        }
        let Inner { machine, key, .. } = &*self.0;
        let own = || Member { id: machine.id.clone(), name: machine.name.clone(), key: key.public().clone() };
        (id == machine.id).then(own)
    }

    /// Signs something. `to` is where it belongs, `id` what it is called there.
    pub(crate) fn seal<T: Serialize>(&self, kind: Kind, to: &str, id: &str, body: &T) -> Bytes {
        let key = matches!(kind, Kind::Pulse | Kind::Machine).then(|| self.0.key.public().clone());
        let header = Header {
            kind,
            team: self.team(),
            from: self.0.machine.id.clone(),
            to: to.to_owned(),
            id: id.to_owned(),
            at: clock::now().0,
            key,
        };
        // Our own types have texts for keys and no endless numbers, so this cannot fail.
        let body = to_raw_value(body).unwrap_or_default();
        seal(&header, &body, &self.0.key)
    }

    /// Signs an order to a machine.
    pub fn seal_order(&self, machine: &str, id: &str, order: &Order) -> Bytes {
        self.seal(Kind::Order, machine, id, order)
    }

    /// Checks who has sent something and that it belongs here, and only then reads it.
    pub(crate) fn open<T: DeserializeOwned>(
        &self,
        kind: Kind,
        to: &str,
        bytes: &[u8],
    ) -> Result<Opened<T>, Foreign> {
        let envelope = Envelope::read(bytes)?;
        let from = self.check(kind, to, &envelope)?;
        let body = envelope.body()?;
        let Header { id, at, .. } = envelope.header;
        Ok(Opened { body, from, id, at })
    }

    fn check(&self, kind: Kind, to: &str, envelope: &Envelope) -> Result<Member, Foreign> {
        let header = &envelope.header;
        if header.kind != kind || header.to != to {
            return Err(Foreign::Malformed("not its place".to_owned()));
        }
        let unknown = || Foreign::Unknown { from: header.from.clone() };
        let team = self.team();
        let member = self.known(&header.from).ok_or_else(unknown)?;
        if header.team != team {
            return Err(unknown());
        }
        if envelope.is_signed_by(&member.key) { Ok(member) } else { Err(Foreign::Forged) }
    }

    /// What a machine outside of the team says of itself, if it has at least signed that with its own key.
    pub(crate) fn open_introduction<T: DeserializeOwned>(
        kind: Kind,
        to: &str,
        bytes: &[u8],
    ) -> Result<Introduced<T>, Foreign> {
        let envelope = Envelope::read(bytes)?;
        let header = &envelope.header;
        if header.kind != kind || header.to != to {
            return Err(Foreign::Malformed("not its place".to_owned()));
        }
        let key = header.key.clone().ok_or(Foreign::Forged)?;
        if !envelope.is_signed_by(&key) {
            return Err(Foreign::Forged);
        }
        Ok(Introduced { body: envelope.body()?, id: header.from.clone(), key })
    }

    /// Forgets the team. Its lists are kept, so that the machine can come back without a new invitation.
    pub fn leave(home: &Home) -> io::Result<()> {
        let Some(team) = load_team(&team_file(home))? else { return Ok(()) };
        put_aside(home, &team)?;
        files::take_away(&team_file(home)).map(drop)
    }

    /// `is_joined`: this machine has just become part of it. Otherwise a team in the file that another process has
    /// joined meanwhile is left alone.
    fn save(&self, team: &Team, is_joined: bool) -> io::Result<()> {
        let Some(home) = &self.0.home else { return Ok(()) };
        create_private_dir(&folder(home))?;
        let _lock = files::lock_file(&folder(home).join("machine.lock"), files::lock_wait())?;
        match load_team(&team_file(home))? {
            // A process that has read more of the same team's lists keeps them.
            Some(there) if there.id == team.id && there.number() >= team.number() => return Ok(()),
            Some(there) if there.id != team.id && !is_joined => return Ok(()),
            Some(there) if there.id != team.id => put_aside(home, &there)?,
            _ => {}
        }
        write_team(&team_file(home), team)
    }

    /// The number of the team that this machine knows; empty for none.
    pub fn team(&self) -> String {
        self.state().team.as_ref().map(|team| team.id.clone()).unwrap_or_default()
    }
}

fn put_aside(home: &Home, team: &Team) -> io::Result<()> {
    let path = left_team_file(home, &team.id);
    if let Some(folder) = path.parent() {
        create_private_dir(folder)?;
    }
    write_team(&path, team)
}

fn write_team(path: &std::path::Path, team: &Team) -> io::Result<()> {
    let (team, first, lists) = team.clone().parts();
    let text = serde_json::to_vec(&TeamFile { team, first, lists }).map_err(io::Error::other)?;
    files::write_atomic(path, &text, files::PRIVATE)
}

/// Whom a claim names, without a look at its signature.
pub(crate) fn claimed_machine(bytes: &[u8]) -> Option<String> {
    Envelope::read(bytes).ok()?.body::<Claim>().ok().map(|claim| claim.machine)
}
