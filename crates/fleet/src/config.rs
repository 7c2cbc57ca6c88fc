//! The `fleet` section of `config.json`: the server, how to log in, and how much is shared.

use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use overtone_core::messages::{Lang, fleet as words};
use overtone_store::config::{Config, Section};
use overtone_store::{Home, files};
use serde_json::{Map, Value};

use crate::names::{DEFAULT_PREFIX, Names};

const DAY: Duration = Duration::from_hours(24);
const MEBIBYTE: u64 = 1024 * 1024;

const KEYS: [&str; 11] = [
    "url",
    "login",
    "credentials",
    "ca",
    "certificate",
    "key",
    "prefix",
    "name",
    "share",
    "retention",
    "replicas",
];

/// How much of a session is shared with other machines.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Share {
    /// Events and state, but no prompts, no code and no texts of agents.
    #[default]
    State,
    /// Everything.
    Full,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Settings {
    pub urls: Vec<String>,
    /// A private file with `user:password`.
    pub login: Option<PathBuf>,
    pub credentials: Option<PathBuf>,
    pub ca: Option<PathBuf>,
    /// The certificate and the key of this machine, for servers that require one.
    pub identity: Option<(PathBuf, PathBuf)>,
    pub names: Names,
    pub machine_name: Option<String>,
    pub share: Share,
    pub keep_for: Duration,
    pub keep_bytes: u64,
    pub replicas: usize,
}

/// An unusable or unknown key of the section.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ConfigError {
    pub key: String,
    kind: ConfigErrorKind,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum ConfigErrorKind {
    Unreadable(String),
    NotAnObject,
    Unknown,
    Missing,
    BadAddress,
    BadPrefix,
    BadShare,
    BadNumber,
    NotAText,
    HalfIdentity,
}

impl ConfigError {
    /// Unknown keys are only reported; every other error makes the section unusable.
    pub const fn is_warning(&self) -> bool {
        matches!(self.kind, ConfigErrorKind::Unknown)
    }

    pub fn message(&self, lang: Lang) -> String {
        let what = match &self.kind {
            ConfigErrorKind::Unreadable(reason) => reason.clone(),
            ConfigErrorKind::NotAnObject => words::not_an_object(lang),
            ConfigErrorKind::Unknown => words::unknown_key(lang),
            ConfigErrorKind::Missing => words::missing(lang),
            ConfigErrorKind::BadAddress => words::bad_address(lang),
            ConfigErrorKind::BadPrefix => words::bad_prefix(lang),
            ConfigErrorKind::BadShare => words::bad_share(lang),
            ConfigErrorKind::BadNumber => words::bad_number(lang),
            ConfigErrorKind::NotAText => words::not_a_text(lang),
            ConfigErrorKind::HalfIdentity => words::half_identity(lang),
        };
        format!("{}: {what}", self.key)
    }
}

impl Settings {
    /// `None` when no fleet is configured, or when the section is unusable. In the second case the errors say why.
    pub fn load(home: &Home) -> (Option<Self>, Vec<ConfigError>) {
        let config = match Config::load(home) {
            Ok(config) => config,
            Err(error) => {
                return (
                    None,
                    vec![config_error("config.json", ConfigErrorKind::Unreadable(error.to_string()))],
                );
            }
        };
        match config.section(Section::Fleet) {
            None | Some(Value::Null) => (None, Vec::new()),
            Some(section) => Self::read(home, section),
        }
    }

    /// Reads a section, which need not be in the file yet.
    pub fn read(home: &Home, section: &Value) -> (Option<Self>, Vec<ConfigError>) {
        match section {
            Value::Object(fields) => SectionReader { root: home.root(), fields, errors: Vec::new() }.read(),
            _ => (None, vec![config_error("fleet", ConfigErrorKind::NotAnObject)]),
        }
    }

    /// The addresses without logins, to be displayed.
    pub fn redacted_urls(&self) -> String {
        let urls: Vec<_> = self.urls.iter().map(|url| without_login(url)).collect();
        urls.join(",")
    }

    /// `user:password` or a token, from the file or from one of the addresses. The file is read on every call, so that a
    /// renewed login is used without a restart.
    pub(crate) fn read_login(&self) -> io::Result<Option<String>> {
        if let Some(file) = &self.login {
            let with_path =
                |error: io::Error| io::Error::new(error.kind(), format!("{}: {error}", file.display()));
            return match files::read_small(file).map_err(with_path)? {
                Some(text) => Ok(Some(text.trim().to_owned())),
                None => Err(with_path(io::ErrorKind::NotFound.into())),
            };
        }
        Ok(self.urls.iter().find_map(|url| login_in_url(url)))
    }
}

/// Splits a list of addresses into the list without logins, and the first login in it.
pub fn split_login(urls: &str) -> (String, Option<String>) {
    let login = urls.split(',').find_map(login_in_url);
    let plain: Vec<_> = urls.split(',').map(|url| without_login(url.trim())).collect();
    (plain.join(","), login)
}

