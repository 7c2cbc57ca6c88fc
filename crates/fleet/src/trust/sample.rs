//! A team of two machines with fixed keys, for checks of received messages.

use serde_json::value::RawValue;

use super::envelope::{Envelope, Header, Kind, seal};
use super::key::MachineKey;
use super::team::{Member, Team};
use super::{Inner, Keyring, State};
use crate::machine::Machine;

/// This machine, and another one that signs what this one receives.
#[derive(Debug)]
pub(crate) struct SampleTeam {
    pub(crate) keyring: Keyring,
    pub(crate) sender: Machine,
    sender_key: MachineKey,
    team: Team,
}

impl SampleTeam {
    /// `None` if the keys are not accepted.
    pub(crate) fn create() -> Option<Self> {
        let machine = Machine { id: "1".repeat(16), name: "here".to_owned() };
        let sender = Machine { id: "2".repeat(16), name: "there".to_owned() };
        let (key, sender_key) =
            (MachineKey::from_seed(&[1; 32]).ok()?, MachineKey::from_seed(&[2; 32]).ok()?);
        let mut team = Team::create(&machine, &key);
        let member = |machine: &Machine, key: &MachineKey| Member {
            id: machine.id.clone(),
            name: machine.name.clone(),
            key: key.public().clone(),
        };
        let members = vec![member(&machine, &key), member(&sender, &sender_key)];
        team.append(team.next_list(members, &machine, &key)).ok()?;
        let state = State { team: Some(team.clone()), ..State::default() };
        let keyring = Keyring(Inner { home: None, machine, key, state: state.into() }.into());
        Some(Self { keyring, sender, sender_key, team })
    }

    /// A message as the other machine signs it.
    pub(crate) fn sign(&self, kind: Kind, to: &str, id: &str, at: i64, body: &RawValue) -> Vec<u8> {
        let header = Header {
            kind,
            team: self.keyring.team(),
            from: self.sender.id.clone(),
            to: to.to_owned(),
            id: id.to_owned(),
            at,
            key: None,
        };
        seal(&header, body, &self.sender_key).to_vec()
    }

    /// Appends a received list to the team. Panics if the team cannot be stored and loaded afterwards.
    pub(crate) fn append_list(&self, list: &[u8]) {
        let mut team = self.team.clone();
        if team.append(String::from_utf8_lossy(list).into_owned()).is_err() {
            return assert_eq!(team, self.team, "a rejected list changes nothing");
        }
        assert_eq!(team.number(), self.team.number() + 1);
        let (id, first, lists) = team.clone().into_parts();
        assert_eq!(Team::from_lists(id, first, lists), Some(team), "what was accepted can be loaded again");
    }

    /// Whether bytes are an envelope, whoever signed it.
    pub(crate) fn is_envelope(bytes: &[u8]) -> bool {
        Envelope::parse(bytes).is_ok()
    }
}
