//! Budgets: whether a workflow has used up a limit, and what happens then.
//!
//! Nothing more is started, agents at work are told to finish, the loop lets go, and the user decides. An agent that continues
//! in spite of that is ended by the client.

use crate::economy::{Spending, amount_text, micro_usd};
use crate::messages::{Lang, budget as words};
use crate::registry::{Agent, BudgetKind, StageKey, WarningReason, limits};

use crate::engine::agents::identify;
use crate::engine::flow::{Step, next_step_within_budget};
use crate::engine::gate::{starts_helper, target_stage};
use crate::engine::outcome::{Effect, Outcome, Permission, Record};
use crate::engine::settings::Settings;
use crate::engine::state::{
    FinishingAgent, LoopState, Millis, ReachedLimit, StageState, Status, StoppedBy, WorkflowState,
};
use crate::engine::text::key_list;
use crate::engine::trigger::{Facts, Snapshot, ToolCaller, Trigger};

/// The type of the agents that the client's `Workflow` tool starts. It asks for none of them.
pub const NATIVE_WORKFLOW_AGENT: &str = "workflow-subagent";

/// What a workflow has used, as its conversations say.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct WorkflowSpending {
    pub total: Spending,
    pub stages: Vec<(StageKey, Spending)>,
}

impl WorkflowSpending {
    fn of_stage(&self, key: StageKey) -> Spending {
        let own = self.stages.iter().find(|(stage, _)| *stage == key);
        own.map(|(_, spending)| *spending).unwrap_or_default()
    }
}

/// How much of a limit is used.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LimitUse {
    pub kind: BudgetKind,
    pub stage: Option<StageKey>,
    pub limit: u64,
    pub used: u64,
}

/// Decides on an event with the budget as it is now: the decision starts from the workflow in which a limit that was reached
/// is noted.
pub(crate) fn with_budget(
    snapshot: &Snapshot,
    trigger: &Trigger,
    facts: &Facts,
    decide: impl FnOnce(&Snapshot) -> Outcome,
) -> Outcome {
    let is_checked = matches!(
        trigger,
        Trigger::CallingTool { .. }
            | Trigger::Delegating { .. }
            | Trigger::AgentDelegating { .. }
            | Trigger::ContinuingAgent { .. }
            | Trigger::AgentStarted { .. }
            | Trigger::HandingBack { .. }
            | Trigger::AgentStopped { .. }
            | Trigger::AgentReturned { .. }
            | Trigger::Stopping { .. }
    );
    let workflow = if is_checked { snapshot.workflow.as_ref() } else { None };
    let Some(noted) = workflow.and_then(|workflow| note_use(workflow, trigger, facts)) else {
        return decide(snapshot);
    };
    let current = Snapshot { workflow: Some(noted.workflow.clone()), looping: snapshot.looping.clone() };
    let mut outcome = decide(&current);
    if outcome.workflow().is_none() {
        outcome.push(Effect::PutWorkflow(noted.workflow));
    }
    outcome.effects.splice(0..0, noted.records.into_iter().map(Effect::Emit));
    outcome
}

/// Whether a tool call has to be decided on because of the budget. Most calls are not, and need no lock.
pub fn concerns_budget(workflow: &WorkflowState, trigger: &Trigger, facts: &Facts) -> bool {
    is_limited(workflow) && (workflow.budget.ends_work() || note_use(workflow, trigger, facts).is_some())
}

fn is_limited(workflow: &WorkflowState) -> bool {
    workflow.is_open() && workflow.moved_to.is_none() && !workflow.budget.limits.is_empty()
}

struct NotedUse {
    workflow: WorkflowState,
    records: Vec<Record>,
}

/// Notes in the workflow that a limit is reached, or that most of one is used. `None` if there is nothing new.
fn note_use(workflow: &WorkflowState, trigger: &Trigger, facts: &Facts) -> Option<NotedUse> {
    if !is_limited(workflow) || workflow.budget.ends_work() {
        return None;
    }
    let uses = limits_in_use(workflow, facts);
    let reached = find_reached(workflow, &uses, trigger, facts).filter(|reached| is_news(workflow, reached));
    let near =
        if workflow.budget.is_noticed { None } else { uses.iter().find(|usage| usage.is_mostly_used()) };
    let unpriced = unpriced_tokens(workflow, facts);
    if reached.is_none() && near.is_none() && unpriced.is_none() {
        return None;
    }
    let mut next = workflow.clone();
    let mut records = Vec::new();
    if let Some(tokens) = unpriced {
        next.budget.is_unpriced_noticed = true;
        next.add_user_notice(words::unpriced(facts.lang));
        records.push(Record::warning(WarningReason::BudgetUnpriced).with("tokens", number(tokens)));
    }
    if let Some(reached) = reached {
        next.budget.reached = Some(reached);
        next.budget.is_noticed = true;
        let record = use_record(WarningReason::BudgetReached, &reached.as_use());
        records.push(record.with("ends", reached.ends()));
        next.leave_notice(words::reached_notice(facts.lang, &describe_use(&reached.as_use(), facts.lang)));
    } else if let Some(near) = near {
        next.budget.is_noticed = true;
        records.push(use_record(WarningReason::BudgetNear, near));
        let text = describe_use(near, facts.lang);
        next.leave_notice(words::near_advice(facts.lang, &text));
        next.add_user_notice(words::near(facts.lang, &text));
    }
    Some(NotedUse { workflow: next, records })
}

