//! Sends one message to the collector: bounded in time and size, and it follows no redirect, since headers are secret.

use std::env;
use std::time::Duration;

use overtone_engine::text::cut;
use overtone_probe::Way;
use prost::Message;
use ureq::http::Response;
use ureq::tls::TlsConfig;
use ureq::{Agent, Body, Error};

use crate::config::Settings;

/// How long the collector may take.
const ANSWER_TIME: Duration = Duration::from_secs(10);
/// More of an answer is not read.
const MAX_ANSWER: u64 = 64 * 1024;
const MAX_PROBLEM: usize = 200;

#[derive(Debug)]
pub(crate) struct Client {
    agent: Agent,
    settings: Settings,
}

/// What became of a message.
#[derive(Debug)]
pub(crate) enum Attempt {
    /// The body of the answer says whether all of it was.
    Taken(Vec<u8>),
    /// It would never be taken.
    Refused(String),
    Later {
        problem: String,
        after: Option<Duration>,
    },
}

impl Client {
    pub(crate) fn new(settings: Settings, version: &str) -> Self {
        let config = Agent::config_builder()
            .timeout_global(Some(ANSWER_TIME))
            .max_redirects(0)
            .max_redirects_will_error(false)
            .http_status_as_error(false)
            .tls_config(tls())
            .user_agent(format!("overtone/{version}"));
        Self { agent: config.build().new_agent(), settings }
    }

    /// `path` is the one of the signal.
    pub(crate) fn send(&self, path: &str, message: &impl Message) -> Attempt {
        let url = format!("{}{path}", self.settings.endpoint);
        let request = self.agent.post(url).header("content-type", "application/x-protobuf");
        let headers = self.settings.headers.iter();
        let request = headers.fold(request, |request, (name, value)| request.header(name, value.reveal()));
        match request.send(message.encode_to_vec()) {
            Ok(answer) => self.judge(answer),
            Err(error) => Attempt::Later { problem: self.words(&problem(&error)), after: None },
        }
    }

    fn judge(&self, mut answer: Response<Body>) -> Attempt {
        let status = answer.status().as_u16();
        let header = answer.headers().get("retry-after").and_then(|value| value.to_str().ok());
        let after = header.and_then(|text| text.trim().parse().ok()).map(Duration::from_secs);
        // What was taken was taken, whatever became of the words about it.
        let body = answer.body_mut().with_config().limit(MAX_ANSWER).read_to_vec().unwrap_or_default();
        let problem = || self.words(&format!("HTTP {status} {}", said(&body)));
        match status {
            200..=299 => Attempt::Taken(body),
            408 | 429 => Attempt::Later { problem: problem(), after },
            400..=499 => Attempt::Refused(problem()),
            _ => Attempt::Later { problem: problem(), after },
        }
    }

    /// Short, and without secrets.
    pub(crate) fn words(&self, text: &str) -> String {
        cut(self.settings.clean(text).trim(), MAX_PROBLEM).to_owned()
    }
}

/// What can be read of an answer, which may be a message in binary.
fn said(body: &[u8]) -> String {
    String::from_utf8_lossy(body).chars().filter(|c| !c.is_control() && *c != '\u{fffd}').collect()
}

/// As for providers; certificates of the person that cannot be read are left out, and the collector is refused then.
fn tls() -> TlsConfig {
    let named = Way::from_env(&|name| env::var(name).ok()).tls();
    named.or_else(|_| Way::default().tls()).unwrap_or_default()
}

fn problem(error: &Error) -> String {
    match error {
        Error::Timeout(_) => "timeout".to_owned(),
        Error::HostNotFound => "host not found".to_owned(),
        Error::Io(error) => error.to_string(),
        other => other.to_string(),
    }
}
