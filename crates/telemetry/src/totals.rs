//! What is counted, since the export was first configured: sums that only grow. They are kept in the same file as how
//! far the timelines were read, so that nothing is counted twice.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::plain::OTHER;

/// Between the parts of a key; no name has it.
const BETWEEN: char = '|';
/// So many are never needed; a file that somebody else wrote must not make more.
const MAX_SERIES: usize = 2000;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Metric {
    StageFailures,
    Retries,
    Blocks,
    Workflows,
    Tokens,
    CostUsd,
}

impl Metric {
    pub(crate) const ALL: [Self; 6] =
        [Self::StageFailures, Self::Retries, Self::Blocks, Self::Workflows, Self::Tokens, Self::CostUsd];

    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::StageFailures => "overtone.stage.failures",
            Self::Retries => "overtone.retries",
            Self::Blocks => "overtone.blocks",
            Self::Workflows => "overtone.workflows",
            Self::Tokens => "overtone.tokens",
            Self::CostUsd => "overtone.cost_usd",
        }
    }

    pub(crate) const fn unit(self) -> &'static str {
        match self {
            Self::StageFailures => "{failure}",
            Self::Retries => "{retry}",
            Self::Blocks => "{block}",
            Self::Workflows => "{workflow}",
            Self::Tokens => "{token}",
            Self::CostUsd => "USD",
        }
    }

    /// What tells series apart beside workflow and stage.
    pub(crate) const fn detail(self) -> Option<&'static str> {
        match self {
            Self::StageFailures => Some("overtone.verdict"),
            Self::Workflows => Some("overtone.outcome"),
            Self::Tokens => Some("overtone.token.type"),
            Self::Retries | Self::Blocks | Self::CostUsd => None,
        }
    }

    /// Counts are whole, amounts of money are not.
    pub(crate) const fn is_whole(self) -> bool {
        !matches!(self, Self::CostUsd)
    }
}

/// An addition to one sum.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Count {
    metric: Metric,
    workflow: String,
    /// Empty where it is about no stage.
    stage: String,
    detail: String,
    amount: f64,
}

impl Count {
    pub(crate) fn new(metric: Metric, workflow: &str, stage: &str, detail: &str, amount: f64) -> Self {
        let [workflow, stage, detail] = [workflow, stage, detail].map(str::to_owned);
        Self { metric, workflow, stage, detail, amount }
    }

    pub(crate) fn one(metric: Metric, workflow: &str, stage: &str, detail: &str) -> Self {
        Self::new(metric, workflow, stage, detail, 1.0)
    }

    pub(crate) fn is_something(&self) -> bool {
        self.amount > 0.0
    }

    fn key(&self) -> String {
        [self.metric.name(), &self.workflow, &self.stage, &self.detail].join(&BETWEEN.to_string())
    }
}

/// One sum as it is sent.
#[derive(Debug, PartialEq)]
pub(crate) struct Series<'a> {
    pub(crate) workflow: &'a str,
    pub(crate) stage: &'a str,
    pub(crate) detail: &'a str,
    pub(crate) value: f64,
}

#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(transparent)]
pub(crate) struct Totals(BTreeMap<String, f64>);

impl Totals {
    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub(crate) fn add(&mut self, count: &Count) {
        let mut key = count.key();
        if !self.0.contains_key(&key) && self.0.len() >= MAX_SERIES {
            key = Count::new(count.metric, OTHER, "", OTHER, 0.0).key();
        }
        *self.0.entry(key).or_default() += count.amount;
    }

    /// The sums of a metric; those of other versions are not known.
    pub(crate) fn of(&self, metric: Metric) -> impl Iterator<Item = Series<'_>> {
        self.0.iter().filter_map(move |(key, value)| {
            let mut parts = key.split(BETWEEN);
            let is_own = parts.next() == Some(metric.name());
            let [workflow, stage, detail] = [parts.next()?, parts.next()?, parts.next()?];
            is_own.then_some(Series { workflow, stage, detail, value: *value })
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sums_are_kept_apart_and_survive_a_file() {
        let mut totals = Totals::default();
        totals.add(&Count::one(Metric::StageFailures, "quick", "TEST:2", "fail"));
        totals.add(&Count::one(Metric::StageFailures, "quick", "TEST:2", "fail"));
        totals.add(&Count::one(Metric::Workflows, "quick", "", "completed"));
        let text = serde_json::to_string(&totals).unwrap();
        let totals: Totals = serde_json::from_str(&text).unwrap();
        let found: Vec<_> = totals.of(Metric::StageFailures).collect();
        assert_eq!(found, [Series { workflow: "quick", stage: "TEST:2", detail: "fail", value: 2.0 }]);
        assert_eq!(totals.of(Metric::Workflows).count(), 1);
        assert_eq!(totals.of(Metric::Tokens).count(), 0);
    }

    #[test]
    fn there_are_never_too_many() {
        let mut totals = Totals::default();
        for n in 0..MAX_SERIES + 50 {
            totals.add(&Count::one(Metric::Retries, &format!("w{n}"), "DEV", ""));
        }
        assert_eq!(totals.0.len(), MAX_SERIES + 1);
        let sum: f64 = totals.of(Metric::Retries).map(|series| series.value).sum();
        assert!((sum - 2050.0).abs() < f64::EPSILON);
    }
}
