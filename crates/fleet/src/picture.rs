//! What the whole fleet is doing, as the server knows it: machines, their sessions, and whose features are.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::time::Duration;

use async_nats::jetstream::Message;
use async_nats::jetstream::consumer::{AckPolicy, DeliverPolicy, pull};
use async_nats::jetstream::kv::{Entry, Operation, Store};
use futures_util::{Stream, StreamExt as _, future};
use overtone_engine::text::printable;
use tokio::time::timeout;

use crate::claims::{self, Standing, standing};
use crate::error::{FleetError, Result};
use crate::link::Link;
use crate::machine::tidy;
use crate::message::{Batch, Claim, Foreign, MachineInfo, SessionState};
use crate::names::{state_key, token, word};
use crate::trust::{Invited, Keyring, Kind, Member, Proof, PublicKey, claimed_machine};

/// When the server forgets a reader that has ended.
const SILENCE: Duration = Duration::from_secs(30);

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

/// A machine that is not part of the team. Only its key is sure to be its own.
#[derive(Debug, Clone, PartialEq)]
pub struct Stranger {
    pub id: String,
    /// What it calls itself.
    name: String,
    /// A machine of the team is called so.
    is_name_taken: bool,
    pub version: String,
    pub at: String,
    /// `None` for a version without signatures.
    pub key: Option<PublicKey>,
    pub invited: Invited,
    pub(crate) proof: Option<Proof>,
}

impl Stranger {
    /// What it calls itself, unless that would be taken for a machine of the team.
    pub fn shown_name(&self) -> Option<&str> {
        (!self.is_name_taken).then_some(self.name.as_str())
    }

    /// What it would like to be called.
    pub(crate) fn wanted_name(&self) -> &str {
        &self.name
    }
}

/// How many machines outside of the team are listed.
const MOST_STRANGERS: usize = 100;

/// Everything at once.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Picture {
    /// Machines of the team that have spoken.
    pub machines: Vec<MachineView>,
    /// All machines of the team.
    pub members: Vec<Member>,
    /// Machines outside of the team.
    pub unknown: Vec<Stranger>,
    /// Only where they belong now: a session that was moved is shown once.
    pub sessions: Vec<SessionState>,
    pub features: Vec<FeatureView>,
    /// What could not be read: how many messages, and of which later version some were.
    pub foreign: usize,
    pub later: Option<u32>,
}

impl Picture {
    pub async fn take(link: &Link) -> Result<Self> {
        // All at once: a server may be far away.
        let (pulses, machines, claims, sessions) = tokio::try_join!(
            Box::pin(entries(&link.pulse)),
            Box::pin(entries(&link.machines)),
            Box::pin(entries(&link.claims)),
            Box::pin(entries(&link.sessions)),
        )?;
        let mut picture = Self { members: link.keyring.members(), ..Self::default() };
        let present = picture.take_machines(&link.keyring, &pulses, &machines);
        picture.take_features(&link.keyring, &claims, &present);
        let of_sessions: HashMap<_, _> =
            claims.iter().filter_map(|entry| Some((entry.key.strip_prefix("session.")?, entry))).collect();
        for state in check_all(&sessions, |entry| open_state(&link.keyring, entry)) {
            match state {
                Ok(state) => {
                    let claim = of_sessions.get(token(&state.session).as_str());
                    if claim.is_none_or(|entry| is_at_home(&link.keyring, entry, &state)) {
                        picture.sessions.push(state);
                    }
                }
                Err(foreign) => picture.note(&foreign),
            }
        }
        Ok(picture)
    }

    /// Notes who has spoken, and returns who is there.
    fn take_machines(&mut self, keyring: &Keyring, pulses: &[Entry], noted: &[Entry]) -> HashSet<String> {
        let mut present = HashSet::new();
        let mut all = BTreeMap::new();
        for entry in noted {
            self.take_machine(keyring, entry, Kind::Machine, &mut all);
        }
        // A pulse is newer than what is kept for later.
        for entry in pulses {
            if let Ok(info) = claims::pulse(keyring, entry) {
                present.insert(info.machine.clone());
                all.insert(info.machine.clone(), info);
            } else {
                self.take_machine(keyring, entry, Kind::Pulse, &mut all);
            }
        }
        let view = |info: MachineInfo| MachineView { is_present: present.contains(&info.machine), info };
        self.machines = all.into_values().map(view).collect();
        self.machines.sort_by(|a, b| (&a.info.name, &a.info.machine).cmp(&(&b.info.name, &b.info.machine)));
        self.unknown.sort_by(|a, b| a.id.cmp(&b.id));
        present
    }

    fn take_machine(
        &mut self,
        keyring: &Keyring,
        entry: &Entry,
        kind: Kind,
        all: &mut BTreeMap<String, MachineInfo>,
    ) {
        match open_machine(keyring, kind, entry) {
            Ok(info) => {
                all.entry(info.machine.clone()).or_insert(info);
            }
            Err(foreign) if foreign.is_stranger() => self.take_stranger(keyring, kind, entry),
            Err(foreign) => self.note(&foreign),
        }
    }

