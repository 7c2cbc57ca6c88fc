//! What the whole fleet is doing, as the server knows it: machines, their sessions, and whose features are.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::time::Duration;

use async_nats::jetstream::consumer::{DeliverPolicy, pull};
use async_nats::jetstream::kv::{Entry, Operation, Store};
use futures_util::{Stream, StreamExt as _, future};
use serde::Deserialize;
use tokio::time::timeout;

use crate::claims::standing;
use crate::error::{FleetError, Result};
use crate::link::Link;
use crate::message::{Batch, Claim, Foreign, MachineInfo, SessionState, read};
use crate::names::word;

/// A server that has something to say says it sooner.
const SILENCE: Duration = Duration::from_secs(5);

/// How long the next line of a timeline is waited for that the server is known to have.
const PATIENCE: Duration = Duration::from_secs(20);

/// A machine as it was when it last spoke.
#[derive(Debug, Clone, PartialEq)]
pub struct MachineView {
    pub info: MachineInfo,
    pub is_present: bool,
}

/// A feature somebody works on.
#[derive(Debug, Clone, PartialEq)]
pub struct FeatureView {
    pub repository: String,
    pub feature: String,
    pub claim: Claim,
    pub is_present: bool,
}

/// Everything at once.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Picture {
    pub machines: Vec<MachineView>,
    /// Only where they belong now: a session that was moved is shown once.
    pub sessions: Vec<SessionState>,
    pub features: Vec<FeatureView>,
    /// What could not be read: how many messages, and of which later version some were.
    pub foreign: usize,
    pub later: Option<u32>,
}

impl Picture {
    pub async fn take(link: &Link) -> Result<Self> {
        let mut picture = Self::default();
        let speaking = picture.all::<MachineInfo>(&link.pulse).await?;
        let present: HashSet<String> = speaking.keys().cloned().collect();
        let owners = picture.claims(link, &present).await?;
        let mut machines = picture.all::<MachineInfo>(&link.machines).await?;
        // A pulse is newer than what is kept for later.
        machines.extend(speaking);
        for (key, info) in machines {
            picture.machines.push(MachineView { info, is_present: present.contains(&key) });
        }
        picture
            .machines
            .sort_by(|a, b| (&a.info.name, &a.info.machine).cmp(&(&b.info.name, &b.info.machine)));
        for (_, state) in picture.all::<SessionState>(&link.sessions).await? {
            if owners.get(&state.session).is_none_or(|owner| *owner == state.machine) {
                picture.sessions.push(state);
            }
        }
        Ok(picture)
    }

    /// Who owns which session; features are noted on the way.
    async fn claims(&mut self, link: &Link, present: &HashSet<String>) -> Result<HashMap<String, String>> {
        let mut owners = HashMap::new();
        for entry in entries(&link.claims).await? {
            let key = entry.key.clone();
            let Some(standing) = standing(&entry) else { continue };
            if let Some(session) = key.strip_prefix("session.").and_then(word) {
                owners.insert(session, standing.claim.machine);
            } else if let Some((repository, feature)) = feature_of(&key) {
                let is_present = present.contains(&standing.claim.machine);
                self.features.push(FeatureView { repository, feature, claim: standing.claim, is_present });
            }
        }
        self.features.sort_by(|a, b| (&a.repository, &a.feature).cmp(&(&b.repository, &b.feature)));
        Ok(owners)
    }

    /// All values of a bucket by key, without those that are foreign to us.
    async fn all<T: for<'de> Deserialize<'de>>(&mut self, store: &Store) -> Result<BTreeMap<String, T>> {
        let mut all = BTreeMap::new();
        for entry in entries(store).await?.into_iter().filter(|entry| entry.operation == Operation::Put) {
            match read(&entry.value) {
                Ok(value) => {
                    all.insert(entry.key, value);
                }
                Err(foreign) => self.note(&foreign),
            }
        }
        Ok(all)
    }

    fn note(&mut self, foreign: &Foreign) {
        self.foreign += 1;
        if let Foreign::Later(version) = foreign {
            self.later = self.later.max(Some(*version));
        }
    }

    /// Sessions whose id begins with these characters.
    pub fn find(&self, id: &str) -> Vec<&SessionState> {
        let exact = self.sessions.iter().find(|state| state.session == id);
        match exact {
            Some(state) => vec![state],
            None => self.sessions.iter().filter(|state| state.session.starts_with(id)).collect(),
        }
    }

