//! Who is part of the team: a chain of lists, each signed by somebody who was on the one before.
//!
//! The first list makes the team and its number. Every change is a new list; nothing that was said before is taken
//! back, so a machine that was away reads the lists it has missed and knows the same as all others.

use overtone_engine::text::printable;
use overtone_store::clock;
use ring::digest::{SHA256, digest};
use serde::{Deserialize, Serialize};
use serde_json::value::to_raw_value;

use super::envelope::{Envelope, Header, Kind, seal};
use super::key::{MachineKey, PublicKey};
use crate::hex;
use crate::machine::{MAX_NAME, Machine, is_machine_id};

/// More machines than this are no small team, and each list has all of them.
const MOST_MEMBERS: usize = 500;

/// A machine that the team knows.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Member {
    pub id: String,
    /// How everybody calls it, whatever it calls itself.
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

/// Why a list is not the next one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum NotNext {
    Unreadable,
    /// Signed by nobody who was on the list before, or not signed at all.
    Unsigned,
    /// It does not continue the list before.
    Elsewhere,
    /// Names or numbers that no list of ours has.
    Unusable,
}

/// The lists that this machine has, without a gap.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Team {
    pub(crate) id: String,
    /// The number of the first list here: a machine that was invited begins with the one of its invitation.
    first: u64,
    lists: Vec<String>,
    #[serde(skip)]
    members: Vec<Member>,
    /// Machines that were on an earlier list.
    #[serde(skip)]
    former: Vec<Member>,
}

/// A list by its number and its hash: where an invited machine begins.
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

/// The number of a team, by its first list.
pub(crate) fn team_id(first_list: &str) -> String {
    hash(first_list)[..32].to_owned()
}

impl Team {
    /// A new team of one machine.
    pub(crate) fn found(machine: &Machine, key: &MachineKey) -> Self {
        let members =
            vec![Member { id: machine.id.clone(), name: machine.name.clone(), key: key.public().clone() }];
        let roster = Roster { number: 1, previous: String::new(), members: members.clone() };
        let list = sign(&roster, "", machine, key);
        Self { id: team_id(&list), first: 1, lists: vec![list], members, former: Vec::new() }
    }

    /// Begins with a list that an invitation names.
    pub(crate) fn anchored(anchor: &Anchor, list: &str) -> Option<Self> {
        if hash(list) != anchor.hash {
            return None;
        }
        Self::from_lists(anchor.team.clone(), anchor.number, vec![list.to_owned()])
    }

    /// Lists that were kept on this machine. The first is taken as it is; the others must follow it.
    pub(crate) fn from_lists(id: String, first: u64, lists: Vec<String>) -> Option<Self> {
        let mut lists = lists.into_iter();
        let start = lists.next()?;
        let roster = read(&start).ok()?;
        if roster.number != first || !is_usable(&roster.members) || (first == 1 && team_id(&start) != id) {
            return None;
        }
        let mut team = Self { id, first, lists: vec![start], members: roster.members, former: Vec::new() };
        for list in lists {
            team.append(list).ok()?;
        }
        Some(team)
    }

    /// What was kept of it; [`from_lists`](Self::from_lists) makes it whole again.
    pub(crate) fn parts(self) -> (String, u64, Vec<String>) {
        (self.id, self.first, self.lists)
    }

    pub(crate) fn members(&self) -> &[Member] {
        &self.members
    }

    pub(crate) fn member(&self, id: &str) -> Option<&Member> {
        self.members.iter().find(|member| member.id == id)
    }

    /// Whether a machine was on a list and no longer is.
    pub(crate) fn was_removed(&self, id: &str, key: &PublicKey) -> bool {
        let was_here = self.former.iter().any(|member| member.id == id || member.key == *key);
        was_here && self.member(id).is_none()
    }

    pub(crate) fn number(&self) -> u64 {
        self.first + self.lists.len() as u64 - 1
    }

    pub(crate) fn last(&self) -> &str {
        self.lists.last().map_or("", String::as_str)
    }

    /// Every list with its number.
    pub(crate) fn lists(&self) -> impl Iterator<Item = (u64, &str)> {
        (self.first..).zip(self.lists.iter().map(String::as_str))
    }

    pub(crate) fn anchor(&self) -> Anchor {
        Anchor { team: self.id.clone(), number: self.number(), hash: hash(self.last()) }
    }

    /// Takes the next list, if it is one.
    pub(crate) fn append(&mut self, list: String) -> Result<(), NotNext> {
        let envelope = Envelope::read(list.as_bytes()).map_err(|_| NotNext::Unreadable)?;
        let header = &envelope.header;
        let is_for_this = header.kind == Kind::Roster
            && header.team == self.id
            && header.to == roster_key(self.number() + 1);
        if !is_for_this {
            return Err(NotNext::Elsewhere);
        }
        let signer = self.member(&header.from).ok_or(NotNext::Unsigned)?;
        if !envelope.is_signed_by(&signer.key) {
            return Err(NotNext::Unsigned);
        }
        let roster: Roster = envelope.body().map_err(|_| NotNext::Unreadable)?;
        if roster.number != self.number() + 1 || roster.previous != hash(self.last()) {
            return Err(NotNext::Elsewhere);
        }
        if !is_usable(&roster.members) {
            return Err(NotNext::Unusable);
        }
        let before = std::mem::replace(&mut self.members, roster.members);
        let is_kept = |member: &Member| self.members.contains(member);
        self.former.extend(before.into_iter().filter(|member| !is_kept(member)));
        self.lists.push(list);
        Ok(())
    }

