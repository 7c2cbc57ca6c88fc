//! The measurements as one JSON object, for scripts.

use std::time::Duration;

use serde_json::{Value, json};

use super::budgets::{Kind, Verdict};
use super::rows::{Row, Time};
use super::state::Class;

pub(crate) fn render(rows: &[Row], verdicts: &[Verdict], starts: Option<usize>) -> Value {
    json!({
        "starts": starts,
        "rows": rows.iter().map(row).collect::<Vec<_>>(),
        "bars": verdicts.iter().map(bar).collect::<Vec<_>>(),
    })
}

fn row(row: &Row) -> Value {
    json!({
        "name": row.role.name(),
        "setting": Some(row.role.setting()).filter(|setting| !setting.is_empty()),
        "class": row.role.class().map(Class::name),
        "time": row.time.as_ref().map(time),
        "instructions": row.instructions,
        "instruction_growth": row.instruction_growth,
        "system_calls": row.trace.calls,
        "processes": row.trace.processes,
        "peak_kib": row.trace.peak_kib,
        "own_kib": row.trace.own_kib,
        "surprise": row.surprise,
    })
}

fn time(time: &Time) -> Value {
    json!({
        "p10_ms": milliseconds(time.measured.p10),
        "median_ms": milliseconds(time.measured.median),
        "p90_ms": milliseconds(time.measured.p90),
        "to_true": time.to_true,
        "to_floor": time.to_floor,
        "growth": time.growth,
        "node_takes": time.node_takes,
    })
}

fn bar(verdict: &Verdict) -> Value {
    let (worst, label) = &verdict.worst;
    json!({
        "name": verdict.bar.name,
        "sign": verdict.bar.limit.sign(),
        "limit": verdict.bar.limit.value(),
        "unit": verdict.bar.unit,
        "decides": verdict.bar.kind == Kind::Count,
        "passed": verdict.passed(),
        "worst": { "value": worst, "row": label },
        "broken_by": verdict.broken_by,
    })
}

fn milliseconds(duration: Duration) -> f64 {
    duration.as_secs_f64() * 1000.0
}
