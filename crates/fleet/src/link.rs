//! The connection to the server, with the streams and buckets of the fleet.
//!
//! Missing streams and buckets are created. On shared servers, where clients lack that permission, an administrator
//! creates them first.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use async_nats::jetstream::kv::Store;
use async_nats::jetstream::stream::{self, DiscardPolicy, Stream};
use async_nats::jetstream::{self, Context};
use async_nats::{Client, ConnectOptions, Event};

use crate::config::Settings;
use crate::error::{FleetError, Result};
use crate::machine::random_hex;
use crate::message::MachineInfo;
use crate::names::{Names, encode_token};
use crate::snapshot::UnknownMachine;
use crate::trust::{Keyring, Kind, Member, Membership, TeamError};

/// How long a machine counts as present after its last heartbeat.
pub(crate) const HEARTBEAT_TTL: Duration = Duration::from_secs(30);

/// How long the server keeps an order for its machine.
pub(crate) const ORDER_TTL: Duration = Duration::from_hours(24);

/// How long the server recognises a repeated message by its id. Later repetitions are recognised by their expected
/// sequence.
const DUPLICATE_WINDOW: Duration = Duration::from_mins(2);

const CONNECT_TIMEOUT: Duration = Duration::from_secs(5);
const REQUEST_TIMEOUT: Duration = Duration::from_secs(5);

/// How many published messages may wait for their acknowledgement. Beyond that, publishing blocks.
const MAX_IN_FLIGHT: usize = 512;

/// The limit for values in buckets. Session states are a few kilobytes, so anything larger is not ours.
pub(crate) const MAX_VALUE_BYTES: usize = 1024 * 1024;
const MAX_ORDERS_BYTES: i64 = 64 * 1024 * 1024;

/// A connection with the fleet's streams and buckets open.
#[derive(Debug, Clone)]
pub struct Link {
    pub client: Client,
    pub context: Context,
    pub names: Names,
    pub events: Stream,
    pub orders: Stream,
    pub heartbeats: Store,
    pub machines: Store,
    pub sessions: Store,
    pub claims: Store,
    pub handoffs: Store,
    /// The signed lists of the team's machines.
    pub team: Store,
    /// This machine's key, and the keys that it trusts.
    pub keyring: Keyring,
}

/// Errors that the server reported outside of a reply. Missing permissions are only reported this way.
#[derive(Debug, Clone, Default)]
pub struct ServerErrors(Arc<Mutex<Vec<String>>>);

impl ServerErrors {
    fn add(&self, text: String) {
        let mut known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if !known.contains(&text) {
            known.push(text);
        }
    }

    /// All errors in the order of their first occurrence.
    pub fn all(&self) -> Vec<String> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

/// Connects to the server. Credentials are read on every call, so that renewed ones are used.
pub async fn connect(settings: &Settings, name: &str) -> Result<Client> {
    connect_recording_errors(settings, name, &ServerErrors::default()).await
}

/// As [`connect`], and records the errors that the server reports.
pub async fn connect_recording_errors(
    settings: &Settings,
    name: &str,
    server_errors: &ServerErrors,
) -> Result<Client> {
    let server_errors = server_errors.clone();
    let mut options = ConnectOptions::new()
        .name(name)
        // With an inbox per team, permissions can keep one team from reading the replies to another.
        .custom_inbox_prefix(settings.names.inbox())
        .connection_timeout(CONNECT_TIMEOUT)
        .request_timeout(Some(REQUEST_TIMEOUT))
        .ping_interval(Duration::from_secs(10))
        .reconnect_delay_callback(|attempts| Duration::from_millis(200 * u64::try_from(attempts.min(10)).unwrap_or(10)))
        .event_callback(move |event| {
            if let Event::ServerError(error) = event {
                server_errors.add(error.to_string());
            }
            async {}
        });
    // The client library ignores logins in addresses, so they are passed explicitly.
    let unreadable = |error: std::io::Error| FleetError::Unreachable(error.to_string());
    if let Some(login) = settings.read_login().map_err(unreadable)? {
        options = match login.split_once(':') {
            Some((user, password)) => options.user_and_password(user.to_owned(), password.to_owned()),
            None => options.token(login),
        };
    }
    if let Some(file) = &settings.credentials {
        let refused = |error| FleetError::Unreachable(format!("{}: {error}", file.display()));
        options = options.credentials_file(file).await.map_err(refused)?;
    }
    if let Some(file) = &settings.ca {
        options = options.add_root_certificates(file.clone()).require_tls(true);
    }
    if let Some((certificate, key)) = &settings.identity {
        options = options.add_client_certificate(certificate.clone(), key.clone()).require_tls(true);
    }
    let connected = options.connect(settings.urls.as_slice()).await;
    connected.map_err(|error| FleetError::Unreachable(error.to_string()))
}

impl Link {
    pub async fn open(settings: &Settings, keyring: &Keyring) -> Result<Self> {
        let client = connect(settings, &keyring.machine().name).await?;
        Box::pin(Self::with_client(client, settings, keyring)).await
    }