    /// The next list, signed by this machine.
    pub(crate) fn next_list(&self, members: Vec<Member>, machine: &Machine, key: &MachineKey) -> String {
        let roster = Roster { number: self.number() + 1, previous: hash(self.last()), members };
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
    // Our own types have texts for keys and no endless numbers, so this cannot fail.
    let body = to_raw_value(roster).unwrap_or_default();
    String::from_utf8_lossy(&seal(&header, &body, key)).into_owned()
}

fn read(list: &str) -> Result<Roster, NotNext> {
    let envelope = Envelope::read(list.as_bytes()).map_err(|_| NotNext::Unreadable)?;
    envelope.body().map_err(|_| NotNext::Unreadable)
}

/// Names and numbers that can be shown and told apart.
fn is_usable(members: &[Member]) -> bool {
    let is_named = |member: &Member| {
        let name = &member.name;
        is_machine_id(&member.id)
            && !name.trim().is_empty()
            && name.chars().count() <= MAX_NAME
            && printable(name) == name.as_str()
    };
    let is_same = |a: &Member, b: &Member| a.id == b.id || a.key == b.key || a.name == b.name;
    let is_alone = |at: usize| !members[..at].iter().any(|other| is_same(other, &members[at]));
    !members.is_empty()
        && members.len() <= MOST_MEMBERS
        && members.iter().all(is_named)
        && (0..members.len()).all(is_alone)
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Someone {
        machine: Machine,
        key: MachineKey,
    }

    impl Someone {
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
    fn a_team_grows_by_lists_that_members_sign() {
        let (ann, bob, eve) = (Someone::new("a"), Someone::new("bb"), Someone::new("ccc"));
        let mut team = Team::found(&ann.machine, &ann.key);
        // Eve cannot add herself.
        assert_eq!(team.clone().append(eve.list(&team, &[&ann, &eve])), Err(NotNext::Unsigned));
        team.append(ann.list(&team, &[&ann, &bob])).unwrap();
        assert_eq!(names(&team), ["a", "bb"]);
        // Bob may go on; a list that was taken already does not come again.
        let old = team.last().to_owned();
        team.append(bob.list(&team, &[&bob])).unwrap();
        assert_eq!(team.append(old), Err(NotNext::Elsewhere));
        assert!(team.was_removed(&ann.machine.id, ann.key.public()));
        assert_eq!(team.append(ann.list(&team, &[&ann, &bob])), Err(NotNext::Unsigned));
        let again = team.clone();
        let (id, first, lists) = team.parts();
        assert_eq!(Team::from_lists(id, first, lists), Some(again));
    }

    #[test]
    fn a_list_of_another_team_or_with_strange_names_is_refused() {
        let (ann, bob) = (Someone::new("a"), Someone::new("bb"));
        let team = Team::found(&ann.machine, &ann.key);
        let other = Team::found(&ann.machine, &MachineKey::temporary().unwrap());
        assert_eq!(team.clone().append(ann.list(&other, &[&ann])), Err(NotNext::Elsewhere));
        for name in ["", " ", "a\u{202e}b", "a\nb", "a", &"x".repeat(200)] {
            let mut strange = bob.member();
            name.clone_into(&mut strange.name);
            let list = team.next_list(vec![ann.member(), strange], &ann.machine, &ann.key);
            assert_eq!(team.clone().append(list), Err(NotNext::Unusable), "{name:?}");
        }
    }

    #[test]
    fn an_invited_machine_begins_with_the_list_it_was_told() {
        let (ann, bob) = (Someone::new("a"), Someone::new("bb"));
        let mut team = Team::found(&ann.machine, &ann.key);
        team.append(ann.list(&team, &[&ann, &bob])).unwrap();
        let anchor = team.anchor();
        let mut begun = Team::anchored(&anchor, team.last()).unwrap();
        assert_eq!((begun.number(), names(&begun)), (2, vec!["a", "bb"]));
        begun.append(bob.list(&begun, &[&bob])).unwrap();
        let forged = Team::found(&bob.machine, &bob.key);
        assert_eq!(Team::anchored(&anchor, forged.last()), None);
    }

    #[test]
    fn names_are_not_given_twice() {
        let ann = Someone::new("a");
        let team = Team::found(&ann.machine, &ann.key);
        assert_eq!(team.free_name("a", "other"), "a-2");
        assert_eq!(team.free_name("a", &ann.machine.id), "a");
        assert_eq!(team.free_name("b", "other"), "b");
    }
}
