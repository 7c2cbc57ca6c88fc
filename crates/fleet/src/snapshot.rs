//! Reads the state of the whole fleet from the server: machines, sessions, features and timelines.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::time::Duration;

use async_nats::jetstream::Message;
use async_nats::jetstream::consumer::{AckPolicy, DeliverPolicy, pull};
use async_nats::jetstream::kv::{Entry, Operation, Store};
use futures_util::{Stream, StreamExt as _, future};
use overtone_core::engine::text::printable;
use tokio::time::timeout;

use crate::claims::{self, StoredClaim, open_claim};
use crate::error::{FleetError, Result};
use crate::link::Link;
use crate::machine::{clean_name, processor_count};
use crate::message::{Batch, Claim, MachineInfo, MessageError, SessionState};
use crate::names::{decode_token, encode_token, state_key};
use crate::trust::{InvitationProof, Invited, Keyring, Kind, Member, PublicKey, claimed_machine};

/// How long the server keeps the consumer of a client that disappeared.
const CONSUMER_TTL: Duration = Duration::from_secs(30);

/// How long to wait for the next message that the server is known to have.
const READ_TIMEOUT: Duration = Duration::from_secs(20);

/// A machine as of its last message, and whether it is online.
#[derive(Debug, Clone, PartialEq)]
pub struct MachineView {
    pub info: MachineInfo,
    pub is_present: bool,
}

/// A feature that is claimed by a session.
#[derive(Debug, Clone, PartialEq)]
pub struct FeatureView {
    pub repository: String,
    pub feature: String,
    pub claim: Claim,
    pub is_present: bool,
}

/// A machine that is not part of the team. Only its key is verified; everything else is its own statement.
#[derive(Debug, Clone, PartialEq)]
pub struct UnknownMachine {
    pub id: String,
    name: String,
    /// Whether a machine of the team has the same name.
    is_name_taken: bool,
    pub version: String,
    pub at: String,
    /// `None` for a version without signatures.
    pub key: Option<PublicKey>,
    pub invited: Invited,
    pub(crate) proof: Option<InvitationProof>,
}

impl UnknownMachine {
    /// The name that it gives itself, unless a machine of the team has the same one.
    pub fn shown_name(&self) -> Option<&str> {
        if self.is_name_taken { None } else { Some(self.name.as_str()) }
    }

    /// The name that it gives itself, even if it is taken.
    pub(crate) fn requested_name(&self) -> &str {
        &self.name
    }
}

/// How many machines outside of the team are listed.
const MAX_UNKNOWN_MACHINES: usize = 100;

/// The state of the fleet at one moment.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct FleetSnapshot {
    /// Machines of the team that have sent a message.
    pub machines: Vec<MachineView>,
    /// All machines of the team.
    pub members: Vec<Member>,
    /// Machines outside of the team.
    pub unknown_machines: Vec<UnknownMachine>,
    /// Sessions as published by their current owners, so a session that was moved is listed once.
    pub sessions: Vec<SessionState>,
    pub features: Vec<FeatureView>,
    /// How many messages could not be read.
    pub unreadable: usize,
    /// The highest later version among the unreadable messages.
    pub newer_version: Option<u32>,
}

impl FleetSnapshot {
    pub async fn fetch(link: &Link) -> Result<Self> {
        // Concurrently, because the server may be far away.
        let (heartbeats, machines, claims, sessions) = tokio::try_join!(
            Box::pin(read_bucket(&link.heartbeats)),
            Box::pin(read_bucket(&link.machines)),
            Box::pin(read_bucket(&link.claims)),
            Box::pin(read_bucket(&link.sessions)),
        )?;
        let mut snapshot = Self { members: link.keyring.members(), ..Self::default() };
        let present = snapshot.add_machines(&link.keyring, &heartbeats, &machines);
        snapshot.add_features(&link.keyring, &claims, &present);
        let session_claims: HashMap<_, _> =
            claims.iter().filter_map(|entry| Some((entry.key.strip_prefix("session.")?, entry))).collect();
        for state in check_all(&sessions, |entry| open_state(&link.keyring, entry)) {
            match state {
                Ok(state) => {
                    let is_current = match session_claims.get(encode_token(&state.session).as_str()) {
                        Some(claim) => is_owned_by_publisher(&link.keyring, claim, &state),
                        None => true,
                    };
                    if is_current {
                        snapshot.sessions.push(state);
                    }
                }
                Err(error) => snapshot.count_unreadable(&error),
            }
        }
        Ok(snapshot)
    }

