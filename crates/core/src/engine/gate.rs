//! Delegation: whether the stage of an agent may start, and the context that the agent gets.

use crate::messages::{budget, flow};
use crate::registry::{Agent, EventKind, Stage, StageKey, WarningReason, limits};

use crate::engine::agents::{find_by_id, identify};
use crate::engine::budget::{end_waiting, main_advice};
use crate::engine::context::workflow_context;
use crate::engine::flow::{Obstacle, Step, limit_reached, obstacle};
use crate::engine::guard;
use crate::engine::outcome::{Effect, InputPatch, Outcome, Permission, Record, Reply};
use crate::engine::state::{ActiveAgent, Ending, StageState, Status, Turn, Verdict, WorkflowState};
use crate::engine::text::{key_list, moved_text, next_step_text, step_text};
use crate::engine::ticks::notice_ticks;
use crate::engine::trigger::{Facts, Snapshot, Trigger};

/// Separates the context block from the original prompt.
const DIVIDER: &str = "\n\n---\n\n";

/// A call of the Agent tool.
pub(crate) struct Delegation<'a> {
    pub(crate) subagent_type: &'a str,
    pub(crate) description: &'a str,
    pub(crate) prompt: &'a str,
    pub(crate) tool_use_id: Option<&'a str>,
}

/// The main agent delegates a stage. The stage starts, or the call is denied.
pub(crate) fn delegate(snapshot: &Snapshot, call: &Delegation, facts: &Facts) -> Outcome {
    match identify(call.subagent_type, call.description) {
        Some(agent) => {
            guard::with_comparison(snapshot, facts, |snapshot| delegate_stage(snapshot, agent, call, facts))
        }
        None => start_helper(snapshot.workflow.as_ref(), facts),
    }
}

/// Whether an event starts an agent that belongs to no stage.
pub fn starts_helper(trigger: &Trigger) -> bool {
    match *trigger {
        Trigger::Delegating { subagent_type, description, .. } => {
            identify(subagent_type, description).is_none()
        }
        Trigger::AgentDelegating { subagent_type } => Agent::from_wire(subagent_type).is_none(),
        _ => false,
    }
}

/// An agent of another kind is started. A few of them may help; without a limit, one message could start hundreds.
fn start_helper(workflow: Option<&WorkflowState>, facts: &Facts) -> Outcome {
    let limit = facts.settings.max_helpers;
    if let Some(refused) = workflow.and_then(|workflow| refused_by_budget(workflow, facts)) {
        return refused;
    }
    match workflow {
        Some(workflow) if workflow.is_open() && facts.helpers > limit => {
            let mut outcome: Outcome =
                deny(flow::deny_helpers(facts.lang, limit), flow::helpers_advice(facts.lang)).into();
            if facts.helpers == limit + 1 {
                outcome.emit(Record::warning(WarningReason::HelperLimit).with("limit", limit));
            }
            outcome
        }
        _ => Outcome::default(),
    }
}

fn delegate_stage(snapshot: &Snapshot, agent: Agent, call: &Delegation, facts: &Facts) -> Outcome {
    let Some(workflow) = &snapshot.workflow else { return Outcome::default() };
    if let Some(refused) = refused_by_ending(workflow, agent, facts) {
        return refused;
    }
    if facts.plan_mode {
        return deny(flow::deny_plan_mode(facts.lang), flow::plan_mode_advice(facts.lang)).into();
    }
    // A call that the client asks about again gets the same answer and starts no second agent.
    if let Some(known) = find_by_id(workflow, call.tool_use_id, None) {
        return Outcome {
            reply: allow_with_context(workflow, known.stage, call, facts),
            effects: Vec::new(),
        };
    }
    if let Some(refused) = refused_by_budget(workflow, facts) {
        return refused;
    }
    let mut admitted = match admit(workflow, agent, facts) {
        Ok(admitted) => admitted,
        Err(refusal) => return refusal.into(),
    };
    let ticked = notice_ticks(&mut admitted.workflow, facts);
    let (mut outcome, workflow, stage) = start(snapshot, admitted, agent, call.tool_use_id, None, facts);
    if let Some(record) = ticked {
        outcome.effects.insert(0, Effect::Emit(record));
    }
    outcome.reply = allow_with_context(&workflow, stage, call, facts);
    outcome.push(Effect::PutWorkflow(workflow));
    outcome
}

