//! Receives the changes of buckets and the stream of events, and applies them to the known state of the fleet.

use std::collections::HashMap;

use async_nats::jetstream::consumer::{DeliverPolicy, pull};
use async_nats::jetstream::kv::{Entry, Operation, Store, Watch};
use futures_util::StreamExt as _;
use overtone_store::SessionId;

use super::fleet_state::FleetState;
use crate::claims::{open_claim, open_heartbeat};
use crate::error::{FleetError, Result};
use crate::link::Link;
use crate::message::{MessageError, SessionState};
use crate::names::decode_token;
use crate::snapshot::{open_machine, open_state, parse_feature_key, read_bucket};
use crate::trust::{Keyring, Kind};

/// Sessions that have to be written, with the states that were just received for them.
#[derive(Debug, Default)]
pub(crate) struct PendingSessions(pub(super) HashMap<String, Vec<SessionState>>);

impl PendingSessions {
    fn mark(&mut self, session: &str) {
        self.0.entry(session.to_owned()).or_default();
    }

    fn add(&mut self, state: SessionState) {
        let received = self.0.entry(state.session.clone()).or_default();
        received.retain(|known| known.machine != state.machine);
        received.push(state);
    }
}

/// A change in one of the buckets.
#[derive(Debug)]
pub(crate) enum BucketChange {
    Claim(Entry),
    Machine(Entry),
    Heartbeat(Entry),
    State(Entry),
    /// A list of the team.
    Team,
}

impl BucketChange {
    pub(super) const fn is_of_team(&self) -> bool {
        matches!(self, Self::Team)
    }

    pub(crate) fn apply(&self, keyring: &Keyring, fleet: &mut FleetState, pending: &mut PendingSessions) {
        match self {
            Self::Claim(entry) => apply_claim(keyring, fleet, pending, entry),
            Self::Machine(entry) => apply_machine(keyring, fleet, entry),
            Self::Heartbeat(entry) => apply_heartbeat(keyring, fleet, entry),
            Self::State(entry) => apply_state(keyring, fleet, pending, entry),
            Self::Team => {}
        }
    }
}

/// Watches all buckets that the mirror needs.
pub(super) struct BucketWatcher {
    claims: Watch,
    machines: Watch,
    heartbeats: Watch,
    states: Watch,
    team: Watch,
}

impl BucketWatcher {
    /// Reads the current content of all buckets, and watches for changes after it.
    pub(super) async fn open(link: &Link, pending: &mut PendingSessions) -> Result<(FleetState, Self)> {
        let team = link.team.watch_all().await;
        let team = team.map_err(|error| FleetError::server("watch the fleet", error))?;
        link.sync_team().await?;
        let (claims_now, claims) = watch_bucket(&link.claims).await?;
        let (machines_now, machines) = watch_bucket(&link.machines).await?;
        let (heartbeats_now, heartbeats) = watch_bucket(&link.heartbeats).await?;
        let (states_now, states) = watch_bucket(&link.sessions).await?;
        let current = claims_now.into_iter().map(BucketChange::Claim);
        let current = current.chain(machines_now.into_iter().map(BucketChange::Machine));
        let current = current.chain(heartbeats_now.into_iter().map(BucketChange::Heartbeat));
        let current = current.chain(states_now.into_iter().map(BucketChange::State));
        let mut fleet = FleetState::default();
        for change in current {
            change.apply(&link.keyring, &mut fleet, pending);
        }
        Ok((fleet, Self { claims, machines, heartbeats, states, team }))
    }

    pub(super) async fn next(&mut self) -> Result<BucketChange> {
        tokio::select! {
            entry = self.claims.next() => next_or_error(entry).map(BucketChange::Claim),
            entry = self.machines.next() => next_or_error(entry).map(BucketChange::Machine),
            entry = self.heartbeats.next() => next_or_error(entry).map(BucketChange::Heartbeat),
            entry = self.states.next() => next_or_error(entry).map(BucketChange::State),
            entry = self.team.next() => next_or_error(entry).map(|_| BucketChange::Team),
        }
    }
}