/// Whether the limit is not noted yet. One on agents may be followed by one that ends the agents at work.
fn is_news(workflow: &WorkflowState, reached: &ReachedLimit) -> bool {
    match workflow.budget.reached {
        Some(known) => reached.ends_work && !known.ends_work,
        None => true,
    }
}

/// The tokens that a limit in dollars does not include, unless the user has been told.
fn unpriced_tokens(workflow: &WorkflowState, facts: &Facts) -> Option<u64> {
    let limits = &workflow.budget.limits;
    let is_in_dollars = [&limits.workflow, &limits.stage].iter().any(|l| l.get(BudgetKind::Usd).is_some());
    let unpriced = facts.spent.as_ref()?.total.cost.unpriced_tokens;
    if unpriced == 0 || !is_in_dollars || workflow.budget.is_unpriced_noticed { None } else { Some(unpriced) }
}

fn number(amount: u64) -> i64 {
    i64::try_from(amount).unwrap_or(i64::MAX)
}

fn use_record(reason: WarningReason, usage: &LimitUse) -> Record {
    Record::warning(reason)
        .with("kind", usage.kind.name())
        .with_some("stage", usage.stage)
        .with("limit", number(usage.limit))
        .with("used", number(usage.used))
}

impl ReachedLimit {
    /// The `ends` field of a record: what the limit ends.
    const fn ends(&self) -> &'static str {
        if self.ends_work { ENDS_WORK } else { "starts" }
    }

    pub const fn as_use(&self) -> LimitUse {
        LimitUse { kind: self.kind, stage: self.stage, limit: self.limit, used: self.used }
    }
}

/// The value of the field `ends` for a limit that agents at work have to finish at.
pub(crate) const ENDS_WORK: &str = "work";

impl LimitUse {
    const fn is_mostly_used(&self) -> bool {
        self.used.saturating_mul(100) >= self.limit.saturating_mul(limits::BUDGET_NOTICE_PERCENT)
    }

    const fn is_used_up(&self) -> bool {
        self.used >= self.limit
    }

    /// How much is used, in percent.
    pub const fn percent(&self) -> u64 {
        match self.used.saturating_mul(100).checked_div(self.limit) {
            Some(percent) => percent,
            None => 100,
        }
    }
}

fn find_reached(
    workflow: &WorkflowState,
    uses: &[LimitUse],
    trigger: &Trigger,
    facts: &Facts,
) -> Option<ReachedLimit> {
    let used_up = uses.iter().find(|usage| usage.kind != BudgetKind::Agents && usage.is_used_up());
    match used_up {
        Some(usage) => Some(usage.reached(true)),
        None => too_many_agents(workflow, trigger, facts),
    }
}

impl LimitUse {
    const fn reached(self, ends_work: bool) -> ReachedLimit {
        ReachedLimit { kind: self.kind, stage: self.stage, limit: self.limit, used: self.used, ends_work }
    }
}

/// The limit on agents, if another one would exceed it.
fn too_many_agents(workflow: &WorkflowState, trigger: &Trigger, facts: &Facts) -> Option<ReachedLimit> {
    let limits = &workflow.budget.limits;
    if let Some(limit) = limits.workflow.get(BudgetKind::Agents) {
        let used = agents_used(workflow, facts);
        let usage = LimitUse { kind: BudgetKind::Agents, stage: None, limit, used };
        match trigger {
            // It has started already: the client's `Workflow` tool asks for no single agent.
            Trigger::AgentStarted { agent_type, .. } if Agent::from_wire(agent_type).is_none() => {
                return if used > limit { Some(usage.reached(true)) } else { None };
            }
            // It is part of the count.
            _ if starts_helper(trigger) => {
                return if used > limit { Some(usage.reached(false)) } else { None };
            }
            _ if used >= limit && !next_stages(workflow, &facts.settings).is_empty() => {
                return Some(usage.reached(false));
            }
            _ => {}
        }
    }
    let limit = limits.stage.get(BudgetKind::Agents)?;
    let next = match delegated_stage(workflow, trigger) {
        Some(stage) => vec![stage],
        None => next_stages(workflow, &facts.settings),
    };
    let stage = next.into_iter().find(|stage| u64::from(stage.attempts) >= limit)?;
    let used = u64::from(stage.attempts);
    Some(LimitUse { kind: BudgetKind::Agents, stage: Some(stage.key), limit, used }.reached(false))
}

