//! The supervisor's settings: the `supervisor` block of `ccc.json`, overridden by the environment.
//!
//! An invalid value is reported and counts as not set: a typing error must not end a session.

use std::env;
use std::time::Duration;

use crate::providers::{CccPaths, Config};
use serde_json::{Map, Value};

use crate::supervisor::checks::Check;

/// Ten rounds, as specified.
const DEFAULT_MAX_ITERATIONS: u32 = 10;
const DEFAULT_TIMEOUT: Duration = Duration::from_mins(10);
/// More than a day is a typing error.
const MAX_SECONDS: u64 = 86_400;

#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Settings {
    /// Whether sessions are supervised by default; `None` if the user has not set it.
    pub(crate) enabled: Option<bool>,
    pub(crate) max_iterations: u32,
    /// The time limit of a round, checks and review together.
    pub(crate) timeout: Duration,
    /// The reviewer's provider, if the user has named one.
    pub(crate) provider: Option<String>,
    /// The provider of the session, if `ccc` has started it.
    pub(crate) own_provider: Option<String>,
    pub(crate) model: Option<String>,
    pub(crate) checks: Vec<Check>,
    /// The budget for all reviews of a session.
    pub(crate) max_budget_usd: Option<f64>,
}

impl Settings {
    /// Reads `ccc.json` and the environment. Returns the settings and the errors in the file.
    pub(crate) fn from_process() -> (Self, Vec<String>) {
        let paths = CccPaths::resolve(&|name| env::var_os(name));
        let config = paths.and_then(|paths| Config::load(&paths.config_file()));
        let (mut settings, errors) = match config {
            Ok(config) => Self::parse(config.supervisor().as_ref()),
            Err(error) => (Self::parse(None).0, vec![error.to_string()]),
        };
        settings.apply_environment(&|name| env::var(name).ok());
        (settings, errors)
    }

    /// Parses the `supervisor` block. Returns the settings and the invalid keys.
    pub(crate) fn parse(block: Option<&Value>) -> (Self, Vec<String>) {
        let empty = Map::new();
        let mut errors = Vec::new();
        let fields = match block {
            None | Some(Value::Null) => &empty,
            Some(Value::Object(fields)) => fields,
            Some(_) => {
                errors.push("supervisor".to_owned());
                &empty
            }
        };
        let mut reader = Reader { fields, errors };
        let settings = Self {
            enabled: reader.get("enabled", Value::as_bool),
            max_iterations: reader.get("max_iterations", parse_rounds).unwrap_or(DEFAULT_MAX_ITERATIONS),
            timeout: reader.get("timeout_seconds", parse_seconds).unwrap_or(DEFAULT_TIMEOUT),
            provider: reader.get("provider", parse_text),
            own_provider: None,
            model: reader.get("model", parse_text),
            checks: reader.get("checks", parse_checks).unwrap_or_default(),
            max_budget_usd: reader.get("max_budget_usd", parse_dollars),
        };
        (settings, reader.errors)
    }

    /// The provider whose model reviews.
    pub(crate) fn reviewer_provider(&self) -> Option<&str> {
        self.provider.as_deref().or(self.own_provider.as_deref())
    }

    fn apply_environment(&mut self, variable: &dyn Fn(&str) -> Option<String>) {
        self.enabled = match variable("CCC_SUPERVISOR").as_deref() {
            Some("1") => Some(true),
            Some("0") => Some(false),
            _ => self.enabled,
        };
        let timeout = variable("CCC_SUPERVISOR_TIMEOUT").and_then(|text| text.parse::<u64>().ok());
        if let Some(timeout) = timeout.and_then(|timeout| parse_seconds(&timeout.into())) {
            self.timeout = timeout;
        }
        // A session is reviewed on the provider it was started on, whatever other terminals do meanwhile.
        let set = |name: &str| variable(name).filter(|name| !name.is_empty());
        self.own_provider = set("CCC_ISOLATED_PROVIDER").or_else(|| set("CCC_PROVIDER"));
    }
}

/// The hook's timeout in the client's settings: the time limit of a round, and a margin to finish.
pub fn hook_timeout_seconds() -> u64 {
    const MARGIN: u64 = 60;
    Settings::from_process().0.timeout.as_secs() + MARGIN
}

struct Reader<'a> {
    fields: &'a Map<String, Value>,
    errors: Vec<String>,
}

