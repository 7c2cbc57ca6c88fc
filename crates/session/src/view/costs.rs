//! Costs of sessions, grouped, and what they were for. Does no I/O.

use std::collections::BTreeMap;

use overtone_core::economy::{PriceTable, Spending, TokenUsage};
use overtone_core::engine::state::{Ending, Millis};
use overtone_core::registry::{Agent, StageKey};
use overtone_store::{UsageEntry, UsageScope, clock};

use crate::view::history::{History, StageRun, WorkflowRun};
use crate::view::statistics::registry_order;
use crate::view::usage::SessionUsage;

/// How costs are grouped.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CostGroup {
    Stage,
    Agent,
    Workflow,
    Project,
    Day,
    Model,
}

/// A session whose costs are counted.
#[derive(Debug, Clone, Copy)]
pub struct SessionCosts<'a> {
    pub project: Option<&'a str>,
    pub history: &'a History,
    pub usage: &'a SessionUsage,
}

/// What a row is about.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub enum CostKey {
    /// A stage, an agent, a workflow and so on, by its name.
    Named(String),
    /// The main agent, while a workflow was open.
    MainAgent,
    /// What belongs to no workflow, or to a project that is not known.
    Outside,
}

/// What one stage, agent, workflow, project, day or model took.
#[derive(Debug, Clone, PartialEq)]
pub struct CostRow {
    pub key: CostKey,
    pub messages: u64,
    pub spending: Spending,
    /// For a stage: what each of its attempts took.
    pub attempts: BTreeMap<u32, Spending>,
}

/// The costs of sessions.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct CostReport {
    pub rows: Vec<CostRow>,
    pub total: Spending,
    pub purposes: Purposes,
    /// The workflows that were completed, and what they took.
    pub finished: usize,
    pub finished_spending: Spending,
    /// The requests of our agents.
    pub agent_requests: u64,
}

/// What was spent for a purpose that a reader may want to reduce. The parts do not overlap.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Purposes {
    /// The main agent, while a workflow was open.
    pub coordination: Spending,
    /// Attempts after the first one, and agents that were sent after a failure.
    pub repairs: Spending,
    /// Reviews that passed on the first attempt.
    pub clean_reviews: Spending,
    /// First attempts of stages that may change code and have changed no file.
    pub unchanged: Spending,
}

/// The costs of sessions since a time.
pub fn cost_report(
    sessions: &[SessionCosts],
    group: CostGroup,
    since: Option<Millis>,
    prices: &PriceTable,
) -> CostReport {
    let mut sums = Sums { prices, rows: BTreeMap::new(), report: CostReport::default() };
    for session in sessions {
        sums.add_session(session, group, since);
    }
    sums.finish(group)
}

#[derive(Default)]
struct RowSums {
    usage: TokenUsage,
    attempts: BTreeMap<u32, Spending>,
}

struct Sums<'a> {
    prices: &'a PriceTable,
    rows: BTreeMap<CostKey, RowSums>,
    report: CostReport,
}

impl Sums<'_> {
    fn add_session(&mut self, session: &SessionCosts, group: CostGroup, since: Option<Millis>) {
        for entry in &session.usage.entries {
            if matches!(since, Some(since) if entry.at < since) {
                continue;
            }
            let spending = entry.usage.spending(self.prices);
            self.report.total += spending;
            if entry.agent.as_deref().and_then(Agent::from_name).is_some() {
                self.report.agent_requests += entry.usage.messages();
            }
            self.add_purpose(session.history, entry, spending);
            if let Some(run) = workflow_of(session.history, entry)
                && run.ending == Some(Ending::Completed)
            {
                self.report.finished_spending += spending;
            }
            self.add_to_rows(session, group, entry, spending);
        }
        let is_counted = |run: &&WorkflowRun| {
            let is_since = since.is_none() || run.started >= since;
            run.ending == Some(Ending::Completed) && is_since
        };
        self.report.finished += session.history.workflows.iter().filter(is_counted).count();
    }

    fn add_purpose(&mut self, history: &History, entry: &UsageEntry, spending: Spending) {
        let purposes = &mut self.report.purposes;
        match purpose(history, entry) {
            Some(Purpose::Coordination) => purposes.coordination += spending,
            Some(Purpose::Repair) => purposes.repairs += spending,
            Some(Purpose::CleanReview) => purposes.clean_reviews += spending,
            Some(Purpose::Unchanged) => purposes.unchanged += spending,
            None => {}
        }
    }

    fn add_to_rows(
        &mut self,
        session: &SessionCosts,
        group: CostGroup,
        entry: &UsageEntry,
        spending: Spending,
    ) {
        if group == CostGroup::Model {
            for usage in &entry.usage.models {
                let row = self.rows.entry(CostKey::Named(usage.model.clone())).or_default();
                row.usage.add(&usage.model, usage.messages, usage.tokens);
            }
            return;
        }
        let row = self.rows.entry(row_key(session, group, entry)).or_default();
        row.usage.add_all(&entry.usage);
        if group == CostGroup::Stage
            && let Some(attempt) = entry.attempt
        {
            *row.attempts.entry(attempt).or_default() += spending;
        }
    }

    fn finish(mut self, group: CostGroup) -> CostReport {
        let prices = self.prices;
        let row = |(key, sums): (CostKey, RowSums)| CostRow {
            key,
            messages: sums.usage.messages(),
            spending: sums.usage.spending(prices),
            attempts: sums.attempts,
        };
        self.report.rows = self.rows.into_iter().map(row).collect();
        let rows = &mut self.report.rows;
        match group {
            CostGroup::Stage => rows.sort_by_key(|row| stage_order(&row.key)),
            CostGroup::Day => {}
            _ => rows.sort_by(|a, b| b.spending.cost.usd.total_cmp(&a.spending.cost.usd)),
        }
        self.report
    }
}