/// The stage that the main agent delegates.
fn delegated_stage<'a>(workflow: &'a WorkflowState, trigger: &Trigger) -> Option<&'a StageState> {
    let Trigger::Delegating { subagent_type, description, .. } = *trigger else { return None };
    workflow.stage(target_stage(workflow, identify(subagent_type, description)?)?)
}

/// The stages for which the next step starts an agent.
fn next_stages<'a>(workflow: &'a WorkflowState, settings: &Settings) -> Vec<&'a StageState> {
    let keys = match next_step_within_budget(workflow, settings) {
        Step::Delegate(keys) => keys,
        Step::Repair(keys) | Step::Rework(keys) => {
            keys.into_iter().filter_map(|key| workflow.repair_stage(key)).collect()
        }
        Step::Again(key) => vec![key],
        _ => Vec::new(),
    };
    keys.into_iter().filter_map(|key| workflow.stage(key)).collect()
}

fn agents_used(workflow: &WorkflowState, facts: &Facts) -> u64 {
    u64::from(workflow.agents_started).saturating_add(u64::from(facts.helpers))
}

/// Every limit of the workflow, and of the stages at work, with what is used of it. What is not known is left out.
pub fn limits_in_use(workflow: &WorkflowState, facts: &Facts) -> Vec<LimitUse> {
    let budget = &workflow.budget;
    let mut found = Vec::new();
    for (kind, limit) in budget.limits.workflow.iter() {
        let used = match kind {
            BudgetKind::Usd | BudgetKind::Tokens => {
                facts.spent.as_ref().map(|spent| counted(kind, &spent.total))
            }
            BudgetKind::Minutes => Some(minutes(time_at_work(workflow, facts.now))),
            BudgetKind::Agents => Some(agents_used(workflow, facts)),
        };
        found.extend(used.map(|used| LimitUse { kind, stage: None, limit, used }));
    }
    for stage in workflow.stages.iter().filter(|stage| stage.status == Status::Active) {
        for (kind, limit) in budget.limits.stage.iter() {
            let used = match kind {
                BudgetKind::Usd | BudgetKind::Tokens => {
                    facts.spent.as_ref().map(|spent| counted(kind, &spent.of_stage(stage.key)))
                }
                BudgetKind::Minutes => stage.started_at.map(|at| minutes(facts.now.since(at))),
                BudgetKind::Agents => Some(u64::from(stage.attempts)),
            };
            found.extend(used.map(|used| LimitUse { kind, stage: Some(stage.key), limit, used }));
        }
    }
    found
}

fn counted(kind: BudgetKind, spending: &Spending) -> u64 {
    match kind {
        BudgetKind::Usd => micro_usd(spending.cost.usd).unwrap_or_default(),
        _ => spending.tokens.total(),
    }
}

fn minutes(millis: i64) -> u64 {
    u64::try_from(millis / 60_000).unwrap_or_default()
}

/// The time since the workflow began, without the time in which it waited for the user.
fn time_at_work(workflow: &WorkflowState, now: Millis) -> i64 {
    let Some(began) = workflow.created_at else { return 0 };
    let budget = &workflow.budget;
    let waits = budget.waits_since.map(|since| now.since(since)).unwrap_or_default();
    now.since(began).saturating_sub(budget.waited).saturating_sub(waits).max(0)
}

/// Notes that the workflow waits for the user, as far as a limit depends on it.
pub(crate) fn begin_waiting(workflow: &mut WorkflowState, now: Millis) {
    if workflow.budget.limits.workflow.get(BudgetKind::Minutes).is_some() && workflow.is_open() {
        workflow.budget.waits_since.get_or_insert(now);
    }
}

/// Notes that the workflow waits no longer. Returns whether something has changed.
pub(crate) fn end_waiting(workflow: &mut WorkflowState, now: Millis) -> bool {
    let Some(since) = workflow.budget.waits_since.take() else { return false };
    workflow.budget.waited = workflow.budget.waited.saturating_add(now.since(since));
    true
}

/// A tool call of an agent.
pub(crate) struct ToolCall<'a> {
    pub(crate) caller: ToolCaller<'a>,
    pub(crate) agent_id: &'a str,
    /// The message of the model that the call is part of.
    pub(crate) message: Option<&'a str>,
    pub(crate) starts_agent: bool,
}

