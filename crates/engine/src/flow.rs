//! Where the workflow stands: what is open, and what comes next.

use overtone_registry::{Agent, Stage, StageKey, TestMode};

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
    /// At least one test-like stage failed: find the cause, repair with all these reports, run them again.
    Repair(Vec<StageKey>),
    /// Reviews rejected: rework with all these reports, review again.
    Rework(Vec<StageKey>),
    /// A stage that makes something failed: do it again.
    Again(StageKey),
    /// A judgement in a workflow without development: the user decides.
    Report(StageKey),
    /// An agent needs the user: ask, then delegate its stage again.
    Blocked(StageKey),
    /// The retry limit is reached: the user decides.
    AskUser(StageKey),
}

impl Step {
    /// The stage that the user has to decide about before anything goes on.
    pub const fn waits_for_user(&self) -> Option<StageKey> {
        match self {
            Self::Report(key) | Self::Blocked(key) | Self::AskUser(key) => Some(*key),
            _ => None,
        }
    }
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

/// What keeps a stage from starting.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Obstacle {
    /// Stages before it that nobody works on and that have no good verdict.
    Unfinished(Vec<StageKey>),
    /// Stages, or an agent without one, that are at work now.
    Running(Vec<StageKey>),
    /// A debugger looks for the cause that this stage is to repair.
    Debugging,
    /// It is finished, and nothing asks for another attempt.
    Complete,
}

/// What keeps `target` from starting, its own parallel group aside. `reopens`: there is a reason to do a finished
/// stage again.
pub fn obstacle(workflow: &WorkflowState, target: StageKey, reopens: bool) -> Option<Obstacle> {
    let end = workflow.position(target)?;
    let group = workflow.group_keys(target);
    let outside = |stage: &&StageState| !group.contains(&stage.key);
    let open: Vec<_> =
        workflow.stages[..end].iter().filter(outside).filter(|stage| !stage.is_resolved()).collect();
    if let Some(first) = open.first() {
        // The first open stage with its group decides whether there is something to do or only to wait for.
        let first_group = workflow.group_keys(first.key);
        if with_status(workflow, &first_group, Status::Pending).is_empty() && !first.is_failed() {
            return Some(Obstacle::Running(with_status(workflow, &first_group, Status::Active)));
        }
        let idle = open.iter().filter(|stage| stage.status != Status::Active);
        return Some(Obstacle::Unfinished(idle.map(|stage| stage.key).collect()));
    }
    // A stage behind it that is running judges what this one would change.
    let running: Vec<_> = workflow
        .stages
        .iter()
        .filter(outside)
        .filter(|stage| stage.status == Status::Active)
        .map(|stage| stage.key)
        .collect();
    if !running.is_empty() {
        return Some(Obstacle::Running(running));
    }
    let debugging = workflow.active_agents.iter().any(|active| active.agent() == Some(Agent::Debugger));
    if target.stage == Stage::Dev && debugging {
        return Some(Obstacle::Debugging);
    }
    let is_complete = workflow.stage(target).is_some_and(StageState::is_resolved);
    (is_complete && !reopens).then_some(Obstacle::Complete)
}

fn after_failure(workflow: &WorkflowState, failed: &StageState, settings: &Settings) -> Step {
    let running = with_status(workflow, &workflow.group_keys(failed.key), Status::Active);
    if !running.is_empty() {
        return Step::Wait(running);
    }
    if let Some(blocked) = workflow.stages.iter().find(|stage| stage.is_blocked()) {
        return Step::Blocked(blocked.key);
    }
    if limit_reached(workflow, settings) {
        return Step::AskUser(failed.key);
    }
    if workflow.repair_stage(failed.key).is_none() {
        return if needs_user(failed) { Step::Report(failed.key) } else { Step::Again(failed.key) };
    }
    let all: Vec<_> = workflow.stages.iter().filter(|stage| stage.is_failed()).collect();
    let keys = all.iter().map(|stage| stage.key).collect();
    let only_rejected = all.iter().all(|stage| stage.verdict() == Some(Verdict::Reject));
    if only_rejected { Step::Rework(keys) } else { Step::Repair(keys) }
}

/// A judge has nobody to send its findings to in a workflow without DEV. Writing a specification (TEST before
/// DEV) is making, not judging.
fn needs_user(failed: &StageState) -> bool {
    failed.key.stage.is_judge() && !(failed.key.stage == Stage::Test && failed.mode == Some(TestMode::Spec))
}

fn with_status(workflow: &WorkflowState, keys: &[StageKey], status: Status) -> Vec<StageKey> {
    keys.iter().copied().filter(|key| workflow.stage(*key).is_some_and(|s| s.status == status)).collect()
}
