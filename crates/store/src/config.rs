//! `config.json`: the few things a user may change. Unknown keys survive; bad values are refused by the command
//! line and ignored by hooks.

use std::fmt;

use overtone_engine::settings::Settings;
use overtone_messages::Lang;
use overtone_registry::limits;
use serde_json::{Map, Value, json};

use crate::files::{self, PRIVATE};
use crate::{Home, StoreError};

/// What values a key takes.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Kind {
    Language,
    Switch,
    /// A whole number in a range.
    Whole(u32, u32),
    /// A number above zero, fractions allowed.
    Number(f64),
}

/// A key that can be set: its path, its values and what it does.
#[derive(Debug, Clone, Copy)]
pub struct Key {
    pub name: &'static str,
    pub kind: Kind,
    pub about: &'static str,
    preset: Preset,
}

#[derive(Debug, Clone, Copy)]
enum Preset {
    Text(&'static str),
    Whole(u32),
    Switch(bool),
}

const fn key(name: &'static str, kind: Kind, preset: Preset, about: &'static str) -> Key {
    Key { name, kind, about, preset }
}

pub const KEYS: [Key; 16] = [
    key("language", Kind::Language, Preset::Text("zh-TW"), "language of every text: zh-TW, zh-CN or en"),
    key(
        "compact.thresholdMb",
        Kind::Number(10_000.0),
        Preset::Whole(5),
        "suggest a compaction above this transcript size, in MB",
    ),
    key(
        "compact.thresholdPercent",
        Kind::Whole(1, 100),
        Preset::Whole(limits::COMPACT_THRESHOLD_PERCENT),
        "or above this use of the context window, in per cent",
    ),
    key(
        "compact.cooldownStages",
        Kind::Whole(0, 100),
        Preset::Whole(limits::COMPACT_COOLDOWN_STAGES),
        "stages to finish before the next suggestion",
    ),
    key(
        "loop.maxIterations",
        Kind::Whole(1, 10_000),
        Preset::Whole(limits::MAX_LOOP_ITERATIONS),
        "how often the loop sends the main agent back to work",
    ),
    key(
        "loop.maxConsecutiveErrors",
        Kind::Whole(1, 7),
        Preset::Whole(limits::MAX_CONSECUTIVE_ERRORS),
        "how often in a row without progress",
    ),
    key(
        "limits.failures",
        Kind::Whole(1, 10_000),
        Preset::Whole(limits::MAX_FAILURES),
        "failed stages before a person is asked",
    ),
    key(
        "limits.rejections",
        Kind::Whole(1, 100),
        Preset::Whole(limits::MAX_REJECTIONS),
        "rejected reviews before a person is asked",
    ),
    key(
        "limits.retros",
        Kind::Whole(0, 100),
        Preset::Whole(limits::MAX_RETROS),
        "retrospectives with issues that are acted upon",
    ),
    key("agents.foreground", Kind::Switch, Preset::Switch(true), "run stage agents in the foreground"),
    key("dashboard.enabled", Kind::Switch, Preset::Switch(true), "start the dashboard with a session"),
    key(
        "dashboard.port",
        Kind::Whole(1, 65_535),
        Preset::Whole(7777),
        "port of the dashboard on this machine",
    ),
    key(
        "dashboard.idleMinutes",
        Kind::Whole(1, 10_080),
        Preset::Whole(30),
        "end the dashboard after this time without use",
    ),
    key(
        "retention.days",
        Kind::Whole(1, 3_650),
        Preset::Whole(30),
        "keep finished sessions for this many days",
    ),
    key("retention.sessions", Kind::Whole(1, 1_000_000), Preset::Whole(500), "and at most this many of them"),
    key("instinct.enabled", Kind::Switch, Preset::Switch(true), "learn from tool use and tell the lessons"),
];

impl Key {
    pub fn find(name: &str) -> Option<&'static Self> {
        KEYS.iter().find(|key| key.name == name)
    }

    pub fn default_value(&self) -> Value {
        match self.preset {
            Preset::Text(text) => json!(text),
            Preset::Whole(number) => json!(number),
            Preset::Switch(on) => json!(on),
        }
    }

    /// The values it takes, for a hint.
    pub fn allowed(&self) -> String {
        match self.kind {
            Kind::Language => Lang::ALL.map(Lang::tag).join(", "),
            Kind::Switch => "true, false".to_owned(),
            Kind::Whole(low, high) => format!("a whole number from {low} to {high}"),
            Kind::Number(high) => format!("a number above 0, at most {high}"),
        }
    }

    fn accepts(&self, value: &Value) -> bool {
        match self.kind {
            Kind::Language => value.as_str().is_some_and(|tag| Lang::from_tag(tag).is_some()),
            Kind::Switch => value.is_boolean(),
            Kind::Whole(low, high) => {
                value.as_u64().is_some_and(|n| (u64::from(low)..=u64::from(high)).contains(&n))
            }
            Kind::Number(high) => value.as_f64().is_some_and(|n| n > 0.0 && n <= high),
        }
    }
}

