//! What a timeline says about the reports of a stage's attempt: the results of checks, and how often reports were sent back.
//!
//! Only counts leave this module: the names of checks are the user's.

use overtone_core::registry::{EventKind, WarningReason};
use overtone_session::view::CheckOutcome;
use serde_json::{Map, Value};

use crate::telemetry::tracker::Attribute;

/// A report, which was accepted or sent back.
#[derive(Debug, Clone)]
pub(crate) struct Report {
    is_sent_back: bool,
    checks: Vec<CheckOutcome>,
}

/// The evidence for one attempt of a stage.
#[derive(Debug, Clone, Default)]
pub(crate) struct StageEvidence {
    /// The results for the last report that depended on checks.
    checks: Vec<CheckOutcome>,
    sent_back: i64,
}

impl Report {
    /// Returns `None` if the event is no report.
    pub(crate) fn from_event(kind: EventKind, fields: &Map<String, Value>) -> Option<Self> {
        let reason = fields.get("reason").and_then(Value::as_str);
        let is_sent_back = match kind {
            EventKind::AgentComplete => false,
            EventKind::SystemWarning if reason == Some(WarningReason::ReportSentBack.name()) => true,
            _ => return None,
        };
        Some(Self { is_sent_back, checks: CheckOutcome::from_event(fields) })
    }

    /// How many checks passed, and how many failed.
    pub(crate) fn outcomes(&self) -> [(&'static str, usize); 2] {
        let passed = count_passed(&self.checks);
        [("passed", passed), ("failed", self.checks.len() - passed)]
    }
}

impl StageEvidence {
    pub(crate) fn add(&mut self, report: Report) {
        if report.is_sent_back {
            self.sent_back += 1;
        }
        if !report.checks.is_empty() {
            self.checks = report.checks;
        }
    }

    /// Attributes about checks are left out if none ran, and those about tests if no check counts them.
    pub(crate) fn attributes(&self) -> Vec<(&'static str, Attribute)> {
        let integer = |count: usize| Attribute::Integer(i64::try_from(count).unwrap_or(i64::MAX));
        let mut all = vec![("overtone.reports.sent_back", Attribute::Integer(self.sent_back))];
        if !self.checks.is_empty() {
            let passed = count_passed(&self.checks);
            all.push(("overtone.checks.passed", integer(passed)));
            all.push(("overtone.checks.failed", integer(self.checks.len() - passed)));
        }
        let counts = self.checks.iter().filter_map(|check| check.counts);
        let sums = counts.map(|counts| [counts.run, counts.failed, counts.skipped].map(i64::from));
        if let Some(sums) = sums.reduce(|[a, b, c], [x, y, z]| [a + x, b + y, c + z]) {
            let names = ["overtone.tests.run", "overtone.tests.failed", "overtone.tests.skipped"];
            all.extend(names.into_iter().zip(sums.map(Attribute::Integer)));
        }
        all
    }
}

fn count_passed(checks: &[CheckOutcome]) -> usize {
    checks.iter().filter(|check| check.passed).count()
}
