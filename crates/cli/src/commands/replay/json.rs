//! A replay as JSON. Names and shapes are stable. Differences are printed as they are found, so that their number does
//! not matter.

use std::path::PathBuf;

use overtone_core::engine::Snapshot;
use overtone_core::engine::state::{Ending, LoopState, StageResult, StageState, StoppedBy, WorkflowState};
use overtone_core::replay::{Difference, Finding, Line, Mismatch, SkipReason, SkippedLine, record_fields};
use serde::Serialize;
use serde_json::{Map, Value};

use super::stored::StoredState;
use super::{ReplayOutcome, ReplayOutput};
use crate::ui::error::CommandResult;
use crate::ui::out::{self, JsonObject};

#[derive(Default)]
pub(super) struct JsonOutput {
    has_started: bool,
}

impl ReplayOutput for JsonOutput {
    fn difference(&mut self, difference: &Difference) -> CommandResult {
        let before = if self.has_started { "," } else { OPENING };
        self.has_started = true;
        out::json_text(&format!("{before}{}", out::compact_json(&DifferenceJson::new(difference))?))
    }

    fn end(&mut self, outcome: &ReplayOutcome) -> CommandResult {
        let before = if self.has_started { "" } else { OPENING };
        // The differences are the first field, so the others follow without an opening brace.
        let rest = out::compact_json(&OutcomeJson::new(outcome))?;
        out::json_text(&format!("{before}],{}", rest.strip_prefix('{').unwrap_or(&rest)))
    }
}

const OPENING: &str = "{\"differences\":[";

#[derive(Serialize)]
struct DifferenceJson<'a> {
    line: u64,
    kind: &'static str,
    fields: &'a [&'static str],
    expected: Option<Map<String, Value>>,
    found: Option<LineJson<'a>>,
    before: Vec<LineJson<'a>>,
    state: StateJson<'a>,
}

#[derive(Serialize)]
struct LineJson<'a> {
    line: u64,
    event: &'a Map<String, Value>,
}

/// Everything but the differences.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct OutcomeJson<'a> {
    session: Option<&'a str>,
    project: Option<PathBuf>,
    timeline: &'a str,
    lines: u64,
    until: Option<u64>,
    workflows: u64,
    given: JsonObject<&'a str, u64>,
    skipped: Vec<SkippedJson<'a>>,
    skipped_count: u64,
    recorded_by: Option<&'a str>,
    difference_count: u64,
    state: StateJson<'a>,
    stored: &'static str,
    stored_differences: Vec<MismatchJson<'a>>,
}

#[derive(Serialize)]
struct SkippedJson<'a> {
    line: u64,
    why: &'static str,
    #[serde(rename = "type")]
    event_type: Option<&'a str>,
}

#[derive(Serialize)]
struct MismatchJson<'a> {
    name: &'a str,
    replayed: &'a str,
    stored: &'a str,
}

#[derive(Serialize)]
struct StateJson<'a> {
    workflow: Option<WorkflowJson<'a>>,
    #[serde(rename = "loop")]
    looping: Option<LoopJson>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct WorkflowJson<'a> {
    #[serde(rename = "type")]
    workflow_type: &'a str,
    ending: Option<&'static str>,
    current_stage: Option<String>,
    stages: Vec<StageJson<'a>>,
    active_agents: Vec<&'a str>,
    fail_count: u32,
    reject_count: u32,
    retro_count: u32,
}

#[derive(Serialize)]
struct StageJson<'a> {
    key: String,
    status: &'static str,
    result: Option<&'a str>,
    attempts: u32,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct LoopJson {
    iterations: u32,
    stopped: bool,
    stopped_by: Option<&'static str>,
}

