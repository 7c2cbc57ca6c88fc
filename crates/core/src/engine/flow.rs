//! The progress of a workflow: which stages are open, what comes next, and what keeps a stage from starting.

use crate::registry::{Agent, Stage, StageKey, TestMode};

use crate::engine::settings::Settings;
use crate::engine::state::{ReachedLimit, StageState, Status, Verdict, WorkflowState};

/// What the main agent has to do next.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Step {
    /// Every stage is resolved.
    Done,
    /// Delegate these stages, together if there are several.
    Delegate(Vec<StageKey>),
    /// These are running and nothing else can start.
    Wait(Vec<StageKey>),
    /// At least one of these stages failed: find the cause, repair it with all these reports, run the stages again.
    Repair(Vec<StageKey>),
    /// It is known what to change, because reviews rejected or the first failure of a stage names the place: repair it with
    /// all these reports, run the stages again.
    Rework(Vec<StageKey>),
    /// A stage that makes something failed: do it again.
    Again(StageKey),
    /// A negative verdict in a workflow without development: the user decides.
    Report(StageKey),
    /// An agent needs the user: ask, then delegate its stage again.
    Blocked(StageKey),
    /// The retry limit is reached: the user decides.
    AskUser(StageKey),
    /// A limit of the budget is reached, and there is more to do: the user decides.
    OverBudget(ReachedLimit),
}

impl Step {
    /// Whether the user has to decide before the workflow can continue.
    pub const fn waits_for_user(&self) -> bool {
        matches!(self, Self::Report(_) | Self::Blocked(_) | Self::AskUser(_) | Self::OverBudget(_))
    }
}

/// What the main agent has to do next. Nothing is started any more when a limit of the budget is reached.
pub fn next_step(workflow: &WorkflowState, settings: &Settings) -> Step {
    let step = next_step_within_budget(workflow, settings);
    let starts_agents =
        matches!(step, Step::Delegate(_) | Step::Repair(_) | Step::Rework(_) | Step::Again(_));
    match workflow.budget.reached {
        Some(reached) if starts_agents && workflow.is_open() => Step::OverBudget(reached),
        _ => step,
    }
}

/// What the main agent has to do next as long as the budget is not reached.
pub(crate) fn next_step_within_budget(workflow: &WorkflowState, settings: &Settings) -> Step {
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

/// Whether the workflow has used up its retries.
pub fn limit_reached(workflow: &WorkflowState, settings: &Settings) -> bool {
    workflow.counted_failures() >= settings.max_failures
        || workflow.counted_rejections() >= settings.max_rejections
}

/// What keeps a stage from starting.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Obstacle {
    /// Stages before it that have no good verdict and that no agent works on.
    Unfinished(Vec<StageKey>),
    /// Stages that are running now.
    Running(Vec<StageKey>),
    /// A debugger is looking for the cause that this stage has to repair.
    Debugging,
    /// It is finished, and nothing asks for another attempt.
    Complete,
}

/// What keeps `target` from starting. Stages of its own parallel group do not. `reopens` means that there is a reason to
/// run a finished stage again.
pub fn obstacle(workflow: &WorkflowState, target: StageKey, reopens: bool) -> Option<Obstacle> {
    let end = workflow.position(target)?;
    let group = workflow.group_keys(target);
    let outside = |stage: &&StageState| !group.contains(&stage.key);
    let open: Vec<_> =
        workflow.stages[..end].iter().filter(outside).filter(|stage| !stage.is_resolved()).collect();
    if let Some(first) = open.first() {
        // Whether there is something to do or only to wait for depends on the first open stage with its group.
        let first_group = workflow.group_keys(first.key);
        if with_status(workflow, &first_group, Status::Pending).is_empty() && !first.is_failed() {
            return Some(Obstacle::Running(with_status(workflow, &first_group, Status::Active)));
        }
        let idle = open.iter().filter(|stage| stage.status != Status::Active);
        return Some(Obstacle::Unfinished(idle.map(|stage| stage.key).collect()));
    }
    // A later stage that is running judges the code that this one would change.
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
    match workflow.stage(target) {
        Some(stage) if stage.is_resolved() && !reopens => Some(Obstacle::Complete),
        _ => None,
    }
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
    let is_known =
        |stage: &&StageState| stage.verdict() == Some(Verdict::Reject) || stage.has_clear_failure();
    if all.iter().all(is_known) { Step::Rework(keys) } else { Step::Repair(keys) }
}

/// Whether only the user can act on the failure: without DEV, no stage repairs what a judging stage found. A TEST before
/// DEV writes the specification and judges nothing.
fn needs_user(failed: &StageState) -> bool {
    failed.key.stage.is_judge() && !(failed.key.stage == Stage::Test && failed.mode == Some(TestMode::Spec))
}

fn with_status(workflow: &WorkflowState, keys: &[StageKey], status: Status) -> Vec<StageKey> {
    keys.iter().copied().filter(|key| workflow.has_status(*key, status)).collect()
}

/// The stage that an agent must have been working on whose delegation was not recorded: an active stage of its kind, or
/// else the first open one, if it may start.
pub(crate) fn stage_without_record(workflow: &WorkflowState, stage: Stage) -> Option<StageKey> {
    let own_stages = || workflow.stages.iter().filter(|state| state.key.stage == stage);
    if let Some(active) = own_stages().find(|state| state.status == Status::Active) {
        return Some(active.key);
    }
    let open = own_stages().find(|state| !state.is_resolved())?.key;
    match obstacle(workflow, open, false) {
        Some(_) => None,
        None => Some(open),
    }
}
