//! `cargo xtask soak`: whole workflows through the real program, with accidents, and every promise looked at after
//! every event. What is played depends on the seed alone.

mod checks;
mod dice;
mod disk;
mod event;
mod figures;
mod kill;
mod model;
mod player;
mod rules;
mod seat;
mod table;
mod words;

use std::path::Path;
use std::sync::Mutex;
use std::thread;
use std::time::{Instant, SystemTime, UNIX_EPOCH};

use crate::error::{Error, Result};
use crate::sandbox::Sandbox;
use crate::{dist, shell, tree};
use figures::Figures;
use table::Deal;

const THREADS: usize = 2;

/// What a check of a commit has time for: about a minute, each type twice.
const CI_WORKFLOWS: usize = 36;
const CI_SEED: u64 = 1;

#[derive(Debug, clap::Args)]
pub(crate) struct Options {
    /// How many workflows are played, all types in turn
    #[arg(long, default_value_t = 500)]
    workflows: usize,
    /// What chance depends on; by default the time
    #[arg(long)]
    seed: Option<u64>,
    /// Play only the table of this workflow, as it was in a whole run with the same seed
    #[arg(long, value_name = "WORKFLOW")]
    only: Option<usize>,
    /// A tenth of the workflows, with the dev binary
    #[arg(long)]
    quick: bool,
    /// The short run that `ci` does: always the same
    #[arg(long, conflicts_with_all = ["workflows", "seed", "only", "quick", "json"])]
    ci: bool,
    /// Print the figures as JSON
    #[arg(long)]
    json: bool,
}

pub(crate) fn run(options: &Options) -> Result<()> {
    if options.ci {
        return run_ci();
    }
    let binary = if options.quick { shell::dev_binary()? } else { dist::build()?.path };
    let seed = options.seed.unwrap_or_else(seed_of_the_day);
    let workflows = if options.quick { options.workflows.div_ceil(10) } else { options.workflows };
    let mut deals = table::deal(seed, workflows);
    if let Some(number) = options.only {
        deals.retain(|deal| (deal.first..deal.first + deal.count).contains(&number));
        if deals.is_empty() {
            return Err(Error::new(format!("a run of {workflows} workflows has no workflow {number}"))
                .hint("they are counted from 0; --workflows makes a longer run"));
        }
    }
    soak(&binary, &deals, seed, options.json)
}

/// A short run that is the same every time.
pub(crate) fn run_ci() -> Result<()> {
    soak(&shell::dev_binary()?, &table::deal(CI_SEED, CI_WORKFLOWS), CI_SEED, false)
}

fn seed_of_the_day() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |time| time.as_secs())
}

fn soak(binary: &Path, deals: &[Deal], seed: u64, as_json: bool) -> Result<()> {
    let folder = shell::target_dir()?.join("soak");
    tree::remove(&folder)?;
    let workflows: usize = deals.iter().map(|deal| deal.count).sum();
    eprintln!("soak: {workflows} workflows at {} tables, seed {seed}", deals.len());
    let started = Instant::now();
    let figures = play_all(binary, &folder, deals, seed)?;
    let took = started.elapsed();
    tree::remove(&folder)?;
    if as_json {
        println!("{:#}", figures.to_json(seed, took));
    } else {
        println!("{}", figures.to_text(seed, took));
    }
    Ok(())
}

/// Each thread takes the next table until there is none, or one has failed.
fn play_all(binary: &Path, folder: &Path, deals: &[Deal], seed: u64) -> Result<Figures> {
    let waiting = Mutex::new(deals.iter());
    let outcome = Mutex::new(Ok(Figures::default()));
    thread::scope(|scope| {
        for _ in 0..THREADS {
            scope.spawn(|| {
                while let Some(deal) = next(&waiting, &outcome) {
                    note(&outcome, play_table(binary, folder, deal, seed));
                }
            });
        }
    });
    outcome.into_inner().unwrap_or_else(|_| Err(Error::new("a thread of the soak panicked")))
}

fn next<'a>(
    waiting: &Mutex<std::slice::Iter<'a, Deal>>,
    outcome: &Mutex<Result<Figures>>,
) -> Option<&'a Deal> {
    let failed = outcome.lock().map_or(true, |outcome| outcome.is_err());
    waiting.lock().ok().filter(|_| !failed)?.next()
}

fn note(outcome: &Mutex<Result<Figures>>, played: Result<Figures>) {
    let Ok(mut outcome) = outcome.lock() else { return };
    match (&mut *outcome, played) {
        (Ok(all), Ok(figures)) => all.add(figures),
        (Ok(_), Err(error)) => *outcome = Err(error),
        (Err(_), _) => {}
    }
}

/// The folder of a table that broke a promise is kept.
fn play_table(binary: &Path, folder: &Path, deal: &Deal, seed: u64) -> Result<Figures> {
    let root = folder.join(format!("table-{}", deal.number));
    let figures = table::play(&Sandbox::create(root.clone(), binary)?, deal, seed)?;
    tree::remove(&root)?;
    Ok(figures)
}
