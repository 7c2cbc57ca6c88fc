//! `remote` in `config.json`: which channels there are, and what each wants to know.
//!
//! A wrong value is told and switches off its channel at most; the others go on.

use std::path::{Path, PathBuf};

use overtone_messages::{Lang, remote as words};
use overtone_store::config::Config;
use overtone_store::{Home, StoreError};
use serde_json::{Map, Value};

use crate::event::Event;
use crate::secret::{NoSecret, Secret, variable};

const TELEGRAM: &str = "https://api.telegram.org";
const NTFY: &str = "https://ntfy.sh";
const MAX_TOPIC: usize = 64;
const MAX_CHATS: usize = 100;

/// Looks up a variable of the environment.
type Lookup<'a> = &'a dyn Fn(&str) -> Option<String>;

#[derive(Debug, Clone, Default)]
pub struct Settings {
    pub(crate) budget_usd: Option<f64>,
    pub(crate) telegram: Option<Telegram>,
    pub(crate) webhook: Option<Webhook>,
    pub(crate) ntfy: Option<Ntfy>,
}

#[derive(Debug, Clone)]
pub(crate) struct Telegram {
    pub(crate) base: String,
    pub(crate) token: Secret,
    /// Who is told, and who may command.
    pub(crate) chats: Vec<i64>,
    pub(crate) events: Vec<Event>,
}

#[derive(Debug, Clone)]
pub(crate) struct Webhook {
    pub(crate) url: String,
    pub(crate) secret: Secret,
    pub(crate) events: Vec<Event>,
}

#[derive(Debug, Clone)]
pub(crate) struct Ntfy {
    pub(crate) base: String,
    pub(crate) topic: String,
    pub(crate) token: Option<Secret>,
    pub(crate) events: Vec<Event>,
}

/// Something about a key that a person should know.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Problem {
    /// Like `remote.telegram.chats`.
    pub key: String,
    fault: Fault,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum Fault {
    Unreadable(String),
    Unknown,
    Missing,
    NotAnObject,
    BadAddress,
    BadNumber,
    BadChats,
    BadTopic,
    BadEvent(String),
    NoSecret(PathBuf, NoSecret),
    /// It works, but the secret is in a file that is shown around.
    Literal,
    /// It works, but everybody on the way can read it.
    Unencrypted,
}

impl Problem {
    /// Worth knowing, but nothing is wrong with it.
    pub const fn is_note(&self) -> bool {
        matches!(self.fault, Fault::Literal | Fault::Unencrypted)
    }

    pub fn text(&self, lang: Lang) -> String {
        let what = match &self.fault {
            Fault::Unreadable(problem) => problem.clone(),
            Fault::Unknown => words::unknown_key(lang),
            Fault::Missing => words::missing(lang),
            Fault::NotAnObject => words::not_an_object(lang),
            Fault::BadAddress => words::bad_address(lang),
            Fault::BadNumber => words::bad_number(lang),
            Fault::BadChats => words::bad_chats(lang),
            Fault::BadTopic => words::bad_topic(lang),
            Fault::BadEvent(name) => words::bad_event(lang, name, &Event::ALL.map(Event::key).join(", ")),
            Fault::NoSecret(path, reason) => no_secret(lang, path, reason),
            Fault::Literal => words::literal_secret(lang),
            Fault::Unencrypted => words::unencrypted(lang),
        };
        format!("{}: {what}", self.key)
    }
}

fn no_secret(lang: Lang, path: &Path, reason: &NoSecret) -> String {
    let path = path.display().to_string();
    match reason {
        NoSecret::Variable(name) => words::no_variable(lang, name),
        NoSecret::File(problem) => words::no_secret_file(lang, &path, problem),
        NoSecret::Open => words::open_secret_file(lang, &path),
        NoSecret::Unusable => words::unusable_secret(lang),
    }
}

impl Settings {
    /// What is configured and usable, and what is wrong with the rest.
    pub fn load(home: &Home) -> (Self, Vec<Problem>) {
        Self::load_with(home, &|name| std::env::var(name).ok())
    }

    fn load_with(home: &Home, lookup: Lookup<'_>) -> (Self, Vec<Problem>) {
        let mut reader = Reader { root: home.root(), lookup, problems: Vec::new() };
        let settings = match Config::load(home) {
            Ok(config) => config.section("remote").map(|section| reader.settings(section)),
            Err(error) => reader.unreadable(&error),
        };
        (settings.unwrap_or_default(), reader.problems)
    }

    pub fn is_empty(&self) -> bool {
        self.telegram.is_none() && self.webhook.is_none() && self.ntfy.is_none()
    }

