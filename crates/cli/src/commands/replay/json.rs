//! A replay as JSON. Names and shapes are stable. Differences are printed as they are found, so that their number does
//! not matter.

use overtone_core::engine::Snapshot;
use overtone_core::engine::state::{
    Ending as End, LoopState, StageResult, StageState, StoppedBy, WorkflowState,
};
use overtone_core::replay::{Difference, Finding, Line, Mismatch, SkipReason, SkippedLine, record_fields};
use serde_json::{Map, Value, json};

use super::stored::StoredState;
use super::{ReplayOutcome, ReplayOutput};
use crate::ui::error::CommandResult;
use crate::ui::out;

#[derive(Default)]
pub(super) struct JsonOutput {
    has_started: bool,
}

impl ReplayOutput for JsonOutput {
    fn difference(&mut self, difference: &Difference) -> CommandResult {
        let before = if self.has_started { "," } else { OPENING };
        self.has_started = true;
        out::json_text(&format!("{before}{}", difference_json(difference)))
    }

    fn end(&mut self, outcome: &ReplayOutcome) -> CommandResult {
        let before = if self.has_started { "" } else { OPENING };
        // The differences are the first field, so the others follow without an opening brace.
        let rest = outcome_json(outcome).to_string();
        out::json_text(&format!("{before}],{}", rest.strip_prefix('{').unwrap_or(&rest)))
    }
}

const OPENING: &str = "{\"differences\":[";

fn difference_json(difference: &Difference) -> Value {
    let (kind, fields, expected, found) = match &difference.finding {
        Finding::Changed { expected, found, fields } => ("changed", &fields[..], Some(expected), Some(found)),
        Finding::Missing { expected, found } => ("missing", &[][..], Some(expected), found.as_ref()),
        Finding::Unexpected { found } => ("unexpected", &[][..], None, Some(found)),
    };
    json!({
        "line": difference.line,
        "kind": kind,
        "fields": fields,
        "expected": expected.map(record_fields),
        "found": found.map(line_json),
        "before": difference.before.iter().map(line_json).collect::<Vec<_>>(),
        "state": state_json(&difference.state),
    })
}

fn line_json(line: &Line) -> Value {
    json!({ "line": line.number, "event": line.fields })
}

fn outcome_json(outcome: &ReplayOutcome) -> Value {
    let (summary, session) = (&outcome.summary, outcome.source.session.as_ref());
    let given: Map<_, _> =
        summary.external.iter().map(|(name, count)| ((*name).to_owned(), json!(count))).collect();
    let (stored, mismatches) = stored_json(&outcome.stored);
    json!({
        "session": session.map(|session| session.id().as_str()),
        "project": session.and_then(|session| session.origin().project),
        "timeline": outcome.source.name,
        "lines": summary.lines,
        "until": outcome.args.until,
        "workflows": summary.workflows,
        "given": given,
        "skipped": summary.skipped.iter().map(skipped_json).collect::<Vec<_>>(),
        "skippedCount": summary.skipped_count,
        "recordedBy": summary.recorded_by,
        "differenceCount": outcome.differences,
        "state": state_json(&outcome.state),
        "stored": stored,
        "storedDifferences": mismatches.iter().map(mismatch_json).collect::<Vec<_>>(),
    })
}

fn skipped_json(skipped: &SkippedLine) -> Value {
    match &skipped.reason {
        SkipReason::Unreadable => json!({ "line": skipped.number, "why": "unreadable", "type": null }),
        SkipReason::Unknown(name) => json!({ "line": skipped.number, "why": "unknown", "type": name }),
    }
}

fn stored_json(stored: &StoredState) -> (&'static str, &[Mismatch]) {
    match stored {
        StoredState::Absent => ("absent", &[]),
        StoredState::Same => ("same", &[]),
        StoredState::Different(mismatches) => ("different", mismatches),
        StoredState::Incomplete => ("not-whole", &[]),
        StoredState::MovedOn => ("moved-on", &[]),
        StoredState::Broken(_) => ("broken", &[]),
    }
}

fn mismatch_json(mismatch: &Mismatch) -> Value {
    json!({ "name": mismatch.name, "replayed": mismatch.replayed, "stored": mismatch.stored })
}

fn state_json(state: &Snapshot) -> Value {
    json!({
        "workflow": state.workflow.as_ref().map(workflow_json),
        "loop": state.looping.as_ref().map(loop_json),
    })
}

fn workflow_json(workflow: &WorkflowState) -> Value {
    json!({
        "type": workflow.workflow_type,
        "ending": workflow.ending.map(End::key),
        "currentStage": workflow.current_stage.map(|key| key.to_string()),
        "stages": workflow.stages.iter().map(stage_json).collect::<Vec<_>>(),
        "activeAgents": workflow.active_agents.iter().map(|agent| &agent.slot).collect::<Vec<_>>(),
        "failCount": workflow.fail_count,
        "rejectCount": workflow.reject_count,
        "retroCount": workflow.retro_count,
    })
}

fn stage_json(stage: &StageState) -> Value {
    json!({
        "key": stage.key.to_string(),
        "status": stage.status.key(),
        "result": stage.result.as_ref().map(StageResult::as_str),
        "attempts": stage.attempts,
    })
}

fn loop_json(looping: &LoopState) -> Value {
    json!({
        "iterations": looping.iterations,
        "stopped": looping.stopped,
        "stoppedBy": looping.stopped_by.map(StoppedBy::key),
    })
}
