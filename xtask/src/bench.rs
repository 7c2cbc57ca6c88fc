//! `cargo xtask bench`: what every hook and a switch of `ccc` costs, against `/bin/true`, in one interleaved run.
//!
//! Wall time tells what a person feels and depends on the machine; instructions and memory are the same
//! everywhere, so they are what decides.

mod behaviour;
mod budgets;
mod callgrind;
mod cases;
mod ccc;
mod fixture;
mod json;
mod memory;
mod payload;
mod report;
mod rows;
mod snapshot;
mod subject;
mod timing;

use std::fs;
use std::path::PathBuf;

use crate::error::{Error, Result};
use crate::{dist, shell, tools, tree};
use rows::{Measured, Row};
use subject::Subjects;

#[derive(Debug, clap::Args)]
pub(crate) struct Options {
    /// Few starts per hook: a first look, not a figure to quote
    #[arg(long)]
    quick: bool,
    /// Print one JSON object instead of the table
    #[arg(long)]
    json: bool,
    /// Let wall time decide the exit code too; for a quiet machine
    #[arg(long)]
    strict: bool,
    /// Measure this program instead of building the dist binary
    #[arg(long, value_name = "FILE")]
    binary: Option<PathBuf>,
}

pub(crate) fn run(options: &Options) -> Result<()> {
    tools::debian_package("valgrind")?;
    let binary = match &options.binary {
        Some(path) => fs::canonicalize(path).map_err(|e| Error::io("cannot find program", path, &e))?,
        None => dist::build()?.path,
    };
    let mut subjects = Subjects::create(&binary, &scratch()?)?;
    let rows = measure(&mut subjects, starts(options))?;
    let verdicts = budgets::judge(&rows);
    if options.json {
        println!("{}", json::render(&rows, &verdicts, starts(options)));
    } else {
        print!("{}", report::render(&rows, &verdicts, starts(options)));
    }
    decide(&rows, &verdicts, options.strict)
}

const fn starts(options: &Options) -> usize {
    if options.quick { 60 } else { 400 }
}

/// A fresh folder below the target folder: a real file system, as a home has, not one in memory.
fn scratch() -> Result<PathBuf> {
    let folder = shell::target_dir()?.join("bench");
    tree::remove(&folder)?;
    Ok(folder)
}

fn measure(subjects: &mut Subjects, starts: usize) -> Result<Vec<Row>> {
    eprintln!("bench: checking what each hook does");
    let surprises = behaviour::check(subjects)?;
    eprintln!("bench: {} starts of each of {} programs", starts, subjects.len());
    let times = timing::measure(subjects, starts)?;
    eprintln!("bench: peak memory");
    let memory = memory::measure(subjects)?;
    eprintln!("bench: instructions");
    let instructions = callgrind::measure(subjects)?;
    Ok(rows::assemble(subjects, &Measured { surprises, times, memory, instructions }))
}

fn decide(rows: &[Row], verdicts: &[budgets::Verdict], strict: bool) -> Result<()> {
    let surprised = rows.iter().filter(|row| row.surprise.is_some()).count();
    let over =
        verdicts.iter().filter(|verdict| !verdict.over.is_empty() && (strict || verdict.bar.decides)).count();
    if surprised + over == 0 {
        return Ok(());
    }
    Err(Error::new(format!(
        "{over} budgets exceeded, {surprised} hooks did not do what they are measured for"
    ))
    .hint("the budgets are in xtask/src/bench/budgets.rs, the cases in xtask/src/bench/cases.rs"))
}