impl<'a> DifferenceJson<'a> {
    fn new(difference: &'a Difference) -> Self {
        let (kind, fields, expected, found) = match &difference.finding {
            Finding::Changed { expected, found, fields } => {
                ("changed", &fields[..], Some(expected), Some(found))
            }
            Finding::Missing { expected, found } => ("missing", &[][..], Some(expected), found.as_ref()),
            Finding::Unexpected { found } => ("unexpected", &[][..], None, Some(found)),
        };
        Self {
            line: difference.line,
            kind,
            fields,
            expected: expected.map(record_fields),
            found: found.map(LineJson::new),
            before: difference.before.iter().map(LineJson::new).collect(),
            state: StateJson::new(&difference.state),
        }
    }
}

impl<'a> LineJson<'a> {
    fn new(line: &'a Line) -> Self {
        Self { line: line.number, event: &line.fields }
    }
}

impl<'a> OutcomeJson<'a> {
    fn new(outcome: &'a ReplayOutcome) -> Self {
        let (summary, session) = (&outcome.summary, outcome.source.session.as_ref());
        let (stored, mismatches) = stored_key(&outcome.stored);
        Self {
            session: session.map(|session| session.id().as_str()),
            project: session.and_then(|session| session.origin().project),
            timeline: &outcome.source.name,
            lines: summary.lines,
            until: outcome.args.until,
            workflows: summary.workflows,
            given: summary.external.iter().map(|(name, count)| (*name, *count)).collect(),
            skipped: summary.skipped.iter().map(SkippedJson::new).collect(),
            skipped_count: summary.skipped_count,
            recorded_by: summary.recorded_by.as_deref(),
            difference_count: outcome.differences,
            state: StateJson::new(&outcome.state),
            stored,
            stored_differences: mismatches.iter().map(MismatchJson::new).collect(),
        }
    }
}

impl<'a> SkippedJson<'a> {
    fn new(skipped: &'a SkippedLine) -> Self {
        let (why, event_type) = match &skipped.reason {
            SkipReason::Unreadable => ("unreadable", None),
            SkipReason::Unknown(name) => ("unknown", Some(name.as_str())),
        };
        Self { line: skipped.number, why, event_type }
    }
}

fn stored_key(stored: &StoredState) -> (&'static str, &[Mismatch]) {
    match stored {
        StoredState::Absent => ("absent", &[]),
        StoredState::Same => ("same", &[]),
        StoredState::Different(mismatches) => ("different", mismatches),
        StoredState::Incomplete => ("not-whole", &[]),
        StoredState::MovedOn => ("moved-on", &[]),
        StoredState::Broken(_) => ("broken", &[]),
    }
}

impl<'a> MismatchJson<'a> {
    fn new(mismatch: &'a Mismatch) -> Self {
        Self { name: &mismatch.name, replayed: &mismatch.replayed, stored: &mismatch.stored }
    }
}

impl<'a> StateJson<'a> {
    fn new(state: &'a Snapshot) -> Self {
        Self {
            workflow: state.workflow.as_ref().map(WorkflowJson::new),
            looping: state.looping.as_ref().map(LoopJson::new),
        }
    }
}

impl<'a> WorkflowJson<'a> {
    fn new(workflow: &'a WorkflowState) -> Self {
        Self {
            workflow_type: &workflow.workflow_type,
            ending: workflow.ending.map(Ending::key),
            current_stage: workflow.current_stage.map(|key| key.to_string()),
            stages: workflow.stages.iter().map(StageJson::new).collect(),
            active_agents: workflow.active_agents.iter().map(|agent| agent.slot.as_str()).collect(),
            fail_count: workflow.fail_count,
            reject_count: workflow.reject_count,
            retro_count: workflow.retro_count,
        }
    }
}

impl<'a> StageJson<'a> {
    fn new(stage: &'a StageState) -> Self {
        Self {
            key: stage.key.to_string(),
            status: stage.status.key(),
            result: stage.result.as_ref().map(StageResult::as_str),
            attempts: stage.attempts,
        }
    }
}

impl LoopJson {
    fn new(looping: &LoopState) -> Self {
        Self {
            iterations: looping.iterations,
            stopped: looping.stopped,
            stopped_by: looping.stopped_by.map(StoppedBy::key),
        }
    }
}
