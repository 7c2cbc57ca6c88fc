//! `fleet` in `config.json`: where the server is, how to be let in, and how much is told there.

use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use overtone_messages::{Lang, fleet as words};
use overtone_store::config::Config;
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

/// How much of a session is told to others.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Share {
    /// What happened and where it stands; no prompts, no code, no texts of agents.
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
    /// The certificate and the key of this machine, where the server wants one.
    pub identity: Option<(PathBuf, PathBuf)>,
    pub names: Names,
    pub machine_name: Option<String>,
    pub share: Share,
    pub keep_for: Duration,
    pub keep_bytes: u64,
    pub replicas: usize,
}

/// Something about a key that a person should know.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Problem {
    pub key: String,
    fault: Fault,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum Fault {
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

impl Problem {
    /// Unknown keys are worth a word; everything else stands in the way.
    pub const fn is_note(&self) -> bool {
        matches!(self.fault, Fault::Unknown)
    }

    pub fn text(&self, lang: Lang) -> String {
        let what = match &self.fault {
            Fault::Unreadable(problem) => problem.clone(),
            Fault::NotAnObject => words::not_an_object(lang),
            Fault::Unknown => words::unknown_key(lang),
            Fault::Missing => words::missing(lang),
            Fault::BadAddress => words::bad_address(lang),
            Fault::BadPrefix => words::bad_prefix(lang),
            Fault::BadShare => words::bad_share(lang),
            Fault::BadNumber => words::bad_number(lang),
            Fault::NotAText => words::not_a_text(lang),
            Fault::HalfIdentity => words::half_identity(lang),
        };
        format!("{}: {what}", self.key)
    }
}

impl Settings {
    /// `None` when no fleet is configured, or when what is there cannot be used; then the problems say why.
    pub fn load(home: &Home) -> (Option<Self>, Vec<Problem>) {
        let config = match Config::load(home) {
            Ok(config) => config,
            Err(error) => return (None, vec![problem("config.json", Fault::Unreadable(error.to_string()))]),
        };
        match config.section("fleet").filter(|section| !section.is_null()) {
            None => (None, Vec::new()),
            Some(section) => Self::read(home, section),
        }
    }

    /// What a section says that may not be in any file yet.
    pub fn read(home: &Home, section: &Value) -> (Option<Self>, Vec<Problem>) {
        match section {
            Value::Object(fields) => Reader { root: home.root(), fields, problems: Vec::new() }.read(),
            _ => (None, vec![problem("fleet", Fault::NotAnObject)]),
        }
    }

    /// The addresses for people: without anybody's password.
    pub fn shown_urls(&self) -> String {
        let urls: Vec<_> = self.urls.iter().map(|url| without_password(url)).collect();
        urls.join(",")
    }

    /// `user:password` or a token, from the file or from one of the addresses; read anew each time.
    pub(crate) fn login_text(&self) -> io::Result<Option<String>> {
        if let Some(file) = &self.login {
            let about =
                |error: io::Error| io::Error::new(error.kind(), format!("{}: {error}", file.display()));
            let text = files::read_small(file).map_err(about)?;
            return text
                .map(|text| Some(text.trim().to_owned()))
                .ok_or_else(|| about(io::ErrorKind::NotFound.into()));
        }
        let part = |url: &String| Some(url.split_once("://")?.1.rsplit_once('@')?.0.to_owned());
        Ok(self.urls.iter().find_map(part).map(|part| unescaped(&part)))
    }
}

/// The login that an address carries, and the address without it.
pub fn split_login(urls: &str) -> (String, Option<String>) {
    let part = |url: &str| Some(url.split_once("://")?.1.rsplit_once('@')?.0.to_owned());
    let login = urls.split(',').find_map(part).map(|part| unescaped(&part));
    let plain: Vec<_> = urls.split(',').map(|url| without_password(url.trim())).collect();
    (plain.join(","), login)
}

/// Without the `%40` and the like that an address needs.
fn unescaped(text: &str) -> String {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let [first, others @ ..] = rest {
        let digits = others.get(..2).and_then(|digits| str::from_utf8(digits).ok());
        let byte = digits.filter(|_| *first == b'%').and_then(|digits| u8::from_str_radix(digits, 16).ok());
        bytes.push(byte.unwrap_or(*first));
        rest = if byte.is_some() { &others[2..] } else { others };
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

fn problem(key: &str, fault: Fault) -> Problem {
    Problem { key: key.to_owned(), fault }
}

struct Reader<'a> {
    root: &'a Path,
    fields: &'a Map<String, Value>,
    problems: Vec<Problem>,
}

impl Reader<'_> {
    fn read(mut self) -> (Option<Settings>, Vec<Problem>) {
        for name in self.fields.keys().filter(|name| !KEYS.contains(&name.as_str())) {
            self.problems.push(problem(&format!("fleet.{name}"), Fault::Unknown));
        }
        let settings = self.settings();
        let is_usable = self.problems.iter().all(Problem::is_note);
        (settings.filter(|_| is_usable), self.problems)
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
            machine_name: self.text("name").map(str::to_owned),
            share: self.share(),
            keep_for: self.number("days", 7, 3650).map_or(7 * DAY, |days| DAY * days),
            keep_bytes: self.number("megabytes", 1, 1024 * 1024).map_or(1024, u64::from) * MEBIBYTE,
            replicas: self.replicas(),
            urls: urls?,
            names: names?,
        })
    }

    fn note(&mut self, key: &str, fault: Fault) {
        self.problems.push(problem(&format!("fleet.{key}"), fault));
    }

    fn text(&mut self, name: &str) -> Option<&str> {
        let value = self.fields.get(name).filter(|value| !value.is_null())?;
        let text = value.as_str().filter(|text| !text.trim().is_empty());
        if text.is_none() {
            self.note(name, Fault::NotAText);
        }
        text
    }

    /// Relative to the home, where `join` puts them.
    fn path(&mut self, name: &str) -> Option<PathBuf> {
        let root = self.root.to_owned();
        self.text(name).map(|text| root.join(text))
    }

    fn urls(&mut self) -> Option<Vec<String>> {
        if !self.fields.contains_key("url") {
            self.note("url", Fault::Missing);
        }
        let text = self.text("url")?.to_owned();
        let urls: Vec<_> = text.split(',').map(|url| url.trim().to_owned()).collect();
        if urls.iter().all(|url| is_address(url)) {
            return Some(urls);
        }
        self.note("url", Fault::BadAddress);
        None
    }

    fn names(&mut self) -> Option<Names> {
        let prefix = self.text("prefix").unwrap_or(DEFAULT_PREFIX).to_owned();
        let names = Names::new(&prefix);
        if names.is_none() {
            self.note("prefix", Fault::BadPrefix);
        }
        names
    }

    fn identity(&mut self) -> Option<(PathBuf, PathBuf)> {
        let (certificate, key) = (self.path("certificate"), self.path("key"));
        if certificate.is_some() != key.is_some() {
            self.note("certificate", Fault::HalfIdentity);
        }
        certificate.zip(key)
    }

    fn share(&mut self) -> Share {
        match self.text("share") {
            None | Some("state") => Share::State,
            Some("full") => Share::Full,
            Some(_) => {
                self.note("share", Fault::BadShare);
                Share::State
            }
        }
    }

    /// A number of `retention`, within bounds.
    fn number(&mut self, name: &str, least: u32, most: u32) -> Option<u32> {
        let value = self.fields.get("retention")?.get(name)?;
        let number = value.as_u64().and_then(|n| u32::try_from(n).ok());
        let number = number.filter(|n| (least.min(1)..=most).contains(n));
        if number.is_none() {
            self.note(&format!("retention.{name}"), Fault::BadNumber);
        }
        number
    }

    fn replicas(&mut self) -> usize {
        match self.fields.get("replicas").map(Value::as_u64) {
            None => 1,
            Some(Some(count @ 1..=5)) => usize::try_from(count).unwrap_or(1),
            Some(_) => {
                self.note("replicas", Fault::BadNumber);
                1
            }
        }
    }
}

