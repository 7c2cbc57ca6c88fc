//! `cargo xtask proof fuzz`: searches for input that breaks a promise, with cargo-fuzz and libFuzzer.
//!
//! The targets are programs in `fuzz/fuzz_targets`, what they check is in `fuzz/src`. `cargo test -p overtone-fuzz` runs
//! the seeds through the same checks in seconds; this command is for the long search.

use std::path::{Path, PathBuf};
use std::process::Command;

use crate::error::{Error, Result};
use crate::{shell, tools};

/// Every target, with the features that it needs beside `libfuzzer`.
const TARGETS: [(&str, &str); 10] = [
    ("wire", ""),
    ("verdict", ""),
    ("permission", ""),
    ("tasks", ""),
    ("frontmatter", ""),
    ("ccc_json", ""),
    ("settings_merge", ""),
    ("stream_json", ""),
    ("query", "query"),
    ("fleet", "fleet"),
];

/// In memory, because some targets write files thousands of times a second.
const MEMORY: &str = "/dev/shm";

#[derive(Debug, clap::Args)]
pub(crate) struct Options {
    /// Only this target
    #[arg(value_parser = clap::builder::PossibleValuesParser::new(TARGETS.map(|(name, _)| name)))]
    target: Option<String>,
    /// How long each target runs
    #[arg(long, value_name = "N", default_value_t = 60, value_parser = clap::value_parser!(u32).range(1..))]
    seconds: u32,
    /// End each target after this many inputs, if that is sooner
    #[arg(long, value_name = "N")]
    runs: Option<u64>,
    /// Run one input and end: that of a failure, for example
    #[arg(long, value_name = "FILE", requires = "target")]
    reproduce: Option<PathBuf>,
}

/// Runs one target after the other, and names all that failed.
pub(crate) fn run(options: &Options) -> Result<()> {
    // libFuzzer itself is C++.
    tools::require("g++")?;
    let runs = |program: &Path| shell::probe(Command::new(program).arg("--version"));
    let program = tools::crate_program("cargo-fuzz", "0.13.2", runs)?;
    let mut failed = Vec::new();
    for (name, features) in TARGETS {
        if options.target.as_ref().is_some_and(|chosen| chosen != name) {
            continue;
        }
        eprintln!("fuzz: {name}");
        if let Err(error) = run_target(&program, name, features, options) {
            eprintln!("error: {error}");
            failed.push(name);
        }
    }
    if failed.is_empty() {
        return Ok(());
    }
    Err(Error::new(format!("these fuzz targets failed: {}", failed.join(", ")))
        .hint("fix the cause, and add the input to fuzz/seeds/<target> so that every test run tries it"))
}

fn run_target(program: &Path, name: &str, features: &str, options: &Options) -> Result<()> {
    let memory = Path::new(MEMORY);
    let folder = if memory.is_dir() { memory.to_owned() } else { std::env::temp_dir() };
    let scratch =
        tempfile::tempdir_in(&folder).map_err(|e| Error::io("cannot create folder", &folder, &e))?;
    let mut command = cargo_fuzz(program)?;
    command.args(["--features", &format!("libfuzzer,{features}")]).env("TMPDIR", scratch.path()).arg(name);
    if let Some(input) = &options.reproduce {
        let input = input.canonicalize().map_err(|e| Error::io("cannot read input", input, &e))?;
        return shell::run(command.arg(input));
    }
    let fuzz = shell::root().join("fuzz");
    let found = fuzz.join("corpus").join(name);
    std::fs::create_dir_all(&found).map_err(|e| Error::io("cannot create folder", &found, &e))?;
    command.arg(found).arg(fuzz.join("seeds").join(name)).arg("--");
    command.arg(format!("-max_total_time={}", options.seconds));
    if let Some(runs) = options.runs {
        command.arg(format!("-runs={runs}"));
    }
    // An input that never ends is a failure, and so is one that takes much memory. A busy machine may stop the process
    // for a while, so the limit of time is far above what any input takes.
    shell::run(command.args(["-timeout=300", "-rss_limit_mb=2048", "-max_len=4096", "-print_final_stats=1"]))
}

/// `cargo fuzz run` on the stable compiler. Only sanitizers need another one, and safe code has no use for them.
fn cargo_fuzz(program: &Path) -> Result<Command> {
    let mut command = Command::new(program);
    // The profile is in `.cargo/config.toml` of that folder.
    command.current_dir(shell::root().join("fuzz")).args([
        "fuzz",
        "run",
        "--fuzz-dir",
        ".",
        "--sanitizer",
        "none",
    ]);
    command.args(["--codegen-units", "16", "--no-default-features", "--target-dir"]);
    command.arg(shell::target_dir()?.join("fuzz"));
    Ok(command)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_target_is_in_the_manifest() {
        let manifest = std::fs::read_to_string(shell::root().join("fuzz/Cargo.toml")).unwrap();
        let built = manifest.lines().filter_map(|line| line.strip_prefix("path = \"fuzz_targets/"));
        assert_eq!(built.collect::<Vec<_>>(), TARGETS.map(|(name, _)| format!("{name}.rs\"")));
    }
}
