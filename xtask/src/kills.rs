//! `cargo xtask kills`: processes killed at random instants, and what they leave behind.
//!
//! Each command is first run as a whole, which shows how long it takes and what it makes of the files; then the
//! files are put back, and it is run again and killed. Every file must be as it was before, or as it would have become.
//! Then the same command is run once more, on what the kill has left, and must succeed. The files are never cleared
//! in between, so litter that grows would be seen.

mod judge;
mod lane;
mod scene;
mod snapshot;
mod victims;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use std::time::{Instant, SystemTime, UNIX_EPOCH};

use crate::error::{Error, Result};
use crate::figures::{Bar, Figure, Report, to_float};
use crate::random::Random;
use crate::{dist, shell, tree};
use judge::Progress;
use lane::{Lane, Told};

#[derive(Debug, clap::Args)]
pub(crate) struct Options {
    /// A tenth of the kills: a first look, not a figure to quote
    #[arg(long)]
    quick: bool,
    /// Print one JSON object instead of the table
    #[arg(long)]
    json: bool,
    /// Repeat the choices of another run; the instants depend on the machine, too
    #[arg(long, value_name = "NUMBER")]
    seed: Option<u64>,
    /// Kill this program instead of building the dist binary
    #[arg(long, value_name = "FILE")]
    binary: Option<PathBuf>,
    /// What CI runs: the development binary
    #[arg(long, conflicts_with_all = ["quick", "json", "seed", "binary"])]
    ci: bool,
}

/// As many as must die in the middle of their work.
const KILLS: usize = 2000;

/// In CI; the development binary is slower, too.
const KILLS_IN_CI: usize = 600;

/// Homes that are worked on at the same time: twice the processors of a small machine.
const LANES: usize = 4;

/// Fixed names: a handful in the home, the session, the memory and the client's folder.
const MOST_LITTER: f64 = 25.0;

pub(crate) fn run(options: &Options) -> Result<()> {
    let seed = options.seed.unwrap_or_else(fresh_seed);
    if options.ci {
        return run_ci();
    }
    let kills = if options.quick { KILLS / 10 } else { KILLS };
    finish(&look(&dist::chosen(options.binary.as_deref())?, kills, seed)?, options.json)
}

/// The same with the development binary, as a step of CI.
pub(crate) fn run_ci() -> Result<()> {
    finish(&look(&shell::dev_binary()?, KILLS_IN_CI, fresh_seed())?, false)
}

fn finish(report: &Report, as_json: bool) -> Result<()> {
    report.print(as_json);
    report.decide()
}

fn fresh_seed() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(1, |since| since.as_secs())
}

fn look(binary: &Path, kills: usize, seed: u64) -> Result<Report> {
    eprintln!("kills: {kills} processes, seed {seed}");
    let folder = shell::target_dir()?.join("kills");
    tree::remove(&folder)?;
    let begun = Instant::now();
    let told = everybody(binary, &folder, kills, seed)?;
    let report = report(&told, kills, seed, begun.elapsed().as_secs_f64());
    // What went wrong is worth looking at.
    if report.findings.is_empty() {
        tree::remove(&folder)?;
    }
    Ok(report)
}

fn everybody(binary: &Path, folder: &Path, kills: usize, seed: u64) -> Result<Vec<Told>> {
    let killed = AtomicUsize::new(0);
    thread::scope(|scope| {
        let lanes: Vec<_> = (0..LANES)
            .map(|number| {
                let (root, killed) = (folder.join(format!("lane-{number}")), &killed);
                let random = Random::new(seed.wrapping_mul(31).wrapping_add(number as u64));
                scope.spawn(move || Lane::open(root, binary, random)?.work(|| go_on(killed, kills), killed))
            })
            .collect();
        let ends = lanes.into_iter().map(|lane| lane.join().unwrap_or_else(|_| Err(Error::new("panicked"))));
        Ok(ends.collect::<Result<Vec<_>>>()?.into_iter().flatten().collect())
    })
}

fn go_on(killed: &AtomicUsize, wanted: usize) -> bool {
    killed.load(Ordering::Relaxed) < wanted
}

fn report(told: &[Told], wanted: usize, seed: u64, seconds: f64) -> Report {
    let killed: Vec<_> = told.iter().filter(|told| told.was_killed).collect();
    let stood = |progress: Progress| killed.iter().filter(|told| told.progress == progress).count();
    let most = told.iter().map(|told| told.litter).max().unwrap_or(0);
    let mut findings: Vec<String> = told.iter().flat_map(|told| told.findings.clone()).collect();
    findings.extend(never_killed(told));
    let figures = vec![
        Figure::count("killed in the middle", killed.len(), Bar::AtLeast(to_float(wanted))),
        Figure::count("  before they changed anything", stood(Progress::Nothing), Bar::None),
        Figure::count("  with some of it done", stood(Progress::Between), Bar::None),
        Figure::count("  with all of it done", stood(Progress::Everything), Bar::None),
        Figure::count("ended before the kill", told.len() - killed.len(), Bar::None),
        Figure::count(
            "next runs that failed",
            told.iter().filter(|told| told.failed_again).count(),
            Bar::AtMost(0.0),
        ),
        Figure::count("left-over files at once", most, Bar::AtMost(MOST_LITTER)),
        Figure::count("things wrong", findings.len(), Bar::AtMost(0.0)),
    ];
    let list: Vec<_> = by_name(&killed).into_iter().map(|(name, count)| format!("{name} {count}")).collect();
    let note = format!(
        "{} processes in {seconds:.0} s, seed {seed} (--seed {seed} for the same choices)",
        told.len()
    );
    Report { notes: vec![note, format!("killed: {}", list.join(", "))], figures, findings }
}

fn by_name<'a>(told: &[&'a Told]) -> BTreeMap<&'a str, usize> {
    let mut counts = BTreeMap::new();
    for told in told {
        *counts.entry(told.name.as_str()).or_default() += 1;
    }
    counts
}

/// A command that always gets away would be a gap in all this.
fn never_killed(told: &[Told]) -> Vec<String> {
    let mut tries: BTreeMap<&str, (usize, usize)> = BTreeMap::new();
    for told in told {
        let (all, killed) = tries.entry(&told.name).or_default();
        *all += 1;
        *killed += usize::from(told.was_killed);
    }
    let gaps = tries.into_iter().filter(|(_, (all, killed))| *all >= 20 && *killed == 0);
    gaps.map(|(name, (all, _))| format!("`{name}` was started {all} times and never killed")).collect()
}
