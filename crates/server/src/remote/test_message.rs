//! Describes the configured channels and sends test messages to them.

use overtone_core::messages::{Lang, remote as messages};
use overtone_store::clock;
use serde::Serialize;
use serde_json::{Map, Value};

use crate::remote::channels::{Channel, SendOutcome};
use crate::remote::config::{Settings, host};
use crate::remote::event::Event;
use crate::remote::outbox::{DAY_MS, OutgoingMessage};
use crate::remote::service::MAX_RESPONSE_BYTES;
use overtone_net::Client;

/// The result of sending a test message to a target.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TestResult {
    pub target: String,
    /// What went wrong, without secrets; `None` if the message was sent.
    pub error: Option<String>,
}

/// The usable channels and their settings, without secrets.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct ChannelsJson<'a> {
    budget_usd: Option<f64>,
    telegram: Option<TelegramJson<'a>>,
    webhook: Option<WebhookJson>,
    ntfy: Option<NtfyJson<'a>>,
}

#[derive(Serialize)]
struct TelegramJson<'a> {
    base: String,
    token: &'static str,
    chats: &'a [i64],
    events: Vec<&'static str>,
}

#[derive(Serialize)]
struct WebhookJson {
    url: String,
    secret: &'static str,
    events: Vec<&'static str>,
}

#[derive(Serialize)]
struct NtfyJson<'a> {
    base: String,
    topic: &'a str,
    token: Option<&'static str>,
    events: Vec<&'static str>,
}

/// Stands for a secret.
const MASK: &str = "****";

/// The usable channels and their settings as JSON, without secrets.
pub fn describe_channels(settings: &Settings) -> Value {
    let keys = |events: &[Event]| events.iter().map(|event| event.key()).collect();
    let channels = ChannelsJson {
        budget_usd: settings.budget_usd,
        telegram: settings.telegram.as_ref().map(|telegram| TelegramJson {
            base: redact_url(&telegram.base),
            token: MASK,
            chats: &telegram.chats,
            events: keys(&telegram.events),
        }),
        webhook: settings.webhook.as_ref().map(|webhook| WebhookJson {
            url: redact_url(&webhook.url),
            secret: MASK,
            events: keys(&webhook.events),
        }),
        ntfy: settings.ntfy.as_ref().map(|ntfy| NtfyJson {
            base: redact_url(&ntfy.base),
            topic: &ntfy.topic,
            token: ntfy.token.as_ref().map(|_| MASK),
            events: keys(&ntfy.events),
        }),
    };
    // Strings and numbers cannot fail to serialize.
    serde_json::to_value(channels).unwrap_or_default()
}

/// An address without user and path, which may contain secrets.
fn redact_url(address: &str) -> String {
    let Some((scheme, rest)) = address.split_once("://") else { return String::new() };
    let name = host(rest);
    let authority = rest.split(['/', '?']).next().unwrap_or_default();
    let port = match authority.rsplit_once(':') {
        Some((before, port)) if before.ends_with(name) => format!(":{port}"),
        _ => String::new(),
    };
    let path = if rest.contains(['/', '?']) { "/****" } else { "" };
    format!("{scheme}://{name}{port}{path}")
}

/// Sends one test message to every target.
pub fn send_test_messages(settings: &Settings, lang: Lang, version: &str) -> Vec<TestResult> {
    let client = Client::new(version, MAX_RESPONSE_BYTES);
    let mut results = Vec::new();
    for channel in Channel::all(settings) {
        for target in channel.targets() {
            let error = match channel.send(&client, &test_message(&target, lang)) {
                SendOutcome::Accepted => None,
                SendOutcome::Retry { error, .. } | SendOutcome::Rejected(error) => {
                    Some(settings.redact(&error))
                }
            };
            results.push(TestResult { target, error });
        }
    }
    results
}

/// The JSON that a webhook receives.
#[derive(Serialize)]
struct TestPayload<'a> {
    id: &'a str,
    event: &'static str,
    at: String,
    title: &'a str,
    text: &'a str,
}

fn test_message(target: &str, lang: Lang) -> OutgoingMessage {
    let now = clock::now();
    let id = format!("test:{}:{target}", now.0);
    let (title, text) = (messages::test_title(lang), messages::test_text(lang));
    let payload = TestPayload { id: &id, event: "test", at: clock::to_iso(now), title: &title, text: &text };
    // Strings cannot fail to serialize.
    let fields = serde_json::to_value(payload).unwrap_or_default();
    OutgoingMessage {
        id,
        target: target.to_owned(),
        event: "test".to_owned(),
        title,
        text,
        fields,
        expires_at: now.0 + DAY_MS,
        attempts: 0,
        due: 0,
        other: Map::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_are_shown_without_possible_secrets() {
        assert_eq!(redact_url("https://api.telegram.org"), "https://api.telegram.org");
        assert_eq!(redact_url("https://u:p@h.example:8443/services/T0/x?k=1"), "https://h.example:8443/****");
        assert_eq!(redact_url("http://[::1]:80"), "http://[::1]:80");
    }
}
