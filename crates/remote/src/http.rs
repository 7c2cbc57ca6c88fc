//! A small HTTP client: bounded in time and size, and it follows no redirect, since an address may hold a token.

use std::env;
use std::time::Duration;

use overtone_engine::text::cut;
use overtone_probe::Way;
use ureq::tls::TlsConfig;
use ureq::{Agent, Error};

/// How long a service may take to answer.
const ANSWER_TIME: Duration = Duration::from_secs(10);
/// How long one may take that answers when something happens.
const LONG_ANSWER_TIME: Duration = Duration::from_secs(30);
/// More of an answer is not read.
const MAX_ANSWER: u64 = 1024 * 1024;
const MAX_PROBLEM: usize = 200;

#[derive(Debug)]
pub(crate) struct Client {
    quick: Agent,
    patient: Agent,
}

/// What a service said.
#[derive(Debug)]
pub(crate) struct Answer {
    pub(crate) status: u16,
    pub(crate) retry_after: Option<Duration>,
    pub(crate) body: String,
}

impl Answer {
    pub(crate) const fn is_good(&self) -> bool {
        matches!(self.status, 200..=299)
    }
}

impl Client {
    pub(crate) fn new(version: &str) -> Self {
        Self { quick: agent(ANSWER_TIME, version), patient: agent(LONG_ANSWER_TIME, version) }
    }

    /// The error says what went wrong, perhaps with the address.
    pub(crate) fn post(&self, url: &str, headers: &[(&str, String)], body: &str) -> Result<Answer, String> {
        let request = headers
            .iter()
            .fold(self.quick.post(url), |request, (name, value)| request.header(*name, value.as_str()));
        read(request.send(body))
    }

    /// For an answer that may come late.
    pub(crate) fn wait_for(&self, url: &str) -> Result<Answer, String> {
        read(self.patient.get(url).call())
    }
}

fn agent(limit: Duration, version: &str) -> Agent {
    let config = Agent::config_builder()
        .timeout_global(Some(limit))
        .max_redirects(0)
        .max_redirects_will_error(false)
        .http_status_as_error(false)
        .tls_config(tls())
        .user_agent(format!("overtone/{version}"));
    config.build().new_agent()
}

/// As for providers; certificates of the person that cannot be read are left out, and the service is refused then.
fn tls() -> TlsConfig {
    let named = Way::from_env(&|name| env::var(name).ok()).tls();
    named.or_else(|_| Way::default().tls()).unwrap_or_default()
}

fn read(answer: Result<ureq::http::Response<ureq::Body>, Error>) -> Result<Answer, String> {
    let mut answer = answer.map_err(|error| problem(&error))?;
    let header = answer.headers().get("retry-after").and_then(|value| value.to_str().ok());
    let retry_after = header.and_then(|text| text.trim().parse().ok()).map(Duration::from_secs);
    let status = answer.status().as_u16();
    let body = answer.body_mut().with_config().limit(MAX_ANSWER).lossy_utf8(true).read_to_string();
    // What was taken was taken, whatever became of the words about it.
    Ok(Answer { status, retry_after, body: body.unwrap_or_default() })
}

fn problem(error: &Error) -> String {
    let text = match error {
        Error::Timeout(_) => "timeout".to_owned(),
        Error::HostNotFound => "host not found".to_owned(),
        Error::Io(error) => error.to_string(),
        other => other.to_string(),
    };
    cut(&text, MAX_PROBLEM).to_owned()
}
