//! Telegram's Bot API, where the token is part of the address.

use overtone_core::engine::text::cut;
use serde_json::json;

use crate::remote::config::Telegram;
use crate::remote::outbox::OutgoingMessage;
use overtone_net::{Client, Response};

/// The longest text that the service accepts.
const MAX_TEXT: usize = 4096;

pub(super) fn send(
    telegram: &Telegram,
    client: &Client,
    message: &OutgoingMessage,
) -> Result<Response, String> {
    let chat = message.target.split_once('/').and_then(|(_, chat)| chat.parse::<i64>().ok());
    let text = [message.title.as_str(), message.text.as_str()];
    let text = text.into_iter().filter(|part| !part.is_empty()).collect::<Vec<_>>().join("\n");
    let body = json!({
        "chat_id": chat,
        "text": cut(&text, MAX_TEXT),
        "link_preview_options": { "is_disabled": true },
    });
    let headers = [("content-type", "application/json")];
    client.post(&telegram.method_url("sendMessage"), headers, body.to_string().as_bytes())
}

impl Telegram {
    pub(crate) fn method_url(&self, name: &str) -> String {
        format!("{}/bot{}/{name}", self.base, self.token.reveal())
    }

    /// The bot's number: the part of the token before the colon, which is not secret.
    pub(crate) fn bot(&self) -> &str {
        self.token.reveal().split_once(':').map_or("", |(bot, _)| bot)
    }
}
