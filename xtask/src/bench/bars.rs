//! The bars: the one place to look up or change what a call may cost.

use super::cases::{Class, REFUSED};
use super::state::State;
use super::subject::NODE;
use super::{Row, to_float};

pub(crate) struct Bar {
    pub what: &'static str,
    pub limit: Limit,
    pub unit: &'static str,
    /// Wall time depends on the machine and its load, so it fails a run only with `--strict`.
    is_time: bool,
    value: Value,
}

#[derive(Debug, Clone, Copy)]
pub(crate) enum Limit {
    AtMost(f64),
    AtLeast(f64),
}

static BARS: [Bar; 12] = [
    time("time, reading", Limit::AtMost(1.0), "× /bin/true", |row, _| {
        for_class(row, Class::Reading, to_true)
    }),
    time("time, writing", Limit::AtMost(2.0), "× /bin/true", |row, _| {
        for_class(row, Class::Writing, to_true)
    }),
    time("time, ccc switch and start", Limit::AtMost(3.0), "× /bin/true", |row, _| {
        for_class(row, Class::Switching, to_true)
    }),
    time("time, huge against empty session", Limit::AtMost(1.2), "×", |row, rows| {
        growth(row, rows, to_true)
    }),
    time("time of the Node hook against the same hook", Limit::AtLeast(30.0), "×", node_takes),
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
    Bar { what, limit: Limit::AtMost(most), unit, is_time: false, value }
}

fn for_class(row: &Row, class: Class, value: fn(&Row) -> Option<f64>) -> Option<f64> {
    if row.subject.class == Some(class) { value(row) } else { None }
}

fn own(row: &Row, count: u64) -> Option<f64> {
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
    if row.subject.name != REFUSED.name() || row.subject.session != State::Typical.name() {
        return None;
    }
    let node = rows.iter().find(|other| other.subject.name == NODE)?;
    Some(to_true(node)? / to_true(row)?)
}

impl Limit {
    fn holds(self, value: f64) -> bool {
        match self {
            Self::AtMost(limit) => value <= limit,
            Self::AtLeast(limit) => value >= limit,
        }
    }

    /// The value that is closer to breaking the bar, or further beyond it.
    fn worse<'a>(self, one: (f64, &'a Row), other: (f64, &'a Row)) -> (f64, &'a Row) {
        let is_worse = match self {
            Self::AtMost(_) => other.0 > one.0,
            Self::AtLeast(_) => other.0 < one.0,
        };
        if is_worse { other } else { one }
    }
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
    let mut verdicts = Vec::new();
    for bar in &BARS {
        let values = rows.iter().filter_map(|row| Some(((bar.value)(row, rows)?, row)));
        if let Some((worst, row)) = values.reduce(|one, other| bar.limit.worse(one, other)) {
            verdicts.push(Verdict { bar, worst, worst_row: row.subject.label() });
        }
    }
    verdicts
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
