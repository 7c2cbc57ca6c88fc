//! Commands of the user, or of the main agent on their behalf: start, stop and resume a workflow, send a message to its
//! main agent, hand the session over to another machine, and take it back.

use crate::economy::{Budget, Limits};
use crate::messages::{Lang, cli, prompt};
use crate::registry::{DocsRule, EventKind, GuardLevel, RetroRule, StageRules, WarningReason, Workflow};

use crate::engine::budget::end_waiting;
use crate::engine::flow::{Step, next_step};
use crate::engine::outcome::{Effect, Outcome, Record};
use crate::engine::quote::{cut, one_line, units};
use crate::engine::settings::Settings;
use crate::engine::state::{BudgetState, Ending, LoopState, Millis, ReachedLimit, StoppedBy, WorkflowState};
use crate::engine::text::{moved_text, step_for_user};
use crate::engine::trigger::Snapshot;

/// How long a message may be, in UTF-16 units.
pub const MESSAGE_UNITS: usize = 2_000;

/// The `by` field of records about what the user did.
pub const USER: &str = "user";

/// The longest name of a user or a machine, in UTF-16 units. Longer ones are cut.
const NAME_UNITS: usize = 64;

/// Why a command is not carried out.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Refusal {
    /// A workflow is running. Starting another one would destroy it.
    #[error("workflow `{workflow_type}` is running ({done}/{total} stages done)")]
    Running { workflow_type: String, done: usize, total: usize },
    #[error("no workflow in this session")]
    NoWorkflow,
    #[error("the workflow is complete")]
    Completed,
    /// A limit of the budget is reached, and has to be raised before the workflow continues.
    #[error("the budget is reached")]
    OverBudget,
    /// The budget has no limit of one of these kinds.
    #[error("there is no such limit")]
    NotLimited,
    /// The loop is already in the requested state.
    #[error("nothing to do")]
    NothingToDo,
    /// Another machine has taken the session over.
    #[error("the session continues on {to}")]
    Moved { to: String },
    /// The message cannot be delivered.
    #[error(transparent)]
    Message(Undeliverable),
}

/// Why a message cannot be delivered.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum Undeliverable {
    #[error("the message is empty")]
    Empty,
    /// Longer than [`MESSAGE_UNITS`].
    #[error("the message is too long ({units} of {MESSAGE_UNITS} units)")]
    TooLong { units: usize },
    /// So many notices wait already that one of them would be lost.
    #[error("too many texts wait for the main agent")]
    TooManyWaiting,
}

/// The workflow to start.
#[derive(Debug, Clone, Copy)]
pub struct Start<'a> {
    pub session_id: &'a str,
    pub workflow: Workflow,
    pub feature: Option<&'a str>,
    /// The folder of the feature was created for this workflow.
    pub feature_is_new: bool,
    /// How many tasks of the feature are ticked already, without those that stand for stages.
    pub tasks_ticked: Option<u32>,
    pub force: bool,
    pub guard: GuardLevel,
    pub rules: StageRules,
    pub budget: Budget,
    /// Who starts it, for the timeline. Records of earlier versions do not have it.
    pub by: Option<&'a str>,
    pub now: Millis,
}

impl<'a> Start<'a> {
    /// A workflow without a feature, at the default guard level.
    pub fn new(session_id: &'a str, workflow: Workflow, now: Millis) -> Self {
        Self {
            session_id,
            workflow,
            feature: None,
            feature_is_new: false,
            tasks_ticked: None,
            force: false,
            guard: GuardLevel::default(),
            rules: StageRules::default(),
            budget: Budget::default(),
            by: None,
            now,
        }
    }
}