/// Stages in the order of the registry, then other agents, then what belongs to no stage.
fn stage_order(key: &CostKey) -> (u8, (usize, u8)) {
    match key {
        CostKey::Named(name) => (0, registry_order(name)),
        CostKey::MainAgent => (1, (0, 0)),
        CostKey::Outside => (2, (0, 0)),
    }
}

fn row_key(session: &SessionCosts, group: CostGroup, entry: &UsageEntry) -> CostKey {
    let named = |name: Option<&str>| match name {
        Some(name) => CostKey::Named(name.to_owned()),
        None => CostKey::Outside,
    };
    match (group, entry.scope) {
        (CostGroup::Stage, _) if entry.workflow.is_none() => CostKey::Outside,
        (CostGroup::Stage | CostGroup::Agent, UsageScope::Main) => CostKey::MainAgent,
        (CostGroup::Stage, UsageScope::Agent) => named(entry.stage.as_deref().or(entry.agent.as_deref())),
        (CostGroup::Agent, UsageScope::Agent) => named(entry.agent.as_deref()),
        (CostGroup::Workflow, _) => named(workflow_of(session.history, entry).map(|run| &*run.workflow)),
        (CostGroup::Project, _) => named(session.project),
        (CostGroup::Day | CostGroup::Model, _) => CostKey::Named(clock::to_date(entry.at)),
    }
}

/// The times of a workflow's state and of its event may differ by this, in milliseconds.
const START_TOLERANCE: i64 = 5_000;

/// The workflow that something was used for.
pub(crate) fn workflow_of<'a>(history: &'a History, entry: &UsageEntry) -> Option<&'a WorkflowRun> {
    history.workflows.get(workflow_index(history, entry.workflow?)?)
}

fn workflow_index(history: &History, started: Millis) -> Option<usize> {
    let is_same = |run: &WorkflowRun| match run.started {
        Some(at) => (at.0 - started.0).abs() < START_TOLERANCE,
        None => false,
    };
    history.workflows.iter().rposition(is_same)
}

/// Why something was used.
enum Purpose {
    Coordination,
    Repair,
    CleanReview,
    Unchanged,
}

/// `None` for the first attempt of a stage that did its work, and for what belongs to no workflow.
fn purpose(history: &History, entry: &UsageEntry) -> Option<Purpose> {
    let workflow = entry.workflow?;
    if entry.scope == UsageScope::Main {
        return Some(Purpose::Coordination);
    }
    let agent = Agent::from_name(entry.agent.as_deref()?)?;
    let Some(stage) = entry.stage.as_deref() else {
        // These are sent when something has failed, also in workflows that have no stage for them.
        let repairs = matches!(agent, Agent::Debugger | Agent::BuildErrorResolver);
        return if repairs { Some(Purpose::Repair) } else { None };
    };
    let attempt = entry.attempt.unwrap_or(1);
    if attempt > 1 {
        return Some(Purpose::Repair);
    }
    let key: StageKey = stage.parse().ok()?;
    if key.stage.is_reviewer() {
        let is_clean = verdict(history, workflow, stage, attempt) == Some(true);
        return if is_clean { Some(Purpose::CleanReview) } else { None };
    }
    if agent.changes_code() && changed_nothing(history, entry) { Some(Purpose::Unchanged) } else { None }
}

/// Whether an attempt of a stage passed.
fn verdict(history: &History, workflow: Millis, stage: &str, attempt: u32) -> Option<bool> {
    let workflow = workflow_index(history, workflow);
    let run: &StageRun =
        history.stages.iter().find(|run| run.workflow == workflow && &*run.stage == stage)?;
    let at = run.attempts.iter().position(|number| *number == attempt)?;
    run.verdicts.get(at).copied()
}

/// Whether it is known that the agent has changed no file.
fn changed_nothing(history: &History, entry: &UsageEntry) -> bool {
    let Some(id) = entry.agent_id.as_deref() else { return false };
    let mut runs = history.agents.iter().filter(|run| run.id.as_deref() == Some(id)).peekable();
    runs.peek().is_some() && runs.all(|run| run.changed_files == Some(0))
}

#[cfg(test)]
mod tests;
