//! Joins all measurements into one row per subject.

use std::time::Duration;

use super::cases::{Class, State};
use super::subject::{Subject, Subjects};
use super::timing::Times;

/// Everything known of one subject.
#[derive(Debug)]
pub(crate) struct Row {
    /// `None` is the baseline.
    pub hook: Option<HookRow>,
    pub label: String,
    pub median: Duration,
    pub p90: Duration,
    /// Against the baseline's median.
    pub ratio: f64,
    pub memory_kib: Option<u64>,
    pub instructions: Option<u64>,
    /// The long session against the short one; only on rows of the long one.
    pub time_growth: Option<f64>,
    pub instruction_growth: Option<f64>,
    pub surprise: Option<String>,
}

#[derive(Debug)]
pub(crate) struct HookRow {
    pub name: String,
    pub state: &'static str,
    pub class: Class,
    /// Subjects come by fixture; people read by hook.
    pub order: usize,
}

/// All that was measured, each list in the order of the subjects, the baseline first.
#[derive(Debug)]
pub(crate) struct Measured {
    pub surprises: Vec<Option<String>>,
    pub times: Vec<Times>,
    pub memory: Vec<Option<u64>>,
    pub instructions: Vec<Option<u64>>,
}

pub(crate) fn assemble(subjects: &Subjects, measured: &Measured) -> Vec<Row> {
    let mut rows: Vec<_> =
        subjects.iter().enumerate().map(|(index, subject)| row(subject, index, measured)).collect();
    add_growth(&mut rows);
    // The sort is stable, so states stay in order.
    rows.sort_by_key(|row| row.hook.as_ref().map(|hook| hook.order));
    rows
}

fn row(subject: &Subject, index: usize, measured: &Measured) -> Row {
    let Times { median, p90 } = measured.times[index];
    Row {
        hook: hook_row(subject),
        label: subject.label(),
        median,
        p90,
        ratio: ratio(median, measured.times[0].median),
        memory_kib: measured.memory[index],
        instructions: measured.instructions[index],
        time_growth: None,
        instruction_growth: None,
        surprise: measured.surprises[index].clone(),
    }
}

fn hook_row(subject: &Subject) -> Option<HookRow> {
    let class = subject.role.class()?;
    Some(HookRow {
        name: subject.role.name(),
        state: subject.role.state(),
        class,
        order: subject.role.order(),
    })
}

fn add_growth(rows: &mut [Row]) {
    let short: Vec<_> = rows
        .iter()
        .filter_map(|row| {
            let hook = row.hook.as_ref().filter(|hook| hook.state == State::Empty.name())?;
            Some((hook.name.clone(), row.median, row.instructions))
        })
        .collect();
    for row in rows {
        let Some(hook) = row.hook.as_ref().filter(|hook| hook.state == State::Huge.name()) else {
            continue;
        };
        let Some((_, median, instructions)) = short.iter().find(|(name, ..)| *name == hook.name) else {
            continue;
        };
        row.time_growth = Some(ratio(row.median, *median));
        row.instruction_growth = quotient(row.instructions, *instructions);
    }
}

fn ratio(value: Duration, base: Duration) -> f64 {
    value.as_secs_f64() / base.as_secs_f64()
}

fn quotient(value: Option<u64>, base: Option<u64>) -> Option<f64> {
    Some(to_float(value?) / to_float(base?))
}

/// Counts here are far below 2^52, where floats stop being exact.
#[expect(clippy::cast_precision_loss, reason = "see above")]
pub(crate) fn to_float(count: u64) -> f64 {
    count as f64
}
