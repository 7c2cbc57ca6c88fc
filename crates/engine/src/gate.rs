//! Delegation: which agent is meant, whether its stage may start, and what it is told.

use overtone_messages::flow as words;
use overtone_registry::{Agent, EventKind, Stage, StageKey, limits};

use crate::completion::recorded;
use crate::flow::{Obstacle, Step, limit_reached, next_step, obstacle};
use crate::outcome::{Effect, InputPatch, Outcome, Permission, Record, Reply};
use crate::state::{ActiveAgent, Ending, StageState, Status, Turn, Verdict, WorkflowState};
use crate::text::{key_list, moved_text, next_step_text, step_text, workflow_context};
use crate::trigger::{Facts, Snapshot};

/// What divides the context block from the original prompt.
const DIVIDER: &str = "\n\n---\n\n";

/// A call of the Agent tool.
pub(crate) struct Delegation<'a> {
    pub(crate) subagent_type: &'a str,
    pub(crate) description: &'a str,
    pub(crate) prompt: &'a str,
    pub(crate) tool_use_id: Option<&'a str>,
}

pub(crate) fn delegate(snapshot: &Snapshot, call: &Delegation, facts: &Facts) -> Outcome {
    let agent = identify(call.subagent_type, call.description);
    let (Some(agent), Some(workflow)) = (agent, &snapshot.workflow) else {
        return Outcome::default();
    };
    if let Some(refused) = refused_by_ending(workflow, agent, facts) {
        return refused;
    }
    if facts.plan_mode {
        return deny(words::deny_plan_mode(facts.lang), words::plan_mode_advice(facts.lang)).into();
    }
    // Asked again about the same call, the answer is the same and nobody is there twice.
    if let Some(known) = recorded(workflow, call.tool_use_id, None) {
        return Outcome {
            reply: allow_with_context(workflow, known.stage, call, facts),
            effects: Vec::new(),
        };
    }
    let admitted = match admit(workflow, agent, facts) {
        Ok(admitted) => admitted,
        Err(refusal) => return refusal.into(),
    };
    let (mut outcome, workflow, stage) = start(snapshot, admitted, agent, call.tool_use_id, None, facts);
    outcome.reply = allow_with_context(&workflow, stage, call, facts);
    outcome.push(Effect::PutWorkflow(workflow));
    outcome
}

