//! `config.json`: the settings that users can change.
//!
//! Programs read settings through the typed constants in [`keys`], so a misspelled key or a wrong type does not compile.
//! Only `overtone config` looks keys up by name. Keys that this version does not know survive every change. A value that
//! a key does not accept is refused by the command line and ignored by hooks, which then use the default.

use overtone_core::economy::{Budget, Limits, micro_usd};
use overtone_core::engine::settings::Settings;
use overtone_core::messages::Lang;
use overtone_core::registry::{BudgetKind, DocsRule, Economy, GuardLevel, RetroRule};
use serde_json::{Map, Value, json};

use crate::files::{self, PRIVATE};
use crate::{Home, StoreError};

pub mod keys;
mod prices;

pub use keys::{KEYS, Section};

/// The values that a key accepts.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Kind {
    Language,
    /// One of these names.
    Choice(&'static [&'static str]),
    Boolean,
    /// An integer from the first to the second number, both included.
    Integer(u32, u32),
    /// A number above zero up to this one; fractions are allowed.
    Number(f64),
    /// A limit up to this one; zero for none, and fractions are allowed.
    Limit(f64),
}

/// A key of the configuration: its path in the file, its values and what it is for.
#[derive(Debug, Clone, Copy)]
pub struct Key {
    pub name: &'static str,
    pub kind: Kind,
    pub about: &'static str,
    default: DefaultValue,
}

#[derive(Debug, Clone, Copy)]
enum DefaultValue {
    Language(Lang),
    Choice(&'static str),
    Integer(u32),
    Boolean(bool),
}

impl Key {
    /// The key of this name, for `overtone config get` and `set`.
    pub fn find(name: &str) -> Option<&'static Self> {
        KEYS.iter().find(|key| key.name == name)
    }

    pub fn default_value(&self) -> Value {
        match self.default {
            DefaultValue::Language(lang) => json!(lang.tag()),
            DefaultValue::Choice(name) => json!(name),
            DefaultValue::Integer(number) => json!(number),
            DefaultValue::Boolean(on) => json!(on),
        }
    }

    /// The values that the key accepts, for a hint.
    pub fn allowed(&self) -> String {
        match self.kind {
            Kind::Language => Lang::ALL.map(Lang::tag).join(", "),
            Kind::Choice(names) => names.join(", "),
            Kind::Boolean => "true, false".to_owned(),
            Kind::Integer(low, high) => format!("a whole number from {low} to {high}"),
            Kind::Number(high) => format!("a number above 0, at most {high}"),
            Kind::Limit(high) => format!("a number from 0 to {high}, 0 for no limit"),
        }
    }

    fn accepts(&self, value: &Value) -> bool {
        match self.kind {
            Kind::Language => value.as_str().and_then(Lang::from_tag).is_some(),
            Kind::Choice(names) => matches!(value.as_str(), Some(name) if names.contains(&name)),
            Kind::Boolean => value.is_boolean(),
            Kind::Integer(low, high) => match value.as_u64() {
                Some(number) => (u64::from(low)..=u64::from(high)).contains(&number),
                None => false,
            },
            Kind::Number(high) => match value.as_f64() {
                Some(number) => number > 0.0 && number <= high,
                None => false,
            },
            Kind::Limit(high) => match value.as_f64() {
                Some(number) => (0.0..=high).contains(&number),
                None => false,
            },
        }
    }

    /// The value for a text from the command line, if the key accepts it.
    fn parse(&self, text: &str) -> Option<Value> {
        let value = match self.kind {
            Kind::Language => json!(Lang::from_tag(text)?.tag()),
            Kind::Choice(_) => json!(text),
            _ => serde_json::from_str(text).ok()?,
        };
        self.accepts(&value).then_some(value)
    }
}

/// A key together with the type of its values. All of them are in [`keys`].
#[derive(Debug)]
pub struct Setting<T> {
    key: Key,
    default: T,
}

impl<T> Setting<T> {
    pub const fn key(&self) -> &Key {
        &self.key
    }
}

/// A type that settings can have.
pub trait SettingValue: Copy {
    fn from_json(value: &Value) -> Option<Self>;
    fn to_json(self) -> Value;
}

impl SettingValue for Lang {
    fn from_json(value: &Value) -> Option<Self> {
        Self::from_tag(value.as_str()?)
    }

    fn to_json(self) -> Value {
        json!(self.tag())
    }
}

/// Implements [`SettingValue`] for tables of the registry whose entries are stored by their names.
macro_rules! choice_setting {
    ($($Type:ident),+) => {
        $(impl SettingValue for $Type {
            fn from_json(value: &Value) -> Option<Self> {
                Self::from_name(value.as_str()?)
            }

            fn to_json(self) -> Value {
                json!(self.name())
            }
        })+
    };
}

choice_setting!(DocsRule, Economy, GuardLevel, RetroRule);

impl SettingValue for bool {
    fn from_json(value: &Value) -> Option<Self> {
        value.as_bool()
    }

    fn to_json(self) -> Value {
        json!(self)
    }
}

