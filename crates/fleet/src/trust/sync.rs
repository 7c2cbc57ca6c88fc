//! Synchronizes the team's lists with the server: reads new ones, restores missing ones, and publishes changes.

use async_nats::jetstream::kv::{CreateErrorKind, Operation, Store, UpdateErrorKind};
use bytes::Bytes;
use overtone_store::{Home, create_private_dir, files};

use super::team::{Member, Team, roster_key, team_id};
use super::{Keyring, Membership, PublicKey, State, archived_team_file, load_team, team_file};
use crate::error::{FleetError, Result};
use crate::machine::fleet_dir;

/// How often a change is tried. The loser of a race reads the winner's list and tries again.
const MAX_ATTEMPTS: usize = 10;

/// Why the team's list was not changed.
#[derive(Debug)]
pub enum TeamError {
    /// This machine is not part of the team, so its changes would be rejected.
    NotAMember,
    /// The team has no such machine.
    NoSuchMachine,
    /// A machine of the team has the same id, with another key.
    IdTaken {
        name: String,
    },
    /// The only machine of a team cannot be removed.
    LastMember,
    Fleet(FleetError),
}

impl From<FleetError> for TeamError {
    fn from(error: FleetError) -> Self {
        Self::Fleet(error)
    }
}

/// A list as it is stored on the server. It is not verified yet.
struct StoredList {
    text: String,
    revision: u64,
}

async fn find_list(lists: &Store, number: u64) -> Result<Option<StoredList>> {
    let entry = lists.entry(roster_key(number)).await;
    let entry = entry.map_err(|error| FleetError::server("read the team's list", error))?;
    let entry = entry.filter(|entry| entry.operation == Operation::Put);
    Ok(entry.map(|entry| StoredList {
        text: String::from_utf8_lossy(&entry.value).into_owned(),
        revision: entry.revision,
    }))
}

