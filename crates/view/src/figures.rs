//! Statistics from session histories. Pure: what happened in, numbers out.

use std::collections::BTreeMap;

use overtone_engine::state::{Ending, Millis};
use overtone_registry::{Stage, StageKey};
use overtone_store::clock;

use crate::history::{AgentRun, History, StageRun, WorkflowRun};
use crate::usage::Tokens;

/// Which runs count.
#[derive(Debug, Clone, Default)]
pub struct Filter {
    pub since: Option<Millis>,
    pub workflow: Option<String>,
}

impl Filter {
    fn passes(&self, at: Option<Millis>, workflow: Option<&WorkflowRun>) -> bool {
        let late_enough = self.since.is_none_or(|since| at.is_some_and(|at| at >= since));
        let wanted = self.workflow.as_deref();
        late_enough && wanted.is_none_or(|wanted| workflow.is_some_and(|own| &*own.workflow == wanted))
    }
}

#[derive(Debug, Default, PartialEq)]
pub struct Figures {
    pub sessions: usize,
    pub started: usize,
    pub completed: usize,
    pub aborted: usize,
    pub pass_at_1: Option<f64>,
    pub pass_at_3: Option<f64>,
    pub failures: usize,
    pub stages: Vec<StageFigures>,
    pub agents: Vec<AgentFigures>,
    pub workflows: Vec<WorkflowFigures>,
    pub days: Vec<DayFigures>,
}

#[derive(Debug, Clone, Default, PartialEq)]
pub struct StageFigures {
    pub stage: String,
    pub runs: usize,
    pub pass_at_1: Option<f64>,
    pub pass_at_3: Option<f64>,
    pub failures: usize,
    pub median: Option<i64>,
    pub p90: Option<i64>,
    pub tokens: Tokens,
}

#[derive(Debug, Clone, Default, PartialEq)]
pub struct AgentFigures {
    pub agent: String,
    pub runs: usize,
    pub errors: usize,
    pub median: Option<i64>,
    pub tokens: Tokens,
}

#[derive(Debug, Clone, Default, PartialEq)]
pub struct WorkflowFigures {
    pub workflow: String,
    pub started: usize,
    pub completed: usize,
    pub aborted: usize,
    pub median: Option<i64>,
    pub tokens: Tokens,
}

#[derive(Debug, Clone, Default, PartialEq)]
pub struct DayFigures {
    /// `2026-02-23`, in UTC.
    pub day: String,
    pub started: usize,
    pub completed: usize,
    pub aborted: usize,
    pub pass_at_1: Option<f64>,
    pub failures: usize,
    pub tokens: Tokens,
}

/// All figures of the given sessions. `used`: what an agent has used, if anybody knows.
pub fn figures<'a>(
    histories: impl IntoIterator<Item = &'a History>,
    filter: &Filter,
    used: &dyn Fn(&AgentRun) -> Option<Tokens>,
) -> Figures {
    let mut sums = Sums::default();
    let mut sessions = 0;
    for history in histories {
        sessions += 1;
        sums.add(history, filter, used);
    }
    sums.figures(sessions)
}

/// Everything that is summed up, by what it is summed up for.
#[derive(Default)]
struct Sums<'a> {
    stages: BTreeMap<&'a str, Vec<&'a StageRun>>,
    agents: BTreeMap<&'a str, Vec<&'a AgentRun>>,
    workflows: BTreeMap<&'a str, Vec<&'a WorkflowRun>>,
    stage_tokens: BTreeMap<&'a str, Tokens>,
    agent_tokens: BTreeMap<&'a str, Tokens>,
    workflow_tokens: BTreeMap<&'a str, Tokens>,
    /// By their number.
    days: BTreeMap<i64, Day<'a>>,
}

#[derive(Default)]
struct Day<'a> {
    workflows: Vec<&'a WorkflowRun>,
    stages: Vec<&'a StageRun>,
    tokens: Tokens,
}

impl<'a> Sums<'a> {
    fn add(&mut self, history: &'a History, filter: &Filter, used: &dyn Fn(&AgentRun) -> Option<Tokens>) {
        let workflow = |place: Option<usize>| place.and_then(|place| history.workflows.get(place));
        for run in history.workflows.iter().filter(|run| filter.passes(run.started, Some(run))) {
            self.workflows.entry(&run.workflow).or_default().push(run);
            self.day(run.started, |day| day.workflows.push(run));
        }
        for run in history.stages.iter().filter(|run| filter.passes(run.at, workflow(run.workflow))) {
            self.stages.entry(&run.stage).or_default().push(run);
            self.day(run.at, |day| day.stages.push(run));
        }
        for run in history.agents.iter().filter(|run| filter.passes(run.at, workflow(run.workflow))) {
            self.agents.entry(&run.agent).or_default().push(run);
            if let Some(tokens) = used(run) {
                self.spend(run, workflow(run.workflow), tokens);
            }
        }
    }

