//! Telegram's Bot API, where the token is part of the address.

use overtone_core::engine::text::cut;
use serde::Serialize;

use crate::remote::config::Telegram;
use crate::remote::outbox::OutgoingMessage;
use overtone_net::{Client, Response};

/// The longest text that the service accepts.
const MAX_TEXT: usize = 4096;

/// The parameters of the method `sendMessage`.
#[derive(Serialize)]
struct SendMessage<'a> {
    chat_id: Option<i64>,
    text: &'a str,
    link_preview_options: LinkPreviewOptions,
}

#[derive(Serialize)]
struct LinkPreviewOptions {
    is_disabled: bool,
}

pub(super) fn send(
    telegram: &Telegram,
    client: &Client,
    message: &OutgoingMessage,
) -> Result<Response, String> {
    let chat = message.target.split_once('/').and_then(|(_, chat)| chat.parse::<i64>().ok());
    let text = [message.title.as_str(), message.text.as_str()];
    let text = text.into_iter().filter(|part| !part.is_empty()).collect::<Vec<_>>().join("\n");
    let body = SendMessage {
        chat_id: chat,
        text: cut(&text, MAX_TEXT),
        link_preview_options: LinkPreviewOptions { is_disabled: true },
    };
    let body = serde_json::to_vec(&body).map_err(|error| error.to_string())?;
    let headers = [("content-type", "application/json")];
    client.post(&telegram.method_url("sendMessage"), headers, &body)
}

impl Telegram {
    pub(crate) fn method_url(&self, name: &str) -> String {
        format!("{}/bot{}/{name}", self.base, self.token.reveal())
    }

    /// The bot's number: the part of the token before the colon, which is not secret.
    pub(crate) fn bot(&self) -> &str {
        match self.token.reveal().split_once(':') {
            Some((bot, _secret)) => bot,
            None => "",
        }
    }
}
