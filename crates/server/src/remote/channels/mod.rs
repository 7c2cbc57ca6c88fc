//! The services that receive messages, each with its own protocol.

mod ntfy;
mod telegram;
mod webhook;

use std::time::Duration;

use overtone_core::engine::text::cut;
use serde_json::Value;

use crate::remote::config::{Ntfy, Settings, Telegram, Webhook};
use crate::remote::outbox::OutgoingMessage;
use overtone_net::{Client, Response};

/// How much of a service's error text is kept.
const MAX_ERROR_LENGTH: usize = 200;

/// A configured service.
#[derive(Debug, Clone)]
pub(crate) enum Channel {
    Telegram(Telegram),
    Webhook(Webhook),
    Ntfy(Ntfy),
}

/// The outcome of one attempt to send. An error may quote an address and has to be redacted before it is shown.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum SendOutcome {
    Accepted,
    /// Try again later, at a time that the service may have named.
    Retry {
        error: String,
        after: Option<Duration>,
    },
    /// The service will never accept this message.
    Rejected(String),
}

impl Channel {
    pub(crate) fn all(settings: &Settings) -> Vec<Self> {
        let telegram = settings.telegram.clone().map(Self::Telegram);
        let webhook = settings.webhook.clone().map(Self::Webhook);
        let ntfy = settings.ntfy.clone().map(Self::Ntfy);
        [telegram, webhook, ntfy].into_iter().flatten().collect()
    }

    pub(crate) const fn name(&self) -> &'static str {
        match self {
            Self::Telegram(_) => "telegram",
            Self::Webhook(_) => "webhook",
            Self::Ntfy(_) => "ntfy",
        }
    }

    /// The targets of the channel: each chat of Telegram, or the channel itself.
    pub(crate) fn targets(&self) -> Vec<String> {
        match self {
            Self::Telegram(telegram) => {
                telegram.chats.iter().map(|chat| format!("telegram/{chat}")).collect()
            }
            Self::Webhook(_) | Self::Ntfy(_) => vec![self.name().to_owned()],
        }
    }

    pub(crate) fn send(&self, client: &Client, message: &OutgoingMessage) -> SendOutcome {
        let response = match self {
            Self::Telegram(telegram) => telegram::send(telegram, client, message),
            Self::Webhook(webhook) => webhook::send(webhook, client, message),
            Self::Ntfy(ntfy) => ntfy::send(ntfy, client, message),
        };
        match response {
            Ok(response) => classify(&response),
            Err(error) => SendOutcome::Retry { error, after: None },
        }
    }
}

fn classify(response: &Response) -> SendOutcome {
    let body: Value = serde_json::from_slice(&response.body).unwrap_or_default();
    if response.is_success() && body["ok"] != Value::Bool(false) {
        return SendOutcome::Accepted;
    }
    let error = match body["description"].as_str() {
        Some(text) => format!("{} {}", response.status, cut(text, MAX_ERROR_LENGTH)),
        None => response.status.to_string(),
    };
    match response.status {
        // The message itself is invalid; sending it again cannot succeed.
        400 | 413 | 422 => SendOutcome::Rejected(error),
        _ => {
            let in_body = body["parameters"]["retry_after"].as_u64().map(Duration::from_secs);
            SendOutcome::Retry { error, after: response.retry_after.or(in_body) }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn outcome(status: u16, body: &str) -> SendOutcome {
        classify(&Response { status, retry_after: None, body: body.into() })
    }

    #[test]
    fn responses_are_classified() {
        assert_eq!(outcome(200, r#"{"ok":true}"#), SendOutcome::Accepted);
        assert_eq!(outcome(204, ""), SendOutcome::Accepted);
        assert!(matches!(outcome(200, r#"{"ok":false}"#), SendOutcome::Retry { .. }));
        assert!(matches!(outcome(302, ""), SendOutcome::Retry { .. }));
        assert!(matches!(outcome(500, "oops"), SendOutcome::Retry { after: None, .. }));
        let limited = r#"{"ok":false,"description":"Too Many Requests","parameters":{"retry_after":7}}"#;
        let expected = SendOutcome::Retry {
            error: "429 Too Many Requests".to_owned(),
            after: Some(Duration::from_secs(7)),
        };
        assert_eq!(outcome(429, limited), expected);
        assert_eq!(outcome(400, ""), SendOutcome::Rejected("400".to_owned()));
    }
}
