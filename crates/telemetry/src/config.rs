//! `telemetry` in `config.json`: where the collector is, and which headers it wants.
//!
//! A wrong value switches the export off: without its header a collector would refuse everything.

use std::env;
use std::fmt;

use overtone_messages::{Lang, telemetry as words};
use overtone_store::Home;
use overtone_store::config::Config;
use serde_json::{Map, Value};
use ureq::http::{HeaderName, Uri};

/// Set for every request; another value would break it.
const OWN_HEADERS: [&str; 5] = ["content-type", "content-length", "host", "connection", "transfer-encoding"];
const HIDDEN: &str = "****";

/// Looks up a variable of the environment.
type Lookup<'a> = &'a dyn Fn(&str) -> Option<String>;

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Settings {
    /// Without a slash at its end.
    pub(crate) endpoint: String,
    pub(crate) headers: Vec<(String, Secret)>,
}

/// A value that is never shown.
#[derive(Clone, PartialEq, Eq)]
pub(crate) struct Secret(String);

impl Secret {
    pub(crate) fn reveal(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(HIDDEN)
    }
}

/// Something about a key that a person should know.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Problem {
    /// Like `telemetry.headers.authorization`.
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
    BadHeaderName,
    OwnHeader,
    BadHeaderValue,
    NoVariable(String),
    /// It works, but everybody on the way can read it.
    Unencrypted,
}

impl Problem {
    /// Worth knowing, but nothing is switched off for it.
    const fn is_note(&self) -> bool {
        matches!(self.fault, Fault::Unknown | Fault::Unencrypted)
    }

    pub fn text(&self, lang: Lang) -> String {
        let what = match &self.fault {
            Fault::Unreadable(problem) => problem.clone(),
            Fault::Unknown => words::unknown_key(lang),
            Fault::Missing => words::missing(lang),
            Fault::NotAnObject => words::not_an_object(lang),
            Fault::BadAddress => words::bad_address(lang),
            Fault::BadHeaderName => words::bad_header_name(lang),
            Fault::OwnHeader => words::own_header(lang),
            Fault::BadHeaderValue => words::bad_header_value(lang),
            Fault::NoVariable(name) => words::no_variable(lang, name),
            Fault::Unencrypted => words::unencrypted(lang),
        };
        format!("{}: {what}", self.key)
    }
}

impl Settings {
    /// What is configured, if it is usable, and what is wrong with it.
    pub fn load(home: &Home) -> (Option<Self>, Vec<Problem>) {
        Self::load_with(home, &|name| env::var(name).ok())
    }

    fn load_with(home: &Home, lookup: Lookup<'_>) -> (Option<Self>, Vec<Problem>) {
        let mut reader = Reader { lookup, problems: Vec::new() };
        let settings = match Config::load(home) {
            Ok(config) => config.section("telemetry").and_then(|section| reader.settings(section)),
            Err(error) => {
                reader.note("config.json", Fault::Unreadable(error.to_string()));
                None
            }
        };
        let is_usable = reader.problems.iter().all(Problem::is_note);
        (settings.filter(|_| is_usable), reader.problems)
    }

    /// Takes every header's value out of a text.
    pub(crate) fn clean(&self, text: &str) -> String {
        self.headers.iter().fold(text.to_owned(), |text, (_, value)| text.replace(value.reveal(), HIDDEN))
    }
}

/// Reads the section and notes what is wrong on the way.
struct Reader<'a> {
    lookup: Lookup<'a>,
    problems: Vec<Problem>,
}