fn without_password(url: &str) -> String {
    match (url.split_once("://"), url.rsplit_once('@')) {
        (Some((scheme, _)), Some((_, host))) => format!("{scheme}://{host}"),
        _ => url.to_owned(),
    }
}

/// `nats://host:port`, `tls://…`; a password has no place in a file that is shown around, but is the person's choice.
pub fn is_address(text: &str) -> bool {
    let rest = text.strip_prefix("nats://").or_else(|| text.strip_prefix("tls://"));
    let is_plain = |rest: &str| rest.bytes().all(|b| b.is_ascii_graphic() && !b"\"<>\\^`{|}#,".contains(&b));
    rest.is_some_and(|rest| !rest.is_empty() && is_plain(rest))
        && text.parse::<async_nats::ServerAddr>().is_ok()
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
        let (settings, problems) = Settings::load(&home);
        (settings, problems.iter().map(|problem| problem.text(Lang::En)).collect())
    }

    #[test]
    fn what_is_right_is_taken() {
        let (settings, problems) = load(&json!({
            "url": "nats://127.0.0.1:4222, tls://b.example", "prefix": "team.a", "share": "full", "name": "box",
            "credentials": "fleet/me.creds", "retention": { "days": 2, "megabytes": 10 }, "replicas": 3,
        }));
        assert_eq!(problems, [""; 0]);
        let settings = settings.unwrap();
        assert_eq!(settings.urls, ["nats://127.0.0.1:4222", "tls://b.example"]);
        assert_eq!((settings.share, settings.keep_for, settings.replicas), (Share::Full, 2 * DAY, 3));
        assert_eq!(settings.keep_bytes, 10 * MEBIBYTE);
        assert!(settings.credentials.unwrap().ends_with("fleet/me.creds"));
    }

    #[test]
    fn passwords_are_not_shown() {
        let (settings, _) = load(&json!({ "url": "nats://ann:secret@127.0.0.1:4222,tls://b.example" }));
        assert_eq!(settings.unwrap().shown_urls(), "nats://127.0.0.1:4222,tls://b.example");
    }

    #[test]
    fn a_login_stands_in_a_file_or_in_any_of_the_addresses() {
        let of = |url: &str| load(&json!({ "url": url })).0.unwrap().login_text().unwrap();
        assert_eq!(of("nats://a:4222"), None);
        assert_eq!(of("nats://a:4222,nats://ann:p%40ss%@b").as_deref(), Some("ann:p@ss%"));
        assert_eq!(of("tls://secret@a").as_deref(), Some("secret"));
        assert_eq!(split_login("nats://x:y@a,nats://b"), ("nats://a,nats://b".into(), Some("x:y".into())));
        let (settings, _) = load(&json!({ "url": "nats://a", "login": "none" }));
        assert!(settings.unwrap().login_text().unwrap_err().to_string().contains("none"));
    }

    #[test]
    fn without_a_word_little_is_shared() {
        let (settings, problems) = load(&json!({ "url": "nats://127.0.0.1" }));
        assert_eq!((settings.unwrap().share, problems.len()), (Share::State, 0));
        assert_eq!(load(&Value::Null), (None, Vec::new()));
    }

    #[test]
    fn what_is_wrong_is_told() {
        for (fleet, wanted) in [
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
            let (settings, problems) = load(&fleet);
            assert_eq!((settings, problems.len()), (None, 1), "{fleet}: {problems:?}");
            assert!(problems[0].starts_with(wanted), "{problems:?}");
        }
        let (settings, problems) = load(&json!({ "url": "nats://x", "urk": 1 }));
        assert!(settings.is_some() && problems[0].starts_with("fleet.urk: "), "{problems:?}");
    }
}
