//! Statistics from session histories. Does no I/O.

use std::collections::BTreeMap;

use overtone_core::economy::{PriceTable, Spending};
use overtone_core::engine::state::{Ending, Millis};
use overtone_core::registry::{Stage, StageKey};
use overtone_store::{UsageEntry, clock};

use crate::view::costs::workflow_of;
use crate::view::history::{AgentRun, History, StageRun, WorkflowRun};

/// Which runs are counted.
#[derive(Debug, Clone, Default)]
pub struct Filter {
    pub since: Option<Millis>,
    pub workflow: Option<String>,
}

impl Filter {
    fn matches(&self, at: Option<Millis>, workflow: Option<&WorkflowRun>) -> bool {
        if let Some(since) = self.since
            && !matches!(at, Some(at) if at >= since)
        {
            return false;
        }
        match (&self.workflow, workflow) {
            (None, _) => true,
            (Some(name), Some(workflow)) => *workflow.workflow == **name,
            (Some(_), None) => false,
        }
    }
}

#[derive(Debug, Default, PartialEq)]
pub struct Statistics {
    pub sessions: usize,
    pub started: usize,
    pub completed: usize,
    pub aborted: usize,
    pub pass_at_1: Option<f64>,
    pub pass_at_3: Option<f64>,
    pub failures: usize,
    pub stages: Vec<StageStatistics>,
    pub agents: Vec<AgentStatistics>,
    pub workflows: Vec<WorkflowStatistics>,
    pub days: Vec<DayStatistics>,
}

#[derive(Debug, Clone, Default, PartialEq)]
pub struct StageStatistics {
    pub stage: String,
    pub runs: usize,
    pub pass_at_1: Option<f64>,
    pub pass_at_3: Option<f64>,
    /// Verdicts that were no pass: what the stage has found.
    pub failures: usize,
    /// How often work was repaired because of them.
    pub repairs: usize,
    pub median: Option<i64>,
    pub p90: Option<i64>,
    pub spending: Spending,
    /// The part of it that belongs to completed workflows.
    pub finished_spending: Spending,
}

#[derive(Debug, Clone, Default, PartialEq)]
pub struct AgentStatistics {
    pub agent: String,
    pub runs: usize,
    pub errors: usize,
    pub median: Option<i64>,
    pub spending: Spending,
}

#[derive(Debug, Clone, Default, PartialEq)]
pub struct WorkflowStatistics {
    pub workflow: String,
    pub started: usize,
    pub completed: usize,
    pub aborted: usize,
    pub median: Option<i64>,
    pub spending: Spending,
}

#[derive(Debug, Clone, Default, PartialEq)]
pub struct DayStatistics {
    /// `2026-02-23`, in UTC.
    pub day: String,
    pub started: usize,
    pub completed: usize,
    pub aborted: usize,
    pub pass_at_1: Option<f64>,
    pub failures: usize,
    pub spending: Spending,
}

/// The statistics of the given sessions, each with what it has used.
pub fn statistics<'a>(
    sessions: impl IntoIterator<Item = (&'a History, &'a [UsageEntry])>,
    filter: &Filter,
    prices: &PriceTable,
) -> Statistics {
    let mut sums = Sums::default();
    let mut count = 0;
    for (history, usage) in sessions {
        count += 1;
        sums.add(history, filter);
        for entry in usage {
            sums.add_usage(history, entry, filter, prices);
        }
    }
    sums.statistics(count)
}

/// The runs and costs by stage, agent, workflow and day.
#[derive(Default)]
struct Sums<'a> {
    stages: BTreeMap<&'a str, Vec<&'a StageRun>>,
    agents: BTreeMap<&'a str, Vec<&'a AgentRun>>,
    workflows: BTreeMap<&'a str, Vec<&'a WorkflowRun>>,
    stage_spending: BTreeMap<&'a str, Spending>,
    finished_spending: BTreeMap<&'a str, Spending>,
    agent_spending: BTreeMap<&'a str, Spending>,
    workflow_spending: BTreeMap<&'a str, Spending>,
    /// By the number of the day.
    days: BTreeMap<i64, Day<'a>>,
}

#[derive(Default)]
struct Day<'a> {
    workflows: Vec<&'a WorkflowRun>,
    stages: Vec<&'a StageRun>,
    spending: Spending,
}

