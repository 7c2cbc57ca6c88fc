//! Sends one message to the collector and classifies the response.

use std::time::Duration;

use overtone_core::engine::text::cut;
use overtone_net::Response;
use prost::Message;

use crate::telemetry::config::Settings;

/// How many bytes of a response are read.
const MAX_RESPONSE_BYTES: u64 = 64 * 1024;
const MAX_ERROR_LENGTH: usize = 200;

#[derive(Debug)]
pub(crate) struct Client {
    http: overtone_net::Client,
    settings: Settings,
}

/// The outcome of one attempt to send.
#[derive(Debug)]
pub(crate) enum SendOutcome {
    /// Holds the body of the response, which says whether everything was accepted.
    Accepted(Vec<u8>),
    /// The collector will never accept the message.
    Rejected(String),
    Retry {
        error: String,
        after: Option<Duration>,
    },
}

impl Client {
    pub(crate) fn new(settings: Settings, version: &str) -> Self {
        Self { http: overtone_net::Client::new(version, MAX_RESPONSE_BYTES), settings }
    }

    /// `path` is the path of the signal: traces or metrics.
    pub(crate) fn send(&self, path: &str, message: &impl Message) -> SendOutcome {
        let url = format!("{}{path}", self.settings.endpoint);
        let configured = self.settings.headers.iter().map(|(name, value)| (name.as_str(), value.reveal()));
        let headers = [("content-type", "application/x-protobuf")].into_iter().chain(configured);
        match self.http.post(&url, headers, &message.encode_to_vec()) {
            Ok(response) => self.classify(response),
            Err(error) => SendOutcome::Retry { error: self.redact(&error), after: None },
        }
    }

    fn classify(&self, response: Response) -> SendOutcome {
        let status = response.status;
        if response.is_success() {
            return SendOutcome::Accepted(response.body);
        }
        let error = self.redact(&format!("HTTP {status} {}", printable(&response.body)));
        match status {
            408 | 429 => SendOutcome::Retry { error, after: response.retry_after },
            400..=499 => SendOutcome::Rejected(error),
            _ => SendOutcome::Retry { error, after: response.retry_after },
        }
    }

    /// The text without secrets, cut to a readable length.
    pub(crate) fn redact(&self, text: &str) -> String {
        cut(self.settings.redact(text).trim(), MAX_ERROR_LENGTH).to_owned()
    }
}

/// The readable characters of a response, which may be binary.
fn printable(body: &[u8]) -> String {
    String::from_utf8_lossy(body).chars().filter(|c| !c.is_control() && *c != '\u{fffd}').collect()
}