impl Reader<'_> {
    fn note(&mut self, key: &str, fault: Fault) {
        self.problems.push(Problem { key: key.to_owned(), fault });
    }

    fn settings(&mut self, section: &Value) -> Option<Settings> {
        let fields = self.object("telemetry", section)?;
        for name in fields.keys().filter(|name| !["endpoint", "headers"].contains(&name.as_str())) {
            self.note(&format!("telemetry.{name}"), Fault::Unknown);
        }
        let endpoint = self.endpoint(fields.get("endpoint"));
        let headers = self.headers(fields.get("headers").unwrap_or(&Value::Null));
        let endpoint = endpoint?;
        if !headers.is_empty() && is_unencrypted(&endpoint) {
            self.note("telemetry.endpoint", Fault::Unencrypted);
        }
        Some(Settings { endpoint, headers })
    }

    /// The fields of an object; nothing is meant by `null`.
    fn object<'v>(&mut self, key: &str, value: &'v Value) -> Option<&'v Map<String, Value>> {
        if !value.is_object() && !value.is_null() {
            self.note(key, Fault::NotAnObject);
        }
        value.as_object()
    }

    fn endpoint(&mut self, value: Option<&Value>) -> Option<String> {
        let text = value.and_then(Value::as_str).filter(|text| is_endpoint(text));
        if text.is_none() {
            let fault = if value.is_none() { Fault::Missing } else { Fault::BadAddress };
            self.note("telemetry.endpoint", fault);
        }
        text.map(|text| text.trim_end_matches('/').to_owned())
    }

    fn headers(&mut self, value: &Value) -> Vec<(String, Secret)> {
        let Some(fields) = self.object("telemetry.headers", value) else { return Vec::new() };
        let mut headers = Vec::new();
        for (name, value) in fields {
            match self.header(name, value) {
                Ok(value) => headers.push((name.clone(), value)),
                Err(fault) => self.note(&format!("telemetry.headers.{name}"), fault),
            }
        }
        headers
    }

    fn header(&self, name: &str, value: &Value) -> Result<Secret, Fault> {
        let known = name.parse::<HeaderName>().map_err(|_| Fault::BadHeaderName)?;
        if OWN_HEADERS.contains(&known.as_str()) {
            return Err(Fault::OwnHeader);
        }
        let text = value.as_str().ok_or(Fault::BadHeaderValue)?;
        let text = match variable(text) {
            Some(name) => (self.lookup)(name).ok_or_else(|| Fault::NoVariable(name.to_owned()))?,
            // Half a reference would be sent as it stands.
            None if text.contains("${") => return Err(Fault::BadHeaderValue),
            None => text.to_owned(),
        };
        let text = text.trim();
        let is_line = !text.is_empty() && text.bytes().all(|b| b == b' ' || b.is_ascii_graphic());
        if is_line { Ok(Secret(text.to_owned())) } else { Err(Fault::BadHeaderValue) }
    }
}

/// The name in `${NAME}`, if a value is nothing else.
fn variable(value: &str) -> Option<&str> {
    let name = value.strip_prefix("${")?.strip_suffix('}')?;
    let is_name = !name.is_empty() && name.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_');
    is_name.then_some(name)
}

/// A user or a query may be secret, and an address is shown; a path of a signal is added to it.
fn is_endpoint(text: &str) -> bool {
    let is_plain = text.bytes().all(|b| b.is_ascii_graphic() && !b"@?#".contains(&b));
    let names_signal =
        ["/v1/traces", "/v1/metrics"].iter().any(|path| text.trim_end_matches('/').ends_with(path));
    let uri = text.parse::<Uri>().ok();
    let is_web = uri.as_ref().is_some_and(|uri| {
        ["http", "https"].map(Some).contains(&uri.scheme_str())
            && uri.host().is_some_and(|host| !host.is_empty())
    });
    is_plain && is_web && !names_signal
}

fn is_unencrypted(endpoint: &str) -> bool {
    let uri = endpoint.parse::<Uri>().unwrap_or_default();
    let is_here = uri.host().is_some_and(|host| ["127.0.0.1", "localhost", "[::1]"].contains(&host));
    uri.scheme_str() == Some("http") && !is_here
}

#[cfg(test)]
mod tests {
    use overtone_store::files;
    use serde_json::json;

    use super::*;

