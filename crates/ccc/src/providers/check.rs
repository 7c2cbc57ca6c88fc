//! Validates `ccc.json` as a whole and reports every fault with its line, for `ccc edit` and `ccc doctor`.
//!
//! A start reports only faults in the values it needs.

use jsonc_edit::Document;
use serde_json::Value;

use crate::providers::{Config, FileLocation};

/// A fault of the file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fault {
    pub location: FileLocation,
    pub key: String,
    pub kind: FaultKind,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum FaultKind {
    WrongType(ValueType),
    /// There is no provider of this name; `known` lists the existing ones.
    UnknownProvider {
        name: String,
        known: Vec<String>,
    },
    /// An unknown key in the supervisor block, probably a typing error.
    UnknownKey,
}

/// The expected type of a value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ValueType {
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
    /// Whether something does not work because of the fault.
    pub fn is_serious(&self) -> bool {
        self.kind != FaultKind::UnknownKey
    }
}

const SUPERVISOR: [(&str, ValueType); 7] = [
    ("enabled", ValueType::Boolean),
    ("max_iterations", ValueType::Count),
    ("timeout_seconds", ValueType::Count),
    ("provider", ValueType::Text),
    ("model", ValueType::Text),
    ("max_budget_usd", ValueType::Amount),
    ("checks", ValueType::Checks),
];

impl ValueType {
    /// Whether the value has this type. `null` counts as a missing key.
    fn fits(self, value: &Value) -> bool {
        if value.is_null() {
            return true;
        }
        match self {
            Self::Object => value.is_object(),
            Self::Text => value.is_string(),
            Self::ListOfTexts => is_list(value, Value::is_string),
            Self::Boolean => value.is_boolean(),
            Self::Count => matches!(value.as_u64(), Some(1..)),
            Self::Amount => matches!(value.as_f64(), Some(amount) if amount > 0.0),
            Self::Checks => is_list(value, is_check),
        }
    }
}

fn is_list(value: &Value, fits: impl Fn(&Value) -> bool) -> bool {
    matches!(value, Value::Array(items) if items.iter().all(fits))
}

fn is_check(value: &Value) -> bool {
    let Value::Object(fields) = value else { return value.is_string() };
    if !matches!(fields.get("name"), None | Some(Value::String(_))) {
        return false;
    }
    if let Some(limit) = fields.get("timeout_seconds")
        && !ValueType::Count.fits(limit)
    {
        return false;
    }
    match fields.get("command") {
        Some(command) => command.is_string(),
        None => fields.get("changes") == Some(&Value::Bool(true)),
    }
}

/// Checks the file from top to bottom and collects the faults.
struct Checker<'a> {
    config: &'a Config,
    document: &'a Document,
    faults: Vec<Fault>,
}

/// Every fault of the file.
pub(crate) fn find_faults(config: &Config, document: &Document) -> Vec<Fault> {
    let mut checker = Checker { config, document, faults: Vec::new() };
    if checker.expect(&["settings"], ValueType::Object) {
        checker.environment(&["settings", "env"]);
    }
    checker.providers();
    checker.known_provider(&["current_provider"]);
    checker.expect(&["claude_args"], ValueType::ListOfTexts);
    checker.expect(&["keep_env"], ValueType::ListOfTexts);
    checker.supervisor();
    checker.faults
}

impl Checker<'_> {
    /// Reports a fault unless the value has the expected type, and returns whether it has.
    fn expect(&mut self, path: &[&str], expected: ValueType) -> bool {
        if let Some(value) = self.document.get(path)
            && !expected.fits(&value)
        {
            self.report(path, FaultKind::WrongType(expected));
            return false;
        }
        true
    }

    fn providers(&mut self) {
        if !self.expect(&["providers"], ValueType::Object) {
            return;
        }
        for name in self.keys(&["providers"]) {
            if self.expect(&["providers", &name], ValueType::Object) {
                self.environment(&["providers", &name, "env"]);
            }
        }
    }

    fn environment(&mut self, path: &[&str]) {
        if !self.expect(path, ValueType::Object) {
            return;
        }
        for variable in self.keys(path) {
            let at = [path, &[&variable]].concat();
            let value = self.document.get(&at);
            if !matches!(value, Some(Value::String(_) | Value::Number(_) | Value::Bool(_))) {
                self.report(&at, FaultKind::WrongType(ValueType::Text));
            }
        }
    }

    fn supervisor(&mut self) {
        if !self.expect(&["supervisor"], ValueType::Object) {
            return;
        }
        for (key, expected) in SUPERVISOR {
            self.expect(&["supervisor", key], expected);
        }
        self.known_provider(&["supervisor", "provider"]);
        for key in self.keys(&["supervisor"]) {
            if !SUPERVISOR.iter().any(|(known, _)| *known == key) {
                self.report(&["supervisor", &key], FaultKind::UnknownKey);
            }
        }
    }

    /// Checks that a key names an existing provider, or none.
    fn known_provider(&mut self, path: &[&str]) {
        if !self.expect(path, ValueType::Text) {
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
        let location = FileLocation::of_key(self.config.path(), self.document, path);
        // A provider name of the wrong type is checked twice but reported once.
        let fault = Fault { location, key: path.join("."), kind };
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
        faults.into_iter().map(|fault| (fault.key, fault.location.line)).collect()
    }

    #[test]
    fn a_valid_file_has_no_faults() {
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
