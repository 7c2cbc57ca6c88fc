//! `telemetry` in `config.json`: the address of the collector and the headers it requires.
//!
//! A wrong value disables the export: a collector rejects everything that lacks a required header.

use std::env;

use overtone_core::messages::{Lang, telemetry as messages};
use overtone_net::{Secret, variable_reference};
use overtone_store::Home;
use overtone_store::config::{Config, Section};
use serde_json::{Map, Value};
use ureq::http::{HeaderName, Uri};

/// Headers that every request sets itself; another value would break the request.
const OWN_HEADERS: [&str; 5] = ["content-type", "content-length", "host", "connection", "transfer-encoding"];

/// Looks up an environment variable.
type Lookup<'a> = &'a dyn Fn(&str) -> Option<String>;

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Settings {
    /// Without a trailing slash.
    pub(crate) endpoint: String,
    pub(crate) headers: Vec<(String, Secret)>,
}

/// An error or a warning about one key of the configuration.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ConfigError {
    /// Like `telemetry.headers.authorization`.
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
    BadHeaderName,
    OwnHeader,
    BadHeaderValue,
    NoVariable(String),
    /// A warning: the connection is not encrypted.
    Unencrypted,
}

impl ConfigError {
    /// Whether the export works all the same.
    const fn is_warning(&self) -> bool {
        matches!(self.kind, ConfigErrorKind::Unknown | ConfigErrorKind::Unencrypted)
    }

    /// The key and what is wrong with it, for the user.
    pub fn message(&self, lang: Lang) -> String {
        let what = match &self.kind {
            ConfigErrorKind::Unreadable(error) => error.clone(),
            ConfigErrorKind::Unknown => messages::unknown_key(lang),
            ConfigErrorKind::Missing => messages::missing(lang),
            ConfigErrorKind::NotAnObject => messages::not_an_object(lang),
            ConfigErrorKind::BadAddress => messages::bad_address(lang),
            ConfigErrorKind::BadHeaderName => messages::bad_header_name(lang),
            ConfigErrorKind::OwnHeader => messages::own_header(lang),
            ConfigErrorKind::BadHeaderValue => messages::bad_header_value(lang),
            ConfigErrorKind::NoVariable(name) => messages::no_variable(lang, name),
            ConfigErrorKind::Unencrypted => messages::unencrypted(lang),
        };
        format!("{}: {what}", self.key)
    }
}

impl Settings {
    /// Returns the settings if they are usable, and everything that is wrong with the section.
    pub fn load(home: &Home) -> (Option<Self>, Vec<ConfigError>) {
        Self::load_with(home, &|name| env::var(name).ok())
    }

    fn load_with(home: &Home, lookup: Lookup<'_>) -> (Option<Self>, Vec<ConfigError>) {
        let mut reader = Reader { lookup, errors: Vec::new() };
        let settings = match Config::load(home) {
            Ok(config) => config.section(Section::Telemetry).and_then(|section| reader.settings(section)),
            Err(error) => {
                reader.report("config.json", ConfigErrorKind::Unreadable(error.to_string()));
                None
            }
        };
        let is_usable = reader.errors.iter().all(ConfigError::is_warning);
        (if is_usable { settings } else { None }, reader.errors)
    }

    /// Replaces the values of all headers in a text by `****`.
    pub(crate) fn redact(&self, text: &str) -> String {
        self.headers.iter().fold(text.to_owned(), |text, (_, value)| value.hide_in(&text))
    }
}

/// Reads the section and collects what is wrong with it.
struct Reader<'a> {
    lookup: Lookup<'a>,
    errors: Vec<ConfigError>,
}