    /// Adds all machines, and returns the ids of those that are online.
    fn add_machines(&mut self, keyring: &Keyring, heartbeats: &[Entry], infos: &[Entry]) -> HashSet<String> {
        let mut present = HashSet::new();
        let mut all = BTreeMap::new();
        for entry in infos {
            self.add_machine(keyring, entry, Kind::Machine, &mut all);
        }
        // A heartbeat is newer than the stored details.
        for entry in heartbeats {
            if let Ok(info) = claims::open_heartbeat(keyring, entry) {
                present.insert(info.machine.clone());
                all.insert(info.machine.clone(), info);
            } else {
                self.add_machine(keyring, entry, Kind::Heartbeat, &mut all);
            }
        }
        let view = |info: MachineInfo| MachineView { is_present: present.contains(&info.machine), info };
        self.machines = all.into_values().map(view).collect();
        self.machines.sort_by(|a, b| (&a.info.name, &a.info.machine).cmp(&(&b.info.name, &b.info.machine)));
        self.unknown_machines.sort_by(|a, b| a.id.cmp(&b.id));
        present
    }

    fn add_machine(
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
            Err(error) if error.is_untrusted() => self.add_unknown_machine(keyring, kind, entry),
            Err(error) => self.count_unreadable(&error),
        }
    }

    fn add_unknown_machine(&mut self, keyring: &Keyring, kind: Kind, entry: &Entry) {
        let Some(mut machine) = open_unknown_machine(keyring, kind, entry) else {
            self.unreadable += 1;
            return;
        };
        machine.is_name_taken = self.members.iter().any(|member| member.name == machine.name);
        let is_same = |known: &UnknownMachine| known.id == machine.id && known.key == machine.key;
        if let Some(index) = self.unknown_machines.iter().position(is_same) {
            // The details that it published when it joined may be newer than its last heartbeat.
            if self.unknown_machines[index].invited == Invited::ByUs {
                return;
            }
            self.unknown_machines.remove(index);
        }
        if self.unknown_machines.len() < MAX_UNKNOWN_MACHINES {
            self.unknown_machines.push(machine);
        }
    }

    fn add_features(&mut self, keyring: &Keyring, claims: &[Entry], present: &HashSet<String>) {
        for entry in claims {
            let Some((repository, feature)) = parse_feature_key(&entry.key) else { continue };
            let Ok(StoredClaim { claim, .. }) = open_claim(keyring, entry) else { continue };
            let is_present = present.contains(&claim.machine);
            self.features.push(FeatureView { repository, feature, claim, is_present });
        }
        self.features.sort_by(|a, b| (&a.repository, &a.feature).cmp(&(&b.repository, &b.feature)));
    }

    fn count_unreadable(&mut self, error: &MessageError) {
        // Messages of unknown machines are not counted, because the machines themselves are listed.
        if error.is_untrusted() {
            return;
        }
        self.unreadable += 1;
        if let MessageError::Later(version) = error {
            self.newer_version = self.newer_version.max(Some(*version));
        }
    }

    /// The session with this id, or else all sessions whose id begins with it.
    pub fn find(&self, id: &str) -> Vec<&SessionState> {
        match self.sessions.iter().find(|state| state.session == id) {
            Some(state) => vec![state],
            None => self.sessions.iter().filter(|state| state.session.starts_with(id)).collect(),
        }
    }

    pub fn is_present(&self, machine: &str) -> bool {
        self.machines.iter().any(|view| view.is_present && view.info.machine == machine)
    }
}

/// Whether a session belongs to the machine that published this state. The signature of the claim is verified only if it
/// names another machine: the state itself is signed, and verifying is expensive.
fn is_owned_by_publisher(keyring: &Keyring, claim: &Entry, state: &SessionState) -> bool {
    if claimed_machine(&claim.value).as_ref() == Some(&state.machine) {
        return true;
    }
    match open_claim(keyring, claim) {
        Ok(stored) => stored.claim.machine == state.machine,
        // An invalid claim does not take a session away from the machine that published it.
        Err(_) => true,
    }
}

/// Verifies the details of a machine of the team. The name is the one in the team's list.
pub(crate) fn open_machine(
    keyring: &Keyring,
    kind: Kind,
    entry: &Entry,
) -> std::result::Result<MachineInfo, MessageError> {
    let opened = keyring.open::<MachineInfo>(kind, &entry.key, &entry.value)?;
    let is_own = opened.from.id == opened.body.machine && encode_token(&opened.from.id) == entry.key;
    if !is_own {
        return Err(MessageError::Malformed("stored under another key".to_owned()));
    }
    let version = printable(&opened.body.version).into_owned();
    Ok(MachineInfo { name: opened.from.name, version, ..opened.body })
}

