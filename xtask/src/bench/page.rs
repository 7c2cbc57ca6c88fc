//! The page in `docs/benchmarks`, and the same tables for the terminal.

use std::fmt::Write as _;
use std::path::Path;

use super::Row;
use super::bars::Verdict;
use super::cases::Class;
use super::fixture::State;
use crate::error::Result;
use crate::markdown::{number, table};
use crate::measure::{machine, to_float};
use crate::shell::write_file;

pub(crate) fn write(folder: &Path, rows: &[Row], verdicts: &[Verdict], runs: u32) -> Result<()> {
    let page = include_str!("page.md")
        .replace("{machine}", &machine())
        .replace("{runs}", &runs.to_string())
        .replace("{bars}", &bars(verdicts))
        .replace("{sessions}", &sessions())
        .replace("{figures}", &figures(rows));
    write_file(&folder.join("README.md"), page.as_bytes())?;
    write_file(&folder.join("times.svg"), plot(rows).as_bytes())
}

pub(crate) fn bars(verdicts: &[Verdict]) -> String {
    let line = |verdict: &Verdict| {
        let bar = format!("{} {}", verdict.bar.limit.text(number), verdict.bar.unit);
        let worst = format!("{} ({})", number(verdict.worst), verdict.worst_row);
        let holds = if verdict.holds() { "holds" } else { "**broken**" };
        [verdict.bar.what.to_owned(), bar, worst, holds.to_owned()].map(|cell| cell.trim_end().to_owned())
    };
    table(["", "bar", "worst", ""], 4, verdicts.iter().map(line))
}

pub(crate) fn figures(rows: &[Row]) -> String {
    let heads = [
        "program",
        "session",
        "class",
        "p10 ms",
        "median ms",
        "p90 ms",
        "× true",
        "instructions",
        "calls",
        "KiB",
        "peak KiB",
    ];
    let line = |row: &Row| {
        let time = |value: fn(&super::Times) -> f64, digits: usize| {
            row.times.as_ref().map_or_else(String::new, |times| format!("{:.digits$}", value(times)))
        };
        [
            row.subject.name.to_owned(),
            row.subject.session.to_owned(),
            row.subject.class.map_or("", Class::name).to_owned(),
            time(|times| times.p10 * 1000.0, 3),
            time(|times| times.median * 1000.0, 3),
            time(|times| times.p90 * 1000.0, 3),
            time(|times| times.to_true, 2),
            row.counts.instructions.map_or_else(String::new, |count| number(to_float(count))),
            row.counts.calls.to_string(),
            row.counts.requested_kib.to_string(),
            number(to_float(row.counts.peak_kib)),
        ]
    };
    table(heads, 3, rows.iter().map(line))
}

fn sessions() -> String {
    let line = |state: State| {
        let size = state.size();
        let counts = [size.events, size.observations, size.features, size.transcript_bytes / 1000];
        let [events, observations, features, transcript] = counts.map(|count| number(to_float(count)));
        [state.name().to_owned(), events, observations, features, format!("{transcript} kB")]
    };
    table(
        ["session", "events", "observations", "features", "transcript"],
        1,
        State::ALL.into_iter().map(line),
    )
}

/// The times in a typical session, on a logarithmic scale from 0.1 to 100 ms.
fn plot(rows: &[Row]) -> String {
    const STYLE: &str = "<style>
  text { font: 12px system-ui, sans-serif; fill: #1f2328; } rect.page { fill: #fff; }
  .other { fill: #8c959f; } .reading { fill: #0d7d6c; } .writing { fill: #2f6fd0; } .switching { fill: #c4591a; }
  @media (prefers-color-scheme: dark) { text { fill: #e6edf3; } rect.page { fill: #0d1117; } }
</style>";
    let shown = rows
        .iter()
        .filter(|row| row.subject.session == State::Typical.name() || row.subject.session.is_empty());
    let (mut bars, mut y) = (String::new(), 40);
    for row in shown {
        let Some(times) = row.times else { continue };
        let ms = times.p10 * 1000.0;
        let width = (ms / 0.1).log10() * 180.0;
        // Writing to a string cannot fail.
        let _ = writeln!(
            bars,
            "<text x=\"212\" y=\"{}\" text-anchor=\"end\">{}</text><rect class=\"{}\" x=\"220\" y=\"{y}\" \
             width=\"{width:.0}\" height=\"13\"/><text x=\"{:.0}\" y=\"{}\">{ms:.2}</text>",
            y + 11,
            row.subject.name,
            row.subject.class.map_or("other", Class::name),
            width + 226.0,
            y + 11
        );
        y += 19;
    }
    format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"840\" height=\"{0}\" viewBox=\"0 0 840 {0}\">\n{STYLE}\n\
         <rect class=\"page\" width=\"840\" height=\"{0}\"/>\n<text x=\"20\" y=\"24\">One start in milliseconds (10th \
         percentile, logarithmic scale; green: reading, blue: writing)</text>\n{bars}</svg>\n",
        y + 12
    )
}
