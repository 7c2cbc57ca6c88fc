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
use crate::names::{Names, token};

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
    options = match login(&settings.urls) {
        Some((user, Some(password))) => options.user_and_password(user, password),
        Some((secret, None)) => options.token(secret),
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

/// `nats://user:password@…` or `nats://token@…`, of the first address that has it.
fn login(urls: &[String]) -> Option<(String, Option<String>)> {
    let part = urls.iter().find_map(|url| url.split_once("://")?.1.rsplit_once('@'))?.0;
    match part.split_once(':') {
        Some((user, password)) => Some((plain(user), Some(plain(password)))),
        None => Some((plain(part), None)),
    }
}

/// Without the `%40` and the like that an address needs.
fn plain(text: &str) -> String {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let [first, others @ ..] = rest {
        let digits = others.get(..2).and_then(|digits| str::from_utf8(digits).ok());
        let byte = digits.filter(|_| *first == b'%').and_then(|digits| u8::from_str_radix(digits, 16).ok());
        bytes.push(byte.unwrap_or(*first));
        rest = if byte.is_some() { &others[2..] } else { others };
    }
    String::from_utf8_lossy(&bytes).into_owned()
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
        // All at once: a server may be far away.
        let (events, orders, pulse, machines, sessions, claims, handoffs) = tokio::try_join!(
            making.stream(making.events_config()),
            making.stream(making.orders_config()),
            making.bucket(names.pulse_bucket(), PULSE_LASTS),
            making.bucket(names.machines_bucket(), settings.keep_for),
            making.bucket(names.sessions_bucket(), settings.keep_for),
            // Whose a session is must be known as long as anybody has it.
            making.bucket(names.claims_bucket(), Duration::ZERO),
            making.bucket(names.handoffs_bucket(), settings.keep_for),
        )?;
        Ok(Self { client, context, names, events, orders, pulse, machines, sessions, claims, handoffs })
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_login_stands_in_any_of_the_addresses() {
        let of = |urls: &[&str]| login(&urls.iter().map(|&url| url.to_owned()).collect::<Vec<_>>());
        assert_eq!(of(&["nats://a:4222"]), None);
        let both = Some(("ann".to_owned(), Some("p@ss%".to_owned())));
        assert_eq!(of(&["nats://a:4222", "nats://ann:p%40ss%@b"]), both);
        assert_eq!(of(&["tls://secret@a"]), Some(("secret".to_owned(), None)));
    }
}