    pub fn is_present(&self, machine: &str) -> bool {
        self.machines.iter().any(|view| view.is_present && view.info.machine == machine)
    }
}

pub(crate) fn feature_of(key: &str) -> Option<(String, String)> {
    let (repository, feature) = key.strip_prefix("feature.")?.split_once('.')?;
    Some((word(repository)?, word(feature)?))
}

/// Everything in a bucket. What expires while it is read does not come; then there is nothing left to wait for.
pub(crate) async fn entries(store: &Store) -> Result<Vec<Entry>> {
    let failed = |error: &dyn std::fmt::Display| FleetError::server("read the fleet", error);
    // The bucket's own status is that of when it was opened.
    let info = store.stream.get_info().await.map_err(|error| failed(&error))?;
    let mut entries = Vec::new();
    if info.state.messages == 0 {
        return Ok(entries);
    }
    let mut watch = store.watch_all_from_revision(1).await.map_err(|error| failed(&error))?;
    while let Ok(Some(entry)) = timeout(SILENCE, watch.next()).await {
        let entry = entry.map_err(|error| failed(&error))?;
        let is_last = entry.seen_current;
        entries.push(entry);
        if is_last {
            break;
        }
    }
    Ok(entries)
}

/// Lines of a session, and where they come from.
#[derive(Debug, Clone, PartialEq)]
pub struct Heard {
    pub machine: String,
    pub session: String,
    pub batch: Batch,
}

/// What happens from now on, in all sessions or in one.
pub async fn tail(link: &Link, session: Option<&str>) -> Result<impl Stream<Item = Result<Heard>> + use<>> {
    let filter = subject(link, None, session);
    let config = pull::OrderedConfig {
        filter_subject: filter,
        deliver_policy: DeliverPolicy::New,
        ..pull::OrderedConfig::default()
    };
    listen(link, config).await
}

/// A session's timeline as its machine has told it, from the beginning to now.
pub async fn timeline(link: &Link, machine: &str, session: &str) -> Result<Vec<Batch>> {
    let subject = subject(link, Some(machine), Some(session));
    let last = match link.events.get_last_raw_message_by_subject(&subject).await {
        Ok(last) => last.sequence,
        // Nothing happened, or it was too long ago.
        Err(_) => return Ok(Vec::new()),
    };
    let config = pull::OrderedConfig { filter_subject: subject, ..pull::OrderedConfig::default() };
    let failed = |error: &dyn std::fmt::Display| FleetError::server("read the timeline", error);
    let consumer = link.events.create_consumer(config).await.map_err(|error| failed(&error))?;
    let mut messages = consumer.messages().await.map_err(|error| failed(&error))?;
    let mut batches: Vec<Batch> = Vec::new();
    // The client waits for a server that has died, for as long as it takes.
    while let Some(message) = timeout(PATIENCE, messages.next()).await.map_err(|error| failed(&error))? {
        let message = message.map_err(|error| failed(&error))?;
        let sequence = message.info().map_err(|error| failed(&error))?.stream_sequence;
        if let Ok(batch) = read::<Batch>(&message.payload) {
            // A timeline that began anew takes the place of the one before.
            batches.retain(|known| known.generation == batch.generation);
            batches.push(batch);
        }
        if sequence >= last {
            break;
        }
    }
    Ok(batches)
}

fn subject(link: &Link, machine: Option<&str>, session: Option<&str>) -> String {
    let part = |word: Option<&str>| word.map_or("*".to_owned(), crate::names::token);
    format!("{}.events.{}.{}", link.names.prefix(), part(machine), part(session))
}

async fn listen(
    link: &Link,
    config: pull::OrderedConfig,
) -> Result<impl Stream<Item = Result<Heard>> + use<>> {
    let names = link.names.clone();
    let failed = |error: &dyn std::fmt::Display| FleetError::server("listen to events", error);
    let consumer = link.events.create_consumer(config).await.map_err(|error| failed(&error))?;
    let messages = consumer.messages().await.map_err(|error| failed(&error))?;
    Ok(messages.filter_map(move |message| {
        let heard = match message {
            Err(error) => Some(Err(FleetError::server("listen to events", error))),
            // What is foreign is passed over.
            Ok(message) => names.origin_of(&message.subject).and_then(|(machine, session)| {
                read(&message.payload).ok().map(|batch| Ok(Heard { machine, session, batch }))
            }),
        };
        future::ready(heard)
    }))
}