impl Keyring {
    /// Reads new lists from the server. If the server has no team, this machine creates one.
    pub(crate) async fn sync(&self, lists: &Store) -> Result<Membership> {
        let team = match self.current_team(lists).await? {
            Some(team) => self.read_new_lists(lists, team).await?,
            None => match &self.0.home {
                Some(home) => self.create_team(lists, home).await?,
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
        state.membership = self.membership_in(team.as_ref());
        let membership = state.membership;
        let State { team: known, anchor, .. } = &mut *state;
        if team.is_some() {
            (*known, *anchor) = (team, None);
        }
        drop(state);
        Ok(membership)
    }

    fn membership_in(&self, team: Option<&Team>) -> Membership {
        let (id, key) = (&self.0.machine.id, self.0.key.public());
        match team {
            None => Membership::Outsider,
            Some(team) if team.member(id).is_some_and(|member| member.key == *key) => Membership::Member,
            Some(team) if team.was_removed(id, key) => Membership::Removed,
            Some(_) => Membership::Waiting,
        }
    }

    /// The team that this machine knows: from an invitation, from its file, or one that it left before.
    async fn current_team(&self, lists: &Store) -> Result<Option<Team>> {
        let (team, anchor) = {
            let state = self.state();
            (state.team.clone(), state.anchor.clone())
        };
        if let Some(anchor) = anchor {
            if let Some(found) = find_list(lists, anchor.number).await?
                && let Some(team) = Team::from_anchor(&anchor, &found.text)
            {
                return Ok(Some(team));
            }
            return Err(FleetError::server("find the team of the invitation", "it is not on this server"));
        }
        let Some(home) = &self.0.home else { return Ok(None) };
        if team.is_some() {
            return Ok(team);
        }
        // Another process of this home may have joined a team meanwhile.
        if let Some(team) = load_team(&team_file(home))? {
            return Ok(Some(team));
        }
        let Some(first) = find_list(lists, 1).await? else { return Ok(None) };
        Ok(load_team(&archived_team_file(home, &team_id(&first.text)))?)
    }

    /// Reads the lists after the last known one. `None` if the server is used by another team now.
    async fn read_new_lists(&self, lists: &Store, mut team: Team) -> Result<Option<Team>> {
        match find_list(lists, team.number()).await? {
            Some(found) if found.text == team.last_list() => {}
            Some(_) => return Ok(None),
            None => restore(lists, &team).await?,
        }
        while let Some(found) = find_list(lists, team.number() + 1).await? {
            if let Err(problem) = team.append(found.text) {
                // The next change by a member replaces it.
                eprintln!("[overtone/fleet] list {} of the team: {problem:?}", team.number() + 1);
                break;
            }
        }
        Ok(Some(team))
    }

    /// Creates a team, unless the server has one. The lock keeps two processes of a home from creating two teams.
    async fn create_team(&self, lists: &Store, home: &Home) -> Result<Option<Team>> {
        create_private_dir(&fleet_dir(home))?;
        let _lock = files::lock_file(&fleet_dir(home).join("team.lock"), files::lock_timeout())?;
        if let Some(team) = load_team(&team_file(home))? {
            return self.read_new_lists(lists, team).await;
        }
        if find_list(lists, 1).await?.is_some() {
            return Ok(None);
        }
        let team = Team::create(&self.0.machine, &self.0.key);
        match lists.create(roster_key(1), Bytes::from(team.last_list().to_owned())).await {
            Ok(_) => {
                self.save(&team, true)?;
                Ok(Some(team))
            }
            Err(error) if error.kind() == CreateErrorKind::AlreadyExists => Ok(None),
            Err(error) => Err(FleetError::server("create the team's list", error)),
        }
    }

    /// Adds a machine to the team, under a name that no other member has.
    pub(crate) async fn admit(
        &self,
        lists: &Store,
        id: &str,
        name: &str,
        key: &PublicKey,
    ) -> std::result::Result<Member, TeamError> {
        let newcomer =
            |team: &Team| Member { id: id.to_owned(), name: team.free_name(name, id), key: key.clone() };
        self.change(lists, |team| {
            if let Some(member) = team.member(id).filter(|member| member.key != *key) {
                return Err(TeamError::IdTaken { name: member.name.clone() });
            }
            let newcomer = newcomer(team);
            let others = team.members().iter().filter(|member| member.id != id && member.key != *key);
            Ok(others.cloned().chain([newcomer]).collect())
        })
        .await?;
        self.member(id).ok_or(TeamError::NoSuchMachine)
    }

    /// Removes a machine from the team. Its messages are rejected from now on.
    pub(crate) async fn remove_member(&self, lists: &Store, id: &str) -> std::result::Result<(), TeamError> {
        self.change(lists, |team| {
            if team.member(id).is_none() {
                return Err(TeamError::NoSuchMachine);
            }
            let rest: Vec<_> = team.members().iter().filter(|member| member.id != id).cloned().collect();
            if rest.is_empty() { Err(TeamError::LastMember) } else { Ok(rest) }
        })
        .await
    }

    /// Changes this machine's name in the team's list to the one in its settings.
    pub(crate) async fn update_name(&self, lists: &Store) -> std::result::Result<(), TeamError> {
        let machine = self.0.machine.clone();
        let needs_rename = match &self.state().team {
            Some(team) => match team.member(&machine.id) {
                Some(member) => member.name != team.free_name(&machine.name, &machine.id),
                None => false,
            },
            None => false,
        };
        if !needs_rename {
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

    /// Takes over a list that this machine has just published. It is not read back: in a cluster, the server that answers may
    /// not have it yet.
    fn adopt(&self, mut team: Team, list: String) -> Result<()> {
        if let Err(problem) = team.append(list) {
            return Err(FleetError::server("change the team's list", format!("{problem:?}")));
        }
        self.save(&team, false)?;
        let membership = self.membership_in(Some(&team));
        let mut state = self.state();
        (state.membership, state.team) = (membership, Some(team));
        Ok(())
    }

    /// Publishes a list with the members that `members` returns for the current team.
    async fn change(
        &self,
        lists: &Store,
        members: impl Fn(&Team) -> std::result::Result<Vec<Member>, TeamError>,
    ) -> std::result::Result<(), TeamError> {
        for _ in 0..MAX_ATTEMPTS {
            if self.sync(lists).await? != Membership::Member {
                return Err(TeamError::NotAMember);
            }
            let Some(team) = self.state().team.clone() else { return Err(TeamError::NotAMember) };
            let list = team.next_list(members(&team)?, &self.0.machine, &self.0.key);
            if publish(lists, &team, list.clone()).await? {
                self.adopt(team, list)?;
                return Ok(());
            }
        }
        Err(FleetError::server("change the team's list", "too many other machines try at the same time")
            .into())
    }
}

/// Publishes the next list. Returns `false` if another machine was faster. An invalid list under that number is
/// replaced.
async fn publish(lists: &Store, team: &Team, list: String) -> Result<bool> {
    let failed = |error: &dyn std::fmt::Display| FleetError::server("change the team's list", error);
    let number = team.number() + 1;
    let (key, value) = (roster_key(number), Bytes::from(list));
    match find_list(lists, number).await? {
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

/// Publishes the lists again that the server has lost.
async fn restore(lists: &Store, team: &Team) -> Result<()> {
    for (number, list) in team.lists() {
        match lists.create(roster_key(number), Bytes::from(list.to_owned())).await {
            Ok(_) => {}
            Err(error) if error.kind() == CreateErrorKind::AlreadyExists => {}
            Err(error) => return Err(FleetError::server("restore the team's list", error)),
        }
    }
    Ok(())
}