/// Verifies the state of a session.
pub(crate) fn open_state(
    keyring: &Keyring,
    entry: &Entry,
) -> std::result::Result<SessionState, MessageError> {
    open_state_with_time(keyring, &entry.key, &entry.value).map(|(state, _)| state)
}

/// As [`open_state`], and returns the time of the signature.
pub(crate) fn open_state_with_time(
    keyring: &Keyring,
    key: &str,
    value: &[u8],
) -> std::result::Result<(SessionState, i64), MessageError> {
    let opened = keyring.open::<SessionState>(Kind::State, key, value)?;
    let state = opened.body;
    if opened.from.id != state.machine || state_key(&state.machine, &state.session) != key {
        return Err(MessageError::Malformed("stored under another key".to_owned()));
    }
    Ok((SessionState { machine_name: opened.from.name, ..state }, opened.at))
}

/// Checks entries on all processors. There may be thousands, and verifying a signature is the slowest part.
fn check_all<T: Send>(entries: &[Entry], check: impl Fn(&Entry) -> T + Sync) -> Vec<T> {
    let chunk_size = entries.len().div_ceil(processor_count()).max(1);
    let check = &check;
    std::thread::scope(|scope| {
        let start = |entries| scope.spawn(move || <[Entry]>::iter(entries).map(check).collect::<Vec<_>>());
        let workers: Vec<_> = entries.chunks(chunk_size).map(start).collect();
        // A panic in a worker continues in this thread.
        let join = |worker: std::thread::ScopedJoinHandle<'_, Vec<T>>| {
            worker.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
        };
        workers.into_iter().flat_map(join).collect()
    })
}

/// Reads the details of a machine outside of the team. `None` if they are unreadable or not signed with its own key.
pub(crate) fn open_unknown_machine(keyring: &Keyring, kind: Kind, entry: &Entry) -> Option<UnknownMachine> {
    let (info, id, key) = match Keyring::open_introduction::<MachineInfo>(kind, &entry.key, &entry.value) {
        Ok(introduction) => (introduction.body, introduction.id, Some(introduction.key)),
        Err(MessageError::Unsigned) => {
            let info: MachineInfo = serde_json::from_slice(&entry.value).ok()?;
            let id = info.machine.clone();
            (info, id, None)
        }
        Err(_) => return None,
    };
    let invited = match &key {
        Some(key) => keyring.check_proof(info.invited.as_ref(), &id, key),
        None => Invited::NotByUs,
    };
    Some(UnknownMachine {
        id: printable(&id).chars().take(16).collect(),
        name: clean_name(&info.name),
        is_name_taken: false,
        version: printable(&info.version).chars().take(32).collect(),
        at: printable(&info.at).chars().take(32).collect(),
        key,
        invited,
        proof: info.invited,
    })
}

/// The repository and the feature of a claim's key; `None` for other keys.
pub(crate) fn parse_feature_key(key: &str) -> Option<(String, String)> {
    let (repository, feature) = key.strip_prefix("feature.")?.split_once('.')?;
    Some((decode_token(repository)?, decode_token(feature)?))
}

/// How many entries of a bucket are fetched per request.
const FETCH_SIZE: usize = 2_000;

/// All entries of a bucket, in few requests even for many entries. An entry that changes meanwhile may be returned in
/// its old state.
pub(crate) async fn read_bucket(store: &Store) -> Result<Vec<Entry>> {
    let failed = |error: &dyn std::fmt::Display| FleetError::server("read the fleet", error);
    // The store's own status is cached since it was opened.
    let info = store.stream.get_info().await.map_err(|error| failed(&error))?;
    if info.state.messages == 0 {
        return Ok(Vec::new());
    }
    let config = pull::Config {
        deliver_policy: DeliverPolicy::All,
        ack_policy: AckPolicy::None,
        inactive_threshold: CONSUMER_TTL,
        memory_storage: true,
        num_replicas: 1,
        ..pull::Config::default()
    };
    let consumer = store.stream.create_consumer(config).await.map_err(|error| failed(&error))?;
    // An entry that changes while the bucket is read is delivered twice.
    let mut entries: HashMap<String, Entry> = HashMap::new();
    let mut has_more = consumer.cached_info().num_pending > 0;
    while has_more {
        let mut batch =
            consumer.fetch().max_messages(FETCH_SIZE).messages().await.map_err(|error| failed(&error))?;
        has_more = false;
        while let Some(message) = timeout(READ_TIMEOUT, batch.next()).await.map_err(|error| failed(&error))? {
            let entry = parse_entry(store, &message.map_err(|error| failed(&error))?)
                .map_err(|error| failed(&error))?;
            // Entries after this revision were written after the call.
            has_more = entry.delta > 0 && entry.revision < info.state.last_sequence;
            if entry.operation == Operation::Put {
                entries.insert(entry.key.clone(), entry);
            } else {
                entries.remove(&entry.key);
            }
        }
    }
    // If this fails, the server deletes the consumer after its idle time.
    let _ = store.stream.delete_consumer(&consumer.cached_info().name).await;
    let mut entries: Vec<_> = entries.into_values().collect();
    entries.sort_unstable_by_key(|entry| entry.revision);
    Ok(entries)
}

