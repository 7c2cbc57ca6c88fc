//! The limits of the supervisor and who reviews: `supervisor` in `ccc.json`, and the environment over it.
//!
//! A value that makes no sense is told and counts as none: a typing error must not end a session.

use std::env;
use std::time::Duration;

use overtone_providers::{Config, Places};
use serde_json::{Map, Value};

use crate::checks::Check;

/// The specification's ten rounds.
const MAX_ITERATIONS: u32 = 10;
const TIMEOUT: Duration = Duration::from_mins(10);
/// Longer than a day is a typing error.
const MAX_SECONDS: u64 = 86_400;

#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Settings {
    /// What the person has said about all sessions, if anything.
    pub(crate) enabled: Option<bool>,
    pub(crate) max_iterations: u32,
    /// For a whole round, checks and review together.
    pub(crate) timeout: Duration,
    /// The reviewer's provider, if the user has named one.
    pub(crate) provider: Option<String>,
    /// The provider that the session was started on, if `ccc` has started it.
    pub(crate) own_provider: Option<String>,
    pub(crate) model: Option<String>,
    pub(crate) checks: Vec<Check>,
    /// What all reviews of a session may cost.
    pub(crate) max_budget_usd: Option<f64>,
}

impl Settings {
    /// From `ccc.json` and the environment; beside it, what is wrong with the file.
    pub(crate) fn from_process() -> (Self, Vec<String>) {
        let places = Places::resolve(&|name| env::var_os(name));
        let config = places.and_then(|places| Config::load(&places.config_file()));
        let (mut settings, problems) = match config {
            Ok(config) => Self::parse(config.supervisor().as_ref()),
            Err(error) => (Self::parse(None).0, vec![error.summary()]),
        };
        settings.apply(&|name| env::var(name).ok());
        (settings, problems)
    }

    /// What `supervisor` says, and which of its keys make no sense.
    pub(crate) fn parse(block: Option<&Value>) -> (Self, Vec<String>) {
        let empty = Map::new();
        let mut problems = Vec::new();
        let fields = match block {
            None | Some(Value::Null) => &empty,
            Some(Value::Object(fields)) => fields,
            Some(_) => {
                problems.push("supervisor".to_owned());
                &empty
            }
        };
        let mut reader = Reader { fields, problems };
        let settings = Self {
            enabled: reader.take("enabled", Value::as_bool),
            max_iterations: reader.take("max_iterations", rounds).unwrap_or(MAX_ITERATIONS),
            timeout: reader.take("timeout_seconds", seconds).unwrap_or(TIMEOUT),
            provider: reader.take("provider", text),
            own_provider: None,
            model: reader.take("model", text),
            checks: reader.take("checks", checks).unwrap_or_default(),
            max_budget_usd: reader.take("max_budget_usd", dollars),
        };
        (settings, reader.problems)
    }

    /// Whose model reviews.
    pub(crate) fn reviewer(&self) -> Option<&str> {
        self.provider.as_deref().or(self.own_provider.as_deref())
    }

    fn apply(&mut self, variable: &dyn Fn(&str) -> Option<String>) {
        self.enabled = match variable("CCC_SUPERVISOR").as_deref() {
            Some("1") => Some(true),
            Some("0") => Some(false),
            _ => self.enabled,
        };
        let wanted = variable("CCC_SUPERVISOR_TIMEOUT").and_then(|text| text.parse().ok());
        self.timeout = wanted.and_then(|wanted: u64| seconds(&wanted.into())).unwrap_or(self.timeout);
        // Whatever other terminals do meanwhile, a session is reviewed on the provider that it was started on.
        let set = |name: &str| variable(name).filter(|name| !name.is_empty());
        self.own_provider = set("CCC_ISOLATED_PROVIDER").or_else(|| set("CCC_PROVIDER"));
    }
}

/// How long the client has to wait for the hook at most: a round, and time to end it.
pub fn hook_seconds() -> u64 {
    const MARGIN: u64 = 60;
    Settings::from_process().0.timeout.as_secs() + MARGIN
}

struct Reader<'a> {
    fields: &'a Map<String, Value>,
    problems: Vec<String>,
}

impl Reader<'_> {
    fn take<T>(&mut self, key: &str, read: impl Fn(&Value) -> Option<T>) -> Option<T> {
        let value = self.fields.get(key).filter(|value| !value.is_null())?;
        let read = read(value);
        if read.is_none() {
            self.problems.push(format!("supervisor.{key}"));
        }
        read
    }
}

fn rounds(value: &Value) -> Option<u32> {
    value.as_u64().and_then(|count| u32::try_from(count).ok()).filter(|count| *count > 0)
}

pub(crate) fn seconds(value: &Value) -> Option<Duration> {
    value.as_u64().filter(|seconds| (1..=MAX_SECONDS).contains(seconds)).map(Duration::from_secs)
}

fn text(value: &Value) -> Option<String> {
    value.as_str().map(str::trim).filter(|text| !text.is_empty()).map(str::to_owned)
}

fn dollars(value: &Value) -> Option<f64> {
    value.as_f64().filter(|dollars| *dollars > 0.0)
}

/// All or none: evidence that is silently missing would look like evidence that passed.
fn checks(value: &Value) -> Option<Vec<Check>> {
    value.as_array()?.iter().map(Check::read).collect()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn everything_can_be_said() {
        let block = json!({
            "enabled": false, "max_iterations": 3, "timeout_seconds": 30, "provider": "glm", "model": "opus",
            "checks": ["cargo test"], "max_budget_usd": 1.5, "future": 1
        });
        let (settings, problems) = Settings::parse(Some(&block));
        assert!(problems.is_empty(), "{problems:?}");
        assert_eq!((settings.enabled, settings.max_iterations), (Some(false), 3));
        assert_eq!((settings.timeout, settings.checks.len()), (Duration::from_secs(30), 1));
        assert_eq!(settings.max_budget_usd, Some(1.5));
    }

    #[test]
    fn what_makes_no_sense_is_named_and_counts_as_none() {
        let block = json!({
            "enabled": "yes", "max_iterations": 0, "timeout_seconds": -1, "provider": 7, "model": " ",
            "checks": ["ok", 3], "max_budget_usd": 0
        });
        let (settings, problems) = Settings::parse(Some(&block));
        assert_eq!(settings, Settings::parse(None).0);
        assert_eq!(problems.len(), 7);
        assert_eq!(Settings::parse(Some(&json!([]))).1, ["supervisor"]);
    }

    #[test]
    fn a_session_is_reviewed_on_its_own_provider_unless_another_is_named() {
        let reviewer = |block: Value, variables: &[(&str, &str)]| {
            let mut settings = Settings::parse(Some(&block)).0;
            let find = |name: &str| variables.iter().find(|(other, _)| *other == name);
            settings.apply(&|name| find(name).map(|(_, value)| (*value).to_owned()));
            settings.reviewer().map(str::to_owned)
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
            settings.apply(&|name| match name {
                "CCC_SUPERVISOR_TIMEOUT" => Some(seconds.to_owned()),
                "CCC_SUPERVISOR" => Some(on.to_owned()),
                _ => None,
            });
            (settings.timeout, settings.enabled)
        };
        assert_eq!(apply("5", "1"), (Duration::from_secs(5), Some(true)));
        for odd in ["", "0", "-1", "1e3", "99999999999999999999"] {
            assert_eq!(apply(odd, "2"), (TIMEOUT, Some(false)), "{odd:?}");
        }
    }
}