/// Starts a workflow with a fresh loop.
pub fn init(snapshot: &Snapshot, start: &Start) -> Result<Outcome, Refusal> {
    if !start.force {
        check_not_moved(snapshot)?;
        check_not_running(snapshot)?;
    }
    let mut workflow = WorkflowState::new(start.session_id, start.workflow, start.feature, start.now);
    workflow.guard = start.guard;
    workflow.rules = start.rules;
    workflow.budget = BudgetState::new(start.budget);
    workflow.tasks_ticked = start.tasks_ticked;
    if let Some(earlier) = &snapshot.workflow {
        workflow.completed_stages = earlier.completed_stages;
        workflow.disown_agents(earlier);
        workflow.take_over_messages(earlier);
    }
    let mut outcome = Outcome::default();
    if let Some(replaced) = &snapshot.workflow
        && replaced.is_open()
    {
        let record = Record::new(EventKind::WorkflowAbort).with("workflowType", &*replaced.workflow_type);
        outcome.emit(record.with("reason", "replaced"));
    }
    let stages: Vec<_> = start.workflow.stage_keys().map(|key| key.to_string()).collect();
    let record = Record::new(EventKind::WorkflowStart).with("workflowType", start.workflow.name());
    let record = record.with("stages", stages).with("featureName", start.feature);
    let guard = if start.guard == GuardLevel::default() { None } else { Some(start.guard.name()) };
    let record = with_budget(with_rules(record.with_some("guard", guard), start.rules), &start.budget);
    outcome.emit(record.with_some("by", start.by));
    if start.feature_is_new {
        outcome.emit(Record::new(EventKind::SpecsInit).with("feature", start.feature));
    }
    outcome.emit(Record::new(EventKind::LoopStart));
    outcome.push(Effect::PutWorkflow(workflow));
    outcome.push(Effect::PutLoop(LoopState::started(start.now)));
    Ok(outcome)
}

/// Adds the rules that are not the default.
fn with_rules(record: Record, rules: StageRules) -> Record {
    let retro = if rules.retro == RetroRule::default() { None } else { Some(rules.retro.name()) };
    let docs = if rules.docs == DocsRule::default() { None } else { Some(rules.docs.name()) };
    record.with_some("retro", retro).with_some("docs", docs)
}

/// Adds the limits, as they are written on the command line.
fn with_budget(record: Record, budget: &Budget) -> Record {
    let text = |limits: &Limits| if limits.is_empty() { None } else { Some(limits.to_string()) };
    record.with_some("budget", text(&budget.workflow)).with_some("stageBudget", text(&budget.stage))
}

fn check_not_running(snapshot: &Snapshot) -> Result<(), Refusal> {
    match &snapshot.workflow {
        Some(workflow) if workflow.is_open() => Err(Refusal::Running {
            workflow_type: workflow.workflow_type.clone(),
            done: workflow.resolved_count(),
            total: workflow.stages.len(),
        }),
        _ => Ok(()),
    }
}

/// Stops the loop and keeps the workflow. `by` is who did it, for the timeline.
pub fn stop(snapshot: &Snapshot, by: &str, now: Millis) -> Result<Outcome, Refusal> {
    open_workflow(snapshot)?;
    let mut looping = snapshot.looping.clone().unwrap_or_else(|| LoopState::started(now));
    if looping.stopped && looping.stopped_by == Some(StoppedBy::User) {
        return Err(Refusal::NothingToDo);
    }
    looping.stop(StoppedBy::User);
    let mut outcome = Outcome::default();
    outcome.emit(Record::warning(WarningReason::LoopStopped).with("by", by));
    outcome.push(Effect::PutLoop(looping));
    Ok(outcome)
}

