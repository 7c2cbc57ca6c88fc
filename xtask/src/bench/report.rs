//! The measurements as a table for the terminal, then one line per bar.

use std::fmt::Write as _;

use super::budgets::{Kind, Verdict};
use super::ccc::Medium;
use super::figures::number;
use super::role::{Baseline, Role};
use super::rows::Row;
use super::table::Table;

/// How far the 90th percentile of the baseline may be from its 10th.
const QUIET_SPREAD: f64 = 1.8;

pub(crate) fn render(rows: &[Row], verdicts: &[Verdict], starts: Option<usize>) -> String {
    let mut text = match starts {
        Some(starts) => {
            format!("{starts} starts each, interleaved; times in ms, ratios of p10; peak in MiB\n\n")
        }
        None => "counts only, no times; peak in MiB\n\n".to_owned(),
    };
    text += &Table::of(rows).aligned();
    text.push('\n');
    for row in rows {
        if let Some(surprise) = &row.surprise {
            // Writing to a string cannot fail; so below.
            let _ = writeln!(text, "SURPRISE  {}: {surprise}", row.role.label());
        }
    }
    for note in notes(rows) {
        let _ = writeln!(text, "NOTE  {note}");
    }
    text + &verdicts.iter().map(bar_line).collect::<String>()
}

/// What one must know to read the figures.
pub(crate) fn notes(rows: &[Row]) -> Vec<String> {
    let has =
        |medium: Medium| rows.iter().any(|row| matches!(row.role, Role::Switch(other) if other == medium));
    let mut notes = Vec::from_iter(busy_note(rows));
    notes.push(
        "a switch of ccc is to another provider, with /bin/true as the client; on disk it waits for fsync"
            .to_owned(),
    );
    if !has(Medium::Memory) {
        notes.push("there is no /dev/shm, so a switch in memory was not measured".to_owned());
    }
    notes
}

/// On a quiet machine nearly all starts of the baseline take the same.
fn busy_note(rows: &[Row]) -> Option<String> {
    let time = rows.iter().find(|row| row.role.is(Baseline::True))?.time?.measured;
    let spread = time.p90.as_secs_f64() / time.p10.as_secs_f64();
    (spread > QUIET_SPREAD).then(|| {
        format!(
            "this machine was busy (p90 of /bin/true is {spread:.1} x its p10): times are rough, and \
             the longer a program runs, the more it was held up"
        )
    })
}

/// `PASS  memory of its own <= 1 MiB: worst 0.3 (on-stop, huge)`
fn bar_line(verdict: &Verdict) -> String {
    let bar = verdict.bar;
    let word = match (verdict.passed(), bar.kind) {
        (true, _) => "PASS",
        (false, Kind::Count) => "FAIL",
        (false, Kind::Time) => "FAIL (decides with --strict)",
    };
    let (worst, label) = &verdict.worst;
    let limit = limit(verdict);
    let mut line = format!("{word:<4}  {} {limit}: worst {} ({label})", bar.name, number(*worst));
    if verdict.broken_by.len() > 1 {
        let _ = write!(line, "; all: {}", verdict.broken_by.join("; "));
    }
    line + "\n"
}

/// `<= 1 MiB`
pub(crate) fn limit(verdict: &Verdict) -> String {
    let bar = verdict.bar;
    format!("{} {} {}", bar.limit.sign(), number(bar.limit.value()), bar.unit).trim_end().to_owned()
}
