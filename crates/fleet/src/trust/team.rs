//! The members of the team, as a chain of lists. Each list is signed by a member of the previous one.
//!
//! The first list creates the team; its hash is the team's id. Every change is a new list and lists are never changed,
//! so a machine that was offline reads the lists that it has missed and has the same members as all others.

use overtone_core::engine::text::printable;
use overtone_store::clock;
use ring::digest::{SHA256, digest};
use serde::{Deserialize, Serialize};
use serde_json::value::to_raw_value;

use super::envelope::{Envelope, Header, Kind, seal};
use super::key::{MachineKey, PublicKey};
use crate::hex;
use crate::machine::{MAX_NAME, Machine, is_machine_id};

/// The limit for the members of a team. Each list contains all of them.
const MAX_MEMBERS: usize = 500;

/// A machine of the team.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Member {
    pub id: String,
    /// The name that all machines show for it, whatever it calls itself.
    pub name: String,
    pub key: PublicKey,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
struct Roster {
    number: u64,
    /// The hash of the list before this one.
    #[serde(default)]
    previous: String,
    members: Vec<Member>,
}

/// Why a list is not a valid next one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum RosterError {
    Unreadable,
    /// Not signed by a member of the previous list.
    Unsigned,
    /// It does not continue the previous list.
    Elsewhere,
    /// Its names or ids are invalid.
    Unusable,
}

/// A team with the lists that this machine has, without gaps.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Team {
    pub(crate) id: String,
    /// The number of the first list. An invited machine begins with the list of its invitation.
    first: u64,
    lists: Vec<String>,
    #[serde(skip)]
    members: Vec<Member>,
    /// Machines that were on an earlier list.
    #[serde(skip)]
    former: Vec<Member>,
}

/// The number and the hash of the list with which an invited machine begins.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Anchor {
    pub(crate) team: String,
    pub(crate) number: u64,
    pub(crate) hash: String,
}

fn hash(text: &str) -> String {
    hex::encode(digest(&SHA256, text.as_bytes()).as_ref())
}

/// The key of a list in the team's bucket.
pub(crate) fn roster_key(number: u64) -> String {
    format!("roster.{number}")
}

/// The id of a team, derived from its first list.
pub(crate) fn team_id(first_list: &str) -> String {
    hash(first_list)[..32].to_owned()
}

impl Team {
    /// Creates a team of one machine.
    pub(crate) fn create(machine: &Machine, key: &MachineKey) -> Self {
        let members =
            vec![Member { id: machine.id.clone(), name: machine.name.clone(), key: key.public().clone() }];
        let roster = Roster { number: 1, previous: String::new(), members: members.clone() };
        let list = sign(&roster, "", machine, key);
        Self { id: team_id(&list), first: 1, lists: vec![list], members, former: Vec::new() }
    }

    /// A team that begins with the list of an invitation. `None` if the list is another one.
    pub(crate) fn from_anchor(anchor: &Anchor, list: &str) -> Option<Self> {
        if hash(list) != anchor.hash {
            return None;
        }
        Self::from_lists(anchor.team.clone(), anchor.number, vec![list.to_owned()])
    }

    /// A team from stored lists. The first one is trusted; the others must be valid successors.
    pub(crate) fn from_lists(id: String, first: u64, lists: Vec<String>) -> Option<Self> {
        let mut lists = lists.into_iter();
        let start = lists.next()?;
        let roster = parse_roster(&start).ok()?;
        if roster.number != first
            || !is_valid_member_list(&roster.members)
            || (first == 1 && team_id(&start) != id)
        {
            return None;
        }
        let mut team = Self { id, first, lists: vec![start], members: roster.members, former: Vec::new() };
        for list in lists {
            team.append(list).ok()?;
        }
        Some(team)
    }

    /// The parts to store, from which [`from_lists`](Self::from_lists) restores the team.
    pub(crate) fn into_parts(self) -> (String, u64, Vec<String>) {
        (self.id, self.first, self.lists)
    }

    pub(crate) fn members(&self) -> &[Member] {
        &self.members
    }

    pub(crate) fn member(&self, id: &str) -> Option<&Member> {
        self.members.iter().find(|member| member.id == id)
    }