/// Starts a stopped loop again, and gives a workflow that reached its limit new attempts.
pub fn resume(snapshot: &Snapshot, settings: &Settings, by: &str, now: Millis) -> Result<Outcome, Refusal> {
    check_not_moved(snapshot)?;
    let mut workflow = match &snapshot.workflow {
        None => return Err(Refusal::NoWorkflow),
        Some(workflow) if workflow.ending == Some(Ending::Completed) => return Err(Refusal::Completed),
        Some(workflow) => workflow.clone(),
    };
    if workflow.is_open() && workflow.budget.reached.is_some() {
        return Err(Refusal::OverBudget);
    }
    let mut looping = snapshot.looping.clone().unwrap_or_else(|| LoopState::started(now));
    let aborted = workflow.ending == Some(Ending::Aborted);
    if !aborted && !looping.stopped && looping.paused.is_none() {
        return Err(Refusal::NothingToDo);
    }
    workflow.forgive();
    workflow.user_wrote |= workflow.has_begun();
    looping.restart();
    if looping.iterations >= settings.max_iterations {
        looping.iterations = 0;
    }
    let mut outcome = Outcome::default();
    let record = Record::new(EventKind::LoopStart).with("reason", "resumed").with("by", by);
    outcome.emit(record.under(settings));
    outcome.push(Effect::PutWorkflow(workflow));
    outcome.push(Effect::PutLoop(looping));
    Ok(outcome)
}

/// Raises the limits of the budget. A loop that was stopped because one was reached continues with the next prompt. Without
/// amounts, the limit that was reached is added once more.
pub fn raise_budget(
    snapshot: &Snapshot,
    amounts: Option<&Budget>,
    by: &str,
    now: Millis,
) -> Result<Outcome, Refusal> {
    let mut workflow = open_workflow(snapshot)?.clone();
    let amounts = match (amounts, workflow.budget.reached) {
        (Some(amounts), _) => *amounts,
        (None, Some(reached)) => once_more(&reached),
        (None, None) => return Err(Refusal::NothingToDo),
    };
    let limits = &workflow.budget.limits;
    let is_limited = |own: &Limits, added: &Limits| added.iter().all(|(kind, _)| own.get(kind).is_some());
    if !is_limited(&limits.workflow, &amounts.workflow) || !is_limited(&limits.stage, &amounts.stage) {
        return Err(Refusal::NotLimited);
    }
    let was_reached = workflow.budget.reached.is_some();
    workflow.budget.raise(&amounts);
    let mut outcome = Outcome::default();
    outcome.emit(with_budget(
        Record::warning(WarningReason::BudgetRaised).with("by", by),
        &workflow.budget.limits,
    ));
    if was_reached
        && let Some(looping) = &snapshot.looping
        && looping.stopped_by == Some(StoppedBy::Limit)
    {
        end_waiting(&mut workflow, now);
        let mut next = looping.clone();
        next.restart();
        outcome.push(Effect::PutLoop(next));
    }
    outcome.push(Effect::PutWorkflow(workflow));
    Ok(outcome)
}

fn once_more(reached: &ReachedLimit) -> Budget {
    let mut amounts = Budget::default();
    let limits = if reached.stage.is_some() { &mut amounts.stage } else { &mut amounts.workflow };
    limits.set(reached.kind, Some(reached.limit));
    amounts
}

/// Takes over the state that another program wrote, because the user says so. Texts about the change have done their part.
pub fn accept_edit(edited: &WorkflowState, by: &str) -> Outcome {
    let mut outcome = Outcome::default();
    outcome.emit(Record::warning(WarningReason::EditAccepted).with("by", by));
    outcome.push(Effect::PutWorkflow(edited.clone()));
    outcome
}

/// Leaves a message for the main agent. The next hook that can delivers it, exactly once. `by` is its author.
pub fn message(
    snapshot: &Snapshot,
    text: &str,
    by: &str,
    lang: Lang,
    now: Millis,
) -> Result<Outcome, Refusal> {
    let mut workflow = open_workflow(snapshot)?.clone();
    let text = one_line(text);
    let length = check_message(&workflow, &text).map_err(Refusal::Message)?;
    let by = short_name(by);
    workflow.leave_notice(prompt::message_from(lang, &by, &text));
    workflow.user_wrote |= workflow.has_begun();
    let mut outcome = Outcome::default();
    let record = Record::warning(WarningReason::Message).with("by", by);
    outcome.emit(record.with("length", length));
    outcome.push(Effect::PutWorkflow(workflow));
    let mut looping = snapshot.looping.clone().unwrap_or_else(|| LoopState::started(now));
    looping.unpause();
    outcome.push(Effect::PutLoop(looping));
    Ok(outcome)
}