impl<'a> Sums<'a> {
    fn add(&mut self, history: &'a History, filter: &Filter) {
        let workflow = |index: Option<usize>| history.workflows.get(index?);
        for run in history.workflows.iter().filter(|run| filter.matches(run.started, Some(run))) {
            self.workflows.entry(&run.workflow).or_default().push(run);
            self.update_day(run.started, |day| day.workflows.push(run));
        }
        for run in history.stages.iter().filter(|run| filter.matches(run.at, workflow(run.workflow))) {
            self.stages.entry(&run.stage).or_default().push(run);
            self.update_day(run.at, |day| day.stages.push(run));
        }
        for run in history.agents.iter().filter(|run| filter.matches(run.at, workflow(run.workflow))) {
            self.agents.entry(&run.agent).or_default().push(run);
        }
    }

    fn add_usage(
        &mut self,
        history: &'a History,
        entry: &'a UsageEntry,
        filter: &Filter,
        prices: &PriceTable,
    ) {
        let workflow = workflow_of(history, entry);
        if !filter.matches(Some(entry.at), workflow) {
            return;
        }
        let spending = entry.usage.spending(prices);
        if let Some(agent) = &entry.agent {
            *self.agent_spending.entry(agent).or_default() += spending;
        }
        if let Some(stage) = &entry.stage {
            *self.stage_spending.entry(stage).or_default() += spending;
        }
        if let Some(workflow) = workflow {
            *self.workflow_spending.entry(&workflow.workflow).or_default() += spending;
            if let Some(stage) = &entry.stage
                && workflow.ending == Some(Ending::Completed)
            {
                *self.finished_spending.entry(stage).or_default() += spending;
            }
        }
        self.update_day(Some(entry.at), |day| day.spending += spending);
    }

