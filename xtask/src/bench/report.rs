//! The measurements as a table for people, then one line per bar.

use std::fmt::Write as _;
use std::time::Duration;

use super::budgets::Verdict;
use super::cases::Class;
use super::rows::Row;

const HEAD: [&str; 10] =
    ["hook", "state", "class", "median", "p90", "x true", "growth", "instr.", "growth", "peak"];

/// How far the 90th percentile of the baseline may be from its median.
const QUIET_SPREAD: f64 = 1.4;

pub(crate) fn render(rows: &[Row], verdicts: &[Verdict], starts: usize) -> String {
    let mut text = format!(
        "{starts} starts each, interleaved; stdin is a file, stdout /dev/null; times in ms, peak in MiB\n\n"
    );
    let table: Vec<_> = std::iter::once(HEAD.map(str::to_owned)).chain(rows.iter().map(cells)).collect();
    let widths = widths(&table);
    for line in &table {
        text += &align(line, widths);
    }
    text.push('\n');
    for row in rows {
        if let Some(surprise) = &row.surprise {
            // Writing to a string cannot fail; so below.
            let _ = writeln!(text, "SURPRISE  {}: {surprise}", row.label);
        }
    }
    text += &busy_note(rows).unwrap_or_default();
    text += &switch_note(rows);
    for verdict in verdicts {
        text += &bar_line(verdict);
    }
    text
}

fn cells(row: &Row) -> [String; HEAD.len()] {
    let hook = row.hook.as_ref();
    let ratio = |value: Option<f64>| value.map_or_else(String::new, |v| format!("{v:.2}"));
    [
        hook.map_or_else(|| row.label.clone(), |hook| hook.name.clone()),
        hook.map_or("", |hook| hook.state).to_owned(),
        hook.map_or("", |hook| hook.class.name()).to_owned(),
        milliseconds(row.median),
        milliseconds(row.p90),
        ratio(Some(row.ratio)),
        ratio(row.time_growth),
        row.instructions.map_or_else(String::new, grouped),
        ratio(row.instruction_growth),
        row.memory_kib.map_or_else(String::new, |kib| format!("{:.1}", super::rows::to_float(kib) / 1024.0)),
    ]
}

/// On a quiet machine nine of ten starts of the baseline are close to the middle one.
fn busy_note(rows: &[Row]) -> Option<String> {
    let baseline = rows.iter().find(|row| row.hook.is_none())?;
    let spread = baseline.p90.as_secs_f64() / baseline.median.as_secs_f64();
    (spread > QUIET_SPREAD).then(|| {
        format!(
            "NOTE  this machine is busy (p90 of {} is {spread:.1} x its median): do not quote the times\n",
            baseline.label
        )
    })
}

/// What the figures of a switch are, and which one is missing.
fn switch_note(rows: &[Row]) -> String {
    let has = |class: Class| rows.iter().any(|row| row.hook.as_ref().is_some_and(|hook| hook.class == class));
    let mut note =
        "NOTE  ccc switch: to another provider, with /bin/true as the client; on disk it waits for fsync\n"
            .to_owned();
    if !has(Class::Switching) {
        note += "NOTE  there is no /dev/shm, so a switch in memory was not measured\n";
    }
    note
}

/// `PASS  peak memory <= 6 MiB: worst 1.3 (on-stop, huge)`
fn bar_line(verdict: &Verdict) -> String {
    let bar = verdict.bar;
    let word = match (verdict.over.is_empty(), bar.decides) {
        (true, _) => "PASS",
        (false, true) => "OVER",
        (false, false) => "OVER (not decisive)",
    };
    let unit = if bar.unit.is_empty() { String::new() } else { format!(" {}", bar.unit) };
    let mut line = format!("{word:<4}  {} <= {}{unit}", bar.name, number(bar.limit));
    if let Some((value, label)) = &verdict.worst {
        let _ = write!(line, ": worst {} ({label})", number(*value));
    }
    if verdict.over.len() > 1 {
        let _ = write!(line, "; over: {}", verdict.over.join("; "));
    }
    line + "\n"
}

fn milliseconds(duration: Duration) -> String {
    format!("{:.3}", duration.as_secs_f64() * 1000.0)
}

/// Counts without decimals, ratios with two.
fn number(value: f64) -> String {
    if value >= 1000.0 { format!("{value:.0}") } else { format!("{value:.2}") }
}

/// `1234567` as `1,234,567`.
fn grouped(count: u64) -> String {
    let digits = count.to_string();
    let first = digits.len() % 3;
    let mut parts = vec![&digits[..first]];
    parts.extend((first..digits.len()).step_by(3).map(|at| &digits[at..at + 3]));
    parts.retain(|part| !part.is_empty());
    parts.join(",")
}

/// All cells are ASCII, so a length is a width.
fn widths(table: &[[String; HEAD.len()]]) -> [usize; HEAD.len()] {
    std::array::from_fn(|column| table.iter().map(|line| line[column].len()).max().unwrap_or(0))
}

/// Words to the left, figures to the right.
fn align(line: &[String; HEAD.len()], widths: [usize; HEAD.len()]) -> String {
    let mut text = String::new();
    for (column, (cell, width)) in line.iter().zip(widths).enumerate() {
        let _ = match column {
            0..3 => write!(text, "{cell:<width$}  "),
            _ => write!(text, "{cell:>width$}  "),
        };
    }
    text.trim_end().to_owned() + "\n"
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn figures_are_readable() {
        assert_eq!(grouped(7), "7");
        assert_eq!(grouped(123_456), "123,456");
        assert_eq!(grouped(1_234_567), "1,234,567");
        assert_eq!(number(250_000.0), "250000");
        assert_eq!(number(1.2), "1.20");
        assert_eq!(milliseconds(Duration::from_micros(1234)), "1.234");
    }

    #[test]
    fn columns_are_aligned() {
        let mut line = HEAD.map(|_| "1".to_owned());
        line[0] = "on-stop".to_owned();
        let table = [HEAD.map(str::to_owned), line];
        let lines = table.each_ref().map(|line| align(line, widths(&table)));
        assert_eq!(lines[0].len(), lines[1].len());
    }
}