/// Returns the length of a message that can be delivered.
fn check_message(workflow: &WorkflowState, text: &str) -> Result<u32, Undeliverable> {
    let units = units(text);
    if units == 0 {
        return Err(Undeliverable::Empty);
    }
    if workflow.is_full_of_notices() {
        return Err(Undeliverable::TooManyWaiting);
    }
    match u32::try_from(units) {
        Ok(length) if units <= MESSAGE_UNITS => Ok(length),
        _ => Err(Undeliverable::TooLong { units }),
    }
}

fn short_name(name: &str) -> String {
    cut(&one_line(name), NAME_UNITS).to_owned()
}

/// Hands the session over to another machine, after which nothing more is done here. A second call with the same machine
/// changes nothing.
pub fn hand_over(snapshot: &Snapshot, to: &str, now: Millis) -> Result<Outcome, Refusal> {
    let mut workflow = snapshot.workflow.clone().ok_or(Refusal::NoWorkflow)?;
    let mut looping = snapshot.looping.clone().unwrap_or_else(|| LoopState::started(now));
    let to = short_name(to);
    let mut outcome = Outcome::default();
    if workflow.moved_to.as_ref() == Some(&to) && looping.stopped_by == Some(StoppedBy::Moved) {
        return Ok(outcome);
    }
    outcome.emit(Record::warning(WarningReason::SessionMoved).with("to", &*to));
    workflow.moved_to = Some(to);
    looping.stop(StoppedBy::Moved);
    looping.announced = false;
    outcome.push(Effect::PutWorkflow(workflow));
    outcome.push(Effect::PutLoop(looping));
    Ok(outcome)
}

/// Takes the session back to this machine. A workflow that has ended stays ended.
pub fn take_back(snapshot: &Snapshot, now: Millis) -> Result<Outcome, Refusal> {
    let mut workflow = snapshot.workflow.clone().ok_or(Refusal::NoWorkflow)?;
    let from = workflow.moved_to.take().ok_or(Refusal::NothingToDo)?;
    let mut looping = snapshot.looping.clone().unwrap_or_else(|| LoopState::started(now));
    looping.restart();
    match workflow.ending {
        None => {}
        Some(Ending::Completed) => looping.stop(StoppedBy::Completion),
        Some(Ending::Aborted) => looping.stop(StoppedBy::Limit),
    }
    let mut outcome = Outcome::default();
    outcome.emit(Record::warning(WarningReason::SessionPulled).with("from", from));
    outcome.push(Effect::PutWorkflow(workflow));
    outcome.push(Effect::PutLoop(looping));
    Ok(outcome)
}

/// Commands are carried out on the machine on which the session continues.
fn check_not_moved(snapshot: &Snapshot) -> Result<(), Refusal> {
    match snapshot.workflow.as_ref().and_then(|workflow| workflow.moved_to.clone()) {
        Some(to) => Err(Refusal::Moved { to }),
        None => Ok(()),
    }
}

fn open_workflow(snapshot: &Snapshot) -> Result<&WorkflowState, Refusal> {
    check_not_moved(snapshot)?;
    match &snapshot.workflow {
        None => Err(Refusal::NoWorkflow),
        Some(workflow) if workflow.ending == Some(Ending::Completed) => Err(Refusal::Completed),
        Some(workflow) => Ok(workflow),
    }
}