/// Whether the main agent delegates a stage that the stages before it or running stages keep from starting. Such a call
/// is denied whatever the facts are, so that the driver need not look them up.
pub fn is_out_of_order(workflow: &WorkflowState, trigger: &Trigger) -> bool {
    let Trigger::Delegating { subagent_type, description, tool_use_id, .. } = *trigger else { return false };
    let Some(agent) = identify(subagent_type, description) else { return false };
    // A repair opens failed stages again, and a call that the client asks about again is allowed.
    if workflow.stages.iter().any(StageState::is_failed) || find_by_id(workflow, tool_use_id, None).is_some()
    {
        return false;
    }
    let Some(target) = target_stage(workflow, agent) else { return false };
    match obstacle(workflow, target, false) {
        Some(Obstacle::Unfinished(_) | Obstacle::Running(_) | Obstacle::Debugging) => true,
        Some(Obstacle::Complete) | None => false,
    }
}

/// The main agent continues an agent that has reported. This is another attempt of its stage, under the same rules.
pub(crate) fn continue_agent(snapshot: &Snapshot, agent_id: &str, facts: &Facts) -> Outcome {
    let Some(workflow) = &snapshot.workflow else {
        return Outcome::default();
    };
    // An agent that is still at work just gets the message.
    if find_by_id(workflow, None, Some(agent_id)).is_some() {
        return Outcome::default();
    }
    let Some(agent) = workflow.finished_agent(agent_id).and_then(|finished| finished.agent) else {
        return Outcome::default();
    };
    if let Some(refused) = refused_by_ending(workflow, agent, facts) {
        return refused;
    }
    if let Some(refused) = refused_by_budget(workflow, facts) {
        return refused;
    }
    let admitted = match admit(workflow, agent, facts) {
        Ok(admitted) => admitted,
        Err(refusal) => return refusal.into(),
    };
    let (mut outcome, mut workflow, _) = start(snapshot, admitted, agent, None, Some(agent_id), facts);
    workflow.finished_agents.retain(|finished| finished.id != agent_id);
    outcome.push(Effect::PutWorkflow(workflow));
    outcome
}

/// The client has started an agent again that had reported, because the user wrote to it. This cannot be denied, so if
/// its stage may not start, its report belongs to no stage.
pub(crate) fn agent_restarted(snapshot: &Snapshot, agent: Agent, agent_id: &str, facts: &Facts) -> Outcome {
    let Some(workflow) = &snapshot.workflow else { return Outcome::default() };
    if !workflow.is_open() {
        return Outcome::default();
    }
    // What the user wrote to the agent counts like a prompt.
    let with_user_input = WorkflowState { user_wrote: true, ..workflow.clone() };
    let admitted = match admit(&with_user_input, agent, facts) {
        Ok(admitted) => admitted,
        Err(_) => Admitted { workflow: workflow.clone(), target: None, stage: None },
    };
    let (mut outcome, mut workflow, _) = start(snapshot, admitted, agent, None, Some(agent_id), facts);
    workflow.finished_agents.retain(|finished| finished.id != agent_id);
    for active in workflow.active_agents.iter_mut().filter(|active| active.is(None, Some(agent_id))) {
        active.awaits_start = false;
    }
    outcome.push(Effect::PutWorkflow(workflow));
    outcome
}

/// A sub-agent delegates. Only the main agent may delegate stages, since only it knows the next step. Agents of other
/// kinds may be started.
pub(crate) fn delegate_from_agent(
    workflow: Option<&WorkflowState>,
    subagent_type: &str,
    facts: &Facts,
) -> Outcome {
    let Some(agent) = Agent::from_wire(subagent_type) else { return start_helper(workflow, facts) };
    let Some(workflow) = workflow else { return Outcome::default() };
    if let Some(moved) = refused_by_move(workflow, facts) {
        return moved;
    }
    if !workflow.is_open() {
        return Outcome::default();
    }
    deny(flow::deny_nested(facts.lang, agent.name()), flow::nested_advice(facts.lang)).into()
}

/// The answer for a workflow that has ended or was moved to another machine. `None` if its stages decide.
fn refused_by_ending(workflow: &WorkflowState, agent: Agent, facts: &Facts) -> Option<Outcome> {
    if let Some(moved) = refused_by_move(workflow, facts) {
        return Some(moved);
    }
    match workflow.ending {
        Some(Ending::Completed) => Some(Outcome::default()),
        Some(Ending::Aborted) => Some(deny_at_limit(agent, facts).into()),
        None => None,
    }
}

fn refused_by_move(workflow: &WorkflowState, facts: &Facts) -> Option<Outcome> {
    let machine = workflow.moved_to.as_deref()?;
    Some(deny(flow::deny_moved(facts.lang, machine), moved_text(facts.lang, workflow)?).into())
}

