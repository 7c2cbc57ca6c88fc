//! The bars: the one place to look up or change what a call may cost.

use super::Row;
use super::cases::{Class, REFUSED};
use super::fixture::State;
use super::subject::NODE;
use crate::measure::{Limit, to_float};

pub(crate) struct Bar {
    pub what: &'static str,
    pub limit: Limit,
    pub unit: &'static str,
    /// Wall time depends on the machine and its load, so it fails a run only with `--strict`.
    is_time: bool,
    value: Value,
}

static BARS: [Bar; 12] = [
    time("time, reading", Limit::Max(1.0), "× /bin/true", |row, _| for_class(row, Class::Reading, to_true)),
    time("time, writing", Limit::Max(2.0), "× /bin/true", |row, _| for_class(row, Class::Writing, to_true)),
    time("time, ccc switch and start", Limit::Max(3.0), "× /bin/true", |row, _| {
        for_class(row, Class::Switching, to_true)
    }),
    time("time, huge against empty session", Limit::Max(1.2), "×", |row, rows| growth(row, rows, to_true)),
    time("time of the Node hook against the same hook", Limit::Min(30.0), "×", node_takes),
    count("instructions, reading", 250_000.0, "", |row, _| for_class(row, Class::Reading, instructions)),
    count("instructions, writing", 400_000.0, "", |row, _| for_class(row, Class::Writing, instructions)),
    count("instructions, huge against empty session", 1.2, "×", |row, rows| growth(row, rows, instructions)),
    count("system calls, reading", 40.0, "", |row, _| {
        for_class(row, Class::Reading, |row| Some(to_float(row.counts.calls)))
    }),
    count("processes and threads", 1.0, "", |row, _| own(row, row.counts.processes)),
    count("peak memory", 6.0 * 1024.0, "KiB", |row, _| own(row, row.counts.peak_kib)),
    count("memory of its own", 1024.0, "KiB", |row, _| own(row, row.counts.requested_kib)),
];

type Value = fn(&Row, &[Row]) -> Option<f64>;

const fn time(what: &'static str, limit: Limit, unit: &'static str, value: Value) -> Bar {
    Bar { what, limit, unit, is_time: true, value }
}

const fn count(what: &'static str, most: f64, unit: &'static str, value: Value) -> Bar {
    Bar { what, limit: Limit::Max(most), unit, is_time: false, value }
}

fn for_class(row: &Row, class: Class, value: fn(&Row) -> Option<f64>) -> Option<f64> {
    if row.subject.class == Some(class) { value(row) } else { None }
}

fn own(row: &Row, count: usize) -> Option<f64> {
    row.subject.class.map(|_| to_float(count))
}

fn to_true(row: &Row) -> Option<f64> {
    row.times.map(|times| times.to_true)
}

fn instructions(row: &Row) -> Option<f64> {
    row.counts.instructions.map(to_float)
}

/// The huge session against the empty one.
fn growth(row: &Row, rows: &[Row], value: fn(&Row) -> Option<f64>) -> Option<f64> {
    if row.subject.session != State::Huge.name() {
        return None;
    }
    let is_empty = |other: &&Row| other.subject.session == State::Empty.name();
    let empty = rows.iter().filter(is_empty).find(|other| other.subject.name == row.subject.name)?;
    Some(value(row)? / value(empty)?)
}

/// How many times as long the Node hook takes as the hook of ours that does the same in the same session.
fn node_takes(row: &Row, rows: &[Row]) -> Option<f64> {
    if row.subject.name != REFUSED || row.subject.session != State::Typical.name() {
        return None;
    }
    let node = rows.iter().find(|other| other.subject.name == NODE)?;
    Some(to_true(node)? / to_true(row)?)
}

/// A bar with the worst row. A value that was not measured has none.
pub(crate) struct Verdict {
    pub bar: &'static Bar,
    pub worst: f64,
    pub worst_row: String,
}

impl Verdict {
    pub(crate) fn holds(&self) -> bool {
        self.bar.limit.holds(self.worst)
    }

    pub(crate) fn fails(&self, is_strict: bool) -> bool {
        !self.holds() && (is_strict || !self.bar.is_time)
    }
}

pub(crate) fn judge(rows: &[Row]) -> Vec<Verdict> {
    let verdict = |bar: &'static Bar| {
        let values = rows.iter().filter_map(|row| Some(((bar.value)(row, rows)?, row)));
        let badness = |value: f64| if let Limit::Min(_) = bar.limit { -value } else { value };
        // Of equal ones, the first.
        let (worst, row) = values.min_by(|one, other| badness(other.0).total_cmp(&badness(one.0)))?;
        Some(Verdict { bar, worst, worst_row: row.subject.label() })
    };
    BARS.iter().filter_map(verdict).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_broken_count_fails_every_run_and_a_broken_time_only_a_strict_one() {
        let verdict = |what: &str, worst: f64| {
            let bar = BARS.iter().find(|bar| bar.what == what).unwrap();
            let verdict = Verdict { bar, worst, worst_row: String::new() };
            (verdict.holds(), verdict.fails(false), verdict.fails(true))
        };
        let (holds, strict, always) = ((true, false, false), (false, false, true), (false, true, true));
        assert_eq!(verdict("time, reading", 1.0), holds);
        assert_eq!(verdict("time, reading", 1.1), strict);
        assert_eq!(verdict("time of the Node hook against the same hook", 29.0), strict);
        assert_eq!(verdict("system calls, reading", 40.0), holds);
        assert_eq!(verdict("system calls, reading", 41.0), always);
    }
}
