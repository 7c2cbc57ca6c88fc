//! `remote` in `config.json`: the channels and the events each of them subscribes to.
//!
//! A wrong value is reported and disables its own channel at most.

use std::path::{Path, PathBuf};

use overtone_core::messages::{Lang, remote as messages};
use overtone_store::Home;
use overtone_store::config::{Config, Section};
use serde_json::{Map, Value};

use crate::remote::event::Event;
use overtone_net::{Secret, SecretError, variable_reference};

const TELEGRAM: &str = "https://api.telegram.org";
const NTFY: &str = "https://ntfy.sh";
const MAX_TOPIC: usize = 64;
const MAX_CHATS: usize = 100;

/// Looks up an environment variable.
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
    /// The chats that are notified and whose commands are accepted.
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

/// An error or a warning about one key of the configuration.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ConfigError {
    /// Like `remote.telegram.chats`.
    pub key: String,
    kind: ConfigErrorKind,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum ConfigErrorKind {
    Unreadable(String),
    Unknown,
    Missing,
    NotAnObject,
    BadAddress,
    BadNumber,
    BadChats,
    BadTopic,
    BadEvent(String),
    Secret(PathBuf, SecretError),
    /// A warning: the secret is in `config.json`, which users share.
    Literal,
    /// A warning: the connection is not encrypted.
    Unencrypted,
}

impl ConfigError {
    /// Whether the setting works all the same.
    pub const fn is_warning(&self) -> bool {
        matches!(self.kind, ConfigErrorKind::Literal | ConfigErrorKind::Unencrypted)
    }

    /// The key and what is wrong with it, for the user.
    pub fn message(&self, lang: Lang) -> String {
        let what = match &self.kind {
            ConfigErrorKind::Unreadable(error) => error.clone(),
            ConfigErrorKind::Unknown => messages::unknown_key(lang),
            ConfigErrorKind::Missing => messages::missing(lang),
            ConfigErrorKind::NotAnObject => messages::not_an_object(lang),
            ConfigErrorKind::BadAddress => messages::bad_address(lang),
            ConfigErrorKind::BadNumber => messages::bad_number(lang),
            ConfigErrorKind::BadChats => messages::bad_chats(lang),
            ConfigErrorKind::BadTopic => messages::bad_topic(lang),
            ConfigErrorKind::BadEvent(name) => {
                messages::bad_event(lang, name, &Event::ALL.map(Event::key).join(", "))
            }
            ConfigErrorKind::Secret(path, reason) => secret_error(lang, path, reason),
            ConfigErrorKind::Literal => messages::literal_secret(lang),
            ConfigErrorKind::Unencrypted => messages::unencrypted(lang),
        };
        format!("{}: {what}", self.key)
    }
}

fn secret_error(lang: Lang, path: &Path, reason: &SecretError) -> String {
    let path = path.display().to_string();
    match reason {
        SecretError::Variable(name) => messages::no_variable(lang, name),
        SecretError::File(error) => messages::no_secret_file(lang, &path, error),
        SecretError::Open => messages::open_secret_file(lang, &path),
        SecretError::Unusable => messages::unusable_secret(lang),
    }
}

impl Settings {
    /// Returns the usable channels and everything that is wrong with the section.
    pub fn load(home: &Home) -> (Self, Vec<ConfigError>) {
        Self::load_with(home, &|name| std::env::var(name).ok())
    }

    fn load_with(home: &Home, lookup: Lookup<'_>) -> (Self, Vec<ConfigError>) {
        let mut reader = Reader { root: home.root(), lookup, errors: Vec::new() };
        let settings = match Config::load(home) {
            Ok(config) => match config.section(Section::Remote) {
                Some(section) => reader.settings(section),
                None => Self::default(),
            },
            Err(error) => {
                reader.report("config.json", ConfigErrorKind::Unreadable(error.to_string()));
                Self::default()
            }
        };
        (settings, reader.errors)
    }

    pub fn is_empty(&self) -> bool {
        self.telegram.is_none() && self.webhook.is_none() && self.ntfy.is_none()
    }

    /// Replaces every known secret in a text by `****`.
    pub(crate) fn redact(&self, text: &str) -> String {
        let telegram = self.telegram.as_ref().map(|telegram| &telegram.token);
        let webhook = self.webhook.as_ref().map(|webhook| &webhook.secret);
        let ntfy = self.ntfy.as_ref().and_then(|ntfy| ntfy.token.as_ref());
        let secrets = [telegram, webhook, ntfy].into_iter().flatten();
        let text = secrets.fold(text.to_owned(), |text, secret| secret.hide_in(&text));
        // The path of a webhook often contains a secret, too.
        match &self.webhook {
            Some(webhook) => text.replace(&webhook.url, "****"),
            None => text,
        }
    }

