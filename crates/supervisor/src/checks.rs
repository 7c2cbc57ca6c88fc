//! Evidence: what the project's own checks say, before anybody is asked for an opinion.

use std::path::Path;
use std::time::{Duration, Instant};

use overtone_messages::{Lang, supervisor as words};
use serde_json::{Value, json};

use crate::process::{self, Ending};
use crate::secrets::Secrets;
use crate::settings::seconds;

const TIME_LIMIT: Duration = Duration::from_mins(2);
/// What is kept of a check's output; the end of it says most.
const TAIL_BYTES: usize = 4 * 1024;

/// Something that must hold before the work may stop.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Check {
    pub(crate) name: String,
    kind: Kind,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum Kind {
    /// A line for the shell that has to end with 0.
    Command { line: String, limit: Duration },
    /// The working tree must not be the same as when the request was made.
    Changes,
}

/// What a check came to.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Evidence {
    pub(crate) name: String,
    pub(crate) found: Found,
    /// The end of its output, without secrets.
    pub(crate) tail: String,
    pub(crate) seconds: f64,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Found {
    Passed,
    Failed { code: Option<i32> },
    TooLate { limit: Duration },
    CannotRun(String),
    NothingChanged,
}

/// What the checks need to know.
#[derive(Debug)]
pub(crate) struct Scene<'a> {
    pub(crate) project: &'a Path,
    /// Whether the tree has changed since the request; `None` when nobody can tell.
    pub(crate) changed: Option<bool>,
    pub(crate) secrets: &'a Secrets,
    pub(crate) deadline: Instant,
}

impl Check {
    /// A text is a command; an object has `command`, or `changes`, and may have a name and a time limit.
    pub(crate) fn read(value: &Value) -> Option<Self> {
        if let Some(line) = value.as_str() {
            return Self::command(line, None, TIME_LIMIT);
        }
        let name = value.get("name").and_then(Value::as_str);
        if value.get("changes") == Some(&Value::Bool(true)) {
            return Some(Self { name: name.unwrap_or("changes").to_owned(), kind: Kind::Changes });
        }
        let limit = match value.get("timeout_seconds") {
            None => TIME_LIMIT,
            Some(limit) => seconds(limit)?,
        };
        Self::command(value.get("command")?.as_str()?, name, limit)
    }

    fn command(line: &str, name: Option<&str>, limit: Duration) -> Option<Self> {
        let line = line.trim();
        let name = name.unwrap_or(line).to_owned();
        (!line.is_empty()).then(|| Self { name, kind: Kind::Command { line: line.to_owned(), limit } })
    }

    pub(crate) fn run(&self, scene: &Scene<'_>) -> Evidence {
        match &self.kind {
            Kind::Command { line, limit } => self.run_command(line, *limit, scene),
            Kind::Changes => {
                let found = if scene.changed == Some(false) { Found::NothingChanged } else { Found::Passed };
                Evidence { name: self.name.clone(), found, tail: String::new(), seconds: 0.0 }
            }
        }
    }

    fn run_command(&self, line: &str, limit: Duration, scene: &Scene<'_>) -> Evidence {
        let start = Instant::now();
        let limit = limit.min(scene.deadline.saturating_duration_since(start));
        let (found, tail) = match process::run_shell(line, scene.project, limit, TAIL_BYTES) {
            Ok(done) => (found(done.ending, limit), done.tail),
            Err(error) => (Found::CannotRun(error.to_string()), String::new()),
        };
        let tail = scene.secrets.clean(&tail);
        let name = scene.secrets.hide(&self.name);
        Evidence { name, found, tail, seconds: start.elapsed().as_secs_f64() }
    }
}

fn found(ending: Ending, limit: Duration) -> Found {
    match ending {
        Ending::Exit(Some(0)) => Found::Passed,
        Ending::Exit(code) => Found::Failed { code },
        Ending::TooLate => Found::TooLate { limit },
    }
}

impl Evidence {
    pub(crate) fn passed(&self) -> bool {
        self.found == Found::Passed
    }

    /// One check in words, with what it wrote.
    pub(crate) fn text(&self, lang: Lang) -> String {
        let name = &self.name;
        let head = match &self.found {
            Found::Passed => words::check_passed(lang, name),
            Found::Failed { code: Some(code) } => words::check_failed(lang, name, *code),
            Found::Failed { code: None } => words::check_killed(lang, name),
            Found::TooLate { limit } => words::check_too_late(lang, name, limit.as_secs()),
            Found::CannotRun(problem) => words::check_cannot_run(lang, name, problem),
            Found::NothingChanged => words::check_nothing_changed(lang, name),
        };
        if self.tail.trim().is_empty() { head } else { format!("{head}\n{}", self.tail.trim_end()) }
    }

    pub(crate) fn to_json(&self) -> Value {
        let (result, code) = match &self.found {
            Found::Passed => ("passed", Some(0)),
            Found::Failed { code } => ("failed", *code),
            Found::TooLate { .. } => ("timeout", None),
            Found::CannotRun(_) => ("cannot-run", None),
            Found::NothingChanged => ("nothing-changed", None),
        };
        json!({"name": self.name, "result": result, "exit_code": code, "seconds": self.seconds, "tail": self.tail})
    }
}

/// What the agent has to do about checks that did not pass; `None` when all did.
pub(crate) fn feedback(evidence: &[Evidence], lang: Lang) -> Option<String> {
    let failed: Vec<_> = evidence.iter().filter(|one| !one.passed()).map(|one| one.text(lang)).collect();
    (!failed.is_empty()).then(|| format!("{}\n\n{}", words::checks_failed(lang), failed.join("\n\n")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn checks_are_read_in_three_forms() {
        let read = |value: Value| Check::read(&value);
        let line = |check: Option<Check>| match check.map(|check| check.kind) {
            Some(Kind::Command { line, limit }) => Some((line, limit.as_secs())),
            _ => None,
        };
        assert_eq!(line(read(json!("cargo test"))), Some(("cargo test".into(), 120)));
        let named = json!({"name": "lint", "command": "make lint", "timeout_seconds": 5});
        assert_eq!(read(named.clone()).unwrap().name, "lint");
        assert_eq!(line(read(named)), Some(("make lint".into(), 5)));
        assert_eq!(read(json!({"changes": true})).unwrap().kind, Kind::Changes);
        for odd in [json!(""), json!(3), json!({}), json!({"command": "x", "timeout_seconds": 0})] {
            assert_eq!(read(odd.clone()), None, "{odd}");
        }
    }
}
