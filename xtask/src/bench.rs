//! `cargo xtask proof bench`: what every hook, the status lines and a switch of `ccc` cost, compared with `/bin/true` and with a
//! hook in Node.
//!
//! Wall time is what a user feels, but it depends on the machine. Instructions, system calls and memory are the same
//! everywhere, so they decide.

mod bars;
mod cases;
mod fixture;
mod measure;
mod page;
mod restore;
mod subject;

use std::path::PathBuf;

use serde_json::Value;

use crate::error::{Error, Result};
use crate::{dist, shell, tree};
use cases::REFUSED;
use fixture::State;
use measure::{Counts, Times};
use subject::{NODE, Subject};

/// Where a full run writes its page.
const PAGE: &str = "docs/benchmarks";
/// A file system in memory, on every Linux.
const MEMORY: &str = "/dev/shm";

#[derive(Debug, Default, clap::Args)]
pub(crate) struct Options {
    /// No times and no page: only what is the same in every run
    #[arg(long, conflicts_with = "strict")]
    counts: bool,
    /// Let times decide the exit code too; for a quiet machine
    #[arg(long)]
    strict: bool,
    /// How often each program is started for its time
    #[arg(long, value_name = "N", default_value_t = 200)]
    runs: u32,
    /// Measure this `overtone` and the `overtone-hook` beside it instead of building them
    #[arg(long, value_name = "FILE")]
    binary: Option<PathBuf>,
    /// Only undo what a measured program has changed in this fixture. The measurement calls it before each start
    #[arg(long, value_name = "FOLDER", hide = true)]
    restore: Option<PathBuf>,
}

/// Everything that was measured of one program in one session.
struct Row {
    subject: Subject,
    counts: Counts,
    times: Option<Times>,
}

pub(crate) fn run(options: &Options) -> Result<()> {
    if let Some(fixture) = &options.restore {
        return restore::restore(fixture);
    }
    measure::install_tools()?;
    let hyperfine = if options.counts { None } else { Some(measure::hyperfine()?) };
    let binary = dist::chosen(options.binary.as_deref())?;
    // Below the target folder: a real file system, as a home has, not one in memory.
    let scratch = shell::target_dir()?.join("bench");
    tree::remove(&scratch)?;
    let memory = tempfile::tempdir_in(MEMORY)
        .map_err(|e| Error::new(format!("cannot create a folder in {MEMORY}: {e}")))?;
    let subjects = subject::create_all(&binary, &scratch, memory.path())?;
    let (mut rows, mut refusal, mut node) = (Vec::new(), Value::Null, Value::Null);
    for subject in subjects {
        eprintln!("bench: {}", subject.label());
        let (counts, printed) = measure::count(&subject, &scratch)?;
        if subject.name == NODE {
            node = serde_json::from_str(&printed).unwrap_or_default();
        } else if subject.name == REFUSED && subject.session == State::Typical.name() {
            refusal = serde_json::from_str(&printed).unwrap_or_default();
        }
        let times = match &hyperfine {
            Some(hyperfine) => Some(measure::time(hyperfine, &subject, options.runs, &scratch)?),
            None => None,
        };
        rows.push(Row { subject, counts, times });
    }
    if refusal["hookSpecificOutput"]["permissionDecision"] != "deny" || refusal != node {
        return Err(Error::new(format!("the Node hook does something else:\nhook: {refusal}\nNode: {node}")));
    }
    let verdicts = bars::judge(&rows);
    println!("{}\n{}", page::figures(&rows), page::bars(&verdicts));
    if !options.counts {
        page::write(&shell::root().join(PAGE), &rows, &verdicts, options.runs)?;
    }
    match verdicts.iter().filter(|verdict| verdict.fails(options.strict)).count() {
        0 => Ok(()),
        broken => Err(Error::new(format!("{broken} bars broken")).hint("see xtask/src/bench/bars.rs")),
    }
}
