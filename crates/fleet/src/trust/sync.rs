//! The team's lists on the server: read what is new, put back what is missing, and make changes.

use async_nats::jetstream::kv::{CreateErrorKind, Operation, Store, UpdateErrorKind};
use bytes::Bytes;
use overtone_store::{Home, create_private_dir, files};

use super::team::{Member, Team, roster_key, team_id};
use super::{Keyring, Membership, PublicKey, State, left_team_file, load_team, team_file};
use crate::error::{FleetError, Result};
use crate::machine::folder;

/// Whoever loses a race reads the winner's list and tries again.
const ATTEMPTS: usize = 10;

/// Why the team's list stays as it is.
#[derive(Debug)]
pub enum NotChanged {
    /// This machine is not part of the team, so nobody would believe it.
    NotAMember,
    /// There is no such machine in the team.
    NoSuchMachine,
    /// A machine of the team has this number, with another key.
    NumberTaken {
        name: String,
    },
    /// The last machine of a team cannot be removed.
    LastMember,
    Fleet(FleetError),
}

impl From<FleetError> for NotChanged {
    fn from(error: FleetError) -> Self {
        Self::Fleet(error)
    }
}

/// What is in the place of a list.
struct Found {
    text: String,
    revision: u64,
}

async fn find(lists: &Store, number: u64) -> Result<Option<Found>> {
    let entry = lists.entry(roster_key(number)).await;
    let entry = entry.map_err(|error| FleetError::server("read the team's list", error))?;
    let entry = entry.filter(|entry| entry.operation == Operation::Put);
    Ok(entry.map(|entry| Found {
        text: String::from_utf8_lossy(&entry.value).into_owned(),
        revision: entry.revision,
    }))
}

impl Keyring {
    /// Reads the lists that are new on the server. Where there is no team, this machine makes one.
    pub(crate) async fn sync(&self, lists: &Store) -> Result<Membership> {
        let team = match self.current_team(lists).await? {
            Some(team) => self.read_on(lists, team).await?,
            None => match &self.0.home {
                Some(home) => self.found(lists, home).await?,
                None => None,
            },
        };
        if let Some(team) = &team {
            let is_joined = {
                let state = self.state();
                state.team.is_none() || state.anchor.is_some()
            };
            self.save(team, is_joined)?;
        }
        let mut state = self.state();
        state.membership = self.judge(team.as_ref());
        let membership = state.membership;
        let State { team: known, anchor, .. } = &mut *state;
        if team.is_some() {
            (*known, *anchor) = (team, None);
        }
        drop(state);
        Ok(membership)
    }

    fn judge(&self, team: Option<&Team>) -> Membership {
        let (id, key) = (&self.0.machine.id, self.0.key.public());
        match team {
            None => Membership::Outsider,
            Some(team) if team.member(id).is_some_and(|member| member.key == *key) => Membership::Member,
            Some(team) if team.was_removed(id, key) => Membership::Removed,
            Some(_) => Membership::Waiting,
        }
    }

    /// The team that is known here: by an invitation, from before, or left and found again.
    async fn current_team(&self, lists: &Store) -> Result<Option<Team>> {
        let (team, anchor) = {
            let state = self.state();
            (state.team.clone(), state.anchor.clone())
        };
        if let Some(anchor) = anchor {
            let found = find(lists, anchor.number).await?;
            let team = found.and_then(|found| Team::anchored(&anchor, &found.text));
            let gone = || FleetError::server("find the team of the invitation", "it is not on this server");
            return team.map(Some).ok_or_else(gone);
        }
        let Some(home) = &self.0.home else { return Ok(None) };
        if team.is_some() {
            return Ok(team);
        }
        // Another process of this home may have joined meanwhile.
        if let Some(team) = load_team(&team_file(home))? {
            return Ok(Some(team));
        }
        let Some(first) = find(lists, 1).await? else { return Ok(None) };
        Ok(load_team(&left_team_file(home, &team_id(&first.text)))?)
    }

    /// `None` if another team has made the server its own.
    async fn read_on(&self, lists: &Store, mut team: Team) -> Result<Option<Team>> {
        match find(lists, team.number()).await? {
            Some(found) if found.text == team.last() => {}
            Some(_) => return Ok(None),
            None => restore(lists, &team).await?,
        }
        while let Some(found) = find(lists, team.number() + 1).await? {
            if let Err(problem) = team.append(found.text) {
                // The next change by a member takes its place.
                eprintln!("[overtone/fleet] list {} of the team: {problem:?}", team.number() + 1);
                break;
            }
        }
        Ok(Some(team))
    }

