//! The connection to the server, and what has to be there for us: streams and buckets.
//!
//! Where they are missing they are made. Who may not make them, because the server is shared, finds them made.

use std::time::Duration;

use async_nats::jetstream::kv::Store;
use async_nats::jetstream::stream::{self, DiscardPolicy, Stream};
use async_nats::jetstream::{self, Context};
use async_nats::{Client, ConnectOptions, ServerAddr};

use crate::config::Settings;
use crate::error::{FleetError, Result};
use crate::names::Names;

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
const MAX_VALUE: i32 = 1024 * 1024;
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
}

/// Connects. Credentials are read anew each time, so that renewed ones count.
pub async fn connect(settings: &Settings, name: &str) -> Result<Client> {
    let mut options = ConnectOptions::new()
        .name(name)
        .connection_timeout(CONNECT_TIME)
        .request_timeout(Some(ANSWER_TIME))
        .ping_interval(Duration::from_secs(10))
        .reconnect_delay_callback(|attempts| Duration::from_millis(200 * u64::try_from(attempts.min(10)).unwrap_or(10)))
        // The relay says itself what it cannot do.
        .event_callback(|_| async {});
    if let Some((user, password)) = user_of(settings) {
        options = options.user_and_password(user, password);
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

/// Who an address says we are; the connection itself does not look there.
fn user_of(settings: &Settings) -> Option<(String, String)> {
    let address = settings.urls.first()?.parse::<ServerAddr>().ok()?;
    Some((address.username()?.to_owned(), address.password().unwrap_or_default().to_owned()))
}

impl Link {
    pub async fn open(settings: &Settings, name: &str) -> Result<Self> {
        let client = connect(settings, name).await?;
        Box::pin(Self::with(client, settings)).await
    }

    /// Everything in its place again, on a connection that is there.
    pub async fn with(client: Client, settings: &Settings) -> Result<Self> {
        let context = jetstream::context::ContextBuilder::new()
            .timeout(ANSWER_TIME)
            .ack_timeout(ANSWER_TIME)
            .max_ack_inflight(IN_FLIGHT)
            .backpressure_on_inflight(true)
            .build(client.clone());
        let names = settings.names.clone();
        let making = Making { context: &context, settings };
        Ok(Self {
            events: making.stream(making.events_config()).await?,
            orders: making.stream(making.orders_config()).await?,
            pulse: making.bucket(names.pulse_bucket(), PULSE_LASTS).await?,
            machines: making.bucket(names.machines_bucket(), settings.keep_for).await?,
            sessions: making.bucket(names.sessions_bucket(), settings.keep_for).await?,
            // Whose a session is must be known as long as anybody has it.
            claims: making.bucket(names.claims_bucket(), Duration::ZERO).await?,
            handoffs: making.bucket(names.handoffs_bucket(), settings.keep_for).await?,
            client,
            context,
            names,
        })
    }

    /// Tells a stream that was made anew from the one before.
    pub fn events_made_at(&self) -> String {
        format!("{:?}", self.events.cached_info().created)
    }

    /// Fails if what is there is no longer what was found at first: then it is empty, and all is to be told again.
    pub(crate) async fn is_still_the_same(&self) -> Result<()> {
        for stream in [&self.events, &self.sessions.stream, &self.claims.stream, &self.machines.stream] {
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
            max_message_size: MAX_VALUE,
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