/// The next step as a text for the user, for status displays. `None` if nothing is left to do.
pub fn describe_next_step(
    workflow: &WorkflowState,
    looping: Option<&LoopState>,
    settings: &Settings,
    lang: Lang,
) -> Option<String> {
    if let Some(moved) = moved_text(lang, workflow) {
        return Some(moved);
    }
    let step = next_step(workflow, settings);
    match workflow.ending {
        Some(Ending::Completed) => return None,
        Some(Ending::Aborted) => return Some(step_for_user(lang, &step)),
        // Resuming alone does not continue it.
        None if matches!(step, Step::OverBudget(_)) => return Some(step_for_user(lang, &step)),
        None => {}
    }
    Some(match looping {
        Some(looping) if looping.stopped_by == Some(StoppedBy::SessionEnd) && looping.stopped => {
            cli::next_reopen(lang, &workflow.session_id)
        }
        Some(looping) if looping.stopped => cli::resume_to_continue(lang),
        Some(looping) if looping.paused.is_some() && !step.waits_for_user() => cli::next_continue(lang),
        _ => step_for_user(lang, &step),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn start(force: bool) -> Start<'static> {
        Start { force, ..Start::new("s", Workflow::Quick, Millis(1)) }
    }

    fn snapshot(outcome: &Outcome) -> Snapshot {
        let looping = outcome.effects.iter().find_map(|effect| match effect {
            Effect::PutLoop(looping) => Some(looping.clone()),
            _ => None,
        });
        Snapshot { workflow: outcome.workflow().cloned(), looping }
    }

    #[test]
    fn a_running_workflow_is_not_destroyed_without_force() {
        let running = snapshot(&init(&Snapshot::default(), &start(false)).unwrap());
        let refused = Refusal::Running { workflow_type: "quick".into(), done: 0, total: 5 };
        assert_eq!(init(&running, &start(false)).unwrap_err(), refused);
        assert!(init(&running, &start(true)).is_ok());
    }

    #[test]
    fn a_new_workflow_does_not_inherit_a_stopped_loop() {
        let mut ended = snapshot(&init(&Snapshot::default(), &start(false)).unwrap());
        ended.looping.as_mut().unwrap().stop(StoppedBy::User);
        ended.workflow.as_mut().unwrap().ending = Some(Ending::Completed);
        let fresh = snapshot(&init(&ended, &start(false)).unwrap());
        assert!(!fresh.looping.unwrap().stopped);
    }

    #[test]
    fn agents_of_an_earlier_workflow_do_not_report_to_the_new_one() {
        let mut running = snapshot(&init(&Snapshot::default(), &start(false)).unwrap());
        let earlier = running.workflow.as_mut().unwrap();
        earlier.remember_finished("a1", None);
        earlier.active_agents.push(crate::engine::state::ActiveAgent {
            slot: "developer".into(),
            agent_id: Some("a2".into()),
            background: true,
            ..crate::engine::state::ActiveAgent::default()
        });
        let fresh = snapshot(&init(&running, &start(true)).unwrap()).workflow.unwrap();
        let ids: Vec<_> = fresh.finished_agents.iter().map(|finished| finished.id.as_str()).collect();
        assert_eq!(ids, ["a1", "a2"]);
        assert!(fresh.active_agents.is_empty());
    }

    #[test]
    fn resume_gives_an_aborted_workflow_new_attempts_without_losing_its_counts() {
        let mut aborted = snapshot(&init(&Snapshot::default(), &start(false)).unwrap());
        let workflow = aborted.workflow.as_mut().unwrap();
        workflow.fail_count = 3;
        workflow.ending = Some(Ending::Aborted);
        let resumed =
            snapshot(&resume(&aborted, &Settings::default(), "user", Millis(2)).unwrap()).workflow.unwrap();
        assert_eq!((resumed.ending, resumed.fail_count, resumed.counted_failures()), (None, 3, 0));
    }

    #[test]
    fn stop_and_resume_are_refused_when_there_is_nothing_to_do() {
        let nothing = Snapshot::default();
        assert_eq!(stop(&nothing, "user", Millis(0)).unwrap_err(), Refusal::NoWorkflow);
        let running = snapshot(&init(&nothing, &start(false)).unwrap());
        assert_eq!(
            resume(&running, &Settings::default(), "user", Millis(0)).unwrap_err(),
            Refusal::NothingToDo
        );
    }
}
