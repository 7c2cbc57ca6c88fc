//! Telegram's Bot API. The token is part of the address.

use overtone_engine::text::cut;
use serde_json::json;

use crate::config::Telegram;
use crate::http::{Answer, Client};
use crate::ledger::Entry;

/// What the service takes.
const MAX_TEXT: usize = 4096;

pub(super) fn send(telegram: &Telegram, client: &Client, entry: &Entry) -> Result<Answer, String> {
    let chat = entry.target.split_once('/').and_then(|(_, chat)| chat.parse::<i64>().ok());
    let text = [entry.title.as_str(), entry.text.as_str()];
    let text = text.into_iter().filter(|part| !part.is_empty()).collect::<Vec<_>>().join("\n");
    let body = json!({
        "chat_id": chat,
        "text": cut(&text, MAX_TEXT),
        "link_preview_options": { "is_disabled": true },
    });
    let headers = [("content-type", "application/json".to_owned())];
    client.post(&telegram.method("sendMessage"), &headers, &body.to_string())
}

impl Telegram {
    pub(crate) fn method(&self, name: &str) -> String {
        format!("{}/bot{}/{name}", self.base, self.token.reveal())
    }

    /// The number before the colon says which bot it is, and is no secret.
    pub(crate) fn bot(&self) -> &str {
        self.token.reveal().split_once(':').map_or("", |(bot, _)| bot)
    }
}