    fn update_day(&mut self, at: Option<Millis>, change: impl FnOnce(&mut Day<'a>)) {
        if let Some(at) = at {
            change(self.days.entry(clock::day(at)).or_default());
        }
    }

    fn statistics(&self, sessions: usize) -> Statistics {
        let all: Vec<_> = self.stages.values().flatten().copied().collect();
        let workflows: Vec<_> = self.workflows.values().flatten().copied().collect();
        let mut stages: Vec<_> = self.stages.iter().map(|(name, runs)| self.stage(name, runs)).collect();
        stages.sort_by_key(|statistics| (registry_order(&statistics.stage), statistics.stage.clone()));
        Statistics {
            sessions,
            started: workflows.iter().filter(|run| run.started.is_some()).count(),
            completed: ended(&workflows, Ending::Completed),
            aborted: ended(&workflows, Ending::Aborted),
            pass_at_1: pass_at(1, &all),
            pass_at_3: pass_at(3, &all),
            failures: failures(&all),
            stages,
            agents: self.agents.iter().map(|(name, runs)| self.agent(name, runs)).collect(),
            workflows: self.workflows.iter().map(|(name, runs)| self.workflow(name, runs)).collect(),
            days: self.days.iter().map(|(day, sums)| day_statistics(*day, sums)).collect(),
        }
    }

    fn stage(&self, stage: &str, runs: &[&StageRun]) -> StageStatistics {
        let durations = sorted(runs.iter().flat_map(|run| run.durations.iter().copied()));
        StageStatistics {
            stage: stage.to_owned(),
            runs: runs.len(),
            pass_at_1: pass_at(1, runs),
            pass_at_3: pass_at(3, runs),
            failures: failures(runs),
            repairs: runs.iter().map(|run| run.repairs).sum(),
            median: quantile(&durations, 50),
            p90: quantile(&durations, 90),
            spending: self.stage_spending.get(stage).copied().unwrap_or_default(),
            finished_spending: self.finished_spending.get(stage).copied().unwrap_or_default(),
        }
    }

    fn agent(&self, agent: &str, runs: &[&AgentRun]) -> AgentStatistics {
        AgentStatistics {
            agent: agent.to_owned(),
            runs: runs.len(),
            errors: runs.iter().filter(|run| run.failed).count(),
            median: quantile(&sorted(runs.iter().filter_map(|run| run.duration)), 50),
            spending: self.agent_spending.get(agent).copied().unwrap_or_default(),
        }
    }

    fn workflow(&self, workflow: &str, runs: &[&WorkflowRun]) -> WorkflowStatistics {
        WorkflowStatistics {
            workflow: workflow.to_owned(),
            started: runs.iter().filter(|run| run.started.is_some()).count(),
            completed: ended(runs, Ending::Completed),
            aborted: ended(runs, Ending::Aborted),
            median: quantile(&sorted(runs.iter().filter_map(|run| run.duration)), 50),
            spending: self.workflow_spending.get(workflow).copied().unwrap_or_default(),
        }
    }
}

fn day_statistics(day: i64, sums: &Day) -> DayStatistics {
    DayStatistics {
        day: clock::to_date(clock::start_of_day(day)),
        started: sums.workflows.len(),
        completed: ended(&sums.workflows, Ending::Completed),
        aborted: ended(&sums.workflows, Ending::Aborted),
        pass_at_1: pass_at(1, &sums.stages),
        failures: failures(&sums.stages),
        spending: sums.spending,
    }
}

fn ended(runs: &[&WorkflowRun], ending: Ending) -> usize {
    runs.iter().filter(|run| run.ending == Some(ending)).count()
}

fn failures(runs: &[&StageRun]) -> usize {
    runs.iter().flat_map(|run| &run.verdicts).filter(|passed| !**passed).count()
}

fn sorted(numbers: impl Iterator<Item = i64>) -> Vec<i64> {
    let mut numbers: Vec<_> = numbers.collect();
    numbers.sort_unstable();
    numbers
}

/// The share of runs that passed within the first `attempts`.
#[allow(clippy::cast_precision_loss, reason = "counts of stages are small")]
fn pass_at(attempts: usize, runs: &[&StageRun]) -> Option<f64> {
    let passed = runs.iter().filter(|run| run.verdicts.iter().take(attempts).any(|passed| *passed)).count();
    if runs.is_empty() { None } else { Some(passed as f64 / runs.len() as f64) }
}

/// The smallest value that at least `percent` of all values do not exceed.
fn quantile(sorted: &[i64], percent: usize) -> Option<i64> {
    let rank = (sorted.len() * percent).div_ceil(100).max(1);
    sorted.get(rank - 1).copied()
}

/// Sorts stages in the order of the registry. Unknown stages come last.
pub(crate) fn registry_order(stage: &str) -> (usize, u8) {
    if let Ok(key) = stage.parse::<StageKey>()
        && let Some(index) = Stage::ALL.iter().position(|other| *other == key.stage)
    {
        return (index, key.occurrence);
    }
    (usize::MAX, 0)
}

#[cfg(test)]
mod tests {
    use overtone_core::economy::{TokenUsage, Tokens};
    use overtone_store::UsageScope;
    use overtone_store::timeline::Entry;

    use super::*;
    use crate::view::history::tests::{entry, history};

    fn statistics(sessions: &[&[Entry]]) -> Statistics {
        let histories: Vec<_> = sessions.iter().map(|entries| history(entries)).collect();
        let without_usage = histories.iter().map(|history| (history, &[][..]));
        super::statistics(without_usage, &Filter::default(), &PriceTable::default())
    }

    /// The events of a workflow with one stage and these verdicts: `p` passes, `f` fails.
    fn session(verdicts: &str) -> Vec<Entry> {
        let mut entries = vec![entry("workflow:start", "", 0)];
        for (n, verdict) in (0_i64..).zip(verdicts.chars()) {
            entries.push(entry("stage:start", "TEST", n * 100));
            let kind = if verdict == 'p' { "stage:complete" } else { "stage:retry" };
            entries.push(entry(kind, "TEST", n * 100 + 10 + n));
        }
        entries
    }

    #[test]
    fn without_runs_there_are_no_rates() {
        let none = statistics(&[]);
        assert_eq!((none.pass_at_1, none.pass_at_3, none.stages.len()), (None, None, 0));
        assert_eq!(statistics(&[&[entry("session:start", "", 0)]]).sessions, 1);
    }

    #[test]
    fn pass_rates_depend_on_the_first_verdicts() {
        let [at_once, third, fourth, again] = ["p", "ffp", "fffp", "pfp"].map(session);
        let found = statistics(&[&at_once, &third, &fourth, &again]);
        assert_eq!((found.pass_at_1, found.pass_at_3), (Some(0.5), Some(0.75)));
        assert_eq!((found.started, found.failures), (4, 6));
        assert_eq!(found.stages[0].runs, 4);
    }