/// A tool is about to be called although the budget is reached. The calls of the message that an agent is at are denied with
/// the request to finish; if a later message calls a tool again, the client ends the agent.
pub(crate) fn calling_tool(snapshot: &Snapshot, call: &ToolCall, facts: &Facts) -> Outcome {
    let Some(workflow) = snapshot.workflow.as_ref().filter(|workflow| is_limited(workflow)) else {
        return Outcome::default();
    };
    let Some(reached) = workflow.budget.reached.filter(|reached| reached.ends_work) else {
        return Outcome::default();
    };
    let is_main = call.caller == ToolCaller::Main;
    // The user has been asked, and decides what the main agent does.
    if is_main && snapshot.is_halted() {
        return Outcome::default();
    }
    let lang = facts.lang;
    let mut outcome = Outcome::default();
    match workflow.budget.finishing_agent(call.agent_id) {
        Some(known) if call.message.is_some() && known.message.as_deref() == call.message => {}
        Some(_) => return end_agent(snapshot, workflow, call, facts),
        None => {
            let message = call.message.map(str::to_owned);
            let mut next = workflow.clone();
            next.budget.finishing.push(FinishingAgent { id: call.agent_id.to_owned(), message });
            outcome.push(Effect::PutWorkflow(next));
        }
    }
    outcome.reply.permission = Some(Permission::Deny { reason: words::deny(lang) });
    let advice = if is_main { main_advice(lang, &reached) } else { words::finish_advice(lang) };
    outcome.reply.model_context = Some(advice);
    outcome
}

/// Has the client end the agent. Version 2.1.197 does so only after a call that was not denied, so only calls that would start
/// another agent are denied as well.
fn end_agent(snapshot: &Snapshot, workflow: &WorkflowState, call: &ToolCall, facts: &Facts) -> Outcome {
    let mut outcome = Outcome::default();
    outcome.reply.end_turn = Some(words::deny(facts.lang));
    if call.starts_agent {
        outcome.reply.permission = Some(Permission::Deny { reason: words::deny(facts.lang) });
    }
    if call.caller == ToolCaller::Main {
        // No Stop follows.
        let looping = snapshot.looping.clone().unwrap_or_else(|| LoopState::started(facts.now));
        outcome.push(Effect::PutLoop(stopped_loop(looping)));
        let mut next = workflow.clone();
        begin_waiting(&mut next, facts.now);
        outcome.push(Effect::PutWorkflow(next));
        outcome.reply.system_message = reached_text(workflow, facts.lang);
    }
    outcome
}

/// The loop after the limit is reached: it waits for the user.
pub(crate) fn stopped_loop(mut looping: LoopState) -> LoopState {
    looping.stop(StoppedBy::Limit);
    looping.announced = true;
    looping.end_turn();
    looping
}

/// What the main agent has to do when the budget is reached.
pub(crate) fn main_advice(lang: Lang, reached: &ReachedLimit) -> String {
    words::main_advice(lang, &describe_use(&reached.as_use(), lang))
}

/// The text for the user: what was reached, what is done and what is open, and how to continue.
pub(crate) fn reached_text(workflow: &WorkflowState, lang: Lang) -> Option<String> {
    let reached = workflow.budget.reached?;
    let keys = |is_wanted: fn(&StageState) -> bool| -> Vec<StageKey> {
        workflow.stages.iter().filter(|stage| is_wanted(stage)).map(|stage| stage.key).collect()
    };
    let (done, open) = (keys(StageState::is_resolved), keys(|stage| !stage.is_resolved()));
    let listed = |keys: &[StageKey]| if keys.is_empty() { "–".to_owned() } else { key_list(lang, keys) };
    let used = describe_use(&reached.as_use(), lang);
    Some(words::reached(lang, &used, &listed(&done), &listed(&open)))
}

/// `$4.10 of $5.00`, `TEST: 12 of 10 minutes`.
pub fn describe_use(usage: &LimitUse, lang: Lang) -> String {
    let (used, limit) = (amount_text(usage.kind, usage.used), amount_text(usage.kind, usage.limit));
    let text = match usage.kind {
        BudgetKind::Usd => words::of_dollars(lang, &used, &limit),
        BudgetKind::Tokens => words::of_tokens(lang, &used, &limit),
        BudgetKind::Minutes => words::of_minutes(lang, &used, &limit),
        BudgetKind::Agents => words::of_agents(lang, &used, &limit),
    };
    match usage.stage {
        Some(key) => words::of_stage(lang, &key.to_string(), &text),
        None => text,
    }
}