    /// Takes every known secret out of a text.
    pub(crate) fn clean(&self, text: &str) -> String {
        let telegram = self.telegram.as_ref().map(|telegram| &telegram.token);
        let webhook = self.webhook.as_ref().map(|webhook| &webhook.secret);
        let ntfy = self.ntfy.as_ref().and_then(|ntfy| ntfy.token.as_ref());
        let secrets = [telegram, webhook, ntfy].into_iter().flatten();
        let text = secrets.fold(text.to_owned(), |text, secret| secret.hide_in(&text));
        // The path of a webhook is often a secret, too.
        match &self.webhook {
            Some(webhook) => text.replace(&webhook.url, "****"),
            None => text,
        }
    }

    pub(crate) fn wants(&self, event: Event) -> bool {
        let telegram = self.telegram.as_ref().map(|telegram| &telegram.events);
        let webhook = self.webhook.as_ref().map(|webhook| &webhook.events);
        let ntfy = self.ntfy.as_ref().map(|ntfy| &ntfy.events);
        [telegram, webhook, ntfy].into_iter().flatten().any(|events| events.contains(&event))
    }
}

/// Reads the section and notes what is wrong on the way.
struct Reader<'a> {
    root: &'a Path,
    lookup: Lookup<'a>,
    problems: Vec<Problem>,
}

impl Reader<'_> {
    fn note(&mut self, key: &str, fault: Fault) {
        self.problems.push(Problem { key: key.to_owned(), fault });
    }

    fn unreadable(&mut self, error: &StoreError) -> Option<Settings> {
        self.note("config.json", Fault::Unreadable(error.to_string()));
        None
    }

    fn settings(&mut self, section: &Value) -> Settings {
        let known = ["budgetUsd", "telegram", "webhook", "ntfy"];
        let Some(fields) = self.object("remote", Some(section), &known) else { return Settings::default() };
        Settings {
            budget_usd: self.budget(fields),
            telegram: self.telegram(fields),
            webhook: self.webhook(fields),
            ntfy: self.ntfy(fields),
        }
    }

    /// The fields of an object, if there is one; unknown ones are told.
    fn object<'v>(
        &mut self,
        key: &str,
        value: Option<&'v Value>,
        known: &[&str],
    ) -> Option<&'v Map<String, Value>> {
        let value = value.filter(|value| !value.is_null())?;
        let Some(fields) = value.as_object() else {
            self.note(key, Fault::NotAnObject);
            return None;
        };
        for name in fields.keys().filter(|name| !known.contains(&name.as_str())) {
            self.note(&format!("{key}.{name}"), Fault::Unknown);
        }
        Some(fields)
    }

    fn budget(&mut self, fields: &Map<String, Value>) -> Option<f64> {
        let value = fields.get("budgetUsd")?;
        let amount = value.as_f64().filter(|amount| *amount > 0.0);
        if amount.is_none() {
            self.note("remote.budgetUsd", Fault::BadNumber);
        }
        amount
    }

    fn telegram(&mut self, fields: &Map<String, Value>) -> Option<Telegram> {
        let key = "remote.telegram";
        let known = ["token", "tokenFile", "chats", "events", "base"];
        let fields = self.object(key, fields.get("telegram"), &known)?;
        let base = self.address(key, "base", fields, Some(TELEGRAM));
        let token = self.secret(key, "token", fields);
        let chats = self.chats(key, fields);
        let events = self.events(key, fields);
        Some(Telegram { base: base?, token: token?, chats: chats?, events })
    }

    fn webhook(&mut self, fields: &Map<String, Value>) -> Option<Webhook> {
        let key = "remote.webhook";
        let fields = self.object(key, fields.get("webhook"), &["url", "secret", "secretFile", "events"])?;
        let url = self.address(key, "url", fields, None);
        let secret = self.secret(key, "secret", fields);
        let events = self.events(key, fields);
        Some(Webhook { url: url?, secret: secret?, events })
    }

    fn ntfy(&mut self, fields: &Map<String, Value>) -> Option<Ntfy> {
        let key = "remote.ntfy";
        let known = ["base", "topic", "token", "tokenFile", "events"];
        let fields = self.object(key, fields.get("ntfy"), &known)?;
        let base = self.address(key, "base", fields, Some(NTFY));
        let topic = self.topic(key, fields);
        let has_token = fields.contains_key("token") || fields.contains_key("tokenFile");
        let token = if has_token { self.secret(key, "token", fields) } else { None };
        let events = self.events(key, fields);
        // A topic that needs a token takes nothing without it.
        let is_usable = token.is_some() == has_token;
        Some(Ntfy { base: base?, topic: topic?, token, events }).filter(|_| is_usable)
    }

    /// Without the slash at its end.
    fn address(
        &mut self,
        key: &str,
        name: &str,
        fields: &Map<String, Value>,
        preset: Option<&str>,
    ) -> Option<String> {
        let key = format!("{key}.{name}");
        let text = match fields.get(name) {
            None if preset.is_none() => {
                self.note(&key, Fault::Missing);
                return None;
            }
            None => return preset.map(str::to_owned),
            Some(value) => value.as_str().filter(|text| is_address(text)),
        };
        match text {
            Some(text) if is_unencrypted(text) => self.note(&key, Fault::Unencrypted),
            Some(_) => {}
            None => self.note(&key, Fault::BadAddress),
        }
        text.map(|text| text.trim_end_matches('/').to_owned())
    }

    /// From the file that `nameFile` says, else from `name`, which is a `${VARIABLE}` at best.
    fn secret(&mut self, key: &str, name: &str, fields: &Map<String, Value>) -> Option<Secret> {
        let file_key = format!("{key}.{name}File");
        let (key, path, found) = match (fields.get(&format!("{name}File")), fields.get(name)) {
            (Some(file), _) => {
                let path = self.root.join(file.as_str().unwrap_or_default());
                let found = Secret::from_file(&path);
                (file_key, path, found)
            }
            (None, Some(value)) => {
                let key = format!("{key}.{name}");
                let found = self.inline_secret(&key, value.as_str().unwrap_or_default());
                (key, PathBuf::new(), found)
            }
            (None, None) => {
                self.note(&file_key, Fault::Missing);
                return None;
            }
        };
        found.map_err(|reason| self.note(&key, Fault::NoSecret(path, reason))).ok()
    }

    fn inline_secret(&mut self, key: &str, text: &str) -> Result<Secret, NoSecret> {
        let Some(name) = variable(text) else {
            let secret = Secret::new(text)?;
            self.note(key, Fault::Literal);
            return Ok(secret);
        };
        let value = (self.lookup)(name).ok_or_else(|| NoSecret::Variable(name.to_owned()))?;
        Secret::new(&value)
    }

    fn chats(&mut self, key: &str, fields: &Map<String, Value>) -> Option<Vec<i64>> {
        let key = format!("{key}.chats");
        let Some(value) = fields.get("chats") else {
            self.note(&key, Fault::Missing);
            return None;
        };
        let items = value.as_array().filter(|items| (1..=MAX_CHATS).contains(&items.len()));
        let chats: Option<Vec<i64>> = items.and_then(|items| items.iter().map(Value::as_i64).collect());
        if chats.is_none() {
            self.note(&key, Fault::BadChats);
        }
        let mut chats = chats?;
        chats.sort_unstable();
        chats.dedup();
        Some(chats)
    }

    fn topic(&mut self, key: &str, fields: &Map<String, Value>) -> Option<String> {
        let key = format!("{key}.topic");
        let plain = |text: &&str| {
            let is_plain = text.bytes().all(|b| b.is_ascii_alphanumeric() || b"-_".contains(&b));
            is_plain && (1..=MAX_TOPIC).contains(&text.len())
        };
        let value = fields.get("topic");
        let topic = value.and_then(Value::as_str).filter(plain).map(str::to_owned);
        if topic.is_none() {
            self.note(&key, if value.is_none() { Fault::Missing } else { Fault::BadTopic });
        }
        topic
    }

    /// All, unless some are chosen. A name that is none is told; the others count.
    fn events(&mut self, key: &str, fields: &Map<String, Value>) -> Vec<Event> {
        let key = format!("{key}.events");
        let Some(value) = fields.get("events") else { return Event::ALL.to_vec() };
        let names = value.as_array().cloned().unwrap_or_else(|| vec![value.clone()]);
        let mut events = Vec::new();
        for name in names {
            match name.as_str().and_then(Event::from_key) {
                Some(event) => events.push(event),
                None => self.note(&key, Fault::BadEvent(name.to_string())),
            }
        }
        events
    }
}