    fn take_stranger(&mut self, keyring: &Keyring, kind: Kind, entry: &Entry) {
        let Some(mut stranger) = stranger(keyring, kind, entry) else {
            self.foreign += 1;
            return;
        };
        stranger.is_name_taken = self.members.iter().any(|member| member.name == stranger.name);
        let is_same = |known: &Stranger| known.id == stranger.id && known.key == stranger.key;
        let known = self.unknown.iter().position(is_same).map(|at| self.unknown.remove(at));
        // What it said when it joined may be newer than its last sign of life.
        if known.as_ref().is_some_and(|known| known.invited == Invited::ByUs) {
            self.unknown.extend(known);
            return;
        }
        if self.unknown.len() < MOST_STRANGERS {
            self.unknown.push(stranger);
        }
    }

    fn take_features(&mut self, keyring: &Keyring, claims: &[Entry], present: &HashSet<String>) {
        for entry in claims {
            let Some((repository, feature)) = feature_of(&entry.key) else { continue };
            let Ok(Standing { claim, .. }) = standing(keyring, entry) else { continue };
            let is_present = present.contains(&claim.machine);
            self.features.push(FeatureView { repository, feature, claim, is_present });
        }
        self.features.sort_by(|a, b| (&a.repository, &a.feature).cmp(&(&b.repository, &b.feature)));
    }

