//! Polls Telegram for commands, accepts each once, and replies. Commands from chats that are not configured are
//! ignored.

use std::io;
use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant};

use overtone_core::messages::Lang;
use overtone_net::{Backoff, Client};
use overtone_store::{Log, clock};
use serde_json::{Map, Value};

use crate::remote::command_handler::CommandHandler;
use crate::remote::config::Telegram;
use crate::remote::outbox::{Outbox, OutgoingMessage};
use crate::remote::service::SessionBackend;

/// How long Telegram holds a request open, in seconds. It is shorter than the client's own timeout.
const LONG_POLL_SECONDS: u32 = 25;
const MAX_UPDATES: u32 = 20;
/// Replies that could not be sent within this time are dropped.
const REPLY_TTL_MS: i64 = 10 * 60 * 1000;

#[derive(Debug)]
pub(crate) struct TelegramListener {
    pub(crate) telegram: Telegram,
    pub(crate) client: Arc<Client>,
    pub(crate) backend: Arc<dyn SessionBackend>,
    pub(crate) outbox: Arc<Outbox>,
    pub(crate) backoff: Backoff,
    pub(crate) lang: Lang,
    pub(crate) log: Log,
    /// The bot's own name, requested when a command addresses a bot for the first time.
    pub(crate) bot_name: OnceLock<String>,
}

impl TelegramListener {
    /// Runs until the outbox is closed.
    pub(crate) fn run(&self) {
        let mut failures = 0;
        loop {
            let started = Instant::now();
            let wait = match self.poll_updates() {
                Ok(0) => {
                    failures = 0;
                    // A service that does not hold the request open is not polled in a busy loop.
                    self.backoff.first().saturating_sub(started.elapsed())
                }
                Ok(_) => {
                    failures = 0;
                    Duration::ZERO
                }
                Err(error) => {
                    failures += 1;
                    if failures == 1 {
                        let error = self.telegram.token.hide_in(&error);
                        self.log.write_line(&format!("cannot ask Telegram for commands: {error}"));
                    }
                    self.backoff.delay(failures, None)
                }
            };
            if !self.outbox.sleep(wait) {
                return;
            }
        }
    }

    /// Handles the waiting updates and returns how many there were.
    fn poll_updates(&self) -> Result<usize, String> {
        let offset = match self.outbox.next_update(self.telegram.bot()) {
            Some(next) => format!("&offset={next}"),
            None => String::new(),
        };
        let method = format!(
            "getUpdates?timeout={LONG_POLL_SECONDS}&limit={MAX_UPDATES}&allowed_updates=%5B%22message%22%5D{offset}"
        );
        let response = self.client.long_poll(&self.telegram.method_url(&method))?;
        let body: Value = serde_json::from_slice(&response.body).unwrap_or_default();
        let updates = match body["result"].as_array() {
            Some(updates) if response.is_success() => updates,
            _ => {
                let description = body["description"].as_str().unwrap_or_default();
                return Err(format!("{} {description}", response.status));
            }
        };
        for update in updates {
            self.handle_update(update).map_err(|error| error.to_string())?;
        }
        if updates.is_empty() {
            self.outbox.stop_skipping_updates().map_err(|error| error.to_string())?;
        }
        Ok(updates.len())
    }

    /// The update is recorded before it is carried out: a command that is interrupted by a kill is lost rather than
    /// repeated.
    fn handle_update(&self, update: &Value) -> io::Result<()> {
        let Some(number) = update["update_id"].as_i64() else { return Ok(()) };
        let chat = update["message"]["chat"]["id"].as_i64();
        let is_known_chat = match chat {
            Some(chat) => self.telegram.chats.contains(&chat),
            // An update without a chat does not count as a message from a foreign one.
            None => true,
        };
        let is_new = self.outbox.accept_update(self.telegram.bot(), number, is_known_chat)?;
        let Some(chat) = chat else { return Ok(()) };
        if !is_known_chat || !is_new {
            return Ok(());
        }
        let text = update["message"]["text"].as_str().unwrap_or_default();
        let is_own_name = |name: &str| self.is_own_name(name);
        let handler = CommandHandler { backend: &*self.backend, lang: self.lang, is_own_name: &is_own_name };
        match handler.handle(text, &format!("telegram:{chat}")) {
            Some(reply) => self.outbox.enqueue_reply(self.reply(number, chat, reply)),
            None => Ok(()),
        }
    }

    /// False if the bot's own name is not known: a command that may be for another bot is not carried out.
    fn is_own_name(&self, name: &str) -> bool {
        match self.own_name() {
            Ok(own) => own.eq_ignore_ascii_case(name),
            Err(error) => {
                let error = self.telegram.token.hide_in(&error);
                self.log.write_line(&format!("cannot ask Telegram for the bot's name: {error}"));
                false
            }
        }
    }

    fn own_name(&self) -> Result<&str, String> {
        if let Some(name) = self.bot_name.get() {
            return Ok(name);
        }
        let response = self.client.long_poll(&self.telegram.method_url("getMe"))?;
        let body: Value = serde_json::from_slice(&response.body).unwrap_or_default();
        match body["result"]["username"].as_str() {
            Some(name) if response.is_success() => Ok(self.bot_name.get_or_init(|| name.to_owned())),
            _ => Err(format!("{} without a name", response.status)),
        }
    }

    /// A reply goes through the outbox like every other message, so that it is retried, too.
    fn reply(&self, number: i64, chat: i64, text: String) -> OutgoingMessage {
        let target = format!("telegram/{chat}");
        OutgoingMessage {
            id: format!("reply-{}:{number}:{target}", self.telegram.bot()),
            target,
            event: "reply".to_owned(),
            title: String::new(),
            text,
            fields: Value::Null,
            expires_at: clock::now().0 + REPLY_TTL_MS,
            attempts: 0,
            due: 0,
            other: Map::new(),
        }
    }
}