/// The answer for a workflow that has reached a limit of its budget. `None` if it has not.
pub(crate) fn refused_by_budget(workflow: &WorkflowState, facts: &Facts) -> Option<Outcome> {
    let reached = workflow.budget.reached.as_ref().filter(|_| workflow.is_open())?;
    Some(deny(budget::deny(facts.lang), main_advice(facts.lang, reached)).into())
}

fn deny_at_limit(agent: Agent, facts: &Facts) -> Refusal {
    deny(flow::deny_limit(facts.lang), flow::limit_advice(facts.lang, agent.name()))
}

/// An agent that may start.
struct Admitted {
    workflow: WorkflowState,
    /// The stage of the workflow that starts with the agent.
    target: Option<StageKey>,
    /// The stage that the agent is recorded with. For an agent without a target it is not part of the workflow.
    stage: Option<StageKey>,
}

/// Decides whether the agent may start. A debugger or a developer after a failure opens the failed stages again.
fn admit(workflow: &WorkflowState, agent: Agent, facts: &Facts) -> Result<Admitted, Refusal> {
    let lang = facts.lang;
    if limit_reached(workflow, &facts.settings) {
        return Err(deny_at_limit(agent, facts));
    }
    let repairs = matches!(agent, Agent::Developer | Agent::Debugger);
    // A repair opens DEV, so it waits for the reports of all stages that judge the code as it is.
    if repairs && workflow.stages.iter().any(StageState::is_failed) {
        let running = running_after_development(workflow);
        if !running.is_empty() {
            return Err(deny_running(&running, facts));
        }
    }
    if let Some(blocked) = blocking_stage(workflow, agent, repairs) {
        let step = step_text(lang, &Step::Blocked(blocked));
        return Err(deny(flow::deny_blocked(lang, &blocked.to_string()), step));
    }
    let had_failed = workflow.stages.iter().any(StageState::is_failed);
    let mut next = workflow.clone();
    if repairs {
        open_repair(&mut next);
    }
    let target = target_stage(&next, agent);
    let reopens = match agent {
        Agent::Developer => has_reason_to_develop(workflow, facts),
        Agent::Debugger => had_failed,
        _ => false,
    };
    if let Some(key) = target
        && let Some(obstacle) = obstacle(&next, key, reopens)
    {
        return Err(refuse(&next, key, &obstacle, facts));
    }
    match target {
        Some(key) if agent == Agent::Developer => {
            if workflow.is_finished() {
                next.tasks_tried = u32::try_from(facts.open_work(workflow).len()).ok();
            }
            reopen_after(&mut next, key);
        }
        None if agent.changes_code() => {
            let running = running_after_development(&next);
            if !running.is_empty() {
                return Err(deny_running(&running, facts));
            }
            reopen_resolved(&mut next);
        }
        _ => {}
    }
    let stage = target.or_else(|| agent.stage().map(StageKey::first));
    Ok(Admitted { workflow: next, target, stage })
}

/// The blocked stage that keeps an agent from starting. Until the user has written something, neither a repair nor the
/// stage itself starts: it would be blocked again, which is not counted against any limit.
fn blocking_stage(workflow: &WorkflowState, agent: Agent, repairs: bool) -> Option<StageKey> {
    if workflow.user_wrote {
        return None;
    }
    if let Some(key) = target_stage(workflow, agent)
        && let Some(stage) = workflow.stage(key)
        && stage.is_blocked()
    {
        return Some(stage.key);
    }
    if !repairs {
        return None;
    }
    workflow.stages.iter().find(|stage| stage.is_blocked()).map(|stage| stage.key)
}

/// The running stages after DEV, which judge the code as it is.
fn running_after_development(workflow: &WorkflowState) -> Vec<StageKey> {
    let running = stages_after_development(workflow).filter(|stage| stage.status == Status::Active);
    running.map(|stage| stage.key).collect()
}

fn stages_after_development(workflow: &WorkflowState) -> impl Iterator<Item = &StageState> {
    workflow.stages.iter().skip_while(|stage| stage.key.stage != Stage::Dev).skip(1)
}

/// The first unresolved stage of the agent, else its last one.
pub(crate) fn target_stage(workflow: &WorkflowState, agent: Agent) -> Option<StageKey> {
    let stage = agent.stage()?;
    let mut own = workflow.stages.iter().filter(|s| s.key.stage == stage);
    let last = own.clone().next_back().map(|s| s.key);
    own.find(|s| !s.is_resolved()).map(|s| s.key).or(last)
}

