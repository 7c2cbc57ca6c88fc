//! The measurements as one JSON object, for scripts.

use std::time::Duration;

use serde_json::{Value, json};

use super::budgets::Verdict;
use super::rows::Row;

pub(crate) fn render(rows: &[Row], verdicts: &[Verdict], starts: usize) -> Value {
    json!({
        "starts": starts,
        "rows": rows.iter().map(row).collect::<Vec<_>>(),
        "bars": verdicts.iter().map(bar).collect::<Vec<_>>(),
    })
}

fn row(row: &Row) -> Value {
    let hook = row.hook.as_ref();
    json!({
        "hook": hook.map_or(row.label.as_str(), |hook| hook.name.as_str()),
        "state": hook.map(|hook| hook.state),
        "class": hook.map(|hook| hook.class.name()),
        "median_ms": milliseconds(row.median),
        "p90_ms": milliseconds(row.p90),
        "ratio": row.ratio,
        "time_growth": row.time_growth,
        "instructions": row.instructions,
        "instruction_growth": row.instruction_growth,
        "peak_kib": row.memory_kib,
        "surprise": row.surprise,
    })
}

fn bar(verdict: &Verdict) -> Value {
    json!({
        "name": verdict.bar.name,
        "limit": verdict.bar.limit,
        "decides": verdict.bar.decides,
        "passed": verdict.over.is_empty(),
        "worst": verdict.worst.as_ref().map(|(value, label)| json!({ "value": value, "row": label })),
        "over": verdict.over,
    })
}

fn milliseconds(duration: Duration) -> f64 {
    duration.as_secs_f64() * 1000.0
}