    /// Opens the streams and buckets on an existing connection, and reads the team's newest list.
    pub async fn with_client(client: Client, settings: &Settings, keyring: &Keyring) -> Result<Self> {
        let context = jetstream::context::ContextBuilder::new()
            .timeout(REQUEST_TIMEOUT)
            .ack_timeout(REQUEST_TIMEOUT)
            .max_ack_inflight(MAX_IN_FLIGHT)
            .backpressure_on_inflight(true)
            .build(client.clone());
        let names = settings.names.clone();
        let provisioner = Provisioner { context: &context, settings };
        // Concurrently, because the server may be far away.
        let (events, orders, heartbeats, machines, sessions, claims, handoffs, team) = tokio::try_join!(
            provisioner.stream(provisioner.events_config()),
            provisioner.stream(provisioner.orders_config()),
            provisioner.bucket(names.heartbeat_bucket(), HEARTBEAT_TTL),
            provisioner.bucket(names.machines_bucket(), settings.keep_for),
            provisioner.bucket(names.sessions_bucket(), settings.keep_for),
            // Claims never expire: the owner of a session must be known as long as the session exists.
            provisioner.bucket(names.claims_bucket(), Duration::ZERO),
            provisioner.bucket(names.handoffs_bucket(), settings.keep_for),
            provisioner.bucket(names.team_bucket(), Duration::ZERO),
        )?;
        keyring.sync(&team).await?;
        let keyring = keyring.clone();
        Ok(Self {
            client,
            context,
            names,
            events,
            orders,
            heartbeats,
            machines,
            sessions,
            claims,
            handoffs,
            team,
            keyring,
        })
    }

    /// Reads the team's newest list.
    pub async fn sync_team(&self) -> Result<Membership> {
        self.keyring.sync(&self.team).await
    }

    /// Publishes that this machine is online.
    pub async fn publish_heartbeat(&self, info: &MachineInfo) -> Result<()> {
        self.put_machine_info(&self.heartbeats, Kind::Heartbeat, info).await
    }

    /// Publishes this machine's details, which remain visible while it is offline or waits to be accepted.
    pub async fn publish_machine_info(&self, info: &MachineInfo) -> Result<()> {
        self.put_machine_info(&self.machines, Kind::Machine, info).await
    }

    async fn put_machine_info(&self, store: &Store, kind: Kind, info: &MachineInfo) -> Result<()> {
        let key = encode_token(&info.machine);
        let info = MachineInfo { invited: self.keyring.invitation_proof(), ..info.clone() };
        let put = store.put(&key, self.keyring.seal(kind, &key, "", &info)).await;
        put.map(|_| ()).map_err(|error| FleetError::server("publish a heartbeat", error))
    }

    /// Changes this machine's name in the team's list to the one in its settings.
    pub async fn update_name(&self) -> Result<()> {
        match self.keyring.update_name(&self.team).await {
            Err(TeamError::Fleet(error)) => Err(error),
            // A machine outside of the team has no name in the list.
            _ => Ok(()),
        }
    }

    /// Adds a machine to the team, and closes the invitation that it used.
    pub async fn admit(&self, machine: &UnknownMachine) -> std::result::Result<Member, TeamError> {
        let Some(key) = &machine.key else { return Err(TeamError::NoSuchMachine) };
        let member = self.keyring.admit(&self.team, &machine.id, machine.requested_name(), key).await?;
        if let Some(proof) = &machine.proof {
            self.keyring.close_invitation(proof).map_err(FleetError::from)?;
        }
        Ok(member)
    }

    /// Removes a machine from the team. Its messages are rejected from now on.
    pub async fn remove_member(&self, machine: &str) -> std::result::Result<(), TeamError> {
        self.keyring.remove_member(&self.team, machine).await
    }