impl SettingValue for u16 {
    fn from_json(value: &Value) -> Option<Self> {
        value.as_u64()?.try_into().ok()
    }

    fn to_json(self) -> Value {
        json!(self)
    }
}

impl SettingValue for u32 {
    fn from_json(value: &Value) -> Option<Self> {
        value.as_u64()?.try_into().ok()
    }

    fn to_json(self) -> Value {
        json!(self)
    }
}

impl SettingValue for f64 {
    fn from_json(value: &Value) -> Option<Self> {
        value.as_f64()
    }

    fn to_json(self) -> Value {
        json!(self)
    }
}

/// A change of the configuration that was refused or could not be written.
#[derive(Debug, thiserror::Error)]
pub enum ConfigError {
    #[error("unknown configuration key `{0}`")]
    UnknownKey(String),
    #[error("bad value `{given}` for `{}`", key.name)]
    BadValue { key: Key, given: String },
    #[error("{0}")]
    Store(StoreError),
}

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

    /// The value in effect: the one in the file if the key accepts it, else the default.
    pub fn get<T: SettingValue>(&self, setting: &Setting<T>) -> T {
        self.get_explicit(setting).unwrap_or(setting.default)
    }

    /// The value in the file, if there is one that the key accepts.
    pub fn get_explicit<T: SettingValue>(&self, setting: &Setting<T>) -> Option<T> {
        let value = self.own_value(&setting.key)?;
        if setting.key.accepts(value) { T::from_json(value) } else { None }
    }

    /// The value in effect of a key that was looked up by name.
    pub fn value(&self, key: &Key) -> Value {
        match self.own_value(key) {
            Some(value) if key.accepts(value) => value.clone(),
            _ => key.default_value(),
        }
    }

    /// The value in the file, whether the key accepts it or not.
    pub fn own_value(&self, key: &Key) -> Option<&Value> {
        match key.name.split_once('.') {
            Some((group, name)) => self.document.get(group)?.get(name),
            None => self.document.get(key.name),
        }
    }

    /// Whether the file has a value that the key does not accept.
    pub fn has_bad_value(&self, key: &Key) -> bool {
        match self.own_value(key) {
            Some(value) => !key.accepts(value),
            None => false,
        }
    }

    /// A group of keys that another crate reads.
    pub fn section(&self, section: Section) -> Option<&Value> {
        self.document.get(section.name())
    }

    /// Replaces a group of keys, or removes it; the rest of the file stays. Returns whether it was there before.
    pub fn set_section(home: &Home, section: Section, value: Option<Value>) -> Result<bool, StoreError> {
        let path = home.config_file();
        let _lock = home.lock().map_err(|error| StoreError::io(&path, error))?;
        let mut config = Self::load(home)?;
        let old = match value {
            Some(value) => config.document.insert(section.name().to_owned(), value),
            None => config.document.shift_remove(section.name()),
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

    pub fn language(&self) -> Lang {
        self.get(keys::LANGUAGE)
    }

    /// What the engine needs to know.
    pub fn settings(&self) -> Settings {
        let megabytes = self.get(keys::COMPACT_THRESHOLD_MB);
        #[allow(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "0 < MB <= 10,000 by the key's kind"
        )]
        let threshold = (megabytes * 1e6).round() as u64;
        Settings {
            max_failures: self.get(keys::MAX_FAILURES),
            max_rejections: self.get(keys::MAX_REJECTIONS),
            max_retros: self.get(keys::MAX_RETROS),
            max_helpers: self.get(keys::MAX_HELPERS),
            max_iterations: self.get(keys::MAX_ITERATIONS),
            max_consecutive_errors: self.get(keys::MAX_CONSECUTIVE_ERRORS),
            compact_threshold_bytes: threshold,
            compact_threshold_percent: self.get(keys::COMPACT_THRESHOLD_PERCENT),
            compact_cooldown_stages: self.get(keys::COMPACT_COOLDOWN_STAGES),
            foreground_agents: self.get(keys::FOREGROUND_AGENTS),
        }
    }

    /// The limits of new workflows. Zero stands for no limit.
    pub fn budget(&self) -> Budget {
        let limits = |usd: &Setting<f64>, counts: [(BudgetKind, &Setting<u32>); 3]| {
            let mut limits = Limits::default();
            limits.set(BudgetKind::Usd, micro_usd(self.get(usd)));
            for (kind, setting) in counts {
                limits.set(kind, Some(u64::from(self.get(setting))).filter(|limit| *limit > 0));
            }
            limits
        };
        Budget {
            workflow: limits(
                keys::BUDGET_USD,
                [
                    (BudgetKind::Tokens, keys::BUDGET_TOKENS),
                    (BudgetKind::Minutes, keys::BUDGET_MINUTES),
                    (BudgetKind::Agents, keys::BUDGET_AGENTS),
                ],
            ),
            stage: limits(
                keys::BUDGET_STAGE_USD,
                [
                    (BudgetKind::Tokens, keys::BUDGET_STAGE_TOKENS),
                    (BudgetKind::Minutes, keys::BUDGET_STAGE_MINUTES),
                    (BudgetKind::Agents, keys::BUDGET_STAGE_AGENTS),
                ],
            ),
        }
    }

    /// Changes one setting.
    pub fn set<T: SettingValue>(home: &Home, setting: &Setting<T>, value: T) -> Result<(), ConfigError> {
        let value = value.to_json();
        if !setting.key.accepts(&value) {
            return Err(ConfigError::BadValue { key: setting.key, given: value.to_string() });
        }
        Self::change(home, &setting.key, value)
    }

    /// Changes the key of this name, for `overtone config set`. Returns the new value.
    pub fn set_by_name(home: &Home, name: &str, text: &str) -> Result<Value, ConfigError> {
        let Some(key) = Key::find(name) else { return Err(ConfigError::UnknownKey(name.to_owned())) };
        let Some(value) = key.parse(text) else {
            return Err(ConfigError::BadValue { key: *key, given: text.to_owned() });
        };
        Self::change(home, key, value.clone())?;
        Ok(value)
    }

    /// Writes one value under the home's lock, with the file read again.
    fn change(home: &Home, key: &Key, value: Value) -> Result<(), ConfigError> {
        let path = home.config_file();
        let _lock = home.lock().map_err(|error| ConfigError::Store(StoreError::io(&path, error)))?;
        let mut config = Self::load(home).map_err(ConfigError::Store)?;
        let (fields, name) = match key.name.split_once('.') {
            Some((group, name)) => {
                let slot = config.document.entry(group).or_insert_with(|| json!({}));
                // A group that is not an object was written by another program, so it is not replaced.
                let Some(fields) = slot.as_object_mut() else {
                    let error = StoreError::broken(&path, format!("`{group}` is not an object"));
                    return Err(ConfigError::Store(error));
                };
                (fields, name)
            }
            None => (&mut config.document, key.name),
        };
        fields.insert(name.to_owned(), value);
        config.save(home).map_err(ConfigError::Store)
    }
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
    fn every_key_is_found_by_its_name_only() {
        for (index, key) in KEYS.iter().enumerate() {
            assert_eq!(KEYS.iter().position(|other| other.name == key.name), Some(index), "{}", key.name);
            assert!(Key::find(key.name).is_some());
        }
        assert!(Key::find("dashboard").is_none());
    }

    #[test]
    fn a_typed_value_reads_back_and_is_checked() {
        let dir = tempfile::tempdir().unwrap();
        let home = Home::at(dir.path().to_owned());
        assert_eq!(Config::load(&home).unwrap().get_explicit(keys::DASHBOARD_PORT), None);
        assert_eq!(Config::default().get(keys::DASHBOARD_PORT), 7777);
        Config::set(&home, keys::DASHBOARD_PORT, 8000).unwrap();
        Config::set(&home, keys::DASHBOARD_ENABLED, false).unwrap();
        Config::set(&home, keys::LANGUAGE, Lang::En).unwrap();
        assert!(matches!(Config::set(&home, keys::MAX_FAILURES, 0), Err(ConfigError::BadValue { .. })));
        let config = Config::load(&home).unwrap();
        assert_eq!(config.get_explicit(keys::DASHBOARD_PORT), Some(8000));
        assert!(!config.get(keys::DASHBOARD_ENABLED));
        assert_eq!(config.language(), Lang::En);
    }

    #[test]
    fn setting_keeps_what_it_does_not_know() {
        let dir = tempfile::tempdir().unwrap();
        let home = Home::at(dir.path().to_owned());
        files::write_atomic(&home.config_file(), br#"{"future":{"x":1},"compact":{"other":2}}"#, PRIVATE)
            .unwrap();
        Config::set_by_name(&home, "compact.thresholdMb", "0.5").unwrap();
        Config::set_by_name(&home, "language", "en_US").unwrap();
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
        assert!(Config::set_section(&home, Section::Fleet, Some(json!({"url":"u"}))).unwrap());
        assert_eq!(read().unwrap(), json!({"future":{"x":1},"fleet":{"url":"u"},"language":"en"}));
        assert!(Config::set_section(&home, Section::Fleet, None).unwrap());
        assert!(!Config::set_section(&home, Section::Fleet, None).unwrap());
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
                matches!(Config::set_by_name(&home, name, value), Err(ConfigError::BadValue { .. })),
                "{name}={value}"
            );
        }
        assert!(matches!(Config::set_by_name(&home, "constructor", "1"), Err(ConfigError::UnknownKey(_))));
        files::write_atomic(&home.config_file(), br#"{"limits":{"failures":"x"},"loop":7}"#, PRIVATE)
            .unwrap();
        assert_eq!(Config::load(&home).unwrap().settings(), Settings::default());
        assert!(matches!(Config::set_by_name(&home, "loop.maxIterations", "5"), Err(ConfigError::Store(_))));
        let text = files::read_small(&home.config_file()).unwrap().unwrap();
        assert_eq!(
            text, r#"{"limits":{"failures":"x"},"loop":7}"#,
            "what is not understood is not overwritten"
        );
    }
}