/// The main agent goes on with an agent that has reported: another attempt of its stage, under the same rules.
pub(crate) fn continue_agent(snapshot: &Snapshot, agent_id: &str, facts: &Facts) -> Outcome {
    let Some(workflow) = &snapshot.workflow else {
        return Outcome::default();
    };
    // One that is still at work gets the message without further ado.
    if recorded(workflow, None, Some(agent_id)).is_some() {
        return Outcome::default();
    }
    let Some(agent) = workflow.finished_agent(agent_id).and_then(|finished| finished.agent) else {
        return Outcome::default();
    };
    if let Some(refused) = refused_by_ending(workflow, agent, facts) {
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

/// The client has started an agent again that had reported, without the main agent's doing: the user wrote to it. It
/// cannot be refused, so where its stage may not start, its report belongs to none.
pub(crate) fn agent_restarted(snapshot: &Snapshot, agent: Agent, agent_id: &str, facts: &Facts) -> Outcome {
    let Some(workflow) = snapshot.workflow.as_ref().filter(|workflow| workflow.is_open()) else {
        return Outcome::default();
    };
    // What the user wrote to it is their word, as a prompt would be.
    let asked = WorkflowState { user_wrote: true, ..workflow.clone() };
    let admitted = match admit(&asked, agent, facts) {
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

/// Stages are the main agent's to delegate: only it is told the next step. Helpers of other kinds are free.
pub(crate) fn delegate_from_agent(
    workflow: Option<&WorkflowState>,
    subagent_type: &str,
    facts: &Facts,
) -> Outcome {
    let (Some(agent), Some(workflow)) = (Agent::from_wire(subagent_type), workflow) else {
        return Outcome::default();
    };
    if let Some(moved) = refused_by_move(workflow, facts) {
        return moved;
    }
    if !workflow.is_open() {
        return Outcome::default();
    }
    deny(words::deny_nested(facts.lang, agent.name()), words::nested_advice(facts.lang)).into()
}

/// A workflow that has ended or goes on elsewhere decides without a look at the stages.
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
    Some(deny(words::deny_moved(facts.lang, machine), moved_text(facts.lang, workflow)?).into())
}

fn deny_at_limit(agent: Agent, facts: &Facts) -> Refusal {
    deny(words::deny_limit(facts.lang), words::limit_advice(facts.lang, agent.name()))
}

/// The agent that is meant: by its type, else by the description; never by the prompt.
pub fn identify(subagent_type: &str, description: &str) -> Option<Agent> {
    if let Some(agent) = Agent::from_wire(subagent_type) {
        return Some(agent);
    }
    // An agent of a kind of its own (Explore, another plugin's) is not ours, whatever its description says.
    if !matches!(subagent_type, "" | "general-purpose") {
        return None;
    }
    let description = description.trim().to_lowercase();
    by_name(&description).or_else(|| by_alias(&description))
}

fn by_name(description: &str) -> Option<Agent> {
    let words = description.split(|c: char| !(c.is_ascii_alphanumeric() || c == '-'));
    words.into_iter().find_map(Agent::from_name)
}

/// An alias is an everyday word, so it counts only as the label in front: "review: the parser".
fn by_alias(description: &str) -> Option<Agent> {
    let label = description.split([':', '：', '—', ',', '，', '\n']).next()?.trim();
    let label =
        label.trim_end_matches(" stage").trim_end_matches(" agent").trim_end_matches("階段").trim_end();
    Agent::ALL.into_iter().find(|agent| agent.aliases().contains(&label))
}

/// A workflow that lets the agent start.
struct Admitted {
    workflow: WorkflowState,
    /// The stage that begins with it.
    target: Option<StageKey>,
    /// What the agent is recorded for: a stage that is not part of the workflow, for a helper.
    stage: Option<StageKey>,
}

/// Decides whether the agent may start. Sending a debugger or a developer after a failure opens the way back.
fn admit(workflow: &WorkflowState, agent: Agent, facts: &Facts) -> Result<Admitted, Refusal> {
    let lang = facts.lang;
    if limit_reached(workflow, &facts.settings) {
        return Err(deny_at_limit(agent, facts));
    }
    let repairs = matches!(agent, Agent::Developer | Agent::Debugger);
    // Both reports of a round come first.
    if repairs
        && workflow.stages.iter().any(StageState::is_failed)
        && let Step::Wait(running) = next_step(workflow, &facts.settings)
    {
        return Err(deny_running(&running, facts));
    }
    if let Some(blocked) = waits_for_user(workflow, agent, repairs) {
        let step = step_text(lang, &Step::Blocked(blocked));
        return Err(deny(words::deny_blocked(lang, &blocked.to_string()), step));
    }
    let had_failed = workflow.stages.iter().any(StageState::is_failed);
    let mut next = workflow.clone();
    if repairs {
        open_repair(&mut next);
    }
    let target = target_stage(&next, agent);
    let reopens = match agent {
        Agent::Developer => asks_for_change(workflow, facts),
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
            reopen_behind(&mut next, key);
        }
        None if agent.changes_code() => {
            if let Some(running) = judges_at_work(&next) {
                return Err(deny_running(&running, facts));
            }
            reopen_judged(&mut next);
        }
        _ => {}
    }
    let stage = target.or_else(|| agent.stage().map(StageKey::first));
    Ok(Admitted { workflow: next, target, stage })
}

/// The blocked stage that keeps an agent from starting. Before the user has said something, neither a repair starts nor
/// the stage itself again: it would only be blocked again, and nothing counts that.
fn waits_for_user(workflow: &WorkflowState, agent: Agent, repairs: bool) -> Option<StageKey> {
    if workflow.user_wrote {
        return None;
    }
    let target = target_stage(workflow, agent).and_then(|key| workflow.stage(key));
    if let Some(stage) = target
        && stage.is_blocked()
    {
        return Some(stage.key);
    }
    let blocked = workflow.stages.iter().find(|stage| stage.is_blocked())?;
    repairs.then_some(blocked.key)
}

/// The stages behind DEV that are running: they judge the code as it is.
fn judges_at_work(workflow: &WorkflowState) -> Option<Vec<StageKey>> {
    let running = behind_development(workflow).filter(|stage| stage.status == Status::Active);
    let keys: Vec<_> = running.map(|stage| stage.key).collect();
    (!keys.is_empty()).then_some(keys)
}

fn behind_development(workflow: &WorkflowState) -> impl Iterator<Item = &StageState> {
    workflow.stages.iter().skip_while(|stage| stage.key.stage != Stage::Dev).skip(1)
}

/// The first unresolved stage of the agent, else its last one.
fn target_stage(workflow: &WorkflowState, agent: Agent) -> Option<StageKey> {
    let stage = agent.stage()?;
    let mut own = workflow.stages.iter().filter(|s| s.key.stage == stage);
    let last = own.clone().next_back().map(|s| s.key);
    own.find(|s| !s.is_resolved()).map(|s| s.key).or(last)
}

/// Whether something asks for another change of code that is developed: a retrospective with issues, open tasks at
/// the end, or the user.
fn asks_for_change(workflow: &WorkflowState, facts: &Facts) -> bool {
    let found_issues = workflow.stages.iter().any(|stage| {
        stage.key.stage == Stage::Retro && stage.is_resolved() && stage.verdict() == Some(Verdict::Issues)
    });
    let has_open_tasks = facts.own_feature(workflow).is_some_and(|feature| !feature.pending.is_empty())
        && !workflow.tried_tasks(facts.open_work(workflow).len());
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

/// What was judged or described before is about other code now, so every completed stage behind DEV runs again.
fn reopen_behind(workflow: &mut WorkflowState, dev: StageKey) {
    let Some(at) = workflow.position(dev) else { return };
    let behind: Vec<_> = workflow.stages[at + 1..].iter().map(|stage| stage.key).collect();
    for key in behind {
        reopen_completed(workflow, key);
    }
}

/// The same for an agent that changes code without a stage of its own here. What failed stays so until it is repaired.
fn reopen_judged(workflow: &mut WorkflowState) {
    let judged: Vec<_> =
        behind_development(workflow).filter(|stage| stage.is_resolved()).map(|stage| stage.key).collect();
    for key in judged {
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
            deny(words::deny_order(lang, &stages), words::skipped_advice(lang, &stages, &step()))
        }
        Obstacle::Running(keys) => deny_running(keys, facts),
        Obstacle::Debugging => deny(words::deny_order(lang, "DEBUG"), words::running_advice(lang, "DEBUG")),
        Obstacle::Complete => {
            let stage = target.to_string();
            deny(words::deny_complete(lang, &stage), words::complete_advice(lang, &stage, &step()))
        }
    }
}

fn deny_running(keys: &[StageKey], facts: &Facts) -> Refusal {
    let stages = key_list(facts.lang, keys);
    deny(words::deny_order(facts.lang, &stages), words::running_advice(facts.lang, &stages))
}

/// Why an agent may not start.
struct Refusal {
    /// The client shows it to the user and gives it to the model.
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

/// Records that the agent is at work. Whoever calls it puts the workflow.
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
    workflow.active_agents.push(ActiveAgent {
        slot,
        stage,
        started_at: Some(facts.now),
        tool_use_id: tool_use_id.map(str::to_owned),
        agent_id: agent_id.map(str::to_owned),
        background: agent_id.is_some(),
        awaits_start: agent_id.is_some(),
        holds: Vec::new(),
        handoff: None,
    });
    // One answer of the user may be about several blocked stages.
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
    announce_parallel(workflow, key, outcome);
}

/// The second member of a group to start makes it parallel.
fn announce_parallel(workflow: &WorkflowState, key: StageKey, outcome: &mut Outcome) {
    let Some((group, keys)) = workflow.template().and_then(|w| w.group_of(key)) else {
        return;
    };
    let running: Vec<_> = keys
        .iter()
        .filter(|key| workflow.stage(**key).is_some_and(|s| s.status == Status::Active))
        .map(ToString::to_string)
        .collect();
    if running.len() == 2 {
        outcome.emit(Record::new(EventKind::ParallelStart).with("group", group.name).with("stages", running));
    }
}

/// The stage that an agent without an entry must have been working on: an active one of its kind, or the next
/// one that may start. Used when the record of the delegation was lost.
pub(crate) fn stage_without_record(workflow: &WorkflowState, stage: Stage) -> Option<StageKey> {
    let own = || workflow.stages.iter().filter(|s| s.key.stage == stage);
    let active = own().find(|s| s.status == Status::Active).map(|s| s.key);
    active.or_else(|| {
        let open = own().find(|s| !s.is_resolved())?.key;
        obstacle(workflow, open, false).is_none().then_some(open)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_type_decides_before_the_description() {
        assert_eq!(identify("ot:tester", "developer work"), Some(Agent::Tester));
        assert_eq!(identify("OT:Tester", "developer work"), Some(Agent::Tester));
        assert_eq!(identify("ot:unknown", "developer"), None);
        assert_eq!(identify("other:developer", "developer"), None);
    }

    #[test]
    fn descriptions_name_agents_exactly() {
        assert_eq!(identify("", "Delegate code-reviewer agent"), Some(Agent::CodeReviewer));
        assert_eq!(identify("general-purpose", "developer: add login"), Some(Agent::Developer));
        assert_eq!(identify("general-purpose", "Review: the parser"), None);
        assert_eq!(identify("general-purpose", "code review: the parser"), Some(Agent::CodeReviewer));
        assert_eq!(identify("", "DEV"), Some(Agent::Developer));
        assert_eq!(identify("", "TEST stage"), Some(Agent::Tester));
        assert_eq!(identify("Explore", "find test helpers in the developer guide"), None);
        assert_eq!(identify("general-purpose", "test the waters"), None);
    }
}