fn is_address(text: &str) -> bool {
    let rest = text.strip_prefix("https://").or_else(|| text.strip_prefix("http://"));
    let is_plain = text.bytes().all(|b| b.is_ascii_graphic() && !b"\"<>\\^`{|}#".contains(&b));
    is_plain && rest.is_some_and(|rest| !host(rest).is_empty()) && text.parse::<ureq::http::Uri>().is_ok()
}

fn is_unencrypted(text: &str) -> bool {
    let Some(rest) = text.strip_prefix("http://") else { return false };
    !["127.0.0.1", "localhost", "[::1]"].contains(&host(rest))
}

/// The name in what follows the scheme, without user, port and path.
pub(crate) fn host(rest: &str) -> &str {
    let authority = rest.split(['/', '?']).next().unwrap_or_default();
    let place = authority.rsplit('@').next().unwrap_or_default();
    match place.rsplit_once(':') {
        Some((name, port)) if port.bytes().all(|b| b.is_ascii_digit()) => name,
        _ => place,
    }
}

#[cfg(test)]
mod tests {
    use overtone_store::files;
    use serde_json::json;

    use super::*;

    fn load(remote: &Value) -> (Settings, Vec<String>) {
        let dir = tempfile::tempdir().unwrap();
        let home = Home::at(dir.path().to_owned());
        files::write_atomic(&dir.path().join("token"), b"7:abc\n", 0o600).unwrap();
        files::write_atomic(&dir.path().join("open"), b"7:abc\n", 0o644).unwrap();
        let text = json!({ "remote": remote }).to_string();
        files::write_atomic(&home.config_file(), text.as_bytes(), 0o600).unwrap();
        let lookup = |name: &str| (name == "SET").then(|| "from-variable".to_owned());
        let (settings, problems) = Settings::load_with(&home, &lookup);
        (settings, problems.iter().map(|problem| problem.text(Lang::En)).collect())
    }

