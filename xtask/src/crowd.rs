//! `cargo xtask crowd`: many processes on one session, and many sessions at once.
//!
//! What each process did carries a mark, and afterwards every mark is looked for in the files: each exactly once.
//! Correctness always decides; the wait for the lock is a time on this machine and decides only with `--strict`.

mod alike;
mod follow;
mod ground;
mod marks;
mod one;
mod order;
mod probe;
mod stale;
mod story;
mod tally;
mod traces;
mod work;

use std::path::{Path, PathBuf};

use crate::error::Result;
use crate::figures::{Bar, Figure, Report};
use crate::{dist, shell, tree};

#[derive(Debug, clap::Args)]
#[expect(clippy::struct_excessive_bools, reason = "flags that exclude each other are the parser's business")]
pub(crate) struct Options {
    /// A tenth of the rounds and of the sessions: a first look, not a figure to quote
    #[arg(long)]
    quick: bool,
    /// Print one JSON object instead of the table
    #[arg(long)]
    json: bool,
    /// Let the wait for the lock decide the exit code too; for a quiet machine
    #[arg(long)]
    strict: bool,
    /// How many processes at once on the one session, instead of 64
    #[arg(long, value_name = "NUMBER", value_parser = clap::value_parser!(u16).range(1..=1000))]
    processes: Option<u16>,
    /// Try this program instead of building the dist binary
    #[arg(long, value_name = "FILE")]
    binary: Option<PathBuf>,
    /// What CI runs: the development binary
    #[arg(long, conflicts_with_all = ["quick", "json", "strict", "processes", "binary"])]
    ci: bool,
}

/// How large the crowd is.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Size {
    /// Processes at once on the one session.
    pub(crate) workers: usize,
    /// What each of them starts, one after the other.
    pub(crate) rounds: usize,
    /// Sessions at once, in the second part.
    pub(crate) sessions: usize,
}

const FULL: Size = Size { workers: 64, rounds: 200, sessions: 200 };

/// The development binary is several times slower, so half of the rounds.
const CI: Size = Size { workers: 64, rounds: 100, sessions: 200 };

/// As many processes at once, but fewer rounds.
const QUICK: Size = Size { workers: 64, rounds: 20, sessions: 20 };

pub(crate) fn run(options: &Options) -> Result<()> {
    if options.ci {
        return run_ci();
    }
    let binary = dist::chosen(options.binary.as_deref())?;
    let mut size = if options.quick { QUICK } else { FULL };
    size.workers = options.processes.map_or(size.workers, usize::from);
    let report = look(&binary, size)?;
    report.print(options.json);
    report.decide(options.strict)
}

/// The same with the development binary, as a step of CI.
pub(crate) fn run_ci() -> Result<()> {
    let report = look(&shell::dev_binary()?, CI)?;
    report.print(false);
    report.decide(false)
}

fn look(binary: &Path, size: Size) -> Result<Report> {
    let folder = scratch()?;
    let mut report = Report::default();
    for part in [
        one::look(binary, &folder.join("one"), size)?,
        alike::look(binary, &folder.join("many"), size)?,
        stale::look(binary, &folder.join("stale"))?,
    ] {
        report.notes.extend(part.notes);
        report.figures.extend(part.figures);
        report.findings.extend(part.findings);
    }
    report.figures.push(Figure::count("things wrong", report.findings.len(), Bar::AtMost(0.0)));
    // What went wrong is worth looking at.
    if report.findings.is_empty() {
        tree::remove(&folder)?;
    }
    Ok(report)
}

/// A fresh folder below the target folder: a real file system, as a home has, not one in memory.
fn scratch() -> Result<PathBuf> {
    let folder = shell::target_dir()?.join("crowd");
    tree::remove(&folder)?;
    Ok(folder)
}
