//! The calls that are measured, as `cases.txt` lists them: every hook and the status lines, each with a typical payload.

use overtone_core::registry::Hook;
use serde_json::Value;

use super::fixture::{Phase, Place, SESSION, State};
use crate::error::{Error, Result};
use crate::sandbox::client_input;

const TABLE: &str = include_str!("cases.txt");

/// The case that the Node hook does too: it reads the workflow, decides, and writes nothing.
pub(crate) const REFUSED: &str = "pre-task (refused)";

/// What an agent reports, as a part of a JSON string.
const REPORT: &str = r#"Implemented the login messages.\n\n## HANDOFF: developer → code-reviewer\n\nAll 42 tests pass, 0 failed.\n\n<!-- VERDICT: {\"result\":\"PASS\"} -->"#;

/// Calls that only read are far more frequent than calls that leave something on disk, so their bars are lower.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Class {
    Reading,
    Writing,
    /// `ccc` changes the provider and starts the client.
    Switching,
}

impl Class {
    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::Reading => "reading",
            Self::Writing => "writing",
            Self::Switching => "switching",
        }
    }

    fn from_name(name: &str) -> Option<Self> {
        [Self::Reading, Self::Writing].into_iter().find(|class| class.name() == name)
    }
}

/// A line of the table.
#[derive(Debug)]
pub(crate) struct Case {
    pub name: &'static str,
    without_workflow: Option<Class>,
    with_workflow: Option<Class>,
    pub phase: Phase,
    /// The home folder in the fixture.
    pub home: &'static str,
    /// JSON with placeholders.
    fields: &'static str,
}

impl Case {
    pub(crate) fn all() -> Result<Vec<Self>> {
        let lines = TABLE.lines().filter(|line| !line.is_empty() && !line.starts_with('#'));
        lines.map(|line| Self::parse(line).ok_or_else(|| Error::new(format!("not a case: {line}")))).collect()
    }

    fn parse(line: &'static str) -> Option<Self> {
        let (head, fields) = line.split_once(" < ")?;
        let (name, columns) = head.split_once(": ")?;
        let mut columns = columns.split(' ');
        let (without_workflow, with_workflow) =
            (Class::from_name(columns.next()?), Class::from_name(columns.next()?));
        let phase = if columns.next()? == "ready" { Phase::Ready } else { Phase::Active };
        Some(Self { name, without_workflow, with_workflow, phase, home: columns.next()?, fields })
    }

    /// The hook or the command, without what tells two cases of it apart.
    fn entry(&self) -> &'static str {
        self.name.split(" (").next().unwrap_or_default()
    }

    pub(crate) fn arguments(&self) -> Vec<String> {
        let before = match self.entry() {
            entry if Hook::from_name(entry).is_some() => Some("hook"),
            "supervisor-hook" => Some("ccc"),
            _ => None,
        };
        before.into_iter().chain([self.entry()]).map(str::to_owned).collect()
    }

    /// `None` if the case makes no sense in a session like that.
    pub(crate) const fn class(&self, state: State) -> Option<Class> {
        if state.has_workflow() { self.with_workflow } else { self.without_workflow }
    }

    /// What the client writes to its stdin.
    pub(crate) fn input(&self, place: &Place) -> Result<Value> {
        let source = if place.state.has_workflow() { "compact" } else { "startup" };
        let live = place.path("");
        let live = live.to_string_lossy();
        let fields = self.fields.replace("{source}", source).replace("{report}", REPORT);
        let fields = fields.replace("{live}/", &live);
        let fields = serde_json::from_str(&fields)
            .map_err(|e| Error::new(format!("the payload of {} is not JSON: {e}", self.name)))?;
        let hook = Hook::from_name(self.entry());
        Ok(client_input(SESSION, place.transcript(), &place.path("project"), hook, fields))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_hook_is_measured_under_its_own_name() {
        let cases = Case::all().unwrap();
        for hook in Hook::ALL {
            assert!(cases.iter().any(|case| case.entry() == hook.name()), "{} is missing", hook.name());
        }
        for (index, case) in cases.iter().enumerate() {
            assert!(!cases[..index].iter().any(|other| other.name == case.name), "{} twice", case.name);
            assert!(case.with_workflow.is_some(), "{} has no class", case.name);
        }
        assert!(cases.iter().any(|case| case.name == REFUSED));
    }
}