    /// Whether some channel subscribes to the event.
    pub(crate) fn is_subscribed(&self, event: Event) -> bool {
        let telegram = self.telegram.as_ref().map(|telegram| &telegram.events);
        let webhook = self.webhook.as_ref().map(|webhook| &webhook.events);
        let ntfy = self.ntfy.as_ref().map(|ntfy| &ntfy.events);
        [telegram, webhook, ntfy].into_iter().flatten().any(|events| events.contains(&event))
    }
}

/// Reads the section and collects what is wrong with it.
struct Reader<'a> {
    root: &'a Path,
    lookup: Lookup<'a>,
    errors: Vec<ConfigError>,
}

impl Reader<'_> {
    fn report(&mut self, key: &str, kind: ConfigErrorKind) {
        self.errors.push(ConfigError { key: key.to_owned(), kind });
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

    /// The fields of an object. Missing and `null` are nothing; unknown fields are reported.
    fn object<'v>(
        &mut self,
        key: &str,
        value: Option<&'v Value>,
        known: &[&str],
    ) -> Option<&'v Map<String, Value>> {
        let value = value.filter(|value| !value.is_null())?;
        let Some(fields) = value.as_object() else {
            self.report(key, ConfigErrorKind::NotAnObject);
            return None;
        };
        for name in fields.keys().filter(|name| !known.contains(&name.as_str())) {
            self.report(&format!("{key}.{name}"), ConfigErrorKind::Unknown);
        }
        Some(fields)
    }

    fn budget(&mut self, fields: &Map<String, Value>) -> Option<f64> {
        let value = fields.get("budgetUsd")?;
        let amount = value.as_f64().filter(|amount| *amount > 0.0);
        if amount.is_none() {
            self.report("remote.budgetUsd", ConfigErrorKind::BadNumber);
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
        // A configured but unusable token disables the channel: the topic would reject every message.
        if has_token && token.is_none() {
            return None;
        }
        Some(Ntfy { base: base?, topic: topic?, token, events })
    }

    /// An address without its trailing slash.
    fn address(
        &mut self,
        key: &str,
        name: &str,
        fields: &Map<String, Value>,
        default: Option<&str>,
    ) -> Option<String> {
        let key = format!("{key}.{name}");
        let text = match fields.get(name) {
            None if default.is_none() => {
                self.report(&key, ConfigErrorKind::Missing);
                return None;
            }
            None => return default.map(str::to_owned),
            Some(value) => value.as_str().filter(|text| is_address(text)),
        };
        match text {
            Some(text) if is_unencrypted(text) => self.report(&key, ConfigErrorKind::Unencrypted),
            Some(_) => {}
            None => self.report(&key, ConfigErrorKind::BadAddress),
        }
        text.map(|text| text.trim_end_matches('/').to_owned())
    }

    /// The secret from the file that `<name>File` names, else from `<name>`, preferably a `${VARIABLE}`.
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
                self.report(&file_key, ConfigErrorKind::Missing);
                return None;
            }
        };
        match found {
            Ok(secret) => Some(secret),
            Err(reason) => {
                self.report(&key, ConfigErrorKind::Secret(path, reason));
                None
            }
        }
    }

    fn inline_secret(&mut self, key: &str, text: &str) -> Result<Secret, SecretError> {
        let Some(name) = variable_reference(text) else {
            let secret = Secret::new(text)?;
            self.report(key, ConfigErrorKind::Literal);
            return Ok(secret);
        };
        let value = (self.lookup)(name).ok_or_else(|| SecretError::Variable(name.to_owned()))?;
        Secret::new(&value)
    }

    fn chats(&mut self, key: &str, fields: &Map<String, Value>) -> Option<Vec<i64>> {
        let key = format!("{key}.chats");
        let Some(value) = fields.get("chats") else {
            self.report(&key, ConfigErrorKind::Missing);
            return None;
        };
        let items = value.as_array().filter(|items| (1..=MAX_CHATS).contains(&items.len()));
        let chats: Option<Vec<i64>> = items.and_then(|items| items.iter().map(Value::as_i64).collect());
        if chats.is_none() {
            self.report(&key, ConfigErrorKind::BadChats);
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
            self.report(
                &key,
                if value.is_none() { ConfigErrorKind::Missing } else { ConfigErrorKind::BadTopic },
            );
        }
        topic
    }

    /// The selected events, or all by default. Unknown names are reported and ignored.
    fn events(&mut self, key: &str, fields: &Map<String, Value>) -> Vec<Event> {
        let key = format!("{key}.events");
        let Some(value) = fields.get("events") else { return Event::ALL.to_vec() };
        let names = value.as_array().cloned().unwrap_or_else(|| vec![value.clone()]);
        let mut events = Vec::new();
        for name in names {
            match name.as_str().and_then(Event::from_key) {
                Some(event) => events.push(event),
                None => self.report(&key, ConfigErrorKind::BadEvent(name.to_string())),
            }
        }
        events
    }
}