impl Reader<'_> {
    fn report(&mut self, key: &str, kind: ConfigErrorKind) {
        self.errors.push(ConfigError { key: key.to_owned(), kind });
    }

    fn settings(&mut self, section: &Value) -> Option<Settings> {
        let fields = self.object("telemetry", section)?;
        for name in fields.keys().filter(|name| !["endpoint", "headers"].contains(&name.as_str())) {
            self.report(&format!("telemetry.{name}"), ConfigErrorKind::Unknown);
        }
        let endpoint = self.endpoint(fields.get("endpoint"));
        let headers = self.headers(fields.get("headers").unwrap_or(&Value::Null));
        let endpoint = endpoint?;
        if !headers.is_empty() && is_unencrypted(&endpoint) {
            self.report("telemetry.endpoint", ConfigErrorKind::Unencrypted);
        }
        Some(Settings { endpoint, headers })
    }

    /// The fields of an object. `null` counts as missing; any other type is reported.
    fn object<'v>(&mut self, key: &str, value: &'v Value) -> Option<&'v Map<String, Value>> {
        if !value.is_object() && !value.is_null() {
            self.report(key, ConfigErrorKind::NotAnObject);
        }
        value.as_object()
    }

    fn endpoint(&mut self, value: Option<&Value>) -> Option<String> {
        let Some(value) = value else {
            self.report("telemetry.endpoint", ConfigErrorKind::Missing);
            return None;
        };
        match value.as_str() {
            Some(text) if is_endpoint(text) => Some(text.trim_end_matches('/').to_owned()),
            _ => {
                self.report("telemetry.endpoint", ConfigErrorKind::BadAddress);
                None
            }
        }
    }

    fn headers(&mut self, value: &Value) -> Vec<(String, Secret)> {
        let Some(fields) = self.object("telemetry.headers", value) else { return Vec::new() };
        let mut headers = Vec::new();
        for (name, value) in fields {
            match self.header(name, value) {
                Ok(value) => headers.push((name.clone(), value)),
                Err(kind) => self.report(&format!("telemetry.headers.{name}"), kind),
            }
        }
        headers
    }

    fn header(&self, name: &str, value: &Value) -> Result<Secret, ConfigErrorKind> {
        let known = name.parse::<HeaderName>().map_err(|_| ConfigErrorKind::BadHeaderName)?;
        if OWN_HEADERS.contains(&known.as_str()) {
            return Err(ConfigErrorKind::OwnHeader);
        }
        let text = value.as_str().ok_or(ConfigErrorKind::BadHeaderValue)?;
        let text = match variable_reference(text) {
            Some(name) => (self.lookup)(name).ok_or_else(|| ConfigErrorKind::NoVariable(name.to_owned()))?,
            // A reference inside a longer text is not supported and would be sent literally.
            None if text.contains("${") => return Err(ConfigErrorKind::BadHeaderValue),
            None => text.to_owned(),
        };
        let text = text.trim();
        let is_valid = !text.is_empty() && text.bytes().all(|b| b == b' ' || b.is_ascii_graphic());
        if is_valid { Ok(Secret::from_header_value(text)) } else { Err(ConfigErrorKind::BadHeaderValue) }
    }
}

/// Rejects addresses with a user or a query, which may be secret while addresses are shown, and addresses that already
/// contain the path of a signal, which is appended later.
fn is_endpoint(text: &str) -> bool {
    let is_plain = text.bytes().all(|b| b.is_ascii_graphic() && !b"@?#".contains(&b));
    let names_signal =
        ["/v1/traces", "/v1/metrics"].iter().any(|path| text.trim_end_matches('/').ends_with(path));
    let Ok(uri) = text.parse::<Uri>() else { return false };
    let is_web = matches!(uri.scheme_str(), Some("http" | "https"));
    let has_host = !uri.host().unwrap_or_default().is_empty();
    is_plain && is_web && has_host && !names_signal
}

fn is_unencrypted(endpoint: &str) -> bool {
    let uri = endpoint.parse::<Uri>().unwrap_or_default();
    let is_local = matches!(uri.host(), Some("127.0.0.1" | "localhost" | "[::1]"));
    uri.scheme_str() == Some("http") && !is_local
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
        let (settings, errors) = Settings::load_with(&home, &lookup);
        (settings, errors.iter().map(|error| error.message(Lang::En)).collect())
    }

    #[test]
    fn valid_settings_are_accepted() {
        let (settings, errors) = load(&json!({
            "endpoint": "https://otel.example/prefix/", "headers": { "Authorization": "${SET}", "x-scope": "team a" },
        }));
        let settings = settings.unwrap();
        assert_eq!(errors, [""; 0]);
        assert_eq!(settings.endpoint, "https://otel.example/prefix");
        let headers: Vec<_> =
            settings.headers.iter().map(|(name, value)| (name.as_str(), value.reveal())).collect();
        assert_eq!(headers, [("Authorization", "Bearer from-variable"), ("x-scope", "team a")]);
    }

    #[test]
    fn a_missing_section_is_not_an_error() {
        assert_eq!(load(&Value::Null), (None, Vec::new()));
        let dir = tempfile::tempdir().unwrap();
        assert_eq!(Settings::load(&Home::at(dir.path().to_owned())), (None, Vec::new()));
    }

    #[test]
    fn an_invalid_value_is_reported_with_its_key_and_disables_the_export() {
        let with = |name: &str, value: Value| json!({ "endpoint": "http://127.0.0.1:4318", "headers": { name: value } });
        for (section, expected) in [
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
            let (settings, errors) = load(&section);
            assert_eq!((settings, errors.len()), (None, 1), "{section}: {errors:?}");
            assert!(errors[0].starts_with(expected), "{errors:?}");
        }
    }

    #[test]
    fn warnings_do_not_disable_the_export() {
        let (settings, errors) =
            load(&json!({ "endpoint": "http://h.example", "headers": { "a": "secret" }, "endpiont": 1 }));
        assert!(settings.is_some());
        assert_eq!(errors.len(), 2);
        let (_, errors) = load(&json!({ "endpoint": "http://[::1]:4318", "headers": { "a": "secret" } }));
        assert_eq!(errors, [""; 0]);
    }

    #[test]
    fn secrets_are_not_shown() {
        let (settings, errors) =
            load(&json!({ "endpoint": "http://h.example", "headers": { "a": "very-secret" } }));
        let settings = settings.unwrap();
        assert!(!format!("{settings:?}{errors:?}").contains("very-secret"));
        assert_eq!(settings.redact("no very-secret here"), "no **** here");
    }
}
