//! `cargo xtask bench`: what every hook, the status line and `ccc` cost, against `/bin/true`, against a program that does
//! nothing and against hooks in other languages, in one interleaved run.
//!
//! Wall time tells what a person feels and depends on the machine; instructions, system calls and memory are the same
//! everywhere, so they are what decides.

mod behaviour;
mod budgets;
mod bulk;
mod callgrind;
mod calls;
pub(crate) mod cases;
mod ccc;
mod figures;
pub(crate) mod fixture;
mod floor;
mod json;
mod machine;
mod page;
pub(crate) mod payload;
mod plot;
mod report;
mod reread;
mod rivals;
mod role;
mod rows;
mod scale;
mod snapshot;
pub(crate) mod state;
mod subject;
mod subjects;
mod table;
mod timing;
mod trace;

use std::path::PathBuf;

use crate::error::{Error, Result};
use crate::{dist, shell, tools, tree};
use budgets::Verdict;
use rows::{Measured, Row};
use subjects::Subjects;

/// Where a full run leaves its page.
const PAGE: &str = "docs/benchmarks";

#[derive(Debug, Default, clap::Args)]
pub(crate) struct Options {
    #[command(flatten)]
    extent: Extent,
    /// Print one JSON object instead of the table
    #[arg(long)]
    json: bool,
    /// Let wall time decide the exit code too; for a quiet machine
    #[arg(long)]
    strict: bool,
    /// Measure this program instead of building the dist binary
    #[arg(long, value_name = "FILE")]
    binary: Option<PathBuf>,
    /// Measure nothing; show the system calls of one row, such as "pre-write, huge"
    #[arg(long, value_name = "ROW")]
    calls: Option<String>,
}

/// How much is measured; everything, unless something is said.
#[derive(Debug, Default, clap::Args)]
struct Extent {
    /// Few starts per program: a first look, not a figure to quote, and no page
    #[arg(long)]
    quick: bool,
    /// No times: only what is the same in every run, for CI
    #[arg(long, conflicts_with_all = ["quick", "strict"])]
    counts: bool,
}

impl Extent {
    /// How often each program is started for its time.
    const fn starts(&self) -> Option<usize> {
        match (self.counts, self.quick) {
            (true, _) => None,
            (false, true) => Some(60),
            (false, false) => Some(400),
        }
    }
}

pub(crate) fn run(options: &Options) -> Result<()> {
    tools::require("valgrind")?;
    let mut subjects = Subjects::create(&dist::chosen(options.binary.as_deref())?, &scratch()?)?;
    if let Some(label) = &options.calls {
        return calls::show(&mut subjects, label);
    }
    let starts = options.extent.starts();
    let rows = measure(&mut subjects, starts)?;
    let verdicts = budgets::judge(&rows);
    if options.json {
        println!("{}", json::render(&rows, &verdicts, starts));
    } else {
        print!("{}", report::render(&rows, &verdicts, starts));
    }
    if let Some(starts) = starts.filter(|_| !options.extent.quick) {
        page::write(&shell::root().join(PAGE), &rows, &verdicts, starts)?;
    }
    decide(&rows, &verdicts, options.strict)
}

/// A fresh folder below the target folder: a real file system, as a home has, not one in memory.
fn scratch() -> Result<PathBuf> {
    let folder = shell::target_dir()?.join("bench");
    tree::remove(&folder)?;
    Ok(folder)
}

fn measure(subjects: &mut Subjects, starts: Option<usize>) -> Result<Vec<Row>> {
    eprintln!("bench: checking what each of {} programs does", subjects.len());
    let surprises = behaviour::check(subjects)?;
    eprintln!("bench: system calls and memory");
    let traces = trace::measure(subjects)?;
    eprintln!("bench: instructions");
    let instructions = callgrind::measure(subjects)?;
    let times = starts.map(|starts| {
        eprintln!("bench: {starts} starts of each");
        reread::all(subjects)?;
        timing::measure(subjects, starts)
    });
    let times = times.transpose()?;
    Ok(rows::assemble(subjects, Measured { surprises, times, traces, instructions }))
}

fn decide(rows: &[Row], verdicts: &[Verdict], is_strict: bool) -> Result<()> {
    let surprised = rows.iter().filter(|row| row.surprise.is_some()).count();
    let broken = verdicts.iter().filter(|verdict| verdict.fails(is_strict)).count();
    if surprised + broken == 0 {
        return Ok(());
    }
    Err(Error::new(format!(
        "{broken} bars broken, {surprised} programs did not do what they are measured for"
    ))
    .hint("the bars are in xtask/src/bench/budgets.rs, the cases in xtask/src/bench/cases.rs"))
}
