//! Where the workflow stands: what is open, and what comes next.

use overtone_registry::{Stage, StageKey, TestMode};

use crate::settings::Settings;
use crate::state::{StageState, Status, Verdict, WorkflowState};

/// What the main agent has to do next.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Step {
    /// Every stage is resolved.
    Done,
    /// Delegate these stages, together if there are several.
    Delegate(Vec<StageKey>),
    /// These are running and nothing else can start.
    Wait(Vec<StageKey>),
    /// A test-like stage failed: find the cause, repair, run it again.
    Repair(StageKey),
    /// A review rejected: rework, review again.
    Rework(StageKey),
    /// A stage that makes something failed: do it again.
    Again(StageKey),
    /// A judgement in a workflow without development: a person decides.
    Report(StageKey),
    /// The retry limit is reached: a person decides.
    AskPerson(StageKey),
}

pub fn next_step(workflow: &WorkflowState, settings: &Settings) -> Step {
    if let Some(failed) = workflow.stages.iter().find(|stage| stage.is_failed()) {
        return after_failure(workflow, failed, settings);
    }
    let Some(open) = workflow.stages.iter().find(|stage| !stage.is_resolved()) else {
        return Step::Done;
    };
    let group = workflow.group_keys(open.key);
    match with_status(workflow, &group, Status::Pending) {
        pending if pending.is_empty() => Step::Wait(with_status(workflow, &group, Status::Active)),
        pending => Step::Delegate(pending),
    }
}

/// The retry limit is reached and something is still failed.
pub fn limit_reached(workflow: &WorkflowState, settings: &Settings) -> bool {
    workflow.counted_failures() >= settings.max_failures
        || workflow.counted_rejections() >= settings.max_rejections
}

/// Stages that must be finished before `target` may start: unresolved ones before it that nobody works on,
/// except those of its own parallel group.
pub fn blocking(workflow: &WorkflowState, target: StageKey) -> Vec<StageKey> {
    let Some(end) = workflow.position(target) else {
        return Vec::new();
    };
    let group = workflow.group_keys(target);
    workflow.stages[..end]
        .iter()
        .filter(|stage| !stage.is_resolved() && stage.status != Status::Active)
        .map(|stage| stage.key)
        .filter(|key| !group.contains(key))
        .collect()
}

fn after_failure(workflow: &WorkflowState, failed: &StageState, settings: &Settings) -> Step {
    let running = with_status(workflow, &workflow.group_keys(failed.key), Status::Active);
    if !running.is_empty() {
        return Step::Wait(running);
    }
    if limit_reached(workflow, settings) {
        return Step::AskPerson(failed.key);
    }
    match (workflow.repair_stage(failed.key), failed.verdict()) {
        (Some(_), Some(Verdict::Reject)) => Step::Rework(failed.key),
        (Some(_), _) => Step::Repair(failed.key),
        (None, _) if needs_person(failed) => Step::Report(failed.key),
        (None, _) => Step::Again(failed.key),
    }
}

/// A judge has nobody to send its findings to in a workflow without DEV. Writing a specification (TEST before
/// DEV) is making, not judging.
fn needs_person(failed: &StageState) -> bool {
    failed.key.stage.is_judge() && !(failed.key.stage == Stage::Test && failed.mode == Some(TestMode::Spec))
}

fn with_status(workflow: &WorkflowState, keys: &[StageKey], status: Status) -> Vec<StageKey> {
    keys.iter().copied().filter(|key| workflow.stage(*key).is_some_and(|s| s.status == status)).collect()
}