    /// Checks that a value can be written, read back and deleted.
    pub async fn check_read_write(&self, machine: &str) -> Result<()> {
        let (key, value) = (format!("check.{}", encode_token(machine)), random_hex(8)?);
        let failed = |error: &dyn std::fmt::Display| FleetError::server("write and read back", error);
        self.claims.put(&key, value.clone().into()).await.map_err(|error| failed(&error))?;
        let read = self.claims.get(&key).await.map_err(|error| failed(&error))?;
        self.claims.delete(&key).await.map_err(|error| failed(&error))?;
        match read {
            Some(read) if read == value => Ok(()),
            _ => Err(failed(&"the server returned another value")),
        }
    }

    /// When the events stream was created. A stream that was deleted and created again has another time.
    pub fn events_created_at(&self) -> String {
        format!("{:?}", self.events.cached_info().created)
    }

    /// Fails if a stream or bucket was deleted and created again. It is empty then, and everything has to be published
    /// again.
    pub(crate) async fn check_not_recreated(&self) -> Result<()> {
        let buckets = [&self.sessions, &self.claims, &self.machines, &self.team].map(|bucket| &bucket.stream);
        for stream in [&self.events].into_iter().chain(buckets) {
            let now = stream.get_info().await;
            let now = now.map_err(|error| FleetError::server("read the stream", error))?;
            if now.created != stream.cached_info().created {
                return Err(FleetError::server(
                    "continue",
                    format!("{} was deleted and created again", now.config.name),
                ));
            }
        }
        Ok(())
    }
}

/// Opens streams and buckets, and creates missing ones.
struct Provisioner<'a> {
    context: &'a Context,
    settings: &'a Settings,
}

impl Provisioner<'_> {
    fn events_config(&self) -> stream::Config {
        let names = &self.settings.names;
        stream::Config {
            name: names.events_stream(),
            subjects: vec![names.all_events()],
            max_age: self.settings.keep_for,
            max_bytes: i64::try_from(self.settings.keep_bytes).unwrap_or(i64::MAX),
            discard: DiscardPolicy::Old,
            duplicate_window: DUPLICATE_WINDOW,
            num_replicas: self.settings.replicas,
            allow_direct: true,
            ..stream::Config::default()
        }
    }

    fn orders_config(&self) -> stream::Config {
        let names = &self.settings.names;
        stream::Config {
            name: names.orders_stream(),
            subjects: vec![names.all_orders(), names.all_answers()],
            max_age: ORDER_TTL,
            max_bytes: MAX_ORDERS_BYTES,
            discard: DiscardPolicy::Old,
            duplicate_window: DUPLICATE_WINDOW,
            num_replicas: self.settings.replicas,
            ..stream::Config::default()
        }
    }

    async fn stream(&self, config: stream::Config) -> Result<Stream> {
        if let Ok(stream) = self.context.get_stream(&config.name).await {
            return Ok(stream);
        }
        let created = self.context.get_or_create_stream(config).await;
        created.map_err(|error| FleetError::server("open or create the stream", error))
    }

    /// A missing bucket is created through its underlying stream. The client library's own function first queries the
    /// account, and fails to parse the reply of older servers such as the one in Debian.
    async fn bucket(&self, name: String, ttl: Duration) -> Result<Store> {
        if let Ok(store) = self.context.get_key_value(&name).await {
            return Ok(store);
        }
        let failed = |error: &dyn std::fmt::Display| FleetError::server("open or create the bucket", error);
        self.context
            .get_or_create_stream(self.bucket_config(&name, ttl))
            .await
            .map_err(|error| failed(&error))?;
        self.context.get_key_value(&name).await.map_err(|error| failed(&error))
    }

    fn bucket_config(&self, name: &str, ttl: Duration) -> stream::Config {
        stream::Config {
            name: format!("KV_{name}"),
            subjects: vec![format!("$KV.{name}.>")],
            max_messages_per_subject: 1,
            max_age: ttl,
            max_message_size: i32::try_from(MAX_VALUE_BYTES).unwrap_or(i32::MAX),
            discard: DiscardPolicy::New,
            duplicate_window: if ttl.is_zero() { DUPLICATE_WINDOW } else { DUPLICATE_WINDOW.min(ttl) },
            num_replicas: self.settings.replicas,
            allow_rollup: true,
            deny_delete: true,
            allow_direct: true,
            ..stream::Config::default()
        }
    }
}