    fn load(section: &Value) -> (Option<Settings>, Vec<String>) {
        let dir = tempfile::tempdir().unwrap();
        let home = Home::at(dir.path().to_owned());
        let text = json!({ "telemetry": section }).to_string();
        files::write_atomic(&home.config_file(), text.as_bytes(), files::PRIVATE).unwrap();
        let lookup = |name: &str| (name == "SET").then(|| "Bearer from-variable".to_owned());
        let (settings, problems) = Settings::load_with(&home, &lookup);
        (settings, problems.iter().map(|problem| problem.text(Lang::En)).collect())
    }

    #[test]
    fn what_is_right_is_taken() {
        let (settings, problems) = load(&json!({
            "endpoint": "https://otel.example/prefix/", "headers": { "Authorization": "${SET}", "x-scope": "team a" },
        }));
        let settings = settings.unwrap();
        assert_eq!(problems, [""; 0]);
        assert_eq!(settings.endpoint, "https://otel.example/prefix");
        let headers: Vec<_> =
            settings.headers.iter().map(|(name, value)| (name.as_str(), value.reveal())).collect();
        assert_eq!(headers, [("Authorization", "Bearer from-variable"), ("x-scope", "team a")]);
    }

    #[test]
    fn nothing_configured_is_nothing_wrong() {
        assert_eq!(load(&Value::Null), (None, Vec::new()));
        let dir = tempfile::tempdir().unwrap();
        assert_eq!(Settings::load(&Home::at(dir.path().to_owned())), (None, Vec::new()));
    }

    #[test]
    fn what_is_wrong_names_its_key_and_switches_the_export_off() {
        let with = |name: &str, value: Value| json!({ "endpoint": "http://127.0.0.1:4318", "headers": { name: value } });
        for (section, wanted) in [
            (json!(7), "telemetry: "),
            (json!({}), "telemetry.endpoint: "),
            (json!({ "endpoint": 4318 }), "telemetry.endpoint: "),
            (json!({ "endpoint": "127.0.0.1:4318" }), "telemetry.endpoint: "),
            (json!({ "endpoint": "grpc://h:4317" }), "telemetry.endpoint: "),
            (json!({ "endpoint": "https://u:p@h" }), "telemetry.endpoint: "),
            (json!({ "endpoint": "https://h/?key=1" }), "telemetry.endpoint: "),
            (json!({ "endpoint": "https://h/v1/traces" }), "telemetry.endpoint: "),
            (json!({ "endpoint": "https://h", "headers": ["a"] }), "telemetry.headers: "),
            (with("a b", json!("x")), "telemetry.headers.a b: "),
            (with("Content-Type", json!("x")), "telemetry.headers.Content-Type: "),
            (with("a", json!(1)), "telemetry.headers.a: "),
            (with("a", json!("x\ny")), "telemetry.headers.a: "),
            (with("a", json!("Bearer ${SET}")), "telemetry.headers.a: "),
            (with("a", json!("${UNSET}")), "telemetry.headers.a: "),
        ] {
            let (settings, problems) = load(&section);
            assert_eq!((settings, problems.len()), (None, 1), "{section}: {problems:?}");
            assert!(problems[0].starts_with(wanted), "{problems:?}");
        }
    }

    #[test]
    fn some_things_are_only_told() {
        let (settings, problems) =
            load(&json!({ "endpoint": "http://h.example", "headers": { "a": "secret" }, "endpiont": 1 }));
        assert!(settings.is_some());
        assert_eq!(problems.len(), 2);
        let (_, problems) = load(&json!({ "endpoint": "http://[::1]:4318", "headers": { "a": "secret" } }));
        assert_eq!(problems, [""; 0]);
    }

    #[test]
    fn secrets_are_not_shown() {
        let (settings, problems) =
            load(&json!({ "endpoint": "http://h.example", "headers": { "a": "very-secret" } }));
        let settings = settings.unwrap();
        assert!(!format!("{settings:?}{problems:?}").contains("very-secret"));
        assert_eq!(settings.clean("no very-secret here"), "no **** here");
    }
}