impl Reader<'_> {
    /// A value, or `None` if it is missing or invalid. Invalid keys are recorded.
    fn get<T>(&mut self, key: &str, parse: impl Fn(&Value) -> Option<T>) -> Option<T> {
        let value = self.fields.get(key).filter(|value| !value.is_null())?;
        let parsed = parse(value);
        if parsed.is_none() {
            self.errors.push(format!("supervisor.{key}"));
        }
        parsed
    }
}

fn parse_rounds(value: &Value) -> Option<u32> {
    value.as_u64().and_then(|count| u32::try_from(count).ok()).filter(|count| *count > 0)
}

pub(crate) fn parse_seconds(value: &Value) -> Option<Duration> {
    value.as_u64().filter(|seconds| (1..=MAX_SECONDS).contains(seconds)).map(Duration::from_secs)
}

fn parse_text(value: &Value) -> Option<String> {
    value.as_str().map(str::trim).filter(|text| !text.is_empty()).map(str::to_owned)
}

fn parse_dollars(value: &Value) -> Option<f64> {
    value.as_f64().filter(|dollars| *dollars > 0.0)
}

/// One invalid check invalidates the list: a check that is silently skipped would look as if it had passed.
fn parse_checks(value: &Value) -> Option<Vec<Check>> {
    value.as_array()?.iter().map(Check::parse).collect()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn every_key_is_parsed() {
        let block = json!({
            "enabled": false, "max_iterations": 3, "timeout_seconds": 30, "provider": "glm", "model": "opus",
            "checks": ["cargo test"], "max_budget_usd": 1.5, "future": 1
        });
        let (settings, errors) = Settings::parse(Some(&block));
        assert!(errors.is_empty(), "{errors:?}");
        assert_eq!((settings.enabled, settings.max_iterations), (Some(false), 3));
        assert_eq!((settings.timeout, settings.checks.len()), (Duration::from_secs(30), 1));
        assert_eq!(settings.max_budget_usd, Some(1.5));
    }

    #[test]
    fn invalid_values_are_reported_and_count_as_not_set() {
        let block = json!({
            "enabled": "yes", "max_iterations": 0, "timeout_seconds": -1, "provider": 7, "model": " ",
            "checks": ["ok", 3], "max_budget_usd": 0
        });
        let (settings, errors) = Settings::parse(Some(&block));
        assert_eq!(settings, Settings::parse(None).0);
        assert_eq!(errors.len(), 7);
        assert_eq!(Settings::parse(Some(&json!([]))).1, ["supervisor"]);
    }

    #[test]
    fn a_session_is_reviewed_on_its_own_provider_unless_another_is_named() {
        let reviewer = |block: Value, variables: &[(&str, &str)]| {
            let mut settings = Settings::parse(Some(&block)).0;
            let find = |name: &str| variables.iter().find(|(other, _)| *other == name);
            settings.apply_environment(&|name| find(name).map(|(_, value)| (*value).to_owned()));
            settings.reviewer_provider().map(str::to_owned)
        };
        assert_eq!(reviewer(json!({}), &[]), None);
        assert_eq!(reviewer(json!({}), &[("CCC_PROVIDER", "a")]).as_deref(), Some("a"));
        assert_eq!(reviewer(json!({}), &[("CCC_ISOLATED_PROVIDER", "b")]).as_deref(), Some("b"));
        assert_eq!(reviewer(json!({"provider": "c"}), &[("CCC_PROVIDER", "a")]).as_deref(), Some("c"));
        assert_eq!(reviewer(json!({}), &[("CCC_PROVIDER", "")]), None);
    }

    #[test]
    fn the_environment_wins() {
        let apply = |seconds: &str, on: &str| {
            let mut settings = Settings::parse(Some(&json!({"enabled": false}))).0;
            settings.apply_environment(&|name| match name {
                "CCC_SUPERVISOR_TIMEOUT" => Some(seconds.to_owned()),
                "CCC_SUPERVISOR" => Some(on.to_owned()),
                _ => None,
            });
            (settings.timeout, settings.enabled)
        };
        assert_eq!(apply("5", "1"), (Duration::from_secs(5), Some(true)));
        for invalid in ["", "0", "-1", "1e3", "99999999999999999999"] {
            assert_eq!(apply(invalid, "2"), (DEFAULT_TIMEOUT, Some(false)), "{invalid:?}");
        }
    }
}
