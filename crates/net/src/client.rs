//! A small HTTP client, bounded in time and size. It follows no redirects: an address or a header may hold a token.

use std::env;
use std::time::Duration;

use ureq::http;
use ureq::tls::TlsConfig;
use ureq::{Agent, Body, Error};

use crate::network::Network;

const TIMEOUT: Duration = Duration::from_secs(10);
/// For requests that the service answers only when something happens.
const LONG_POLL_TIMEOUT: Duration = Duration::from_secs(30);

/// Uses the proxies' certificates that the environment names. Certificates that cannot be read are left out; the
/// service that needs them is then refused.
#[derive(Debug)]
pub struct Client {
    agent: Agent,
    long_poll: Agent,
    max_response: u64,
}

#[derive(Debug)]
pub struct Response {
    pub status: u16,
    pub retry_after: Option<Duration>,
    pub body: Vec<u8>,
}

impl Response {
    pub const fn is_success(&self) -> bool {
        matches!(self.status, 200..=299)
    }

    pub fn text(&self) -> String {
        String::from_utf8_lossy(&self.body).into_owned()
    }
}

impl Client {
    /// Reads at most `max_response` bytes of an answer.
    pub fn new(version: &str, max_response: u64) -> Self {
        Self { agent: agent(TIMEOUT, version), long_poll: agent(LONG_POLL_TIMEOUT, version), max_response }
    }

    /// The error may contain the address.
    pub fn post<'a>(
        &self,
        url: &str,
        headers: impl IntoIterator<Item = (&'a str, &'a str)>,
        body: &[u8],
    ) -> Result<Response, String> {
        let mut request = self.agent.post(url);
        for (name, value) in headers {
            request = request.header(name, value);
        }
        self.read(request.send(body))
    }

    pub fn long_poll(&self, url: &str) -> Result<Response, String> {
        self.read(self.long_poll.get(url).call())
    }

    /// A body that cannot be read counts as empty: the service has already accepted the request.
    fn read(&self, result: Result<http::Response<Body>, Error>) -> Result<Response, String> {
        let mut response = result.map_err(|error| describe_error(&error))?;
        let header = response.headers().get("retry-after").and_then(|value| value.to_str().ok());
        let retry_after = header.and_then(|text| text.trim().parse().ok()).map(Duration::from_secs);
        let status = response.status().as_u16();
        let body =
            response.body_mut().with_config().limit(self.max_response).read_to_vec().unwrap_or_default();
        Ok(Response { status, retry_after, body })
    }
}

fn agent(timeout: Duration, version: &str) -> Agent {
    let config = Agent::config_builder()
        .timeout_global(Some(timeout))
        .max_redirects(0)
        .max_redirects_will_error(false)
        .http_status_as_error(false)
        .tls_config(tls())
        .user_agent(format!("overtone/{version}"));
    config.build().new_agent()
}

fn tls() -> TlsConfig {
    let named = Network::from_env(&|name| env::var(name).ok()).tls();
    named.or_else(|_| Network::default().tls()).unwrap_or_default()
}

/// What went wrong with a request, without the client library's own prefixes.
pub fn describe_error(error: &Error) -> String {
    match error {
        Error::Timeout(_) => "timeout".to_owned(),
        Error::HostNotFound => "host not found".to_owned(),
        Error::Io(error) => error.to_string(),
        other => other.to_string(),
    }
}
