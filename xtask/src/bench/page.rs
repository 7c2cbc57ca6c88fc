//! The page in `docs/benchmarks`: the bars with their verdicts, the picture, and everything that was measured.

use std::path::Path;

use super::budgets::Verdict;
use super::figures::{grouped, number};
use super::machine::Machine;
use super::plot;
use super::report::{limit, notes};
use super::rows::Row;
use super::state::State;
use super::table::Table;
use crate::error::Result;
use crate::shell::write_file;

/// Writes the page and its picture into a folder. A run without times has neither.
pub(crate) fn write(folder: &Path, rows: &[Row], verdicts: &[Verdict], starts: usize) -> Result<()> {
    let Some(picture) = plot::render(rows) else { return Ok(()) };
    write_file(&folder.join("times.svg"), picture.as_bytes())?;
    write_file(&folder.join("README.md"), render(rows, verdicts, starts, &Machine::this()).as_bytes())
}

fn render(rows: &[Row], verdicts: &[Verdict], starts: usize, machine: &Machine) -> String {
    let notes: Vec<_> = notes(rows).iter().map(|note| format!("- {}", sentence(note))).collect();
    let notes = notes.join("\n");
    let (sessions, bars, table) = (sessions(), bars(verdicts), Table::of(rows).markdown());
    format!(
        "# Benchmarks

<!-- Written by `cargo xtask bench`; do not edit. -->

This page shows what a hook costs. It starts at every tool call, so it must cost next to nothing. `/bin/true` is the smallest
program of the system; the floor is a Rust program that does nothing, built like ours.

![Time of one start: our hooks, /bin/true and hooks in other languages](times.svg)

## Bars

{bars}
Times depend on the machine and its load; they decide the result only with `--strict`. The other values are the same in every run
and always decide.

## How it was measured

Machine: {machine}.

{starts} starts of each program, interleaved and in changing order; a time is from the start of the process to its exit, with the
payload as a file on stdin. What a program does is checked before it is timed, and what it wrote is undone after each start.
Comparisons use the 10th percentile (p10): what a start takes when nothing else gets in its way. The comparison with Node uses p10
or the median, whichever is better for Node. Before the first start, every program is read from the disk again: how a file was
loaded into memory accounts for a fifth of such a time.

- Instructions: callgrind. System calls, processes and memory: ptrace, from the program's first call to its exit. Most
  of the peak is the program's file, which all its starts share; the system decides how much of it is mapped at once. The last
  column is the memory of one start alone.
- The hooks in other languages do the same as our `pre-task` when it denies: read the payload and the workflow, decide,
  answer. They give the same answer, run without version managers' shims and with an empty environment. Their sources
  are in [xtask/src/bench/rivals](../../xtask/src/bench/rivals).
- More than half of a reading hook's time is the start of a process, as the floor shows. That limits how many times faster than
  Node a hook can be, and the ratio varies by a tenth from run to run.
- The functions hooks use are next to each other in the release binary (`cargo xtask dist` plays a workflow, records which functions
  run, and links again): a start needs half as many pages of the file.
- The dashboard is off here. If it is enabled, the first `on-start` starts it and does not wait for it; no hook needs it.
- The workflow names its feature. Without one, `on-start` and `pre-compact` search all features in progress, and take longer the more
  there are: once at a session's start and at a compaction, never at a tool call.
{notes}

{sessions}
## Reproduce

```
cargo xtask bench            everything; writes this page
cargo xtask bench --counts   without times: only what is the same in every run
cargo xtask bench --quick    a quick impression; writes nothing
```

It builds the release binary and fetches valgrind and jq if they are missing. The bars are in
[xtask/src/bench/budgets.rs](../../xtask/src/bench/budgets.rs).

## All figures

Times in milliseconds, memory in MiB; growth compares the huge session with the empty one, for the column before it.

{table}"
    )
}

fn bars(verdicts: &[Verdict]) -> String {
    let line = |verdict: &Verdict| {
        let (worst, label) = &verdict.worst;
        let word = if verdict.passed() { "holds" } else { "**broken**" };
        format!(
            "| {} | {} | {} ({label}) | {word} |\n",
            verdict.bar.name,
            symbols(&limit(verdict)),
            number(*worst)
        )
    };
    let lines: String = verdicts.iter().map(line).collect();
    format!("| what | bar | worst | |\n|---|---|---|---|\n{lines}")
}

fn symbols(limit: &str) -> String {
    limit.replace("<=", "≤").replace(">=", "≥").replace('x', "×")
}

fn sessions() -> String {
    let count = |count: usize| grouped(u64::try_from(count).unwrap_or(u64::MAX));
    let line = |state: State| {
        let size = state.size();
        format!(
            "| {} | {} | {} | {} | {} |\n",
            state.name(),
            count(size.events),
            count(size.observations),
            count(size.features),
            megabytes(size.transcript_bytes)
        )
    };
    let lines: String = State::ALL.into_iter().map(line).collect();
    format!(
        "| session | events | observations | features | transcript |\n|---|---:|---:|---:|---:|\n{lines}\n\
         In the session `none` there is no workflow.\n"
    )
}

fn megabytes(bytes: usize) -> String {
    if bytes < 1_000_000 { format!("{} kB", bytes / 1000) } else { format!("{} MB", bytes / 1_000_000) }
}

fn sentence(note: &str) -> String {
    let mut letters = note.chars();
    letters.next().map(|first| first.to_uppercase().chain(letters).chain(['.']).collect()).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::super::budgets::judge;
    use super::super::rows::tests::example;
    use super::*;

    #[test]
    fn the_page_tells_the_verdicts_and_every_row() {
        let rows = example();
        let page = render(&rows, &judge(&rows), 400, &Machine::this());
        assert!(page.contains("| peak memory | ≤ 6 MiB | 2 (pre-task (refused), empty) | holds |"), "{page}");
        assert!(
            page.contains("| memory of its own | ≤ 1 MiB | 0.50 (pre-task (refused), empty) | holds |"),
            "{page}"
        );
        assert!(page.contains("| instructions, huge against empty session | ≤ 1.20 × | 1.30 (pre-task (refused), huge) | **broken** |"), "{page}");
        assert!(page.contains("| huge | 1,000,000 | 100,000 | 500 | 200 MB |"), "{page}");
        assert!(rows.iter().all(|row| page.contains(&row.role.name())));
    }
}