    #[test]
    fn what_is_right_is_taken() {
        let (settings, problems) = load(&json!({
            "budgetUsd": 5,
            "telegram": { "tokenFile": "token", "chats": [5, -3, 5], "events": ["done"] },
            "webhook": { "url": "https://x.example/hook", "secret": "${SET}" },
            "ntfy": { "topic": "my-topic", "base": "http://127.0.0.1:80/" },
        }));
        assert_eq!(problems, [""; 0]);
        let telegram = settings.telegram.unwrap();
        assert_eq!((telegram.base.as_str(), telegram.chats), (TELEGRAM, vec![-3, 5]));
        assert_eq!((telegram.token.reveal(), telegram.events), ("7:abc", vec![Event::Done]));
        assert_eq!(settings.webhook.unwrap().secret.reveal(), "from-variable");
        let ntfy = settings.ntfy.unwrap();
        assert_eq!((ntfy.base.as_str(), ntfy.token, ntfy.events.len()), ("http://127.0.0.1:80", None, 5));
    }

    #[test]
    fn what_is_wrong_is_told_and_switches_off_no_other_channel() {
        for (remote, wanted) in [
            (json!(7), "remote: "),
            (json!({ "budgetUsd": "many" }), "remote.budgetUsd: "),
            (json!({ "telegram": [] }), "remote.telegram: "),
            (json!({ "telegram": { "tokenFile": "open", "chats": [1] } }), "remote.telegram.tokenFile: "),
            (json!({ "telegram": { "tokenFile": "none", "chats": [1] } }), "remote.telegram.tokenFile: "),
            (json!({ "telegram": { "token": "${UNSET}", "chats": [1] } }), "remote.telegram.token: "),
            (json!({ "telegram": { "tokenFile": "token" } }), "remote.telegram.chats: "),
            (json!({ "telegram": { "tokenFile": "token", "chats": ["x"] } }), "remote.telegram.chats: "),
            (json!({ "telegram": { "chats": [1] } }), "remote.telegram.tokenFile: "),
            (json!({ "webhook": { "url": "ftp://x", "secret": "${SET}" } }), "remote.webhook.url: "),
            (json!({ "webhook": { "secret": "${SET}" } }), "remote.webhook.url: "),
            (json!({ "ntfy": { "topic": "a/b" } }), "remote.ntfy.topic: "),
            (json!({ "ntfi": {} }), "remote.ntfi: "),
        ] {
            let mut with_other = remote.clone();
            let has_other = remote.as_object().is_some_and(|fields| !fields.contains_key("ntfy"));
            if has_other {
                with_other["ntfy"] = json!({ "topic": "t" });
            }
            let (settings, problems) = load(&with_other);
            assert_eq!(problems.len(), 1, "{remote}: {problems:?}");
            assert!(problems[0].starts_with(wanted), "{problems:?}");
            assert_eq!(settings.ntfy.is_some(), has_other, "{remote}");
        }
    }

    #[test]
    fn a_wrong_event_is_told_and_the_others_count() {
        let (settings, problems) = load(&json!({ "ntfy": { "topic": "t", "events": ["done", "dnoe"] } }));
        assert_eq!(settings.ntfy.unwrap().events, [Event::Done]);
        assert!(problems[0].contains("dnoe") && problems[0].contains("needs-person"), "{problems:?}");
    }

    #[test]
    fn secrets_are_taken_out_of_texts() {
        let (settings, problems) = load(&json!({ "telegram": { "token": "99:literal", "chats": [1] } }));
        assert_eq!(problems.len(), 1);
        assert_eq!(settings.clean("at /bot99:literal/getMe"), "at /bot****/getMe");
        assert!(!format!("{settings:?}{problems:?}").contains("99:literal"));
    }

    #[test]
    fn hosts_are_seen() {
        assert_eq!(host("u:p@h.example:80/p@x"), "h.example");
        assert_eq!(host("[::1]:8080"), "[::1]");
        assert!(is_unencrypted("http://h.example/") && !is_unencrypted("http://localhost:1/"));
    }
}