/// Why a value was not taken.
#[derive(Debug)]
pub enum ConfigError {
    UnknownKey(String),
    BadValue { key: &'static Key, given: String },
    Store(StoreError),
}

impl fmt::Display for ConfigError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::UnknownKey(name) => write!(f, "unknown configuration key `{name}`"),
            Self::BadValue { key, given } => write!(f, "bad value `{given}` for `{}`", key.name),
            Self::Store(error) => error.fmt(f),
        }
    }
}

impl std::error::Error for ConfigError {}

/// The configuration as it is on disk.
#[derive(Debug, Clone, Default)]
pub struct Config {
    document: Map<String, Value>,
}

impl Config {
    /// For the command line: a broken file is an error.
    pub fn load(home: &Home) -> Result<Self, StoreError> {
        let path = home.config_file();
        let Some(text) = files::read_small(&path).map_err(|error| StoreError::io(&path, error))? else {
            return Ok(Self::default());
        };
        let document =
            serde_json::from_str(&text).map_err(|error| StoreError::broken(&path, error.to_string()))?;
        Ok(Self { document })
    }

    /// For hooks: a broken file counts as none.
    pub fn load_or_default(home: &Home) -> Self {
        Self::load(home).unwrap_or_default()
    }

    /// The value in force: the file's if it is a good one, else the default.
    pub fn value(&self, key: &Key) -> Value {
        self.own_value(key).filter(|value| key.accepts(value)).cloned().unwrap_or_else(|| key.default_value())
    }

    /// What the file says, good or bad.
    pub fn own_value(&self, key: &Key) -> Option<&Value> {
        match key.name.split_once('.') {
            Some((group, name)) => self.document.get(group)?.get(name),
            None => self.document.get(key.name),
        }
    }

    /// Whether the file has a value for the key that is not accepted.
    pub fn has_bad_value(&self, key: &Key) -> bool {
        self.own_value(key).is_some_and(|value| !key.accepts(value))
    }

    /// A group of keys that another room understands.
    pub fn section(&self, name: &str) -> Option<&Value> {
        self.document.get(name)
    }

    /// Puts a group of keys in place, or takes it away; the rest of the file stays. Says whether it was there before.
    pub fn set_section(home: &Home, name: &str, value: Option<Value>) -> Result<bool, StoreError> {
        let path = home.config_file();
        let _lock = home.lock().map_err(|error| StoreError::io(&path, error))?;
        let mut config = Self::load(home)?;
        let old = match value {
            Some(value) => config.document.insert(name.to_owned(), value),
            None => config.document.shift_remove(name),
        };
        config.save(home)?;
        Ok(old.is_some())
    }

    fn save(self, home: &Home) -> Result<(), StoreError> {
        let path = home.config_file();
        let mut text = format!("{:#}", Value::Object(self.document));
        text.push('\n');
        files::write_atomic(&path, text.as_bytes(), PRIVATE).map_err(|error| StoreError::io(&path, error))
    }

    fn whole(&self, name: &str) -> u32 {
        let value = Key::find(name).map(|key| self.value(key)).and_then(|value| value.as_u64());
        value.and_then(|n| u32::try_from(n).ok()).unwrap_or_default()
    }

    pub fn switch(&self, name: &str) -> bool {
        Key::find(name).map(|key| self.value(key)).and_then(|value| value.as_bool()).unwrap_or_default()
    }

    pub fn language(&self) -> Lang {
        let value = Key::find("language").map(|key| self.value(key));
        value.as_ref().and_then(Value::as_str).and_then(Lang::from_tag).unwrap_or_default()
    }

