//! Sums since the export was first configured. They are stored in the same file as the export progress, so that nothing
//! is counted twice.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::telemetry::safe_name::OTHER;

/// Separates the parts of a key; it does not occur in names.
const KEY_SEPARATOR: char = '|';
/// Bounds the memory if a timeline that another program wrote contains many different names.
const MAX_SERIES: usize = 2000;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Metric {
    StageFailures,
    Retries,
    Blocks,
    Workflows,
    Checks,
    Tokens,
    CostUsd,
}

impl Metric {
    pub(crate) const ALL: [Self; 7] = [
        Self::StageFailures,
        Self::Retries,
        Self::Blocks,
        Self::Workflows,
        Self::Checks,
        Self::Tokens,
        Self::CostUsd,
    ];

    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::StageFailures => "overtone.stage.failures",
            Self::Retries => "overtone.retries",
            Self::Blocks => "overtone.blocks",
            Self::Workflows => "overtone.workflows",
            Self::Checks => "overtone.checks",
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
            Self::Checks => "{check}",
            Self::Tokens => "{token}",
            Self::CostUsd => "USD",
        }
    }

    /// The attribute that distinguishes series beside workflow and stage.
    pub(crate) const fn detail(self) -> Option<&'static str> {
        match self {
            Self::StageFailures => Some("overtone.verdict"),
            Self::Workflows => Some("overtone.outcome"),
            Self::Checks => Some("overtone.check.outcome"),
            Self::Tokens => Some("overtone.token.type"),
            Self::Retries | Self::Blocks | Self::CostUsd => None,
        }
    }

    /// Counts are integers, amounts of money are not.
    pub(crate) const fn is_integer(self) -> bool {
        !matches!(self, Self::CostUsd)
    }
}

/// An addition to one sum.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Count {
    metric: Metric,
    workflow: String,
    /// Empty if the count is not about a stage.
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

    pub(crate) fn is_positive(&self) -> bool {
        self.amount > 0.0
    }

    fn key(&self) -> String {
        [self.metric.name(), &self.workflow, &self.stage, &self.detail].join(&KEY_SEPARATOR.to_string())
    }
}

/// One sum with its attributes.
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

    /// The sums of a metric. Keys of metrics that only other versions know are skipped.
    pub(crate) fn series(&self, metric: Metric) -> impl Iterator<Item = Series<'_>> {
        self.0.iter().filter_map(move |(key, value)| {
            let mut parts = key.split(KEY_SEPARATOR);
            if parts.next() != Some(metric.name()) {
                return None;
            }
            Some(Series {
                workflow: parts.next()?,
                stage: parts.next()?,
                detail: parts.next()?,
                value: *value,
            })
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn series_are_separate_and_survive_serialization() {
        let mut totals = Totals::default();
        totals.add(&Count::one(Metric::StageFailures, "quick", "TEST:2", "fail"));
        totals.add(&Count::one(Metric::StageFailures, "quick", "TEST:2", "fail"));
        totals.add(&Count::one(Metric::Workflows, "quick", "", "completed"));
        let text = serde_json::to_string(&totals).unwrap();
        let totals: Totals = serde_json::from_str(&text).unwrap();
        let found: Vec<_> = totals.series(Metric::StageFailures).collect();
        assert_eq!(found, [Series { workflow: "quick", stage: "TEST:2", detail: "fail", value: 2.0 }]);
        assert_eq!(totals.series(Metric::Workflows).count(), 1);
        assert_eq!(totals.series(Metric::Tokens).count(), 0);
    }

    #[test]
    fn the_number_of_series_is_bounded() {
        let mut totals = Totals::default();
        for n in 0..MAX_SERIES + 50 {
            totals.add(&Count::one(Metric::Retries, &format!("w{n}"), "DEV", ""));
        }
        assert_eq!(totals.0.len(), MAX_SERIES + 1);
        let sum: f64 = totals.series(Metric::Retries).map(|series| series.value).sum();
        assert!((sum - 2050.0).abs() < f64::EPSILON);
    }
}