/// The entry in a message of a bucket's stream.
fn parse_entry(store: &Store, message: &Message) -> std::result::Result<Entry, async_nats::Error> {
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

/// Lines of a timeline, with their machine and session.
#[derive(Debug, Clone, PartialEq)]
pub struct ReceivedBatch {
    pub machine: String,
    pub session: String,
    pub batch: Batch,
}

/// Follows new events of all sessions, or of one.
pub async fn tail(
    link: &Link,
    session: Option<&str>,
) -> Result<impl Stream<Item = Result<ReceivedBatch>> + use<>> {
    let filter = events_filter(link, None, session);
    let config = pull::OrderedConfig {
        filter_subject: filter,
        deliver_policy: DeliverPolicy::New,
        ..pull::OrderedConfig::default()
    };
    listen(link, config).await
}

/// The timeline of a session as its machine published it, from the beginning to now.
pub async fn fetch_timeline(link: &Link, machine: &str, session: &str) -> Result<Vec<Batch>> {
    let subject = events_filter(link, Some(machine), Some(session));
    let last = match link.events.get_last_raw_message_by_subject(&subject).await {
        Ok(last) => last.sequence,
        // No events, or all of them have expired.
        Err(_) => return Ok(Vec::new()),
    };
    let config = pull::OrderedConfig { filter_subject: subject, ..pull::OrderedConfig::default() };
    let failed = |error: &dyn std::fmt::Display| FleetError::server("read the timeline", error);
    let consumer = link.events.create_consumer(config).await.map_err(|error| failed(&error))?;
    let mut messages = consumer.messages().await.map_err(|error| failed(&error))?;
    let mut batches: Vec<Batch> = Vec::new();
    // Without a timeout, the client would wait forever for a server that has died.
    while let Some(message) = timeout(READ_TIMEOUT, messages.next()).await.map_err(|error| failed(&error))? {
        let message = message.map_err(|error| failed(&error))?;
        let sequence = message.info().map_err(|error| failed(&error))?.stream_sequence;
        if let Ok(batch) = open_batch(link, machine, session, &message.payload) {
            // A new generation replaces the timeline before it.
            batches.retain(|known| known.generation == batch.generation);
            batches.push(batch);
        }
        if sequence >= last {
            break;
        }
    }
    Ok(batches)
}

/// Verifies a batch of lines of a timeline.
pub(crate) fn open_batch(
    link: &Link,
    machine: &str,
    session: &str,
    payload: &[u8],
) -> std::result::Result<Batch, MessageError> {
    let opened = link.keyring.open::<Batch>(Kind::Events, &state_key(machine, session), payload)?;
    if opened.from.id == machine { Ok(opened.body) } else { Err(MessageError::Forged) }
}

/// The subject filter for the events of a machine and a session; `None` matches all.
fn events_filter(link: &Link, machine: Option<&str>, session: Option<&str>) -> String {
    let part = |text: Option<&str>| match text {
        Some(text) => encode_token(text),
        None => "*".to_owned(),
    };
    format!("{}.events.{}.{}", link.names.prefix(), part(machine), part(session))
}

async fn listen(
    link: &Link,
    config: pull::OrderedConfig,
) -> Result<impl Stream<Item = Result<ReceivedBatch>> + use<>> {
    let link = link.clone();
    let failed = |error: &dyn std::fmt::Display| FleetError::server("listen to events", error);
    let consumer = link.events.create_consumer(config).await.map_err(|error| failed(&error))?;
    let messages = consumer.messages().await.map_err(|error| failed(&error))?;
    Ok(messages.filter_map(move |message| {
        let received = match message {
            Err(error) => Some(Err(FleetError::server("listen to events", error))),
            Ok(message) => open_received(&link, &message).map(Ok),
        };
        future::ready(received)
    }))
}

/// `None` for messages that cannot be verified: they are skipped.
fn open_received(link: &Link, message: &Message) -> Option<ReceivedBatch> {
    let (machine, session) = link.names.parse_events_subject(&message.subject)?;
    let batch = open_batch(link, &machine, &session, &message.payload).ok()?;
    Some(ReceivedBatch { machine, session, batch })
}