    /// Makes a team where there is none. Of two processes of a home, one does and the other finds it made.
    async fn found(&self, lists: &Store, home: &Home) -> Result<Option<Team>> {
        create_private_dir(&folder(home))?;
        let _lock = files::lock_file(&folder(home).join("team.lock"), files::lock_wait())?;
        if let Some(team) = load_team(&team_file(home))? {
            return self.read_on(lists, team).await;
        }
        if find(lists, 1).await?.is_some() {
            return Ok(None);
        }
        let team = Team::found(&self.0.machine, &self.0.key);
        match lists.create(roster_key(1), Bytes::from(team.last().to_owned())).await {
            Ok(_) => {
                self.save(&team, true)?;
                Ok(Some(team))
            }
            Err(error) if error.kind() == CreateErrorKind::AlreadyExists => Ok(None),
            Err(error) => Err(FleetError::server("make the team's list", error)),
        }
    }

    /// Makes a machine part of the team, under a name that nobody else has.
    pub(crate) async fn admit(
        &self,
        lists: &Store,
        id: &str,
        name: &str,
        key: &PublicKey,
    ) -> std::result::Result<Member, NotChanged> {
        let newcomer =
            |team: &Team| Member { id: id.to_owned(), name: team.free_name(name, id), key: key.clone() };
        self.change(lists, |team| {
            if let Some(member) = team.member(id).filter(|member| member.key != *key) {
                return Err(NotChanged::NumberTaken { name: member.name.clone() });
            }
            let newcomer = newcomer(team);
            let others = team.members().iter().filter(|member| member.id != id && member.key != *key);
            Ok(others.cloned().chain([newcomer]).collect())
        })
        .await?;
        self.member(id).ok_or(NotChanged::NoSuchMachine)
    }

    /// From now on nobody believes this machine.
    pub(crate) async fn expel(&self, lists: &Store, id: &str) -> std::result::Result<(), NotChanged> {
        self.change(lists, |team| {
            if team.member(id).is_none() {
                return Err(NotChanged::NoSuchMachine);
            }
            let rest: Vec<_> = team.members().iter().filter(|member| member.id != id).cloned().collect();
            if rest.is_empty() { Err(NotChanged::LastMember) } else { Ok(rest) }
        })
        .await
    }

    /// The name in the settings is the one that this machine should have.
    pub(crate) async fn take_name(&self, lists: &Store) -> std::result::Result<(), NotChanged> {
        let machine = self.0.machine.clone();
        let is_named = |team: &Team| {
            let wanted = team.free_name(&machine.name, &machine.id);
            team.member(&machine.id).is_none_or(|member| member.name == wanted)
        };
        if self.state().team.as_ref().is_none_or(is_named) {
            return Ok(());
        }
        self.change(lists, |team| {
            let renamed = |member: &Member| match member {
                member if member.id == machine.id => {
                    Member { name: team.free_name(&machine.name, &machine.id), ..member.clone() }
                }
                member => member.clone(),
            };
            Ok(team.members().iter().map(renamed).collect())
        })
        .await
    }

    async fn change(
        &self,
        lists: &Store,
        members: impl Fn(&Team) -> std::result::Result<Vec<Member>, NotChanged>,
    ) -> std::result::Result<(), NotChanged> {
        for _ in 0..ATTEMPTS {
            if self.sync(lists).await? != Membership::Member {
                return Err(NotChanged::NotAMember);
            }
            let Some(team) = self.state().team.clone() else { return Err(NotChanged::NotAMember) };
            let list = team.next_list(members(&team)?, &self.0.machine, &self.0.key);
            if publish(lists, &team, list).await? {
                self.sync(lists).await?;
                return Ok(());
            }
        }
        Err(FleetError::server("change the team's list", "too many others try at the same time").into())
    }
}

/// Puts a list in its place; `false` if another one was faster. What is there and does not follow the team's last list
/// gives way.
async fn publish(lists: &Store, team: &Team, list: String) -> Result<bool> {
    let failed = |error: &dyn std::fmt::Display| FleetError::server("change the team's list", error);
    let number = team.number() + 1;
    let (key, value) = (roster_key(number), Bytes::from(list));
    match find(lists, number).await? {
        Some(found) if team.clone().append(found.text.clone()).is_ok() => Ok(false),
        None => match lists.create(&key, value).await {
            Ok(_) => Ok(true),
            Err(error) if error.kind() == CreateErrorKind::AlreadyExists => Ok(false),
            Err(error) => Err(failed(&error)),
        },
        Some(found) => match lists.update(&key, value, found.revision).await {
            Ok(_) => Ok(true),
            Err(error) if error.kind() == UpdateErrorKind::WrongLastRevision => Ok(false),
            Err(error) => Err(failed(&error)),
        },
    }
}

/// The server has lost what this machine still has.
async fn restore(lists: &Store, team: &Team) -> Result<()> {
    for (number, list) in team.lists() {
        match lists.create(roster_key(number), Bytes::from(list.to_owned())).await {
            Ok(_) => {}
            Err(error) if error.kind() == CreateErrorKind::AlreadyExists => {}
            Err(error) => return Err(FleetError::server("put the team's list back", error)),
        }
    }
    Ok(())
}