/// Whether there is a reason to run a finished development again: the user wrote something, a retrospective found issues,
/// or tasks are open at the end.
fn has_reason_to_develop(workflow: &WorkflowState, facts: &Facts) -> bool {
    let found_issues = workflow.stages.iter().any(|stage| {
        stage.key.stage == Stage::Retro && stage.is_resolved() && stage.verdict() == Some(Verdict::Issues)
    });
    let has_open_tasks = match facts.own_feature(workflow) {
        Some(feature) => {
            !feature.pending.is_empty() && !workflow.tried_tasks(facts.open_work(workflow).len())
        }
        None => false,
    };
    workflow.user_wrote
        || (found_issues && workflow.retro_count < facts.settings.max_retros)
        || (workflow.is_finished() && has_open_tasks)
}

/// Opens DEV and every failed stage after it, each with its parallel group.
fn open_repair(workflow: &mut WorkflowState) {
    let failed: Vec<_> = workflow.stages.iter().filter(|s| s.is_failed()).map(|s| s.key).collect();
    for key in failed {
        let Some(repair) = workflow.repair_stage(key) else {
            continue;
        };
        let mut reopened = workflow.group_keys(key);
        reopened.push(repair);
        for key in reopened {
            reopen_completed(workflow, key);
        }
    }
}

/// Opens every completed stage after DEV again, since earlier verdicts and documents are about other code.
fn reopen_after(workflow: &mut WorkflowState, dev: StageKey) {
    let Some(at) = workflow.position(dev) else { return };
    let after: Vec<_> = workflow.stages[at + 1..].iter().map(|stage| stage.key).collect();
    for key in after {
        reopen_completed(workflow, key);
    }
}

/// Opens the resolved stages after DEV again for an agent that changes code without a stage of its own. Failed stages
/// stay failed until they are repaired.
fn reopen_resolved(workflow: &mut WorkflowState) {
    let resolved: Vec<_> = stages_after_development(workflow)
        .filter(|stage| stage.is_resolved())
        .map(|stage| stage.key)
        .collect();
    for key in resolved {
        reopen_completed(workflow, key);
    }
}

fn reopen_completed(workflow: &mut WorkflowState, key: StageKey) {
    if let Some(stage) = workflow.stage_mut(key)
        && stage.status == Status::Completed
    {
        stage.reopen();
    }
}

fn refuse(workflow: &WorkflowState, target: StageKey, obstacle: &Obstacle, facts: &Facts) -> Refusal {
    let lang = facts.lang;
    let step = || next_step_text(workflow, facts);
    match obstacle {
        Obstacle::Unfinished(keys) => {
            let stages = key_list(lang, keys);
            deny(flow::deny_order(lang, &stages), flow::skipped_advice(lang, &stages, &step()))
        }
        Obstacle::Running(keys) => deny_running(keys, facts),
        Obstacle::Debugging => deny(flow::deny_order(lang, "DEBUG"), flow::running_advice(lang, "DEBUG")),
        Obstacle::Complete => {
            let stage = target.to_string();
            deny(flow::deny_complete(lang, &stage), flow::complete_advice(lang, &stage, &step()))
        }
    }
}

fn deny_running(keys: &[StageKey], facts: &Facts) -> Refusal {
    let stages = key_list(facts.lang, keys);
    deny(flow::deny_order(facts.lang, &stages), flow::running_advice(facts.lang, &stages))
}

/// Why an agent may not start.
struct Refusal {
    /// The client shows the reason to the user and gives it to the model.
    reason: String,
    /// For the model only.
    advice: String,
}

impl From<Refusal> for Outcome {
    fn from(refusal: Refusal) -> Self {
        let reply = Reply {
            model_context: Some(refusal.advice),
            permission: Some(Permission::Deny { reason: refusal.reason }),
            ..Reply::default()
        };
        Self { reply, effects: Vec::new() }
    }
}

const fn deny(reason: String, advice: String) -> Refusal {
    Refusal { reason, advice }
}