fn login_in_url(url: &str) -> Option<String> {
    let (_, rest) = url.split_once("://")?;
    let (login, _) = rest.rsplit_once('@')?;
    Some(decode_percent(login))
}

/// Decodes percent-encoding such as `%40`. Anything that is not a valid escape is kept as it is.
fn decode_percent(text: &str) -> String {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let [first, others @ ..] = rest {
        if *first == b'%'
            && let Some(digits) = others.get(..2)
            && let Ok(digits) = str::from_utf8(digits)
            && let Ok(byte) = u8::from_str_radix(digits, 16)
        {
            bytes.push(byte);
            rest = &others[2..];
        } else {
            bytes.push(*first);
            rest = others;
        }
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

fn config_error(key: &str, kind: ConfigErrorKind) -> ConfigError {
    ConfigError { key: key.to_owned(), kind }
}

struct SectionReader<'a> {
    root: &'a Path,
    fields: &'a Map<String, Value>,
    errors: Vec<ConfigError>,
}

impl SectionReader<'_> {
    fn read(mut self) -> (Option<Settings>, Vec<ConfigError>) {
        for name in self.fields.keys().filter(|name| !KEYS.contains(&name.as_str())) {
            self.errors.push(config_error(&format!("fleet.{name}"), ConfigErrorKind::Unknown));
        }
        let settings = self.settings();
        if self.errors.iter().all(ConfigError::is_warning) {
            (settings, self.errors)
        } else {
            (None, self.errors)
        }
    }

    fn settings(&mut self) -> Option<Settings> {
        let urls = self.urls();
        let names = self.names();
        let identity = self.identity();
        Some(Settings {
            login: self.path("login"),
            credentials: self.path("credentials"),
            ca: self.path("ca"),
            identity,
            machine_name: self.non_empty_text("name").map(str::to_owned),
            share: self.share(),
            keep_for: DAY * self.retention("days", 7, 3650).unwrap_or(7),
            keep_bytes: MEBIBYTE * u64::from(self.retention("megabytes", 1, 1024 * 1024).unwrap_or(1024)),
            replicas: self.replicas(),
            urls: urls?,
            names: names?,
        })
    }

    fn add(&mut self, key: &str, kind: ConfigErrorKind) {
        self.errors.push(config_error(&format!("fleet.{key}"), kind));
    }

    fn non_empty_text(&mut self, name: &str) -> Option<&str> {
        let value = self.fields.get(name).filter(|value| !value.is_null())?;
        let text = value.as_str().filter(|text| !text.trim().is_empty());
        if text.is_none() {
            self.add(name, ConfigErrorKind::NotAText);
        }
        text
    }

    /// A path; relative ones start at the home folder, where `join` writes its files.
    fn path(&mut self, name: &str) -> Option<PathBuf> {
        let root = self.root.to_owned();
        self.non_empty_text(name).map(|text| root.join(text))
    }

    fn urls(&mut self) -> Option<Vec<String>> {
        if !self.fields.contains_key("url") {
            self.add("url", ConfigErrorKind::Missing);
        }
        let text = self.non_empty_text("url")?.to_owned();
        let urls: Vec<_> = text.split(',').map(|url| url.trim().to_owned()).collect();
        if urls.iter().all(|url| is_address(url)) {
            return Some(urls);
        }
        self.add("url", ConfigErrorKind::BadAddress);
        None
    }

    fn names(&mut self) -> Option<Names> {
        let prefix = self.non_empty_text("prefix").unwrap_or(DEFAULT_PREFIX).to_owned();
        let names = Names::new(&prefix);
        if names.is_none() {
            self.add("prefix", ConfigErrorKind::BadPrefix);
        }
        names
    }

    fn identity(&mut self) -> Option<(PathBuf, PathBuf)> {
        let (certificate, key) = (self.path("certificate"), self.path("key"));
        if certificate.is_some() != key.is_some() {
            self.add("certificate", ConfigErrorKind::HalfIdentity);
        }
        certificate.zip(key)
    }

    fn share(&mut self) -> Share {
        match self.non_empty_text("share") {
            None | Some("state") => Share::State,
            Some("full") => Share::Full,
            Some(_) => {
                self.add("share", ConfigErrorKind::BadShare);
                Share::State
            }
        }
    }

    /// A number of `retention`, if it is within the bounds.
    fn retention(&mut self, name: &str, min: u32, max: u32) -> Option<u32> {
        let value = self.fields.get("retention")?.get(name)?;
        let number = value.as_u64().and_then(|n| u32::try_from(n).ok());
        let number = number.filter(|n| (min.min(1)..=max).contains(n));
        if number.is_none() {
            self.add(&format!("retention.{name}"), ConfigErrorKind::BadNumber);
        }
        number
    }

    fn replicas(&mut self) -> usize {
        match self.fields.get("replicas").map(Value::as_u64) {
            None => 1,
            Some(Some(count @ 1..=5)) => usize::try_from(count).unwrap_or(1),
            Some(_) => {
                self.add("replicas", ConfigErrorKind::BadNumber);
                1
            }
        }
    }
}