/// The next item of a stream that only ends if the server ends it.
pub(super) fn next_or_error<T, E: std::fmt::Display>(item: Option<std::result::Result<T, E>>) -> Result<T> {
    let failed = |error: &dyn std::fmt::Display| FleetError::server("follow the fleet", error);
    match item {
        Some(Ok(item)) => Ok(item),
        Some(Err(error)) => Err(failed(&error)),
        None => Err(failed(&"the server closed the stream")),
    }
}

/// All entries of a bucket, and a watch for the changes after them.
async fn watch_bucket(store: &Store) -> Result<(Vec<Entry>, Watch)> {
    let all = read_bucket(store).await?;
    let last = all.iter().map(|entry| entry.revision).max().unwrap_or(0);
    let watch = store.watch_all_from_revision(last + 1).await;
    Ok((all, watch.map_err(|error| FleetError::server("watch the fleet", error))?))
}

/// All events after a sequence.
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

/// Identifies an entry across all buckets.
fn entry_path(entry: &Entry) -> String {
    format!("{}/{}", entry.bucket, entry.key)
}

/// Records whether an entry is readable, and returns its content if it is.
fn record_readability<T>(
    fleet: &mut FleetState,
    entry: &Entry,
    content: std::result::Result<T, MessageError>,
) -> Option<T> {
    match content {
        Ok(content) => {
            fleet.mark_readable(&entry_path(entry));
            Some(content)
        }
        Err(error) => {
            fleet.mark_unreadable(entry_path(entry), &error);
            None
        }
    }
}

fn malformed(what: &str) -> MessageError {
    MessageError::Malformed(what.to_owned())
}

fn apply_claim(keyring: &Keyring, fleet: &mut FleetState, pending: &mut PendingSessions, entry: &Entry) {
    let claim = if entry.operation == Operation::Put {
        record_readability(fleet, entry, open_claim(keyring, entry)).map(|stored| stored.claim)
    } else {
        fleet.mark_readable(&entry_path(entry));
        None
    };
    if let Some(session) = entry.key.strip_prefix("session.").and_then(decode_token) {
        fleet.set_owner(&session, claim);
        pending.mark(&session);
    } else if let Some(feature) = parse_feature_key(&entry.key) {
        fleet.set_feature_claim(feature, claim);
    }
}

fn apply_heartbeat(keyring: &Keyring, fleet: &mut FleetState, entry: &Entry) {
    if entry.operation != Operation::Put {
        fleet.end_heartbeat(&decode_token(&entry.key).unwrap_or_default());
    } else if let Some(info) = record_readability(fleet, entry, open_heartbeat(keyring, entry)) {
        fleet.record_heartbeat(info);
    }
}

fn apply_machine(keyring: &Keyring, fleet: &mut FleetState, entry: &Entry) {
    if entry.operation == Operation::Put
        && let Some(info) = record_readability(fleet, entry, open_machine(keyring, Kind::Machine, entry))
    {
        fleet.update_machine(info);
    }
}

fn apply_state(keyring: &Keyring, fleet: &mut FleetState, pending: &mut PendingSessions, entry: &Entry) {
    let Some((machine, session)) = parse_state_key(&entry.key) else {
        fleet.mark_unreadable(entry_path(entry), &malformed("not a session"));
        return;
    };
    let state = match open_state(keyring, entry) {
        Ok(state) if SessionId::parse(&state.session).is_none() => Err(malformed("stored under another key")),
        opened => opened,
    };
    if entry.operation == Operation::Put
        && let Some(state) = record_readability(fleet, entry, state)
    {
        fleet.set_state(&state, entry.revision);
        pending.add(state);
    } else {
        fleet.drop_state(&machine, &session);
        pending.mark(&session);
    }
}

/// The machine and the session of a state's key.
pub(super) fn parse_state_key(key: &str) -> Option<(String, String)> {
    let (machine, session) = key.split_once('.')?;
    Some((decode_token(machine)?, decode_token(session)?))
}