    #[test]
    fn a_new_workflow_in_the_session_is_a_new_run() {
        let mut entries = session("f");
        entries.extend(session("p"));
        let found = statistics(&[&entries]);
        assert_eq!((found.stages[0].runs, found.pass_at_1, found.pass_at_3), (2, Some(0.5), Some(0.5)));
    }

    #[test]
    fn an_attempt_without_a_verdict_does_not_count() {
        let entries =
            [entry("stage:start", "DEV", 0), entry("agent:error", "DEV", 5), entry("stage:start", "DEV", 9)];
        assert!(statistics(&[&entries]).stages.is_empty());
        let mut entries = entries.to_vec();
        entries.push(entry("stage:complete", "DEV", 12));
        let found = statistics(&[&entries]);
        assert_eq!((found.pass_at_1, found.stages[0].median), (Some(1.0), Some(3000)));
    }

    #[test]
    fn durations_are_the_recorded_ones_or_measured() {
        let found = statistics(&[&session("ffp")]);
        assert_eq!((found.stages[0].median, found.stages[0].p90), (Some(11_000), Some(12_000)));
        let recorded =
            Entry::parse(r#"{"type":"stage:complete","stage":"DEV","durationMs":77,"ts":"x"}"#).unwrap();
        assert_eq!(statistics(&[&[recorded]]).stages[0].median, Some(77));
    }

    #[test]
    fn a_quantile_is_one_of_the_values() {
        assert_eq!(quantile(&[], 50), None);
        assert_eq!(quantile(&[5], 90), Some(5));
        let ten: Vec<i64> = (1..=10).collect();
        assert_eq!((quantile(&ten, 50), quantile(&ten, 90)), (Some(5), Some(9)));
    }

    #[test]
    fn stages_are_in_the_order_of_the_registry() {
        let entries =
            ["DOCS", "NEW", "TEST:2", "PLAN", "TEST"].map(|stage| entry("stage:complete", stage, 0));
        let found = statistics(&[&entries]);
        let names: Vec<_> = found.stages.iter().map(|stage| stage.stage.as_str()).collect();
        assert_eq!(names, ["PLAN", "TEST", "TEST:2", "DOCS", "NEW"]);
    }

    #[test]
    fn a_filter_selects_runs_and_their_tokens() {
        let mut complete = entry("agent:complete", "TEST", 5);
        complete.fields.insert("agent".into(), "tester".into());
        complete.fields.insert("agentId".into(), "a1".into());
        let mut start = entry("workflow:start", "", 0);
        start.fields.insert("workflowType".into(), "quick".into());
        let history = history(&[start, complete, entry("stage:complete", "TEST", 6)]);
        let mut usage = TokenUsage::default();
        usage.add("claude-opus-5", 1, Tokens { input: 7, ..Tokens::default() });
        let used = UsageEntry {
            at: Millis(5000),
            scope: UsageScope::Agent,
            agent: Some("tester".to_owned()),
            agent_id: Some("a1".to_owned()),
            stage: Some("TEST".to_owned()),
            attempt: Some(1),
            workflow: Some(Millis(0)),
            file: "agent-a1.jsonl".to_owned(),
            from: 0,
            to: 9,
            usage,
            last: None,
        };
        let filtered = |workflow: &str, since| {
            let filter = Filter { since, workflow: Some(workflow.to_owned()) };
            super::statistics([(&history, &[used.clone()][..])], &filter, &PriceTable::default())
        };
        let quick = filtered("quick", None);
        assert_eq!((quick.started, quick.stages.len(), quick.days.len()), (1, 1, 1));
        let spent = quick.stages[0].spending;
        assert_eq!((spent.tokens.input, quick.stages[0].finished_spending.tokens.input), (7, 0));
        assert_eq!(
            (quick.agents[0].spending, quick.workflows[0].spending, quick.days[0].spending),
            (spent, spent, spent)
        );
        assert_eq!(filtered("other", None).stages.len(), 0);
        assert_eq!(filtered("quick", Some(Millis(6000))).agents.len(), 0);
    }
}
