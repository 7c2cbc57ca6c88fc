//! Looks at the configuration, and tries it out.

use overtone_messages::{Lang, remote as words};
use overtone_store::clock;
use serde_json::{Map, Value, json};

use crate::channels::{Attempt, Channel};
use crate::config::{Settings, host};
use crate::event::Event;
use crate::http::Client;
use crate::ledger::{DAY, Entry};

/// How a target answered to a test message.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Probed {
    pub target: String,
    /// What went wrong, without secrets.
    pub problem: Option<String>,
}

/// Every usable channel with what it is set to, without secrets.
pub fn described(settings: &Settings) -> Value {
    let keys = |events: &[Event]| events.iter().map(|event| event.key()).collect::<Vec<_>>();
    let telegram = settings.telegram.as_ref().map(|telegram| {
        json!({
            "base": place(&telegram.base), "token": "****", "chats": telegram.chats,
            "events": keys(&telegram.events),
        })
    });
    let webhook = settings.webhook.as_ref().map(
        |webhook| json!({ "url": place(&webhook.url), "secret": "****", "events": keys(&webhook.events) }),
    );
    let ntfy = settings.ntfy.as_ref().map(|ntfy| {
        json!({
            "base": place(&ntfy.base), "topic": ntfy.topic, "token": ntfy.token.as_ref().map(|_| "****"),
            "events": keys(&ntfy.events),
        })
    });
    json!({ "budgetUsd": settings.budget_usd, "telegram": telegram, "webhook": webhook, "ntfy": ntfy })
}

/// An address up to its path: the rest may be a secret.
fn place(address: &str) -> String {
    let Some((scheme, rest)) = address.split_once("://") else { return String::new() };
    let name = host(rest);
    let after = rest.split(['/', '?']).next().unwrap_or_default();
    let port = after.rsplit_once(':').filter(|(before, _)| before.ends_with(name)).map(|(_, port)| port);
    let port = port.map(|port| format!(":{port}")).unwrap_or_default();
    let more = if rest.contains(['/', '?']) { "/****" } else { "" };
    format!("{scheme}://{name}{port}{more}")
}

/// Sends a test message to every target, once.
pub fn probe(settings: &Settings, lang: Lang, version: &str) -> Vec<Probed> {
    let client = Client::new(version);
    let channels = Channel::all(settings);
    let targets = channels
        .iter()
        .flat_map(|channel| channel.targets().into_iter().map(move |target| (channel, target)));
    targets
        .map(|(channel, target)| {
            let problem = match channel.send(&client, &message(&target, lang)) {
                Attempt::Taken => None,
                Attempt::Later { problem, .. } | Attempt::Never(problem) => Some(settings.clean(&problem)),
            };
            Probed { target, problem }
        })
        .collect()
}

fn message(target: &str, lang: Lang) -> Entry {
    let now = clock::now();
    let id = format!("test:{}:{target}", now.0);
    let (title, text) = (words::test_title(lang), words::test_text(lang));
    let fields = json!({
        "id": id, "event": "test", "at": clock::to_iso(now), "title": title, "text": text,
    });
    Entry {
        id,
        target: target.to_owned(),
        event: "test".to_owned(),
        title,
        text,
        fields,
        until: now.0 + DAY,
        tries: 0,
        due: 0,
        other: Map::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_are_shown_without_what_may_be_a_secret() {
        assert_eq!(place("https://api.telegram.org"), "https://api.telegram.org");
        assert_eq!(place("https://u:p@h.example:8443/services/T0/x?k=1"), "https://h.example:8443/****");
        assert_eq!(place("http://[::1]:80"), "http://[::1]:80");
    }
}
