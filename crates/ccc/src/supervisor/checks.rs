//! Runs the project's own checks, which provide evidence before a reviewer is asked.

use std::path::Path;
use std::time::{Duration, Instant};

use overtone_core::messages::{Lang, supervisor as messages};
use serde::Serialize;
use serde_json::Value;

use crate::supervisor::process::{self, Ending};
use crate::supervisor::secrets::Secrets;
use crate::supervisor::settings::parse_seconds;

const DEFAULT_LIMIT: Duration = Duration::from_mins(2);
/// Only the end of a check's output is kept, which is the most informative part.
const MAX_TAIL_BYTES: usize = 4 * 1024;

/// A condition that must hold before the session may stop.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Check {
    pub(crate) name: String,
    kind: CheckKind,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum CheckKind {
    /// A shell command that has to exit with 0.
    Command { line: String, limit: Duration },
    /// The working tree must have changed since the request was made.
    Changes,
}

/// The result of one check.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Evidence {
    pub(crate) name: String,
    pub(crate) result: CheckResult,
    /// The end of its output, redacted.
    pub(crate) tail: String,
    pub(crate) seconds: f64,
}

/// The result of one check in the audit trail.
#[derive(Serialize)]
pub(crate) struct EvidenceEntry<'a> {
    name: &'a str,
    result: &'static str,
    exit_code: Option<i32>,
    seconds: f64,
    tail: &'a str,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum CheckResult {
    Passed,
    Failed { code: Option<i32> },
    TimedOut { limit: Duration },
    CannotRun(String),
    NothingChanged,
}

/// What the checks need to run.
#[derive(Debug)]
pub(crate) struct CheckContext<'a> {
    pub(crate) project: &'a Path,
    /// Whether the tree has changed since the request; `None` if that is unknown.
    pub(crate) changed: Option<bool>,
    pub(crate) secrets: &'a Secrets,
    pub(crate) deadline: Instant,
}

impl Check {
    /// Parses a check. A text is a command; an object has `command` or `changes`, and may have a name and a time limit.
    pub(crate) fn parse(value: &Value) -> Option<Self> {
        if let Some(line) = value.as_str() {
            return Self::command(line, None, DEFAULT_LIMIT);
        }
        let name = value.get("name").and_then(Value::as_str);
        if value.get("changes") == Some(&Value::Bool(true)) {
            return Some(Self { name: name.unwrap_or("changes").to_owned(), kind: CheckKind::Changes });
        }
        let limit = match value.get("timeout_seconds") {
            None => DEFAULT_LIMIT,
            Some(limit) => parse_seconds(limit)?,
        };
        Self::command(value.get("command")?.as_str()?, name, limit)
    }

    fn command(line: &str, name: Option<&str>, limit: Duration) -> Option<Self> {
        let line = line.trim();
        let name = name.unwrap_or(line).to_owned();
        if line.is_empty() {
            return None;
        }
        Some(Self { name, kind: CheckKind::Command { line: line.to_owned(), limit } })
    }

    pub(crate) fn run(&self, context: &CheckContext<'_>) -> Evidence {
        match &self.kind {
            CheckKind::Command { line, limit } => self.run_command(line, *limit, context),
            CheckKind::Changes => {
                let result = if context.changed == Some(false) {
                    CheckResult::NothingChanged
                } else {
                    CheckResult::Passed
                };
                Evidence { name: self.name.clone(), result, tail: String::new(), seconds: 0.0 }
            }
        }
    }

    fn run_command(&self, line: &str, limit: Duration, context: &CheckContext<'_>) -> Evidence {
        let start = Instant::now();
        let limit = limit.min(context.deadline.saturating_duration_since(start));
        let (result, tail) = match process::run_shell(line, context.project, limit, MAX_TAIL_BYTES) {
            Ok(output) => (result_of(output.ending, limit), output.tail),
            Err(error) => (CheckResult::CannotRun(error.to_string()), String::new()),
        };
        let tail = context.secrets.redact_strictly(&tail);
        let name = context.secrets.redact(&self.name);
        Evidence { name, result, tail, seconds: start.elapsed().as_secs_f64() }
    }
}

fn result_of(ending: Ending, limit: Duration) -> CheckResult {
    match ending {
        Ending::Exit(Some(0)) => CheckResult::Passed,
        Ending::Exit(code) => CheckResult::Failed { code },
        Ending::TimedOut => CheckResult::TimedOut { limit },
    }
}

impl Evidence {
    pub(crate) fn passed(&self) -> bool {
        self.result == CheckResult::Passed
    }

    /// Describes the result, followed by the check's output.
    pub(crate) fn render(&self, lang: Lang) -> String {
        let name = &self.name;
        let head = match &self.result {
            CheckResult::Passed => messages::check_passed(lang, name),
            CheckResult::Failed { code: Some(code) } => messages::check_failed(lang, name, *code),
            CheckResult::Failed { code: None } => messages::check_killed(lang, name),
            CheckResult::TimedOut { limit } => messages::check_too_late(lang, name, limit.as_secs()),
            CheckResult::CannotRun(error) => messages::check_cannot_run(lang, name, error),
            CheckResult::NothingChanged => messages::check_nothing_changed(lang, name),
        };
        if self.tail.trim().is_empty() { head } else { format!("{head}\n{}", self.tail.trim_end()) }
    }

    /// The evidence as it is stored in the audit trail.
    pub(crate) fn entry(&self) -> EvidenceEntry<'_> {
        let (result, exit_code) = match &self.result {
            CheckResult::Passed => ("passed", Some(0)),
            CheckResult::Failed { code } => ("failed", *code),
            CheckResult::TimedOut { .. } => ("timeout", None),
            CheckResult::CannotRun(_) => ("cannot-run", None),
            CheckResult::NothingChanged => ("nothing-changed", None),
        };
        EvidenceEntry { name: &self.name, result, exit_code, seconds: self.seconds, tail: &self.tail }
    }
}

/// Tells the agent which checks failed; `None` if all passed.
pub(crate) fn failure_feedback(evidence: &[Evidence], lang: Lang) -> Option<String> {
    let failed: Vec<_> = evidence.iter().filter(|one| !one.passed()).map(|one| one.render(lang)).collect();
    if failed.is_empty() {
        return None;
    }
    Some(format!("{}\n\n{}", messages::checks_failed(lang), failed.join("\n\n")))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn checks_are_parsed_in_three_forms() {
        let parse = |value: Value| Check::parse(&value);
        let line = |check: Option<Check>| match check.map(|check| check.kind) {
            Some(CheckKind::Command { line, limit }) => Some((line, limit.as_secs())),
            _ => None,
        };
        assert_eq!(line(parse(json!("cargo test"))), Some(("cargo test".into(), 120)));
        let named = json!({"name": "lint", "command": "make lint", "timeout_seconds": 5});
        assert_eq!(parse(named.clone()).unwrap().name, "lint");
        assert_eq!(line(parse(named)), Some(("make lint".into(), 5)));
        assert_eq!(parse(json!({"changes": true})).unwrap().kind, CheckKind::Changes);
        for odd in [json!(""), json!(3), json!({}), json!({"command": "x", "timeout_seconds": 0})] {
            assert_eq!(parse(odd.clone()), None, "{odd}");
        }
    }
}