    pub fn settings(&self) -> Settings {
        let megabytes = Key::find("compact.thresholdMb").map(|key| self.value(key)).and_then(|v| v.as_f64());
        #[allow(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "0 < MB <= 10,000 by the key's kind"
        )]
        let threshold = megabytes.map_or(limits::COMPACT_THRESHOLD_BYTES, |mb| (mb * 1e6).round() as u64);
        Settings {
            max_failures: self.whole("limits.failures"),
            max_rejections: self.whole("limits.rejections"),
            max_retros: self.whole("limits.retros"),
            max_iterations: self.whole("loop.maxIterations"),
            max_consecutive_errors: self.whole("loop.maxConsecutiveErrors"),
            compact_threshold_bytes: threshold,
            compact_threshold_percent: self.whole("compact.thresholdPercent"),
            compact_cooldown_stages: self.whole("compact.cooldownStages"),
            foreground_agents: self.switch("agents.foreground"),
        }
    }

    /// Sets one key, under the home's lock, with the file read anew.
    pub fn set(home: &Home, name: &str, text: &str) -> Result<Value, ConfigError> {
        let key = Key::find(name).ok_or_else(|| ConfigError::UnknownKey(name.to_owned()))?;
        let value =
            parse_value(key, text).ok_or_else(|| ConfigError::BadValue { key, given: text.to_owned() })?;
        let path = home.config_file();
        let store = |error| ConfigError::Store(StoreError::io(&path, error));
        let _lock = home.lock().map_err(store)?;
        let mut config = Self::load(home).map_err(ConfigError::Store)?;
        config.put(key, value.clone()).map_err(|what| ConfigError::Store(StoreError::broken(&path, what)))?;
        config.save(home).map_err(ConfigError::Store)?;
        Ok(value)
    }

    /// A group that is something else is not ours to replace; the error says which.
    fn put(&mut self, key: &Key, value: Value) -> Result<(), String> {
        let (fields, name) = match key.name.split_once('.') {
            Some((group, name)) => {
                let slot = self.document.entry(group).or_insert_with(|| json!({}));
                (slot.as_object_mut().ok_or_else(|| format!("`{group}` is not an object"))?, name)
            }
            None => (&mut self.document, key.name),
        };
        fields.insert(name.to_owned(), value);
        Ok(())
    }
}

/// A value as typed on the command line.
fn parse_value(key: &Key, text: &str) -> Option<Value> {
    let value = match key.kind {
        Kind::Language => json!(Lang::from_tag(text)?.tag()),
        _ => serde_json::from_str(text).ok()?,
    };
    key.accepts(&value).then_some(value)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_defaults_are_the_engines() {
        assert_eq!(Config::default().settings(), Settings::default());
        assert_eq!(Config::default().language(), Lang::ZhTw);
        for key in &KEYS {
            assert!(key.accepts(&key.default_value()), "{}", key.name);
        }
    }

    #[test]
    fn setting_keeps_what_it_does_not_know() {
        let dir = tempfile::tempdir().unwrap();
        let home = Home::at(dir.path().to_owned());
        files::write_atomic(&home.config_file(), br#"{"future":{"x":1},"compact":{"other":2}}"#, PRIVATE)
            .unwrap();
        Config::set(&home, "compact.thresholdMb", "0.5").unwrap();
        Config::set(&home, "language", "en_US").unwrap();
        let text = files::read_small(&home.config_file()).unwrap().unwrap();
        let value: Value = serde_json::from_str(&text).unwrap();
        assert_eq!(value, json!({"future":{"x":1},"compact":{"other":2,"thresholdMb":0.5},"language":"en"}));
        assert_eq!(Config::load(&home).unwrap().settings().compact_threshold_bytes, 500_000);
    }

    #[test]
    fn a_section_comes_and_goes_alone() {
        let dir = tempfile::tempdir().unwrap();
        let home = Home::at(dir.path().to_owned());
        files::write_atomic(&home.config_file(), br#"{"future":{"x":1},"fleet":7,"language":"en"}"#, PRIVATE)
            .unwrap();
        let read =
            || serde_json::from_str::<Value>(&files::read_small(&home.config_file()).unwrap().unwrap());
        assert!(Config::set_section(&home, "fleet", Some(json!({"url":"u"}))).unwrap());
        assert_eq!(read().unwrap(), json!({"future":{"x":1},"fleet":{"url":"u"},"language":"en"}));
        assert!(Config::set_section(&home, "fleet", None).unwrap());
        assert!(!Config::set_section(&home, "fleet", None).unwrap());
        assert_eq!(read().unwrap(), json!({"future":{"x":1},"language":"en"}));
    }

    #[test]
    fn bad_values_are_refused_and_ignored() {
        let dir = tempfile::tempdir().unwrap();
        let home = Home::at(dir.path().to_owned());
        for (name, value) in [
            ("language", "xx"),
            ("limits.failures", "0"),
            ("limits.failures", "many"),
            ("agents.foreground", "1"),
            ("compact.thresholdMb", "-1"),
        ] {
            assert!(
                matches!(Config::set(&home, name, value), Err(ConfigError::BadValue { .. })),
                "{name}={value}"
            );
        }
        assert!(matches!(Config::set(&home, "constructor", "1"), Err(ConfigError::UnknownKey(_))));
        files::write_atomic(&home.config_file(), br#"{"limits":{"failures":"x"},"loop":7}"#, PRIVATE)
            .unwrap();
        assert_eq!(Config::load(&home).unwrap().settings(), Settings::default());
        assert!(matches!(Config::set(&home, "loop.maxIterations", "5"), Err(ConfigError::Store(_))));
        let text = files::read_small(&home.config_file()).unwrap().unwrap();
        assert_eq!(
            text, r#"{"limits":{"failures":"x"},"loop":7}"#,
            "what is not understood is not overwritten"
        );
    }
}
