//! `cargo xtask discipline`: scripted misbehaviour and honest work in the real client, with and without a gate.
//!
//! The cases and their judgement are in `crates/testkit/src/discipline`. This only runs them, collects and renders.

mod bars;
mod cells;
mod page;
mod results;

use std::path::PathBuf;

use crate::error::{Error, Result};
use crate::kit::KitProgram;
use crate::{e2e, shell, tools};
use cells::Player;
use results::Results;

/// The page that a full run can write.
const PAGE: &str = "docs/discipline.md";

#[derive(Debug, clap::Args)]
pub(crate) struct Options {
    /// Only this case; may be repeated
    #[arg(long = "case", value_name = "NAME")]
    cases: Vec<String>,
    /// Only these columns, such as --column bare,notice
    #[arg(long = "column", value_name = "NAMES", value_delimiter = ',')]
    columns: Vec<String>,
    /// How often each case is played; every time must have the same result
    #[arg(long, value_name = "N", default_value_t = 1)]
    times: usize,
    /// How many clients run at the same time
    #[arg(long, value_name = "N", default_value_t = 2)]
    jobs: usize,
    /// Write docs/discipline.md; needs all cases and all columns
    #[arg(long, conflicts_with_all = ["cases", "columns"])]
    write: bool,
    /// Use this `overtone` and the `overtone-hook` beside it instead of the development programs
    #[arg(long, value_name = "FILE")]
    binary: Option<PathBuf>,
}

pub(crate) fn run(options: &Options) -> Result<()> {
    for program in ["python3", "npm"] {
        tools::require(program)?;
    }
    let client = e2e::newest_client()?;
    let mut player = Player::new(KitProgram::prepare("discipline", &client, options.binary.as_deref())?);
    let (cases, columns) = (player.cases(&options.cases)?, player.columns(&options.columns)?);
    let absent = player.fetch_peers(&columns)?;
    let columns: Vec<_> = columns.into_iter().filter(|column| !absent.contains_key(column)).collect();
    let results: Results = player.play(&cases, &columns, options.times.max(1), options.jobs.max(1))?;
    let bars = bars::judge(&results);
    println!("{}\n{}\n{}", page::table(&results), page::summary(&results), page::bars(&bars));
    if options.write {
        let text = page::render(&results, &bars, &absent, &client);
        shell::write_file(&shell::root().join(PAGE), text.as_bytes())?;
    }
    finish(&results, &bars)
}

/// Fails if a case could not be played or a bar is broken.
fn finish(results: &Results, bars: &[bars::Verdict]) -> Result<()> {
    let errors = results.errors();
    for error in &errors {
        eprintln!("error: {error}");
    }
    let broken: Vec<_> = bars.iter().filter(|bar| !bar.holds).map(|bar| bar.what.as_str()).collect();
    if errors.is_empty() && broken.is_empty() {
        return Ok(());
    }
    Err(Error::new(format!("{} cases failed to run, {} bars broken", errors.len(), broken.len()))
        .hint(format!("see the table above; play one case with --case NAME: {}", broken.join("; "))))
}
