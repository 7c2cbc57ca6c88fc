//! A replay as an object for programs. Names and shapes are stable; differences are printed as they are found, so
//! that any number of them can be.

use overtone_engine::Snapshot;
use overtone_engine::state::{Ending as End, LoopState, StageResult, StageState, StoppedBy, WorkflowState};
use overtone_replay::{Difference, Finding, Line, Mismatch, Skipped, Why, fields_of};
use serde_json::{Map, Value, json};

use super::stored::Stored;
use super::{Ending, Teller};
use crate::ui::error::Done;
use crate::ui::out;

#[derive(Default)]
pub(super) struct Object {
    is_begun: bool,
}

impl Teller for Object {
    fn difference(&mut self, difference: &Difference) -> Done {
        let before = if self.is_begun { "," } else { OPENING };
        self.is_begun = true;
        out::json_text(&format!("{before}{}", difference_object(difference)))
    }

    fn end(&mut self, ending: &Ending) -> Done {
        let before = if self.is_begun { "" } else { OPENING };
        // The differences are the first field, so the others follow without an opening brace.
        let rest = ending_object(ending).to_string();
        out::json_text(&format!("{before}],{}", rest.strip_prefix('{').unwrap_or(&rest)))
    }
}

const OPENING: &str = "{\"differences\":[";

fn difference_object(difference: &Difference) -> Value {
    let (kind, fields, expected, found) = match &difference.finding {
        Finding::Changed { expected, found, fields } => ("changed", &fields[..], Some(expected), Some(found)),
        Finding::Missing { expected, found } => ("missing", &[][..], Some(expected), found.as_ref()),
        Finding::Unexpected { found } => ("unexpected", &[][..], None, Some(found)),
    };
    json!({
        "line": difference.line,
        "kind": kind,
        "fields": fields,
        "expected": expected.map(fields_of),
        "found": found.map(line_object),
        "before": difference.before.iter().map(line_object).collect::<Vec<_>>(),
        "state": state_object(&difference.state),
    })
}

fn line_object(line: &Line) -> Value {
    json!({ "line": line.number, "event": line.fields })
}

fn ending_object(ending: &Ending) -> Value {
    let (summary, session) = (&ending.summary, ending.source.session.as_ref());
    let given: Map<_, _> =
        summary.given.iter().map(|(name, count)| ((*name).to_owned(), json!(count))).collect();
    let (stored, mismatches) = stored_words(&ending.stored);
    json!({
        "session": session.map(|session| session.id().as_str()),
        "project": session.and_then(|session| session.origin().project),
        "timeline": ending.source.name,
        "lines": summary.lines,
        "until": ending.args.until,
        "workflows": summary.workflows,
        "given": given,
        "skipped": summary.skipped.iter().map(skipped_object).collect::<Vec<_>>(),
        "skippedCount": summary.skipped_count,
        "recordedBy": summary.recorded_by,
        "differenceCount": ending.differences,
        "state": state_object(&ending.state),
        "stored": stored,
        "storedDifferences": mismatches.iter().map(mismatch_object).collect::<Vec<_>>(),
    })
}

fn skipped_object(skipped: &Skipped) -> Value {
    match &skipped.why {
        Why::Unreadable => json!({ "line": skipped.number, "why": "unreadable", "type": null }),
        Why::Unknown(name) => json!({ "line": skipped.number, "why": "unknown", "type": name }),
    }
}

fn stored_words(stored: &Stored) -> (&'static str, &[Mismatch]) {
    match stored {
        Stored::Absent => ("absent", &[]),
        Stored::Same => ("same", &[]),
        Stored::Different(mismatches) => ("different", mismatches),
        Stored::Unsure => ("not-whole", &[]),
        Stored::MovedOn => ("moved-on", &[]),
        Stored::Broken(_) => ("broken", &[]),
    }
}

fn mismatch_object(mismatch: &Mismatch) -> Value {
    json!({ "name": mismatch.name, "replayed": mismatch.replayed, "stored": mismatch.stored })
}

fn state_object(state: &Snapshot) -> Value {
    json!({
        "workflow": state.workflow.as_ref().map(workflow_object),
        "loop": state.looping.as_ref().map(loop_object),
    })
}

fn workflow_object(workflow: &WorkflowState) -> Value {
    json!({
        "type": workflow.workflow_type,
        "ending": workflow.ending.map(End::key),
        "currentStage": workflow.current_stage.map(|key| key.to_string()),
        "stages": workflow.stages.iter().map(stage_object).collect::<Vec<_>>(),
        "activeAgents": workflow.active_agents.iter().map(|agent| &agent.slot).collect::<Vec<_>>(),
        "failCount": workflow.fail_count,
        "rejectCount": workflow.reject_count,
        "retroCount": workflow.retro_count,
    })
}

fn stage_object(stage: &StageState) -> Value {
    json!({
        "key": stage.key.to_string(),
        "status": stage.status.key(),
        "result": stage.result.as_ref().map(StageResult::text),
        "attempts": stage.attempts,
    })
}

fn loop_object(looping: &LoopState) -> Value {
    json!({
        "iterations": looping.iterations,
        "stopped": looping.stopped,
        "stoppedBy": looping.stopped_by.map(StoppedBy::key),
    })
}
