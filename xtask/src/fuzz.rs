//! `cargo xtask fuzz`: input that nobody expects, for everything that reads what others write.
//!
//! The targets are in `fuzz/`, laid out for cargo-fuzz; it is not needed here, since building it takes longer than a
//! short run. The stable compiler does: only sanitizers, which safe code has no use for, would want another one.

mod build;
mod corpus;
mod progress;
mod report;
mod target;

use std::num::NonZero;
use std::path::{Path, PathBuf};
use std::thread;

use crate::error::{Error, Result};
use crate::shell;
use build::Programs;
use target::{Outcome, Run};

/// Every target of `fuzz/Cargo.toml`, the quickest to fail first.
pub(crate) const TARGETS: [&str; 8] =
    ["wire", "verdict", "tasks", "frontmatter", "ccc_json", "settings_merge", "stream_json", "query"];

/// Two minutes for all of them, one minute on two processors.
const SECONDS: u32 = 15;

#[derive(Debug, clap::Args)]
pub(crate) struct Options {
    /// Only this target
    #[arg(value_parser = clap::builder::PossibleValuesParser::new(TARGETS))]
    target: Option<String>,
    /// How long each target runs; 3600 for a long run
    #[arg(long, value_name = "N", default_value_t = SECONDS, value_parser = clap::value_parser!(u32).range(1..))]
    seconds: u32,
    /// Run one input and end: that of a failure, for example
    #[arg(long, value_name = "FILE", requires = "target", conflicts_with = "keep")]
    reproduce: Option<PathBuf>,
    /// Put some of what was found into fuzz/seeds: small files that reach code which the others do not
    #[arg(long)]
    keep: bool,
}

pub(crate) fn run(options: &Options) -> Result<()> {
    let is_wanted = |name: &&str| options.target.as_deref().is_none_or(|wanted| wanted == *name);
    let names: Vec<&'static str> = TARGETS.into_iter().filter(is_wanted).collect();
    let work = shell::target_dir()?.join("fuzz");
    let programs = Programs::build(&work, &names)?;
    if let (Some(input), Some(name)) = (&options.reproduce, &options.target) {
        return reproduce(&programs, name, input);
    }
    let outcomes = fuzz(&programs, &work, &names, options.seconds)?;
    report::print(&outcomes);
    if options.keep {
        for name in &names {
            corpus::keep(&programs, &work, name)?;
        }
    }
    verdict(&outcomes)
}

/// Every target for a short time, as CI runs them.
pub(crate) fn run_ci() -> Result<()> {
    run(&Options { target: None, seconds: SECONDS, reproduce: None, keep: false })
}

/// As many at once as there are processors: each target keeps one of them busy.
fn fuzz(programs: &Programs, work: &Path, names: &[&'static str], seconds: u32) -> Result<Vec<Outcome>> {
    let at_once = thread::available_parallelism().map_or(1, NonZero::get);
    let mut outcomes = Vec::new();
    for together in names.chunks(at_once) {
        let ended: Vec<_> = thread::scope(|scope| {
            let start = |name: &&'static str| {
                let run = Run { programs, work, name, seconds };
                scope.spawn(move || run.go())
            };
            let runs: Vec<_> = together.iter().map(start).collect();
            runs.into_iter().map(thread::ScopedJoinHandle::join).collect()
        });
        for outcome in ended {
            outcomes.push(outcome.map_err(|_| Error::new("a run was lost to a panic"))??);
        }
    }
    Ok(outcomes)
}

fn reproduce(programs: &Programs, name: &str, input: &Path) -> Result<()> {
    let input = input.canonicalize().map_err(|e| Error::io("cannot read input", input, &e))?;
    let scratch = target::scratch()?;
    let mut command = programs.command(name, scratch.path());
    shell::run(command.arg(&input)).map_err(|_| Error::new(format!("{name} fails: {}", input.display())))
}

fn verdict(outcomes: &[Outcome]) -> Result<()> {
    let failed: Vec<_> =
        outcomes.iter().filter(|outcome| outcome.failure.is_some()).map(|outcome| outcome.name).collect();
    if failed.is_empty() {
        return Ok(());
    }
    Err(Error::new(format!("input was found that breaks: {}", failed.join(", ")))
        .hint("mend it, and put the input into fuzz/seeds/<target> so that it is tried for ever"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_target_is_built_and_has_seeds() {
        let fuzz = shell::root().join("fuzz");
        let manifest = std::fs::read_to_string(fuzz.join("Cargo.toml")).unwrap();
        let built: Vec<_> =
            manifest.lines().filter_map(|line| line.strip_prefix("path = \"fuzz_targets/")).collect();
        assert_eq!(built, TARGETS.map(|name| format!("{name}.rs\"")));
        for name in TARGETS {
            let seeds = crate::tree::files(&corpus::seeds(name)).unwrap();
            let bytes: u64 = seeds.values().map(std::fs::Metadata::len).sum();
            assert!(
                (8..=corpus::MAX_SEEDS).contains(&seeds.len()) && bytes < 250_000,
                "{name}: {}",
                seeds.len()
            );
        }
    }
}
