//! The connection to the server, and what has to be there for us: streams and buckets.
//!
//! Where they are missing they are made. Who may not make them, because the server is shared, finds them made.

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
use crate::names::{Names, token};
use crate::picture::Stranger;
use crate::trust::{Keyring, Kind, Member, Membership, NotChanged};

/// How long a machine is there after its last pulse.
pub(crate) const PULSE_LASTS: Duration = Duration::from_secs(30);

/// How long an order waits for its machine.
pub(crate) const ORDERS_LAST: Duration = Duration::from_hours(24);

/// How long the server remembers the number of a message. A repetition that comes later is found by its place.
const REMEMBERED: Duration = Duration::from_mins(2);

const CONNECT_TIME: Duration = Duration::from_secs(5);
const ANSWER_TIME: Duration = Duration::from_secs(5);

/// What is under way at once, at most: beyond that, the one who publishes waits.
const IN_FLIGHT: usize = 512;

/// A state is larger only if somebody has put something there that is none.
pub(crate) const MAX_VALUE: usize = 1024 * 1024;
const ORDERS_BYTES: i64 = 64 * 1024 * 1024;

/// A connection with everything in its place.
#[derive(Debug, Clone)]
pub struct Link {
    pub client: Client,
    pub context: Context,
    pub names: Names,
    pub events: Stream,
    pub orders: Stream,
    pub pulse: Store,
    pub machines: Store,
    pub sessions: Store,
    pub claims: Store,
    pub handoffs: Store,
    /// The lists of the team's machines.
    pub team: Store,
    /// This machine's key, and whom it believes.
    pub keyring: Keyring,
}

/// What the server has complained about: most of all what we may not do, which no answer says.
#[derive(Debug, Clone, Default)]
pub struct Complaints(Arc<Mutex<Vec<String>>>);

impl Complaints {
    fn add(&self, text: String) {
        let mut known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if !known.contains(&text) {
            known.push(text);
        }
    }

    /// Each once, in the order in which they came.
    pub fn all(&self) -> Vec<String> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

/// Connects. Credentials are read anew each time, so that renewed ones count.
pub async fn connect(settings: &Settings, name: &str) -> Result<Client> {
    // The relay says itself what it cannot do.
    connect_listening(settings, name, &Complaints::default()).await
}

/// As [`connect`], and notes what the server complains about.
pub async fn connect_listening(settings: &Settings, name: &str, complaints: &Complaints) -> Result<Client> {
    let complaints = complaints.clone();
    let mut options = ConnectOptions::new()
        .name(name)
        // So that permissions can keep one team from listening to what another is answered.
        .custom_inbox_prefix(settings.names.inbox())
        .connection_timeout(CONNECT_TIME)
        .request_timeout(Some(ANSWER_TIME))
        .ping_interval(Duration::from_secs(10))
        .reconnect_delay_callback(|attempts| Duration::from_millis(200 * u64::try_from(attempts.min(10)).unwrap_or(10)))
        .event_callback(move |event| {
            if let Event::ServerError(error) = event {
                complaints.add(error.to_string());
            }
            async {}
        });
    // The client's own way passes over what stands in an address.
    let unreadable = |error: std::io::Error| FleetError::Unreachable(error.to_string());
    options = match settings.login_text().map_err(unreadable)? {
        Some(login) => match login.split_once(':') {
            Some((user, password)) => options.user_and_password(user.to_owned(), password.to_owned()),
            None => options.token(login),
        },
        None => options,
    };
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
        Box::pin(Self::with(client, settings, keyring)).await
    }

