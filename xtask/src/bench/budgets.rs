//! The bars: the one place to look up or change what a hook may cost.

use super::cases::Class;
use super::rows::{Row, to_float};

/// One bar, for every row that it has a value for.
#[derive(Debug)]
pub(crate) struct Bar {
    pub name: &'static str,
    pub limit: f64,
    pub unit: &'static str,
    /// Whether it fails the run without `--strict`.
    pub decides: bool,
    value: fn(&Row) -> Option<f64>,
}

static BARS: [Bar; 9] = [
    Bar {
        name: "time, reading hooks",
        limit: 1.0,
        unit: "x /bin/true",
        decides: false,
        value: |row| of(row, Class::Reading, Some(row.ratio)),
    },
    Bar {
        name: "time, writing hooks",
        limit: 2.0,
        unit: "x /bin/true",
        decides: false,
        value: |row| of(row, Class::Writing, Some(row.ratio)),
    },
    Bar {
        name: "time, ccc hook with nothing to do",
        limit: 1.5,
        unit: "x /bin/true",
        decides: false,
        value: |row| of(row, Class::Idle, Some(row.ratio)),
    },
    Bar {
        name: "time, ccc switch and start, home in memory",
        limit: 3.0,
        unit: "x /bin/true",
        decides: false,
        value: |row| of(row, Class::Switching, Some(row.ratio)),
    },
    Bar {
        name: "time, huge against empty session",
        limit: 1.2,
        unit: "x",
        decides: false,
        value: |row| row.time_growth,
    },
    Bar {
        name: "instructions, reading hooks",
        limit: 250_000.0,
        unit: "",
        decides: true,
        value: |row| of(row, Class::Reading, row.instructions.map(to_float)),
    },
    Bar {
        name: "instructions, writing hooks",
        limit: 900_000.0,
        unit: "",
        decides: true,
        value: |row| of(row, Class::Writing, row.instructions.map(to_float)),
    },
    Bar {
        name: "instructions, huge against empty session",
        limit: 1.2,
        unit: "x",
        decides: true,
        value: |row| row.instruction_growth,
    },
    Bar {
        name: "peak memory",
        limit: 6.0,
        unit: "MiB",
        decides: true,
        value: |row| row.memory_kib.map(|kib| to_float(kib) / 1024.0),
    },
];

/// How the rows stand to a bar.
#[derive(Debug)]
pub(crate) struct Verdict {
    pub bar: &'static Bar,
    /// The highest value with the row that has it.
    pub worst: Option<(f64, String)>,
    pub over: Vec<String>,
}

pub(crate) fn judge(rows: &[Row]) -> Vec<Verdict> {
    BARS.iter().map(|bar| judge_one(bar, rows)).collect()
}

fn judge_one(bar: &'static Bar, rows: &[Row]) -> Verdict {
    let mut verdict = Verdict { bar, worst: None, over: Vec::new() };
    for row in rows {
        let Some(value) = (bar.value)(row) else { continue };
        if value > bar.limit {
            verdict.over.push(row.label.clone());
        }
        if verdict.worst.as_ref().is_none_or(|(worst, _)| value > *worst) {
            verdict.worst = Some((value, row.label.clone()));
        }
    }
    verdict
}

fn of(row: &Row, class: Class, value: Option<f64>) -> Option<f64> {
    row.hook.as_ref().filter(|hook| hook.class == class).and(value)
}