    fn spend(&mut self, run: &'a AgentRun, workflow: Option<&'a WorkflowRun>, tokens: Tokens) {
        self.agent_tokens.entry(&run.agent).or_default().add(tokens);
        if let Some(stage) = &run.stage {
            self.stage_tokens.entry(stage).or_default().add(tokens);
        }
        if let Some(workflow) = workflow {
            self.workflow_tokens.entry(&workflow.workflow).or_default().add(tokens);
        }
        self.day(run.at, |day| day.tokens.add(tokens));
    }

    fn day(&mut self, at: Option<Millis>, change: impl FnOnce(&mut Day<'a>)) {
        if let Some(at) = at {
            change(self.days.entry(clock::day(at)).or_default());
        }
    }

    fn figures(&self, sessions: usize) -> Figures {
        let all: Vec<_> = self.stages.values().flatten().copied().collect();
        let workflows: Vec<_> = self.workflows.values().flatten().copied().collect();
        let mut stages: Vec<_> = self.stages.iter().map(|(name, runs)| self.stage(name, runs)).collect();
        stages.sort_by_key(|figures| (place(&figures.stage), figures.stage.clone()));
        Figures {
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
            days: self.days.iter().map(|(day, sums)| day_figures(*day, sums)).collect(),
        }
    }

    fn stage(&self, stage: &str, runs: &[&StageRun]) -> StageFigures {
        let durations = sorted(runs.iter().flat_map(|run| run.durations.iter().copied()));
        StageFigures {
            stage: stage.to_owned(),
            runs: runs.len(),
            pass_at_1: pass_at(1, runs),
            pass_at_3: pass_at(3, runs),
            failures: failures(runs),
            median: quantile(&durations, 50),
            p90: quantile(&durations, 90),
            tokens: self.stage_tokens.get(stage).copied().unwrap_or_default(),
        }
    }

    fn agent(&self, agent: &str, runs: &[&AgentRun]) -> AgentFigures {
        AgentFigures {
            agent: agent.to_owned(),
            runs: runs.len(),
            errors: runs.iter().filter(|run| run.failed).count(),
            median: quantile(&sorted(runs.iter().filter_map(|run| run.duration)), 50),
            tokens: self.agent_tokens.get(agent).copied().unwrap_or_default(),
        }
    }

    fn workflow(&self, workflow: &str, runs: &[&WorkflowRun]) -> WorkflowFigures {
        WorkflowFigures {
            workflow: workflow.to_owned(),
            started: runs.iter().filter(|run| run.started.is_some()).count(),
            completed: ended(runs, Ending::Completed),
            aborted: ended(runs, Ending::Aborted),
            median: quantile(&sorted(runs.iter().filter_map(|run| run.duration)), 50),
            tokens: self.workflow_tokens.get(workflow).copied().unwrap_or_default(),
        }
    }
}

fn day_figures(day: i64, sums: &Day) -> DayFigures {
    DayFigures {
        day: clock::to_date(clock::start_of_day(day)),
        started: sums.workflows.len(),
        completed: ended(&sums.workflows, Ending::Completed),
        aborted: ended(&sums.workflows, Ending::Aborted),
        pass_at_1: pass_at(1, &sums.stages),
        failures: failures(&sums.stages),
        tokens: sums.tokens,
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
    (!runs.is_empty()).then(|| passed as f64 / runs.len() as f64)
}

/// The smallest value that at least `percent` of all do not exceed.
fn quantile(sorted: &[i64], percent: usize) -> Option<i64> {
    let rank = (sorted.len() * percent).div_ceil(100).max(1);
    sorted.get(rank - 1).copied()
}

/// In the order of the registry; unknown stages come last.
fn place(stage: &str) -> (usize, u8) {
    let key = stage.parse::<StageKey>().ok();
    let order = |key: StageKey| Stage::ALL.iter().position(|other| *other == key.stage);
    key.and_then(|key| Some((order(key)?, key.occurrence))).unwrap_or((usize::MAX, 0))
}

#[cfg(test)]
mod tests {
    use overtone_store::timeline::Entry;

    use super::*;
    use crate::history::tests::{entry, history};

    fn figures(sessions: &[&[Entry]]) -> Figures {
        let histories: Vec<_> = sessions.iter().map(|entries| history(entries)).collect();
        super::figures(&histories, &Filter::default(), &|_| None)
    }

    /// The verdicts of one stage in one workflow: `p` passes, `f` fails.
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
    fn nothing_gives_no_shares() {
        let none = figures(&[]);
        assert_eq!((none.pass_at_1, none.pass_at_3, none.stages.len()), (None, None, 0));
        assert_eq!(figures(&[&[entry("session:start", "", 0)]]).sessions, 1);
    }

    #[test]
    fn the_first_verdicts_decide() {
        let [at_once, third, fourth, again] = ["p", "ffp", "fffp", "pfp"].map(session);
        let found = figures(&[&at_once, &third, &fourth, &again]);
        assert_eq!((found.pass_at_1, found.pass_at_3), (Some(0.5), Some(0.75)));
        assert_eq!((found.started, found.failures), (4, 6));
        assert_eq!(found.stages[0].runs, 4);
    }

    #[test]
    fn a_new_workflow_in_the_session_is_a_new_run() {
        let mut entries = session("f");
        entries.extend(session("p"));
        let found = figures(&[&entries]);
        assert_eq!((found.stages[0].runs, found.pass_at_1, found.pass_at_3), (2, Some(0.5), Some(0.5)));
    }

    #[test]
    fn an_attempt_without_a_verdict_does_not_count() {
        let entries =
            [entry("stage:start", "DEV", 0), entry("agent:error", "DEV", 5), entry("stage:start", "DEV", 9)];
        assert!(figures(&[&entries]).stages.is_empty());
        let mut entries = entries.to_vec();
        entries.push(entry("stage:complete", "DEV", 12));
        let found = figures(&[&entries]);
        assert_eq!((found.pass_at_1, found.stages[0].median), (Some(1.0), Some(3000)));
    }

    #[test]
    fn durations_are_the_recorded_ones_or_measured() {
        let found = figures(&[&session("ffp")]);
        assert_eq!((found.stages[0].median, found.stages[0].p90), (Some(11_000), Some(12_000)));
        let recorded =
            Entry::parse(r#"{"type":"stage:complete","stage":"DEV","durationMs":77,"ts":"x"}"#).unwrap();
        assert_eq!(figures(&[&[recorded]]).stages[0].median, Some(77));
    }

    #[test]
    fn quantiles_are_values_that_occur() {
        assert_eq!(quantile(&[], 50), None);
        assert_eq!(quantile(&[5], 90), Some(5));
        let ten: Vec<i64> = (1..=10).collect();
        assert_eq!((quantile(&ten, 50), quantile(&ten, 90)), (Some(5), Some(9)));
    }

    #[test]
    fn stages_are_in_the_order_of_the_registry() {
        let entries =
            ["DOCS", "NEW", "TEST:2", "PLAN", "TEST"].map(|stage| entry("stage:complete", stage, 0));
        let found = figures(&[&entries]);
        let names: Vec<_> = found.stages.iter().map(|stage| stage.stage.as_str()).collect();
        assert_eq!(names, ["PLAN", "TEST", "TEST:2", "DOCS", "NEW"]);
    }

    #[test]
    fn runs_can_be_chosen_and_money_follows_them() {
        let mut complete = entry("agent:complete", "TEST", 5);
        complete.fields.insert("agent".into(), "tester".into());
        complete.fields.insert("agentId".into(), "a1".into());
        let mut start = entry("workflow:start", "", 0);
        start.fields.insert("workflowType".into(), "quick".into());
        let history = history(&[start, complete, entry("stage:complete", "TEST", 6)]);
        let tokens = Tokens { input: 7, cost_usd: 0.5, ..Tokens::default() };
        let chosen = |workflow: &str, since| {
            let filter = Filter { since, workflow: Some(workflow.to_owned()) };
            super::figures([&history], &filter, &|run| (run.id.as_deref() == Some("a1")).then_some(tokens))
        };
        let quick = chosen("quick", None);
        assert_eq!((quick.started, quick.stages.len(), quick.days.len()), (1, 1, 1));
        assert_eq!(quick.stages[0].tokens, tokens);
        assert_eq!(
            (quick.agents[0].tokens, quick.workflows[0].tokens, quick.days[0].tokens),
            (tokens, tokens, tokens)
        );
        assert_eq!(chosen("other", None).stages.len(), 0);
        assert_eq!(chosen("quick", Some(Millis(6000))).agents.len(), 0);
    }
}
