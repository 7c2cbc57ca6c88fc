//! The columns, for the terminal and for the page alike.

use super::figures::{grouped, mebibytes, milliseconds, ratio};
use super::rows::{Row, Time};

/// One column: its head, and what stands in it for a row.
pub(crate) struct Column {
    pub head: &'static str,
    pub is_text: bool,
    pub cell: fn(&Row) -> String,
}

const COLUMNS: [Column; 15] = [
    text("program", |row| row.role.name()),
    text("session", |row| row.role.setting().to_owned()),
    text("class", |row| row.role.class().map_or("", |class| class.name()).to_owned()),
    figure("p10", |row| timed(row, |time| Some(milliseconds(time.measured.p10)))),
    figure("median", |row| timed(row, |time| Some(milliseconds(time.measured.median)))),
    figure("p90", |row| timed(row, |time| Some(milliseconds(time.measured.p90)))),
    figure("x true", |row| timed(row, |time| Some(ratio(time.to_true)))),
    figure("x floor", |row| timed(row, |time| Some(ratio(time.to_floor)))),
    figure("growth", |row| timed(row, |time| time.growth.map(ratio))),
    figure("instr.", |row| row.instructions.map_or_else(String::new, grouped)),
    figure("growth", |row| row.instruction_growth.map_or_else(String::new, ratio)),
    figure("calls", |row| row.trace.calls.to_string()),
    figure("proc.", |row| row.trace.processes.to_string()),
    figure("peak", |row| mebibytes(row.trace.peak_kib)),
    figure("own", |row| mebibytes(row.trace.own_kib)),
];

const fn text(head: &'static str, cell: fn(&Row) -> String) -> Column {
    Column { head, is_text: true, cell }
}

const fn figure(head: &'static str, cell: fn(&Row) -> String) -> Column {
    Column { head, is_text: false, cell }
}

fn timed(row: &Row, cell: fn(&Time) -> Option<String>) -> String {
    row.time.as_ref().and_then(cell).unwrap_or_default()
}

/// A table whose columns all have something in them.
pub(crate) struct Table {
    columns: Vec<&'static Column>,
    lines: Vec<Vec<String>>,
}

impl Table {
    pub(crate) fn of(rows: &[Row]) -> Self {
        let columns: Vec<_> =
            COLUMNS.iter().filter(|c| rows.iter().any(|row| !(c.cell)(row).is_empty())).collect();
        let lines =
            rows.iter().map(|row| columns.iter().map(|column| (column.cell)(row)).collect()).collect();
        Self { columns, lines }
    }

    /// For a terminal: words to the left, figures to the right.
    pub(crate) fn aligned(&self) -> String {
        let head: Vec<_> = self.columns.iter().map(|column| column.head.to_owned()).collect();
        // All cells are ASCII, so a length is a width.
        let width =
            |at: usize| self.lines.iter().chain([&head]).map(|line| line[at].len()).max().unwrap_or(0);
        let pad = |(at, cell): (usize, &String)| {
            let width = width(at);
            if self.columns[at].is_text { format!("{cell:<width$}  ") } else { format!("{cell:>width$}  ") }
        };
        let line = |line: &Vec<String>| {
            line.iter().enumerate().map(pad).collect::<String>().trim_end().to_owned() + "\n"
        };
        line(&head) + &self.lines.iter().map(line).collect::<String>()
    }

    pub(crate) fn markdown(&self) -> String {
        let cells = |cells: Vec<&str>| format!("| {} |\n", cells.join(" | "));
        let rule = |column: &&Column| if column.is_text { "---" } else { "---:" };
        let head = cells(self.columns.iter().map(|column| column.head).collect());
        let rule = cells(self.columns.iter().map(rule).collect());
        let lines = self.lines.iter().map(|line| cells(line.iter().map(String::as_str).collect()));
        head + &rule + &lines.collect::<String>()
    }
}

#[cfg(test)]
mod tests {
    use super::super::rows::tests::{example, without_times};
    use super::*;

    #[test]
    fn columns_are_aligned() {
        let text = Table::of(&example()).aligned();
        let last: Vec<_> = text.lines().map(str::len).collect();
        assert_eq!(last.len(), 7);
        assert!(last.iter().all(|length| *length == last[0]), "{text}");
    }

    #[test]
    fn empty_columns_are_left_out() {
        let rows = without_times();
        let text = Table::of(&rows).markdown();
        assert!(
            text.starts_with(
                "| program | session | class | instr. | growth | calls | proc. | peak | own |\n"
            ),
            "{text}"
        );
        assert!(
            text.contains("| pre-task (refused) | huge | reading | 130,000 | 1.30 | 38 | 1 | 2.0 | 0.5 |\n"),
            "{text}"
        );
    }
}
