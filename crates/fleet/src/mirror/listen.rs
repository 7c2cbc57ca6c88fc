//! What the server says, taken in: entries of buckets one by one, and the stream of events.

use std::collections::HashMap;

use async_nats::jetstream::consumer::{DeliverPolicy, pull};
use async_nats::jetstream::kv::{Entry, Operation, Store, Watch};
use futures_util::StreamExt as _;
use overtone_store::SessionId;

use super::known::Known;
use crate::claims::{pulse, standing};
use crate::error::{FleetError, Result};
use crate::link::Link;
use crate::message::{Foreign, SessionState};
use crate::names::word;
use crate::picture::{entries, feature_of, open_machine, open_state};
use crate::trust::{Keyring, Kind};

/// Sessions that are to be looked at, with what was just heard of them.
#[derive(Debug, Default)]
pub(super) struct Dirty(pub(super) HashMap<String, Vec<SessionState>>);

impl Dirty {
    fn mark(&mut self, session: &str) {
        self.0.entry(session.to_owned()).or_default();
    }

    fn hear(&mut self, state: SessionState) {
        let heard = self.0.entry(state.session.clone()).or_default();
        heard.retain(|known| known.machine != state.machine);
        heard.push(state);
    }
}

/// Something that was heard of one of the buckets.
#[derive(Debug)]
pub(super) enum Heard {
    Claim(Entry),
    Machine(Entry),
    Pulse(Entry),
    State(Entry),
    /// A list of the team.
    Team,
}

impl Heard {
    pub(super) const fn is_of_team(&self) -> bool {
        matches!(self, Self::Team)
    }

    pub(super) fn take_in(&self, keyring: &Keyring, known: &mut Known, dirty: &mut Dirty) {
        match self {
            Self::Claim(entry) => hear_claim(keyring, known, dirty, entry),
            Self::Machine(entry) => hear_machine(keyring, known, entry),
            Self::Pulse(entry) => hear_pulse(keyring, known, entry),
            Self::State(entry) => hear_state(keyring, known, dirty, entry),
            Self::Team => {}
        }
    }
}

/// Whatever changes in the buckets.
pub(super) struct News {
    claims: Watch,
    machines: Watch,
    pulses: Watch,
    states: Watch,
    team: Watch,
}

impl News {
    /// Everything that is there now, and what changes from then on.
    pub(super) async fn open(link: &Link, dirty: &mut Dirty) -> Result<(Known, Self)> {
        let team = link.team.watch_all().await;
        let team = team.map_err(|error| FleetError::server("watch the fleet", error))?;
        link.sync_team().await?;
        let (claims_now, claims) = bucket(&link.claims).await?;
        let (machines_now, machines) = bucket(&link.machines).await?;
        let (pulses_now, pulses) = bucket(&link.pulse).await?;
        let (states_now, states) = bucket(&link.sessions).await?;
        let heard = claims_now.into_iter().map(Heard::Claim);
        let heard = heard.chain(machines_now.into_iter().map(Heard::Machine));
        let heard = heard.chain(pulses_now.into_iter().map(Heard::Pulse));
        let heard = heard.chain(states_now.into_iter().map(Heard::State));
        let mut known = Known::default();
        for one in heard {
            one.take_in(&link.keyring, &mut known, dirty);
        }
        Ok((known, Self { claims, machines, pulses, states, team }))
    }

    pub(super) async fn next(&mut self) -> Result<Heard> {
        tokio::select! {
            entry = self.claims.next() => there(entry).map(Heard::Claim),
            entry = self.machines.next() => there(entry).map(Heard::Machine),
            entry = self.pulses.next() => there(entry).map(Heard::Pulse),
            entry = self.states.next() => there(entry).map(Heard::State),
            entry = self.team.next() => there(entry).map(|_| Heard::Team),
        }
    }
}