    /// Whether a machine was a member and no longer is.
    pub(crate) fn was_removed(&self, id: &str, key: &PublicKey) -> bool {
        let was_here = self.former.iter().any(|member| member.id == id || member.key == *key);
        was_here && self.member(id).is_none()
    }

    pub(crate) fn number(&self) -> u64 {
        self.first + self.lists.len() as u64 - 1
    }

    pub(crate) fn last_list(&self) -> &str {
        match self.lists.last() {
            Some(list) => list,
            None => "",
        }
    }

    /// Every list with its number.
    pub(crate) fn lists(&self) -> impl Iterator<Item = (u64, &str)> {
        (self.first..).zip(self.lists.iter().map(String::as_str))
    }

    pub(crate) fn anchor(&self) -> Anchor {
        Anchor { team: self.id.clone(), number: self.number(), hash: hash(self.last_list()) }
    }

    /// Appends the next list, if it is valid.
    pub(crate) fn append(&mut self, list: String) -> Result<(), RosterError> {
        let envelope = Envelope::parse(list.as_bytes()).map_err(|_| RosterError::Unreadable)?;
        let header = &envelope.header;
        let is_next = header.kind == Kind::Roster
            && header.team == self.id
            && header.to == roster_key(self.number() + 1);
        if !is_next {
            return Err(RosterError::Elsewhere);
        }
        let signer = self.member(&header.from).ok_or(RosterError::Unsigned)?;
        if !envelope.is_signed_by(&signer.key) {
            return Err(RosterError::Unsigned);
        }
        let roster: Roster = envelope.body().map_err(|_| RosterError::Unreadable)?;
        if roster.number != self.number() + 1 || roster.previous != hash(self.last_list()) {
            return Err(RosterError::Elsewhere);
        }
        if !is_valid_member_list(&roster.members) {
            return Err(RosterError::Unusable);
        }
        let before = std::mem::replace(&mut self.members, roster.members);
        let is_kept = |member: &Member| self.members.contains(member);
        self.former.extend(before.into_iter().filter(|member| !is_kept(member)));
        self.lists.push(list);
        Ok(())
    }

    /// Creates the next list, signed by this machine.
    pub(crate) fn next_list(&self, members: Vec<Member>, machine: &Machine, key: &MachineKey) -> String {
        let roster = Roster { number: self.number() + 1, previous: hash(self.last_list()), members };
        sign(&roster, &self.id, machine, key)
    }

    /// A name that no other member has: `laptop`, else `laptop-2` and so on.
    pub(crate) fn free_name(&self, name: &str, id: &str) -> String {
        let is_taken = |name: &str| self.members.iter().any(|member| member.name == name && member.id != id);
        if !is_taken(name) {
            return name.to_owned();
        }
        let stem: String = name.chars().take(MAX_NAME - 4).collect();
        let mut numbered = (2..).map(|number| format!("{stem}-{number}"));
        numbered.find(|name| !is_taken(name)).unwrap_or(stem)
    }
}

fn sign(roster: &Roster, team: &str, machine: &Machine, key: &MachineKey) -> String {
    let header = Header {
        kind: Kind::Roster,
        team: team.to_owned(),
        from: machine.id.clone(),
        to: roster_key(roster.number),
        id: String::new(),
        at: clock::now().0,
        key: None,
    };
    // Types with string keys and finite numbers cannot fail to serialize.
    let body = to_raw_value(roster).unwrap_or_default();
    String::from_utf8_lossy(&seal(&header, &body, key)).into_owned()
}

fn parse_roster(list: &str) -> Result<Roster, RosterError> {
    let envelope = Envelope::parse(list.as_bytes()).map_err(|_| RosterError::Unreadable)?;
    envelope.body().map_err(|_| RosterError::Unreadable)
}

/// Whether the names and ids of all members are printable and distinct.
fn is_valid_member_list(members: &[Member]) -> bool {
    let is_printable = |member: &Member| {
        let name = &member.name;
        is_machine_id(&member.id)
            && !name.trim().is_empty()
            && name.chars().count() <= MAX_NAME
            && printable(name) == name.as_str()
    };
    let is_same = |a: &Member, b: &Member| a.id == b.id || a.key == b.key || a.name == b.name;
    let is_distinct = |at: usize| !members[..at].iter().any(|other| is_same(other, &members[at]));
    !members.is_empty()
        && members.len() <= MAX_MEMBERS
        && members.iter().all(is_printable)
        && (0..members.len()).all(is_distinct)
}