fn is_address(text: &str) -> bool {
    let Some(rest) = text.strip_prefix("https://").or_else(|| text.strip_prefix("http://")) else {
        return false;
    };
    let is_plain = text.bytes().all(|b| b.is_ascii_graphic() && !b"\"<>\\^`{|}#".contains(&b));
    is_plain && !host(rest).is_empty() && text.parse::<ureq::http::Uri>().is_ok()
}

fn is_unencrypted(text: &str) -> bool {
    let Some(rest) = text.strip_prefix("http://") else { return false };
    !["127.0.0.1", "localhost", "[::1]"].contains(&host(rest))
}

/// The host in the part of an address after the scheme, without user, port and path.
pub(crate) fn host(rest: &str) -> &str {
    let authority = rest.split(['/', '?']).next().unwrap_or_default();
    let host_and_port = authority.rsplit('@').next().unwrap_or_default();
    match host_and_port.rsplit_once(':') {
        Some((name, port)) if port.bytes().all(|b| b.is_ascii_digit()) => name,
        _ => host_and_port,
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
        let (settings, errors) = Settings::load_with(&home, &lookup);
        (settings, errors.iter().map(|error| error.message(Lang::En)).collect())
    }

    #[test]
    fn valid_settings_are_accepted() {
        let (settings, errors) = load(&json!({
            "budgetUsd": 5,
            "telegram": { "tokenFile": "token", "chats": [5, -3, 5], "events": ["done"] },
            "webhook": { "url": "https://x.example/hook", "secret": "${SET}" },
            "ntfy": { "topic": "my-topic", "base": "http://127.0.0.1:80/" },
        }));
        assert_eq!(errors, [""; 0]);
        let telegram = settings.telegram.unwrap();
        assert_eq!((telegram.base.as_str(), telegram.chats), (TELEGRAM, vec![-3, 5]));
        assert_eq!((telegram.token.reveal(), telegram.events), ("7:abc", vec![Event::Done]));
        assert_eq!(settings.webhook.unwrap().secret.reveal(), "from-variable");
        let ntfy = settings.ntfy.unwrap();
        assert_eq!((ntfy.base.as_str(), ntfy.token, ntfy.events.len()), ("http://127.0.0.1:80", None, 5));
    }

    #[test]
    fn an_invalid_value_is_reported_and_disables_no_other_channel() {
        for (remote, expected) in [
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
            let has_other = remote.is_object() && remote.get("ntfy").is_none();
            if has_other {
                with_other["ntfy"] = json!({ "topic": "t" });
            }
            let (settings, errors) = load(&with_other);
            assert_eq!(errors.len(), 1, "{remote}: {errors:?}");
            assert!(errors[0].starts_with(expected), "{errors:?}");
            assert_eq!(settings.ntfy.is_some(), has_other, "{remote}");
        }
    }

    #[test]
    fn an_unknown_event_is_reported_and_the_others_count() {
        let (settings, errors) = load(&json!({ "ntfy": { "topic": "t", "events": ["done", "dnoe"] } }));
        assert_eq!(settings.ntfy.unwrap().events, [Event::Done]);
        assert!(errors[0].contains("dnoe") && errors[0].contains("needs-person"), "{errors:?}");
    }

    #[test]
    fn secrets_are_redacted() {
        let (settings, errors) = load(&json!({ "telegram": { "token": "99:literal", "chats": [1] } }));
        assert_eq!(errors.len(), 1);
        assert_eq!(settings.redact("at /bot99:literal/getMe"), "at /bot****/getMe");
        assert!(!format!("{settings:?}{errors:?}").contains("99:literal"));
    }

    #[test]
    fn the_host_of_an_address_is_found() {
        assert_eq!(host("u:p@h.example:80/p@x"), "h.example");
        assert_eq!(host("[::1]:8080"), "[::1]");
        assert!(is_unencrypted("http://h.example/") && !is_unencrypted("http://localhost:1/"));
    }
}