/// Records that the agent is at work. The caller adds the effect that stores the workflow.
fn start(
    snapshot: &Snapshot,
    admitted: Admitted,
    agent: Agent,
    tool_use_id: Option<&str>,
    agent_id: Option<&str>,
    facts: &Facts,
) -> (Outcome, WorkflowState, Option<StageKey>) {
    let Admitted { mut workflow, target, stage } = admitted;
    let mut outcome = Outcome::default();
    let slot = workflow.free_slot(agent);
    if let Some(key) = target {
        activate(&mut workflow, key, facts, &mut outcome);
    }
    outcome.emit(
        Record::new(EventKind::AgentDelegate)
            .with("agent", agent.name())
            .with("stage", stage)
            .with("slot", &*slot)
            .with_some("continues", agent_id)
            .under(&facts.settings),
    );
    workflow.agents_started = workflow.agents_started.saturating_add(1);
    end_waiting(&mut workflow, facts.now);
    workflow.active_agents.push(ActiveAgent {
        slot,
        stage,
        started_at: Some(facts.now),
        tool_use_id: tool_use_id.map(str::to_owned),
        agent_id: agent_id.map(str::to_owned),
        background: agent_id.is_some(),
        awaits_start: agent_id.is_some(),
        sent_back_for: Vec::new(),
        sent_back_at: None,
        handoff: None,
    });
    // Input of the user counts for all blocked stages, so it is kept while there are any.
    workflow.user_wrote &= workflow.stages.iter().any(StageState::is_blocked);
    if let Some(looping) = &snapshot.looping {
        let mut next = looping.clone();
        next.turn = Some(Turn::Working);
        if next.paused.is_some() {
            next.unpause();
        }
        if next != *looping {
            outcome.push(Effect::PutLoop(next));
        }
    }
    (outcome, workflow, stage)
}

fn allow_with_context(
    workflow: &WorkflowState,
    stage: Option<StageKey>,
    call: &Delegation,
    facts: &Facts,
) -> Reply {
    let context = workflow_context(workflow, stage, facts, limits::CONTEXT_TEXT_UNITS);
    let patch = InputPatch {
        prompt: format!("{context}{DIVIDER}{}", call.prompt),
        foreground: facts.settings.foreground_agents,
    };
    let permission = Some(Permission::Allow { reason: None, patch: Some(patch) });
    Reply { permission, ..Reply::default() }
}

fn activate(workflow: &mut WorkflowState, key: StageKey, facts: &Facts, outcome: &mut Outcome) {
    workflow.current_stage = Some(key);
    let Some(stage) = workflow.stage_mut(key) else {
        return;
    };
    stage.attempts += 1;
    if stage.status == Status::Active {
        return;
    }
    stage.status = Status::Active;
    stage.result = None;
    stage.started_at = Some(facts.now);
    stage.completed_at = None;
    let attempt = stage.attempts;
    outcome.emit(Record::new(EventKind::StageStart).with("stage", key).with("attempt", attempt));
    record_parallel_start(workflow, key, outcome);
}

/// Records that a group runs in parallel when its second stage starts.
fn record_parallel_start(workflow: &WorkflowState, key: StageKey, outcome: &mut Outcome) {
    let Some((group, keys)) = workflow.template().and_then(|w| w.group_of(key)) else {
        return;
    };
    let running: Vec<_> = keys
        .iter()
        .filter(|key| workflow.has_status(**key, Status::Active))
        .map(ToString::to_string)
        .collect();
    if running.len() == 2 {
        outcome.emit(Record::new(EventKind::ParallelStart).with("group", group.name).with("stages", running));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::decide;
    use crate::engine::state::{Millis, StageResult};
    use crate::engine::trigger::{Feature, FeatureOrigin};
    use crate::registry::Workflow;

    #[test]
    fn a_call_out_of_order_is_denied_whatever_the_tasks_are() {
        let mut denied = 0;
        for resolved in 0..=8 {
            let mut workflow = WorkflowState::new("s", Workflow::Standard, Some("login"), Millis(0));
            for stage in workflow.stages.iter_mut().take(resolved) {
                stage.status = Status::Completed;
                stage.result = Some(StageResult::Verdict(Verdict::Pass));
            }
            let open = vec!["a task".to_owned()];
            let feature = Feature {
                name: "login".to_owned(),
                origin: FeatureOrigin::Own,
                checked: 0,
                total: 1,
                pending: open.clone(),
                open_work: open,
                ticked_work: 0,
            };
            for agent in Agent::ALL {
                let name = format!("ot:{}", agent.name());
                let trigger = Trigger::Delegating {
                    subagent_type: &name,
                    description: "",
                    prompt: "",
                    tool_use_id: Some("toolu_1"),
                };
                if !is_out_of_order(&workflow, &trigger) {
                    continue;
                }
                let snapshot = Snapshot { workflow: Some(workflow.clone()), ..Snapshot::default() };
                let answer = |feature| decide(&snapshot, &trigger, &Facts { feature, ..Facts::default() });
                let without = answer(None);
                assert!(matches!(without.reply.permission, Some(Permission::Deny { .. })), "{name}");
                let with = answer(Some(feature.clone()));
                assert_eq!((with.reply, with.effects), (without.reply, without.effects), "{name}");
                denied += 1;
            }
        }
        assert!(denied > 8, "{denied}");
    }
}
