//! Builds the targets with what libFuzzer needs to see which code an input reaches.

use std::path::{Path, PathBuf};
use std::process::Command;

use crate::error::{Error, Result};
use crate::{shell, tools};

/// Counters for every edge, where they are in the program, and what is compared with what.
const FLAGS: &str = "-Cpasses=sancov-module \
    -Cllvm-args=-sanitizer-coverage-level=4 \
    -Cllvm-args=-sanitizer-coverage-inline-8bit-counters \
    -Cllvm-args=-sanitizer-coverage-pc-table \
    -Cllvm-args=-sanitizer-coverage-trace-compares \
    --cfg fuzzing";

/// The folder of the built targets.
#[derive(Debug)]
pub(super) struct Programs {
    folder: PathBuf,
}

impl Programs {
    pub(super) fn build(work: &Path, names: &[&str]) -> Result<Self> {
        // libFuzzer itself is C++.
        tools::require("g++")?;
        let (target, host) = (work.join("build"), host()?);
        let mut command = shell::cargo();
        command
            .current_dir(shell::root().join("fuzz"))
            // With a target named, build scripts and macros are left without counters, which they could not link.
            .args(["build", "--release", "--locked", "--quiet", "--target", &host])
            .args(names.iter().flat_map(|name| ["--bin", name]))
            .env("CARGO_TARGET_DIR", &target)
            .env("RUSTFLAGS", FLAGS)
            .env_remove("CARGO_ENCODED_RUSTFLAGS");
        eprintln!("fuzz: building {}", names.join(", "));
        shell::run(&mut command).map_err(|e| {
            e.hint("if dependencies have changed, bring fuzz/Cargo.lock up to date: cargo update -w there")
        })?;
        Ok(Self { folder: target.join(host).join("release") })
    }

    /// A target, with its private files below `scratch`.
    pub(super) fn command(&self, name: &str, scratch: &Path) -> Command {
        let mut command = Command::new(self.folder.join(name));
        command
            .current_dir(scratch)
            .env("TMPDIR", scratch)
            .env("HOME", scratch)
            .env("RUST_BACKTRACE", "0")
            .args([
                // An input that never ends is a failure, and so is one that takes more memory. Every input takes far
                // less, but a busy machine may stop the process for a while.
                "-timeout=300",
                "-rss_limit_mb=2048",
                "-max_len=4096",
            ]);
        command
    }
}

/// The machine that this runs on, as the compiler calls it.
fn host() -> Result<String> {
    let rustc = std::env::var_os("RUSTC").unwrap_or_else(|| "rustc".into());
    let about = shell::capture(Command::new(rustc).arg("-vV"))?;
    let host = about.lines().find_map(|line| line.strip_prefix("host: "));
    host.map(str::to_owned).ok_or_else(|| Error::new("rustc does not say which host it is for"))
}
