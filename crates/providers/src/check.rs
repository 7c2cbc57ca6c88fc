//! Everything that is wrong in `ccc.json`, at once and with its line, for whoever edits or examines it.
//!
//! A start complains only about what it needs.

use overtone_settings::Document;
use serde_json::Value;

use crate::{Config, Place};

/// Something in the file that is not as it should be.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fault {
    pub place: Place,
    pub key: String,
    pub kind: FaultKind,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum FaultKind {
    Wrong(Shape),
    /// There is no provider of this name; these there are.
    UnknownProvider {
        name: String,
        known: Vec<String>,
    },
    /// A key of the supervisor that it does not know: probably a slip.
    UnknownKey,
}

/// What a value should have been.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Shape {
    Object,
    Text,
    ListOfTexts,
    Boolean,
    /// A whole number from 1.
    Count,
    /// A number above 0.
    Amount,
    /// A list of commands, and of objects with a command or with `"changes": true`.
    Checks,
}

impl Fault {
    /// Whether something does not work because of it.
    pub fn is_serious(&self) -> bool {
        self.kind != FaultKind::UnknownKey
    }
}

const SUPERVISOR: [(&str, Shape); 7] = [
    ("enabled", Shape::Boolean),
    ("max_iterations", Shape::Count),
    ("timeout_seconds", Shape::Count),
    ("provider", Shape::Text),
    ("model", Shape::Text),
    ("max_budget_usd", Shape::Amount),
    ("checks", Shape::Checks),
];

impl Shape {
    /// A key without a value counts as a missing key.
    fn fits(self, value: &Value) -> bool {
        value.is_null()
            || match self {
                Self::Object => value.is_object(),
                Self::Text => value.is_string(),
                Self::ListOfTexts => is_list(value, Value::is_string),
                Self::Boolean => value.is_boolean(),
                Self::Count => value.as_u64().is_some_and(|count| count >= 1),
                Self::Amount => value.as_f64().is_some_and(|amount| amount > 0.0),
                Self::Checks => is_list(value, is_check),
            }
    }
}

fn is_list(value: &Value, fits: impl Fn(&Value) -> bool) -> bool {
    value.as_array().is_some_and(|items| items.iter().all(fits))
}

fn is_check(value: &Value) -> bool {
    let text = |key: &str| value.get(key).is_none_or(Value::is_string);
    let limit = value.get("timeout_seconds").is_none_or(|limit| Shape::Count.fits(limit));
    let does = value.get("command").is_some() || value.get("changes") == Some(&Value::Bool(true));
    value.is_string() || (value.is_object() && text("name") && text("command") && limit && does)
}

/// Goes through the file from top to bottom.
struct Checker<'a> {
    config: &'a Config,
    document: &'a Document,
    faults: Vec<Fault>,
}

/// All faults of the file.
pub(crate) fn faults(config: &Config, document: &Document) -> Vec<Fault> {
    let mut checker = Checker { config, document, faults: Vec::new() };
    if checker.expect(&["settings"], Shape::Object) {
        checker.environment(&["settings", "env"]);
    }
    checker.providers();
    checker.known_provider(&["current_provider"]);
    checker.expect(&["claude_args"], Shape::ListOfTexts);
    checker.expect(&["keep_env"], Shape::ListOfTexts);
    checker.supervisor();
    checker.faults
}

