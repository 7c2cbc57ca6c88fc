//! Figures from timelines. Pure: events in, numbers out.
//!
//! A run is one stage of one started workflow. Its attempts are its verdicts in order: `stage:complete` is a pass,
//! `stage:retry` is not. Attempts without a verdict (an API error) are no attempts. A stage that passed and was
//! opened again by a later failure keeps its first verdict for pass@1.

use std::collections::HashMap;

use overtone_engine::state::Millis;
use overtone_registry::{EventKind, Stage, StageKey};
use overtone_store::timeline::Entry;
use serde_json::Value;

/// What has been counted so far.
#[derive(Debug, Default)]
pub(super) struct Stats {
    sessions: usize,
    started: usize,
    completed: usize,
    aborted: usize,
    /// Per stage, the runs' verdicts in order: true is a pass.
    runs: HashMap<String, Vec<Vec<bool>>>,
    /// Per stage, how long each attempt with a verdict took.
    durations: HashMap<String, Vec<i64>>,
}

#[derive(Debug, PartialEq)]
pub(super) struct Figures {
    pub(super) sessions: usize,
    pub(super) started: usize,
    pub(super) completed: usize,
    pub(super) aborted: usize,
    pub(super) pass_at_1: Option<f64>,
    pub(super) pass_at_3: Option<f64>,
    pub(super) failures: usize,
    pub(super) stages: Vec<StageFigures>,
}

#[derive(Debug, Clone, PartialEq)]
pub(super) struct StageFigures {
    pub(super) stage: String,
    pub(super) runs: usize,
    pub(super) pass_at_1: Option<f64>,
    pub(super) pass_at_3: Option<f64>,
    pub(super) failures: usize,
    pub(super) median: Option<i64>,
    pub(super) p90: Option<i64>,
}

impl Stats {
    /// Takes one session's events in, oldest first.
    pub(super) fn add_session(&mut self, entries: &[Entry]) {
        self.sessions += 1;
        let mut workflow = Workflow::default();
        for entry in entries {
            match entry.kind() {
                Some(EventKind::WorkflowStart) => {
                    self.started += 1;
                    self.close(std::mem::take(&mut workflow));
                }
                Some(EventKind::WorkflowComplete) => self.completed += 1,
                Some(EventKind::WorkflowAbort) => self.aborted += 1,
                Some(EventKind::StageStart) => workflow.start(entry),
                Some(EventKind::StageComplete) => self.verdict(&mut workflow, entry, true),
                Some(EventKind::StageRetry) => self.verdict(&mut workflow, entry, false),
                _ => {}
            }
        }
        self.close(workflow);
    }

    fn verdict(&mut self, workflow: &mut Workflow, entry: &Entry, passed: bool) {
        let stage = entry.text("stage");
        if stage.is_empty() {
            return;
        }
        workflow.verdicts.entry(stage.to_owned()).or_default().push(passed);
        let begun = workflow.starts.remove(stage);
        let recorded = entry.fields.get("durationMs").and_then(Value::as_i64);
        let measured = || Some(entry.at()?.since(begun?));
        if let Some(spent) = recorded.or_else(measured) {
            self.durations.entry(stage.to_owned()).or_default().push(spent);
        }
    }

    fn close(&mut self, workflow: Workflow) {
        for (stage, verdicts) in workflow.verdicts {
            self.runs.entry(stage).or_default().push(verdicts);
        }
    }

    pub(super) fn figures(&self) -> Figures {
        let mut stages: Vec<_> = self.runs.iter().map(|(stage, runs)| self.stage(stage, runs)).collect();
        stages.sort_by_key(|figures| (place(&figures.stage), figures.stage.clone()));
        let all: Vec<_> = self.runs.values().flatten().collect();
        Figures {
            sessions: self.sessions,
            started: self.started,
            completed: self.completed,
            aborted: self.aborted,
            pass_at_1: pass_at(1, &all),
            pass_at_3: pass_at(3, &all),
            failures: stages.iter().map(|stage| stage.failures).sum(),
            stages,
        }
    }

    fn stage(&self, stage: &str, runs: &[Vec<bool>]) -> StageFigures {
        let all: Vec<_> = runs.iter().collect();
        let mut durations = self.durations.get(stage).cloned().unwrap_or_default();
        durations.sort_unstable();
        StageFigures {
            stage: stage.to_owned(),
            runs: runs.len(),
            pass_at_1: pass_at(1, &all),
            pass_at_3: pass_at(3, &all),
            failures: runs.iter().flatten().filter(|passed| !**passed).count(),
            median: quantile(&durations, 50),
            p90: quantile(&durations, 90),
        }
    }
}

/// One started workflow while its events are read.
#[derive(Debug, Default)]
struct Workflow {
    starts: HashMap<String, Millis>,
    verdicts: HashMap<String, Vec<bool>>,
}

impl Workflow {
    fn start(&mut self, entry: &Entry) {
        if let Some(at) = entry.at() {
            self.starts.insert(entry.text("stage").to_owned(), at);
        }
    }
}

/// The share of runs that passed within the first `attempts`.
#[allow(clippy::cast_precision_loss, reason = "counts of stages are small")]
fn pass_at(attempts: usize, runs: &[&Vec<bool>]) -> Option<f64> {
    let passed = runs.iter().filter(|run| run.iter().take(attempts).any(|passed| *passed)).count();
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
    use super::*;

    fn entry(kind: &str, stage: &str, second: i64) -> Entry {
        let ts = overtone_store::clock::to_iso(Millis(second * 1000));
        Entry::parse(&format!(r#"{{"ts":"{ts}","type":"{kind}","stage":"{stage}"}}"#)).unwrap()
    }

    fn figures(sessions: &[&[Entry]]) -> Figures {
        let mut stats = Stats::default();
        for entries in sessions {
            stats.add_session(entries);
        }
        stats.figures()
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
}