    /// Everything in its place again, on a connection that is there. The team's newest list is read.
    pub async fn with(client: Client, settings: &Settings, keyring: &Keyring) -> Result<Self> {
        let context = jetstream::context::ContextBuilder::new()
            .timeout(ANSWER_TIME)
            .ack_timeout(ANSWER_TIME)
            .max_ack_inflight(IN_FLIGHT)
            .backpressure_on_inflight(true)
            .build(client.clone());
        let names = settings.names.clone();
        let making = Making { context: &context, settings };
        // All at once: a server may be far away.
        let (events, orders, pulse, machines, sessions, claims, handoffs, team) = tokio::try_join!(
            making.stream(making.events_config()),
            making.stream(making.orders_config()),
            making.bucket(names.pulse_bucket(), PULSE_LASTS),
            making.bucket(names.machines_bucket(), settings.keep_for),
            making.bucket(names.sessions_bucket(), settings.keep_for),
            // Whose a session is must be known as long as anybody has it.
            making.bucket(names.claims_bucket(), Duration::ZERO),
            making.bucket(names.handoffs_bucket(), settings.keep_for),
            making.bucket(names.team_bucket(), Duration::ZERO),
        )?;
        keyring.sync(&team).await?;
        let keyring = keyring.clone();
        Ok(Self {
            client,
            context,
            names,
            events,
            orders,
            pulse,
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

    /// Says that this machine is there now.
    pub async fn give_sign_of_life(&self, info: &MachineInfo) -> Result<()> {
        self.put_info(&self.pulse, Kind::Pulse, info).await
    }

    /// Says who this machine is, for those who ask when it is gone, and for those who may accept it.
    pub async fn introduce(&self, info: &MachineInfo) -> Result<()> {
        self.put_info(&self.machines, Kind::Machine, info).await
    }

    async fn put_info(&self, store: &Store, kind: Kind, info: &MachineInfo) -> Result<()> {
        let key = token(&info.machine);
        let info = MachineInfo { invited: self.keyring.shown_proof(), ..info.clone() };
        let put = store.put(&key, self.keyring.seal(kind, &key, "", &info)).await;
        put.map(|_| ()).map_err(|error| FleetError::server("give a sign of life", error))
    }

    /// Makes the team call this machine as its settings do.
    pub async fn take_name(&self) -> Result<()> {
        match self.keyring.take_name(&self.team).await {
            Err(NotChanged::Fleet(error)) => Err(error),
            // Whoever is not part of the team has no name there.
            _ => Ok(()),
        }
    }

    /// Makes a machine part of the team.
    pub async fn admit(&self, stranger: &Stranger) -> std::result::Result<Member, NotChanged> {
        let Some(key) = &stranger.key else { return Err(NotChanged::NoSuchMachine) };
        let member = self.keyring.admit(&self.team, &stranger.id, stranger.wanted_name(), key).await?;
        if let Some(proof) = &stranger.proof {
            self.keyring.use_up(proof).map_err(FleetError::from)?;
        }
        Ok(member)
    }

    /// Takes a machine out of the team: from now on nobody believes it.
    pub async fn expel(&self, machine: &str) -> std::result::Result<(), NotChanged> {
        self.keyring.expel(&self.team, machine).await
    }

    /// Writes something, and reads it back. What is left of it is in nobody's way.
    pub async fn try_out(&self, machine: &str) -> Result<()> {
        let (key, value) = (format!("check.{}", token(machine)), random_hex(8)?);
        let failed = |error: &dyn std::fmt::Display| FleetError::server("write and read back", error);
        self.claims.put(&key, value.clone().into()).await.map_err(|error| failed(&error))?;
        let read = self.claims.get(&key).await.map_err(|error| failed(&error))?;
        self.claims.delete(&key).await.map_err(|error| failed(&error))?;
        if read.is_some_and(|read| read == value) { Ok(()) } else { Err(failed(&"something else came back")) }
    }

    /// Tells a stream that was made anew from the one before.
    pub fn events_made_at(&self) -> String {
        format!("{:?}", self.events.cached_info().created)
    }

    /// Fails if what is there is no longer what was found at first: then it is empty, and all is to be told again.
    pub(crate) async fn is_still_the_same(&self) -> Result<()> {
        let buckets = [&self.sessions, &self.claims, &self.machines, &self.team].map(|bucket| &bucket.stream);
        for stream in [&self.events].into_iter().chain(buckets) {
            let now = stream.get_info().await;
            let now = now.map_err(|error| FleetError::server("find the stream again", error))?;
            if now.created != stream.cached_info().created {
                return Err(FleetError::server("go on", format!("{} was made anew", now.config.name)));
            }
        }
        Ok(())
    }
}

struct Making<'a> {
    context: &'a Context,
    settings: &'a Settings,
}

impl Making<'_> {
    fn events_config(&self) -> stream::Config {
        let names = &self.settings.names;
        stream::Config {
            name: names.events_stream(),
            subjects: vec![names.all_events()],
            max_age: self.settings.keep_for,
            max_bytes: i64::try_from(self.settings.keep_bytes).unwrap_or(i64::MAX),
            discard: DiscardPolicy::Old,
            duplicate_window: REMEMBERED,
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
            max_age: ORDERS_LAST,
            max_bytes: ORDERS_BYTES,
            discard: DiscardPolicy::Old,
            duplicate_window: REMEMBERED,
            num_replicas: self.settings.replicas,
            ..stream::Config::default()
        }
    }

    async fn stream(&self, config: stream::Config) -> Result<Stream> {
        if let Ok(stream) = self.context.get_stream(&config.name).await {
            return Ok(stream);
        }
        let made = self.context.get_or_create_stream(config).await;
        made.map_err(|error| FleetError::server("find or make the stream", error))
    }

    /// Made as the stream that a bucket is: the crate's own way asks the server about the account first, and does not
    /// understand the answer of a server as old as Debian's.
    async fn bucket(&self, name: String, lasts: Duration) -> Result<Store> {
        if let Ok(store) = self.context.get_key_value(&name).await {
            return Ok(store);
        }
        let failed = |error: &dyn std::fmt::Display| FleetError::server("find or make the bucket", error);
        self.context
            .get_or_create_stream(self.bucket_config(&name, lasts))
            .await
            .map_err(|error| failed(&error))?;
        self.context.get_key_value(&name).await.map_err(|error| failed(&error))
    }

    fn bucket_config(&self, name: &str, lasts: Duration) -> stream::Config {
        stream::Config {
            name: format!("KV_{name}"),
            subjects: vec![format!("$KV.{name}.>")],
            max_messages_per_subject: 1,
            max_age: lasts,
            max_message_size: i32::try_from(MAX_VALUE).unwrap_or(i32::MAX),
            discard: DiscardPolicy::New,
            duplicate_window: if lasts.is_zero() { REMEMBERED } else { REMEMBERED.min(lasts) },
            num_replicas: self.settings.replicas,
            allow_rollup: true,
            deny_delete: true,
            allow_direct: true,
            ..stream::Config::default()
        }
    }
}