fn without_login(url: &str) -> String {
    match (url.split_once("://"), url.rsplit_once('@')) {
        (Some((scheme, _)), Some((_, host))) => format!("{scheme}://{host}"),
        _ => url.to_owned(),
    }
}

/// Whether a text is a server address: `nats://host:port` or `tls://host:port`, optionally with a login.
pub fn is_address(text: &str) -> bool {
    let Some(rest) = text.strip_prefix("nats://").or_else(|| text.strip_prefix("tls://")) else {
        return false;
    };
    let is_allowed = |b: u8| b.is_ascii_graphic() && !b"\"<>\\^`{|}#,".contains(&b);
    !rest.is_empty() && rest.bytes().all(is_allowed) && text.parse::<async_nats::ServerAddr>().is_ok()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn load(fleet: &Value) -> (Option<Settings>, Vec<String>) {
        let dir = tempfile::tempdir().unwrap();
        let home = Home::at(dir.path().to_owned());
        let text = json!({ "fleet": fleet }).to_string();
        files::write_atomic(&home.config_file(), text.as_bytes(), 0o600).unwrap();
        let (settings, errors) = Settings::load(&home);
        (settings, errors.iter().map(|error| error.message(Lang::En)).collect())
    }

    #[test]
    fn a_valid_section_is_read() {
        let (settings, errors) = load(&json!({
            "url": "nats://127.0.0.1:4222, tls://b.example", "prefix": "team.a", "share": "full", "name": "box",
            "credentials": "fleet/me.creds", "retention": { "days": 2, "megabytes": 10 }, "replicas": 3,
        }));
        assert_eq!(errors, [""; 0]);
        let settings = settings.unwrap();
        assert_eq!(settings.urls, ["nats://127.0.0.1:4222", "tls://b.example"]);
        assert_eq!((settings.share, settings.keep_for, settings.replicas), (Share::Full, 2 * DAY, 3));
        assert_eq!(settings.keep_bytes, 10 * MEBIBYTE);
        assert!(settings.credentials.unwrap().ends_with("fleet/me.creds"));
    }

    #[test]
    fn passwords_are_not_shown() {
        let (settings, _) = load(&json!({ "url": "nats://ann:secret@127.0.0.1:4222,tls://b.example" }));
        assert_eq!(settings.unwrap().redacted_urls(), "nats://127.0.0.1:4222,tls://b.example");
    }

    #[test]
    fn a_login_is_read_from_a_file_or_from_any_of_the_addresses() {
        let login = |url: &str| load(&json!({ "url": url })).0.unwrap().read_login().unwrap();
        assert_eq!(login("nats://a:4222"), None);
        assert_eq!(login("nats://a:4222,nats://ann:p%40ss%@b").as_deref(), Some("ann:p@ss%"));
        assert_eq!(login("tls://secret@a").as_deref(), Some("secret"));
        assert_eq!(split_login("nats://x:y@a,nats://b"), ("nats://a,nats://b".into(), Some("x:y".into())));
        let (settings, _) = load(&json!({ "url": "nats://a", "login": "none" }));
        assert!(settings.unwrap().read_login().unwrap_err().to_string().contains("none"));
    }

    #[test]
    fn only_state_is_shared_by_default() {
        let (settings, errors) = load(&json!({ "url": "nats://127.0.0.1" }));
        assert_eq!((settings.unwrap().share, errors.len()), (Share::State, 0));
        assert_eq!(load(&Value::Null), (None, Vec::new()));
    }

    #[test]
    fn unusable_values_are_reported() {
        for (fleet, expected) in [
            (json!(7), "fleet: "),
            (json!({}), "fleet.url: "),
            (json!({ "url": "http://x" }), "fleet.url: "),
            (json!({ "url": "nats://" }), "fleet.url: "),
            (json!({ "url": 7 }), "fleet.url: "),
            (json!({ "url": "nats://x", "prefix": "a b" }), "fleet.prefix: "),
            (json!({ "url": "nats://x", "share": "all" }), "fleet.share: "),
            (json!({ "url": "nats://x", "replicas": 9 }), "fleet.replicas: "),
            (json!({ "url": "nats://x", "retention": { "days": "many" } }), "fleet.retention.days: "),
            (json!({ "url": "nats://x", "key": "k.pem" }), "fleet.certificate: "),
        ] {
            let (settings, errors) = load(&fleet);
            assert_eq!((settings, errors.len()), (None, 1), "{fleet}: {errors:?}");
            assert!(errors[0].starts_with(expected), "{errors:?}");
        }
        let (settings, errors) = load(&json!({ "url": "nats://x", "urk": 1 }));
        assert!(settings.is_some() && errors[0].starts_with("fleet.urk: "), "{errors:?}");
    }
}