impl Checker<'_> {
    fn expect(&mut self, path: &[&str], shape: Shape) -> bool {
        let fits = self.document.get(path).is_none_or(|value| shape.fits(&value));
        if !fits {
            self.report(path, FaultKind::Wrong(shape));
        }
        fits
    }

    fn providers(&mut self) {
        if !self.expect(&["providers"], Shape::Object) {
            return;
        }
        for name in self.keys(&["providers"]) {
            if self.expect(&["providers", &name], Shape::Object) {
                self.environment(&["providers", &name, "env"]);
            }
        }
    }

    fn environment(&mut self, path: &[&str]) {
        if !self.expect(path, Shape::Object) {
            return;
        }
        for variable in self.keys(path) {
            let at = [path, &[&variable]].concat();
            let plain = |value: Value| value.is_string() || value.is_number() || value.is_boolean();
            if !self.document.get(&at).is_some_and(plain) {
                self.report(&at, FaultKind::Wrong(Shape::Text));
            }
        }
    }

    fn supervisor(&mut self) {
        if !self.expect(&["supervisor"], Shape::Object) {
            return;
        }
        for (key, shape) in SUPERVISOR {
            self.expect(&["supervisor", key], shape);
        }
        self.known_provider(&["supervisor", "provider"]);
        for key in self.keys(&["supervisor"]) {
            if !SUPERVISOR.iter().any(|(known, _)| *known == key) {
                self.report(&["supervisor", &key], FaultKind::UnknownKey);
            }
        }
    }

    /// A name of one of the providers, or none.
    fn known_provider(&mut self, path: &[&str]) {
        if !self.expect(path, Shape::Text) {
            return;
        }
        let Some(Value::String(name)) = self.document.get(path) else { return };
        let known = self.keys(&["providers"]);
        if !name.is_empty() && !known.contains(&name) {
            self.report(path, FaultKind::UnknownProvider { name, known });
        }
    }

    fn keys(&self, path: &[&str]) -> Vec<String> {
        match self.document.get(path) {
            Some(Value::Object(object)) => object.keys().cloned().collect(),
            _ => Vec::new(),
        }
    }

    fn report(&mut self, path: &[&str], kind: FaultKind) {
        let place = Place::of(self.config.path(), self.document, path);
        // Reported once, although a wrong name is also a wrong type.
        let fault = Fault { place, key: path.join("."), kind };
        if !self.faults.contains(&fault) {
            self.faults.push(fault);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;

    fn found(text: &str) -> Vec<(String, usize)> {
        let faults = Config::parse(Path::new("ccc.json"), text).unwrap().faults();
        faults.into_iter().map(|fault| (fault.key, fault.place.line)).collect()
    }

    #[test]
    fn a_good_file_has_no_faults() {
        let good = r#"{ "$schema": "x", "settings": {"env": {"A": 1}}, "providers": {"a": {"env": {"B": "x"}}, "b": {}},
            "current_provider": "a", "claude_args": ["--verbose"], "keep_env": ["AWS_PROFILE"], "more": [],
            "supervisor": {"enabled": true, "max_iterations": 3, "timeout_seconds": 60, "provider": "b", "model": "m",
              "max_budget_usd": 0.5, "checks": ["make", {"name": "t", "command": "x", "timeout_seconds": 1},
              {"changes": true}]} }"#;
        assert_eq!(found(good), []);
        assert_eq!(found("{}"), []);
        assert_eq!(found(""), []);
        assert_eq!(found(r#"{"providers": null, "current_provider": null, "supervisor": null}"#), []);
    }

    #[test]
    fn every_fault_is_found_with_its_line() {
        let bad = "{\n\"settings\": 1,\n\"providers\": {\n\"a\": 1,\n\"b\": {\"env\": []},\n\"c\": {\"env\": {\n\"X\": []}}},\n\
                   \"current_provider\": \"d\",\n\"claude_args\": [1],\n\"supervisor\": {\n\"enabled\": 1,\n\
                   \"max_iterations\": 0,\n\"max_budget_usd\": 0,\n\"checks\": [{\"name\": \"x\"}],\n\
                   \"provider\": \"e\",\n\"typo\": 1}}";
        let at = |key: &str, line: usize| (key.to_owned(), line);
        assert_eq!(
            found(bad),
            [
                at("settings", 2),
                at("providers.a", 4),
                at("providers.b.env", 5),
                at("providers.c.env.X", 7),
                at("current_provider", 8),
                at("claude_args", 9),
                at("supervisor.enabled", 11),
                at("supervisor.max_iterations", 12),
                at("supervisor.max_budget_usd", 13),
                at("supervisor.checks", 14),
                at("supervisor.provider", 15),
                at("supervisor.typo", 16),
            ]
        );
    }
}