    fn note(&mut self, foreign: &Foreign) {
        // What strangers say is left out; they themselves are listed.
        if foreign.is_stranger() {
            return;
        }
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

/// Whether a session belongs to the machine that has told this state. The signature of a claim is looked at only where it
/// says otherwise: the state itself is signed.
fn is_at_home(keyring: &Keyring, claim: &Entry, state: &SessionState) -> bool {
    claimed_machine(&claim.value).as_ref() == Some(&state.machine)
        || standing(keyring, claim).map_or(true, |standing| standing.claim.machine == state.machine)
}

/// What a machine of the team says of itself, under the name that the team knows.
pub(crate) fn open_machine(
    keyring: &Keyring,
    kind: Kind,
    entry: &Entry,
) -> std::result::Result<MachineInfo, Foreign> {
    let opened = keyring.open::<MachineInfo>(kind, &entry.key, &entry.value)?;
    let is_own = opened.from.id == opened.body.machine && token(&opened.from.id) == entry.key;
    if !is_own {
        return Err(Foreign::Malformed("not its place".to_owned()));
    }
    let version = printable(&opened.body.version).into_owned();
    Ok(MachineInfo { name: opened.from.name, version, ..opened.body })
}

/// A session's state as its machine has signed it.
pub(crate) fn open_state(keyring: &Keyring, entry: &Entry) -> std::result::Result<SessionState, Foreign> {
    open_state_of(keyring, &entry.key, &entry.value).map(|(state, _)| state)
}

/// With the time when it was signed.
pub(crate) fn open_state_of(
    keyring: &Keyring,
    key: &str,
    value: &[u8],
) -> std::result::Result<(SessionState, i64), Foreign> {
    let opened = keyring.open::<SessionState>(Kind::State, key, value)?;
    let state = opened.body;
    if opened.from.id != state.machine || state_key(&state.machine, &state.session) != key {
        return Err(Foreign::Malformed("not its place".to_owned()));
    }
    Ok((SessionState { machine_name: opened.from.name, ..state }, opened.at))
}

/// Checks thousands of entries on all processors: a signature takes longer than all the rest.
fn check_all<T: Send>(entries: &[Entry], check: impl Fn(&Entry) -> T + Sync) -> Vec<T> {
    let threads = std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
    let share = entries.len().div_ceil(threads).max(1);
    let check = &check;
    std::thread::scope(|scope| {
        let start = |entries| scope.spawn(move || <[Entry]>::iter(entries).map(check).collect::<Vec<_>>());
        let workers: Vec<_> = entries.chunks(share).map(start).collect();
        // A panic in there is one of this thread, too.
        let join = |worker: std::thread::ScopedJoinHandle<'_, Vec<T>>| {
            worker.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
        };
        workers.into_iter().flat_map(join).collect()
    })
}

/// A machine that is not part of the team, as far as it can be told.
pub(crate) fn stranger(keyring: &Keyring, kind: Kind, entry: &Entry) -> Option<Stranger> {
    let (info, id, key) = match Keyring::open_introduction::<MachineInfo>(kind, &entry.key, &entry.value) {
        Ok(said) => (said.body, said.id, Some(said.key)),
        Err(Foreign::Unsigned) => {
            let info: MachineInfo = serde_json::from_slice(&entry.value).ok()?;
            let id = info.machine.clone();
            (info, id, None)
        }
        Err(_) => return None,
    };
    let invited =
        key.as_ref().map_or(Invited::NotByUs, |key| keyring.invited(info.invited.as_ref(), &id, key));
    Some(Stranger {
        id: printable(&id).chars().take(16).collect(),
        name: tidy(&info.name),
        is_name_taken: false,
        version: printable(&info.version).chars().take(32).collect(),
        at: printable(&info.at).chars().take(32).collect(),
        key,
        invited,
        proof: info.invited,
    })
}

pub(crate) fn feature_of(key: &str) -> Option<(String, String)> {
    let (repository, feature) = key.strip_prefix("feature.")?.split_once('.')?;
    Some((word(repository)?, word(feature)?))
}

/// How many entries of a bucket are asked for at once.
const AT_ONCE: usize = 2_000;

/// Everything in a bucket, in few requests, however much it is. What changes meanwhile may be there as it was before.
pub(crate) async fn entries(store: &Store) -> Result<Vec<Entry>> {
    let failed = |error: &dyn std::fmt::Display| FleetError::server("read the fleet", error);
    // The bucket's own status is that of when it was opened.
    let info = store.stream.get_info().await.map_err(|error| failed(&error))?;
    if info.state.messages == 0 {
        return Ok(Vec::new());
    }
    let config = pull::Config {
        deliver_policy: DeliverPolicy::All,
        ack_policy: AckPolicy::None,
        inactive_threshold: SILENCE,
        memory_storage: true,
        num_replicas: 1,
        ..pull::Config::default()
    };
    let consumer = store.stream.create_consumer(config).await.map_err(|error| failed(&error))?;
    // A key has one entry, but may change while all are read.
    let mut entries: HashMap<String, Entry> = HashMap::new();
    let mut is_more = consumer.cached_info().num_pending > 0;
    while is_more {
        let mut batch =
            consumer.fetch().max_messages(AT_ONCE).messages().await.map_err(|error| failed(&error))?;
        is_more = false;
        while let Some(message) = timeout(PATIENCE, batch.next()).await.map_err(|error| failed(&error))? {
            let entry =
                entry(store, &message.map_err(|error| failed(&error))?).map_err(|error| failed(&error))?;
            // What comes after this was not there when we asked.
            is_more = entry.delta > 0 && entry.revision < info.state.last_sequence;
            if entry.operation == Operation::Put {
                entries.insert(entry.key.clone(), entry);
            } else {
                entries.remove(&entry.key);
            }
        }
    }
    // The server forgets it soon anyway.
    let _ = store.stream.delete_consumer(&consumer.cached_info().name).await;
    let mut entries: Vec<_> = entries.into_values().collect();
    entries.sort_unstable_by_key(|entry| entry.revision);
    Ok(entries)
}

/// A message of a bucket's stream as the entry that it is.
fn entry(store: &Store, message: &Message) -> std::result::Result<Entry, async_nats::Error> {
    let info = message.info()?;
    let key = message.subject.strip_prefix(&format!("$KV.{}.", store.name)).unwrap_or_default().to_owned();
    let operation = message.headers.as_ref().and_then(|headers| headers.get("KV-Operation"));
    let operation = match operation.map(async_nats::HeaderValue::as_str) {
        Some("DEL") => Operation::Delete,
        Some("PURGE") => Operation::Purge,
        _ => Operation::Put,
    };
    Ok(Entry {
        bucket: store.name.clone(),
        key,
        value: message.payload.clone(),
        revision: info.stream_sequence,
        delta: info.pending,
        created: info.published,
        operation,
        seen_current: false,
    })
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
        if let Ok(batch) = open_batch(link, machine, session, &message.payload) {
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

/// Lines of a timeline that its machine has signed.
pub(crate) fn open_batch(
    link: &Link,
    machine: &str,
    session: &str,
    payload: &[u8],
) -> std::result::Result<Batch, Foreign> {
    let opened = link.keyring.open::<Batch>(Kind::Events, &state_key(machine, session), payload)?;
    if opened.from.id == machine { Ok(opened.body) } else { Err(Foreign::Forged) }
}

fn subject(link: &Link, machine: Option<&str>, session: Option<&str>) -> String {
    let part = |word: Option<&str>| word.map_or("*".to_owned(), crate::names::token);
    format!("{}.events.{}.{}", link.names.prefix(), part(machine), part(session))
}

async fn listen(
    link: &Link,
    config: pull::OrderedConfig,
) -> Result<impl Stream<Item = Result<Heard>> + use<>> {
    let link = link.clone();
    let failed = |error: &dyn std::fmt::Display| FleetError::server("listen to events", error);
    let consumer = link.events.create_consumer(config).await.map_err(|error| failed(&error))?;
    let messages = consumer.messages().await.map_err(|error| failed(&error))?;
    Ok(messages.filter_map(move |message| {
        let heard = match message {
            Err(error) => Some(Err(FleetError::server("listen to events", error))),
            // What is foreign is passed over.
            Ok(message) => link.names.origin_of(&message.subject).and_then(|(machine, session)| {
                let batch = open_batch(&link, &machine, &session, &message.payload).ok()?;
                Some(Ok(Heard { machine, session, batch }))
            }),
        };
        future::ready(heard)
    }))
}