#[cfg(test)]
mod tests {
    use super::*;

    struct TestMachine {
        machine: Machine,
        key: MachineKey,
    }

    impl TestMachine {
        fn new(name: &str) -> Self {
            let machine = Machine { id: format!("{:0>16x}", name.len() * 7919), name: name.to_owned() };
            Self { machine, key: MachineKey::temporary().unwrap() }
        }

        fn member(&self) -> Member {
            let Machine { id, name } = self.machine.clone();
            Member { id, name, key: self.key.public().clone() }
        }

        fn list(&self, team: &Team, members: &[&Self]) -> String {
            team.next_list(members.iter().map(|one| one.member()).collect(), &self.machine, &self.key)
        }
    }

    fn names(team: &Team) -> Vec<&str> {
        team.members().iter().map(|member| member.name.as_str()).collect()
    }

    #[test]
    fn only_members_can_sign_the_next_list() {
        let (ann, bob, eve) = (TestMachine::new("a"), TestMachine::new("bb"), TestMachine::new("ccc"));
        let mut team = Team::create(&ann.machine, &ann.key);
        // Eve cannot add herself.
        assert_eq!(team.clone().append(eve.list(&team, &[&ann, &eve])), Err(RosterError::Unsigned));
        team.append(ann.list(&team, &[&ann, &bob])).unwrap();
        assert_eq!(names(&team), ["a", "bb"]);
        // Bob may sign the next list. A list that was appended already is rejected.
        let old = team.last_list().to_owned();
        team.append(bob.list(&team, &[&bob])).unwrap();
        assert_eq!(team.append(old), Err(RosterError::Elsewhere));
        assert!(team.was_removed(&ann.machine.id, ann.key.public()));
        assert_eq!(team.append(ann.list(&team, &[&ann, &bob])), Err(RosterError::Unsigned));
        let again = team.clone();
        let (id, first, lists) = team.into_parts();
        assert_eq!(Team::from_lists(id, first, lists), Some(again));
    }

    #[test]
    fn a_list_of_another_team_or_with_invalid_names_is_rejected() {
        let (ann, bob) = (TestMachine::new("a"), TestMachine::new("bb"));
        let team = Team::create(&ann.machine, &ann.key);
        let other = Team::create(&ann.machine, &MachineKey::temporary().unwrap());
        assert_eq!(team.clone().append(ann.list(&other, &[&ann])), Err(RosterError::Elsewhere));
        for name in ["", " ", "a\u{202e}b", "a\nb", "a", &"x".repeat(200)] {
            let mut strange = bob.member();
            name.clone_into(&mut strange.name);
            let list = team.next_list(vec![ann.member(), strange], &ann.machine, &ann.key);
            assert_eq!(team.clone().append(list), Err(RosterError::Unusable), "{name:?}");
        }
    }

    #[test]
    fn an_invited_machine_begins_with_the_list_of_its_invitation() {
        let (ann, bob) = (TestMachine::new("a"), TestMachine::new("bb"));
        let mut team = Team::create(&ann.machine, &ann.key);
        team.append(ann.list(&team, &[&ann, &bob])).unwrap();
        let anchor = team.anchor();
        let mut begun = Team::from_anchor(&anchor, team.last_list()).unwrap();
        assert_eq!((begun.number(), names(&begun)), (2, vec!["a", "bb"]));
        begun.append(bob.list(&begun, &[&bob])).unwrap();
        let forged = Team::create(&bob.machine, &bob.key);
        assert_eq!(Team::from_anchor(&anchor, forged.last_list()), None);
    }

    #[test]
    fn a_taken_name_gets_a_number() {
        let ann = TestMachine::new("a");
        let team = Team::create(&ann.machine, &ann.key);
        assert_eq!(team.free_name("a", "other"), "a-2");
        assert_eq!(team.free_name("a", &ann.machine.id), "a");
        assert_eq!(team.free_name("b", "other"), "b");
    }
}
