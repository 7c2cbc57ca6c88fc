//! The services that can be told something, and how each wants to hear it.

mod ntfy;
mod telegram;
mod webhook;

use std::time::Duration;

use overtone_engine::text::cut;
use serde_json::Value;

use crate::config::{Ntfy, Settings, Telegram, Webhook};
use crate::http::{Answer, Client};
use crate::ledger::Entry;

const MAX_WORDS: usize = 200;

/// A way to send.
#[derive(Debug, Clone)]
pub(crate) enum Channel {
    Telegram(Telegram),
    Webhook(Webhook),
    Ntfy(Ntfy),
}

/// What became of an attempt. What went wrong may quote an address and is to be cleaned of secrets.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Attempt {
    Taken,
    /// Not now; perhaps the service has said when.
    Later {
        problem: String,
        after: Option<Duration>,
    },
    /// It will never take this.
    Never(String),
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

    /// Every place that it can reach.
    pub(crate) fn targets(&self) -> Vec<String> {
        match self {
            Self::Telegram(telegram) => {
                telegram.chats.iter().map(|chat| format!("telegram/{chat}")).collect()
            }
            Self::Webhook(_) | Self::Ntfy(_) => vec![self.name().to_owned()],
        }
    }

    pub(crate) fn send(&self, client: &Client, entry: &Entry) -> Attempt {
        let answer = match self {
            Self::Telegram(telegram) => telegram::send(telegram, client, entry),
            Self::Webhook(webhook) => webhook::send(webhook, client, entry),
            Self::Ntfy(ntfy) => ntfy::send(ntfy, client, entry),
        };
        match answer {
            Ok(answer) => judge(&answer),
            Err(problem) => Attempt::Later { problem, after: None },
        }
    }
}

fn judge(answer: &Answer) -> Attempt {
    let body: Value = serde_json::from_str(&answer.body).unwrap_or_default();
    if answer.is_good() && body["ok"] != Value::Bool(false) {
        return Attempt::Taken;
    }
    let problem = match body["description"].as_str() {
        Some(words) => format!("{} {}", answer.status, cut(words, MAX_WORDS)),
        None => answer.status.to_string(),
    };
    match answer.status {
        // The message itself is wrong; the same one again is no better.
        400 | 413 | 422 => Attempt::Never(problem),
        _ => {
            let told = body["parameters"]["retry_after"].as_u64().map(Duration::from_secs);
            Attempt::Later { problem, after: answer.retry_after.or(told) }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn judged(status: u16, body: &str) -> Attempt {
        judge(&Answer { status, retry_after: None, body: body.to_owned() })
    }

    #[test]
    fn answers_are_understood() {
        assert_eq!(judged(200, r#"{"ok":true}"#), Attempt::Taken);
        assert_eq!(judged(204, ""), Attempt::Taken);
        assert!(matches!(judged(200, r#"{"ok":false}"#), Attempt::Later { .. }));
        assert!(matches!(judged(302, ""), Attempt::Later { .. }));
        assert!(matches!(judged(500, "oops"), Attempt::Later { after: None, .. }));
        let limited = r#"{"ok":false,"description":"Too Many Requests","parameters":{"retry_after":7}}"#;
        let wanted = Attempt::Later {
            problem: "429 Too Many Requests".to_owned(),
            after: Some(Duration::from_secs(7)),
        };
        assert_eq!(judged(429, limited), wanted);
        assert_eq!(judged(400, ""), Attempt::Never("400".to_owned()));
    }
}
