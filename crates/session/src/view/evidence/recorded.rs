//! What a timeline says about the reports of the last workflow: why they were sent back or not accepted, and the results of
//! the checks.

use std::collections::BTreeMap;

use overtone_core::engine::state::{SendBackReason, Verdict};
use overtone_core::evidence::TestCounts;
use overtone_core::registry::{EventKind, StageKey, WarningReason};
use serde_json::{Map, Value};

use crate::view::event::Event;

/// More entries of one kind are not kept for a stage. Overtone records a few; a timeline that another program wrote may have
/// any number.
const MAX_ENTRIES: usize = 100;

/// The evidence in the timeline for each stage of the last workflow.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct RecordedEvidence {
    stages: BTreeMap<StageKey, RecordedStage>,
}

/// The evidence in the timeline for one stage.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct RecordedStage {
    /// How many files its agents have changed, in all attempts together.
    pub changed_files: Option<u64>,
    /// Why reports were sent back, each with how often.
    pub sent_back: Vec<(SendBackReason, usize)>,
    /// Why attempts failed although their report said PASS.
    pub not_accepted: Vec<SendBackReason>,
    /// Checks that were needed and not run, because they were not trusted.
    pub untrusted: Vec<String>,
    /// What the reviewer was told to look at.
    pub notes: Vec<String>,
    /// The results of the checks for the last report that depended on them.
    pub checks: Vec<CheckOutcome>,
}

/// The result of a check for a report.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CheckOutcome {
    pub check: String,
    pub passed: bool,
    /// `None` for a runner that is not known.
    pub counts: Option<TestCounts>,
}

impl RecordedEvidence {
    pub(crate) fn stage(&self, key: StageKey) -> RecordedStage {
        self.stages.get(&key).cloned().unwrap_or_default()
    }

    pub(crate) fn add_event(&mut self, kind: EventKind, event: &Event) {
        match kind {
            // The session had a workflow before, whose events are not about this one.
            EventKind::WorkflowStart => self.stages.clear(),
            EventKind::AgentComplete => self.change_stage(event, |stage| stage.add_report(event)),
            EventKind::StageRetry => self.change_stage(event, |stage| stage.add_failure(event)),
            EventKind::SystemWarning
                if event.reason.as_deref() == Some(WarningReason::ReportSentBack.name()) =>
            {
                self.change_stage(event, |stage| stage.add_sent_back(event));
            }
            _ => {}
        }
    }

    fn change_stage(&mut self, event: &Event, change: impl FnOnce(&mut RecordedStage)) {
        if let Some(Ok(key)) = event.stage.as_deref().map(str::parse) {
            change(self.stages.entry(key).or_default());
        }
    }
}

impl RecordedStage {
    fn add_report(&mut self, event: &Event) {
        if let Some(count) = event.changed_files {
            self.changed_files = Some(self.changed_files.unwrap_or(0).saturating_add(count));
        }
        extend_new(&mut self.untrusted, &event.untrusted);
        extend_new(&mut self.notes, &event.notes);
        self.replace_checks(event);
    }

    fn add_failure(&mut self, event: &Event) {
        if self.not_accepted.len() < MAX_ENTRIES {
            self.not_accepted.extend(event.reason.as_deref().and_then(SendBackReason::from_key));
        }
    }

    fn add_sent_back(&mut self, event: &Event) {
        self.replace_checks(event);
        let Some(reason) = event.missing.as_deref().and_then(SendBackReason::from_key) else { return };
        match self.sent_back.iter_mut().find(|(known, _)| *known == reason) {
            Some((_, count)) => *count += 1,
            None => self.sent_back.push((reason, 1)),
        }
    }

    fn replace_checks(&mut self, event: &Event) {
        if !event.checks.is_empty() {
            self.checks.clone_from(&event.checks);
        }
    }
}

/// Adds the texts that are not there yet.
fn extend_new(texts: &mut Vec<String>, more: &[String]) {
    for text in more {
        if texts.len() < MAX_ENTRIES && !texts.contains(text) {
            texts.push(text.clone());
        }
    }
}

impl CheckOutcome {
    /// The results in an event. Anything else in their place is skipped.
    pub fn from_event(fields: &Map<String, Value>) -> Vec<Self> {
        let list = fields.get("checks").and_then(Value::as_array).into_iter().flatten();
        list.filter_map(Self::parse).take(MAX_ENTRIES).collect()
    }

    fn parse(value: &Value) -> Option<Self> {
        let verdict = Verdict::from_key(value.get("result")?.as_str()?)?;
        Some(Self {
            check: value.get("check")?.as_str()?.to_owned(),
            passed: verdict == Verdict::Pass,
            counts: parse_counts(value),
        })
    }
}

fn parse_counts(value: &Value) -> Option<TestCounts> {
    let count = |name: &str| u32::try_from(value.get(name)?.as_u64()?).ok();
    Some(TestCounts { run: count("run")?, failed: count("failed")?, skipped: count("skipped")? })
}