/// The next of something that ends only if the server ends it.
pub(super) fn there<T, E: std::fmt::Display>(news: Option<std::result::Result<T, E>>) -> Result<T> {
    let failed = |error: &dyn std::fmt::Display| FleetError::server("follow the fleet", error);
    match news {
        Some(Ok(news)) => Ok(news),
        Some(Err(error)) => Err(failed(&error)),
        None => Err(failed(&"the server has ended it")),
    }
}

/// Everything in a bucket, and then whatever changes.
async fn bucket(store: &Store) -> Result<(Vec<Entry>, Watch)> {
    let all = entries(store).await?;
    let next = all.iter().map(|entry| entry.revision).max().map_or(1, |last| last + 1);
    let watch = store.watch_all_from_revision(next).await;
    Ok((all, watch.map_err(|error| FleetError::server("watch the fleet", error))?))
}

/// All events after a number.
pub(super) async fn events(link: &Link, after: u64) -> Result<pull::Ordered> {
    let start_sequence = after + 1;
    let config = pull::OrderedConfig {
        filter_subject: link.names.all_events(),
        deliver_policy: DeliverPolicy::ByStartSequence { start_sequence },
        ..pull::OrderedConfig::default()
    };
    let failed = |error: &dyn std::fmt::Display| FleetError::server("listen to events", error);
    let consumer = link.events.create_consumer(config).await.map_err(|error| failed(&error))?;
    consumer.messages().await.map_err(|error| failed(&error))
}

fn place_of(entry: &Entry) -> String {
    format!("{}/{}", entry.bucket, entry.key)
}

/// Notes what an entry says, or that nobody knows what it says.
fn understood<T>(known: &mut Known, entry: &Entry, said: std::result::Result<T, Foreign>) -> Option<T> {
    match said {
        Ok(said) => {
            known.is_understood(&place_of(entry));
            Some(said)
        }
        Err(foreign) => {
            known.note_foreign(place_of(entry), &foreign);
            None
        }
    }
}

fn strange(what: &str) -> Foreign {
    Foreign::Malformed(what.to_owned())
}

fn hear_claim(keyring: &Keyring, known: &mut Known, dirty: &mut Dirty, entry: &Entry) {
    let claim = if entry.operation == Operation::Put {
        understood(known, entry, standing(keyring, entry)).map(|standing| standing.claim)
    } else {
        known.is_understood(&place_of(entry));
        None
    };
    if let Some(session) = entry.key.strip_prefix("session.").and_then(word) {
        known.set_owner(&session, claim);
        dirty.mark(&session);
    } else if let Some(feature) = feature_of(&entry.key) {
        known.set_claim(feature, claim);
    }
}

fn hear_pulse(keyring: &Keyring, known: &mut Known, entry: &Entry) {
    if entry.operation != Operation::Put {
        known.end_pulse(&word(&entry.key).unwrap_or_default());
    } else if let Some(info) = understood(known, entry, pulse(keyring, entry)) {
        known.note_pulse(info);
    }
}

fn hear_machine(keyring: &Keyring, known: &mut Known, entry: &Entry) {
    if entry.operation == Operation::Put
        && let Some(info) = understood(known, entry, open_machine(keyring, Kind::Machine, entry))
    {
        known.note_machine(info);
    }
}

fn hear_state(keyring: &Keyring, known: &mut Known, dirty: &mut Dirty, entry: &Entry) {
    let Some((machine, session)) = origin_of(&entry.key) else {
        known.note_foreign(place_of(entry), &strange("not a session"));
        return;
    };
    let said = open_state(keyring, entry).and_then(|state| {
        let is_session = SessionId::parse(&state.session).is_some();
        if is_session { Ok(state) } else { Err(strange("not its place")) }
    });
    let state = if entry.operation == Operation::Put { understood(known, entry, said) } else { None };
    if let Some(state) = state {
        known.set_state(&state, entry.revision);
        dirty.hear(state);
    } else {
        known.drop_state(&machine, &session);
        dirty.mark(&session);
    }
}

/// Machine and session of a state's key.
pub(super) fn origin_of(key: &str) -> Option<(String, String)> {
    let (machine, session) = key.split_once('.')?;
    Some((word(machine)?, word(session)?))
}
