//! `cargo xtask faults`: what happens when the machine fails: every system call on files, one at a time, and the
//! surroundings that a program can find itself in.

mod inject;
mod judge;
mod picture;
mod report;
mod run;
mod strace;
mod subject;
mod surroundings;
mod world;

use std::path::{Path, PathBuf};
use std::thread;

use crate::error::{Error, Result};
use crate::{dist, shell, tools};
use inject::{Breadth, Plan};

#[derive(Debug, clap::Args)]
pub(crate) struct Options {
    /// Each call once, with one of its errors: a first look
    #[arg(long)]
    quick: bool,
    /// What CI runs: a part of it, on the dev binary
    #[arg(long, conflicts_with_all = ["quick", "only", "seed", "json", "binary"])]
    ci: bool,
    /// Only what contains this, such as `on-stop`, `write#3` or `on-stop/workflow write#3=EIO`
    #[arg(long, value_name = "LABEL")]
    only: Option<String>,
    /// Which error each call gets in a quick run
    #[arg(long, default_value_t = 0)]
    seed: usize,
    /// Print one JSON object instead of the table
    #[arg(long)]
    json: bool,
    /// Try this program instead of building the dist binary
    #[arg(long, value_name = "FILE")]
    binary: Option<PathBuf>,
}

pub(crate) fn run(options: &Options) -> Result<()> {
    if options.ci {
        return run_ci();
    }
    let binary = dist::chosen(options.binary.as_deref())?;
    let breadth = if options.quick { Breadth::OneIn(1) } else { Breadth::Everything };
    let plan = Plan { breadth, seed: options.seed, only: options.only.clone() };
    examine(&plan, &binary, options.json)
}

/// A bounded part on the dev binary, the same one every time.
pub(crate) fn run_ci() -> Result<()> {
    examine(&Plan { breadth: Breadth::OneIn(CI_PART), seed: 0, only: None }, &shell::dev_binary()?, false)
}

/// So many that it takes about a minute on a busy machine.
const CI_PART: usize = 6;

fn examine(plan: &Plan, binary: &Path, json: bool) -> Result<()> {
    tools::require("strace")?;
    let scratch = scratch()?;
    let (tried, checks) = thread::scope(|scope| {
        let checks = scope.spawn(|| surroundings::run(plan.only.as_deref(), binary, scratch.path()));
        (inject::run(plan, binary, scratch.path()), checks.join())
    });
    let checks = checks.map_err(|_| Error::new("a check of the surroundings panicked"))?;
    let (tried, checks) = (tried?, checks?);
    if json {
        println!("{}", report::json(&tried, &checks));
    } else {
        print!("{}", report::table(&tried, &checks));
    }
    report::decide(&tried, &checks)
}

/// In memory where there is such a place: `ccc` waits for the disk, and nobody wants to wait for that.
fn scratch() -> Result<tempfile::TempDir> {
    let below = |folder: &Path| tempfile::Builder::new().prefix("overtone-faults-").tempdir_in(folder);
    let made = below(Path::new("/dev/shm")).or_else(|_| below(&std::env::temp_dir()));
    made.map_err(|e| Error::new(format!("cannot make a scratch folder: {e}")))
}
