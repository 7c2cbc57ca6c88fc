//! The bars: the one place to look up or change what a program may cost.

use super::rows::{Row, Time, to_float};
use super::state::Class;

/// One bar, for every row that it has a value for.
#[derive(Debug)]
pub(crate) struct Bar {
    pub name: &'static str,
    pub limit: Limit,
    pub unit: &'static str,
    pub kind: Kind,
    value: fn(&Row) -> Option<f64>,
}

#[derive(Debug, Clone, Copy)]
pub(crate) enum Limit {
    AtMost(f64),
    AtLeast(f64),
}

/// What a value depends on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    /// Wall time depends on the machine and its load, so it decides only with `--strict`.
    Time,
    /// The same in every run, so it always decides.
    Count,
}

static BARS: [Bar; 14] = [
    time("time, reading hooks", Limit::AtMost(1.0), "x /bin/true", |row| {
        of(row, Class::Reading, to_true(row))
    }),
    time("time, writing hooks", Limit::AtMost(2.0), "x /bin/true", |row| {
        of(row, Class::Writing, to_true(row))
    }),
    time("time, ccc hook with nothing to do", Limit::AtMost(1.5), "x /bin/true", |row| {
        of(row, Class::Idle, to_true(row))
    }),
    time("time, ccc switch and start, home in memory", Limit::AtMost(3.0), "x /bin/true", |row| {
        of(row, Class::Switching, to_true(row))
    }),
    time("time, huge against empty session", Limit::AtMost(1.2), "x", |row| {
        row.time.and_then(|time| time.growth)
    }),
    time("time of a Node hook against the same hook of ours", Limit::AtLeast(60.0), "x", |row| {
        row.time.and_then(|time| time.node_takes)
    }),
    count("instructions, reading hooks", Limit::AtMost(250_000.0), "", |row| {
        of(row, Class::Reading, row.instructions.map(to_float))
    }),
    count("instructions, writing hooks", Limit::AtMost(900_000.0), "", |row| {
        of(row, Class::Writing, row.instructions.map(to_float))
    }),
    count("instructions, ccc hook with nothing to do", Limit::AtMost(250_000.0), "", |row| {
        of(row, Class::Idle, row.instructions.map(to_float))
    }),
    count("instructions, huge against empty session", Limit::AtMost(1.2), "x", |row| row.instruction_growth),
    count("system calls, reading hooks", Limit::AtMost(40.0), "", |row| {
        of(row, Class::Reading, Some(to_float(row.trace.calls)))
    }),
    count("processes, the program itself among them", Limit::AtMost(1.0), "", |row| {
        row.role.class().map(|_| to_float(row.trace.processes))
    }),
    count("peak memory", Limit::AtMost(6.0), "MiB", |row| {
        row.role.class().map(|_| to_float(row.trace.peak_kib) / 1024.0)
    }),
    count("memory of its own", Limit::AtMost(1.0), "MiB", |row| {
        row.role.class().map(|_| to_float(row.trace.own_kib) / 1024.0)
    }),
];

type Value = fn(&Row) -> Option<f64>;

const fn time(name: &'static str, limit: Limit, unit: &'static str, value: Value) -> Bar {
    Bar { name, limit, unit, kind: Kind::Time, value }
}

const fn count(name: &'static str, limit: Limit, unit: &'static str, value: Value) -> Bar {
    Bar { name, limit, unit, kind: Kind::Count, value }
}

fn of(row: &Row, class: Class, value: Option<f64>) -> Option<f64> {
    row.role.class().filter(|own| *own == class).and(value)
}

fn to_true(row: &Row) -> Option<f64> {
    row.time.map(|Time { to_true, .. }| to_true)
}

impl Limit {
    pub(crate) const fn value(self) -> f64 {
        match self {
            Self::AtMost(limit) | Self::AtLeast(limit) => limit,
        }
    }

    pub(crate) const fn sign(self) -> &'static str {
        match self {
            Self::AtMost(_) => "<=",
            Self::AtLeast(_) => ">=",
        }
    }

    fn is_broken_by(self, value: f64) -> bool {
        match self {
            Self::AtMost(limit) => value > limit,
            Self::AtLeast(limit) => value < limit,
        }
    }

    /// Whether the first value is closer to breaking it, or further beyond.
    fn is_worse(self, value: f64, than: f64) -> bool {
        match self {
            Self::AtMost(_) => value > than,
            Self::AtLeast(_) => value < than,
        }
    }
}

/// How the rows stand to a bar.
#[derive(Debug)]
pub(crate) struct Verdict {
    pub bar: &'static Bar,
    /// The worst value with the row that has it.
    pub worst: (f64, String),
    pub broken_by: Vec<String>,
}

impl Verdict {
    pub(crate) const fn passed(&self) -> bool {
        self.broken_by.is_empty()
    }

    /// Whether the run fails for it.
    pub(crate) fn fails(&self, is_strict: bool) -> bool {
        !self.passed() && (is_strict || self.bar.kind == Kind::Count)
    }
}

/// One verdict for each bar that any row has a value for.
pub(crate) fn judge(rows: &[Row]) -> Vec<Verdict> {
    BARS.iter().filter_map(|bar| judge_one(bar, rows)).collect()
}

fn judge_one(bar: &'static Bar, rows: &[Row]) -> Option<Verdict> {
    let values = rows.iter().filter_map(|row| Some(((bar.value)(row)?, row.role.label())));
    let broken_by =
        values.clone().filter(|(value, _)| bar.limit.is_broken_by(*value)).map(|(_, label)| label).collect();
    let worst =
        values.reduce(|worst, next| if bar.limit.is_worse(next.0, worst.0) { next } else { worst })?;
    Some(Verdict { bar, worst, broken_by })
}

#[cfg(test)]
mod tests {
    use super::super::rows::tests::{example, without_times};
    use super::*;

    fn verdict(rows: &[Row], name: &str) -> Verdict {
        judge(rows).into_iter().find(|verdict| verdict.bar.name == name).unwrap()
    }

    #[test]
    fn the_worst_row_is_named_and_a_count_fails_the_run() {
        let growth = verdict(&example(), "instructions, huge against empty session");
        assert_eq!(growth.broken_by, ["pre-task (refused), huge"]);
        assert!((growth.worst.0 - 1.3).abs() < 1e-9 && growth.fails(false));
        assert!(verdict(&example(), "system calls, reading hooks").passed());
    }

    #[test]
    fn a_minimum_is_broken_from_below_and_time_decides_only_when_asked() {
        let name = "time of a Node hook against the same hook of ours";
        let mut rows = example();
        assert!(verdict(&rows, name).passed());
        for time in rows.iter_mut().filter_map(|row| row.time.as_mut()) {
            time.node_takes = time.node_takes.map(|_| 59.0);
        }
        let slow = verdict(&rows, name);
        assert!(!slow.passed() && !slow.fails(false) && slow.fails(true));
    }

    #[test]
    fn bars_without_a_value_have_no_verdict() {
        let rows = without_times();
        assert!(judge(&rows).iter().all(|verdict| verdict.bar.kind == Kind::Count));
    }
}
