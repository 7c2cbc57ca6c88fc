//! Asks Telegram for commands, takes each once, and answers. Only chats that are allowed are heard.

use std::io;
use std::sync::{Arc, OnceLock};
use std::time::Instant;

use overtone_messages::Lang;
use overtone_store::{Log, clock};
use serde_json::{Map, Value, json};

use crate::answers::Answers;
use crate::backoff::Backoff;
use crate::config::Telegram;
use crate::http::Client;
use crate::ledger::{Entry, Ledger};
use crate::remote::Host;

/// How long the service holds a question, in seconds; shorter than our own patience.
const HELD: u32 = 25;
const MAX_UPDATES: u32 = 20;
/// Nobody waits longer for an answer.
const REPLY_HOLDS: i64 = 10 * 60 * 1000;

#[derive(Debug)]
pub(crate) struct Listener {
    pub(crate) telegram: Telegram,
    pub(crate) client: Arc<Client>,
    pub(crate) host: Arc<dyn Host>,
    pub(crate) ledger: Arc<Ledger>,
    pub(crate) backoff: Backoff,
    pub(crate) lang: Lang,
    pub(crate) log: Log,
    /// The bot's own name, asked for when a command names a bot for the first time.
    pub(crate) bot_name: OnceLock<String>,
}

impl Listener {
    /// To the end of the server.
    pub(crate) fn run(&self) {
        let mut failures = 0;
        loop {
            let asked = Instant::now();
            let wait = match self.ask() {
                Ok(count) => {
                    failures = 0;
                    // A service that does not hold the question is not asked without a pause.
                    let rest = self.backoff.first().saturating_sub(asked.elapsed());
                    if count > 0 { std::time::Duration::ZERO } else { rest }
                }
                Err(problem) => {
                    failures += 1;
                    self.complain(failures, &problem);
                    self.backoff.after(failures)
                }
            };
            if !self.ledger.sleep(wait) {
                return;
            }
        }
    }

    fn complain(&self, failures: u32, problem: &str) {
        if failures == 1 {
            let problem = self.telegram.token.hide_in(problem);
            self.log.say(&format!("cannot ask Telegram for commands: {problem}"));
        }
    }

    /// Returns how many updates there were.
    fn ask(&self) -> Result<usize, String> {
        let next = self.ledger.next_update(self.telegram.bot());
        let offset = next.map(|next| format!("&offset={next}")).unwrap_or_default();
        let question = format!(
            "getUpdates?timeout={HELD}&limit={MAX_UPDATES}&allowed_updates=%5B%22message%22%5D{offset}"
        );
        let answer = self.client.wait_for(&self.telegram.method(&question))?;
        let body: Value = serde_json::from_str(&answer.body).unwrap_or_default();
        let Some(updates) = body["result"].as_array().filter(|_| answer.is_good()) else {
            let words = body["description"].as_str().unwrap_or_default();
            return Err(format!("{} {words}", answer.status));
        };
        for update in updates {
            self.take(update).map_err(|error| error.to_string())?;
        }
        if updates.is_empty() {
            self.ledger.updates_are_new().map_err(|error| error.to_string())?;
        }
        Ok(updates.len())
    }

    /// It is remembered before it is carried out: a command that a kill interrupts is lost rather than repeated.
    fn take(&self, update: &Value) -> io::Result<()> {
        let Some(number) = update["update_id"].as_i64() else { return Ok(()) };
        let chat = update["message"]["chat"]["id"].as_i64();
        let known = chat.filter(|chat| self.telegram.chats.contains(chat));
        let is_new =
            self.ledger.take_update(self.telegram.bot(), number, known.is_some() || chat.is_none())?;
        let (Some(chat), true) = (known, is_new) else { return Ok(()) };
        let text = update["message"]["text"].as_str().unwrap_or_default();
        let is_own_name = |name: &str| self.is_own_name(name);
        let answers = Answers { host: &*self.host, lang: self.lang, is_own_name: &is_own_name };
        match answers.to(text, &format!("telegram:{chat}")) {
            Some(reply) => self.ledger.enqueue_reply(self.reply(number, chat, reply)),
            None => Ok(()),
        }
    }

    /// A command for a bot whose name cannot be compared with ours is not carried out.
    fn is_own_name(&self, name: &str) -> bool {
        match self.own_name() {
            Ok(own) => own.eq_ignore_ascii_case(name),
            Err(problem) => {
                let problem = self.telegram.token.hide_in(&problem);
                self.log.say(&format!("cannot ask Telegram for the bot's name: {problem}"));
                false
            }
        }
    }

    fn own_name(&self) -> Result<&str, String> {
        if let Some(name) = self.bot_name.get() {
            return Ok(name);
        }
        let answer = self.client.wait_for(&self.telegram.method("getMe"))?;
        let body: Value = serde_json::from_str(&answer.body).unwrap_or_default();
        match body["result"]["username"].as_str().filter(|_| answer.is_good()) {
            Some(name) => Ok(self.bot_name.get_or_init(|| name.to_owned())),
            None => Err(format!("{} without a name", answer.status)),
        }
    }

    /// Through the same door as everything else, so that it is tried again, too.
    fn reply(&self, number: i64, chat: i64, text: String) -> Entry {
        let target = format!("telegram/{chat}");
        Entry {
            id: format!("reply-{}:{number}:{target}", self.telegram.bot()),
            target,
            event: "reply".to_owned(),
            title: String::new(),
            text,
            fields: json!(null),
            until: clock::now().0 + REPLY_HOLDS,
            tries: 0,
            due: 0,
            other: Map::new(),
        }
    }
}
