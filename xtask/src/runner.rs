//! All tests of the workspace, the end-to-end tests with the real clients included.

use std::process::Command;
use std::thread;

use crate::error::Result;
use crate::{e2e, shell, tools};

/// Runs every test and shows all failures. Snapshots are compared, never written: a check changes nothing.
pub(crate) fn run_all() -> Result<()> {
    for program in ["nats-server", "python3"] {
        tools::require(program)?;
    }
    let environment = e2e::prepare(&[])?;
    if tools::has_nextest() {
        shell::run(nextest().envs(environment).env("PATH", tools::path()?))?;
        // nextest leaves out the examples in documentation comments.
        return shell::run(shell::cargo().args(["test", "--doc", "--quiet"]).args(shell::TEST_PACKAGES));
    }
    println!("cargo-nextest is not installed: using cargo test");
    shell::run(cargo_test().envs(environment).env("PATH", tools::path()?))
}

fn nextest() -> Command {
    let mut command = shell::cargo();
    command.args(["nextest", "run", "--profile", "ci"]).args(shell::TEST_PACKAGES);
    command.arg(format!("--test-threads={}", at_once())).env("INSTA_UPDATE", "no");
    command
}

fn cargo_test() -> Command {
    let mut command = shell::cargo();
    command.args(["test", "--no-fail-fast"]).args(shell::TEST_PACKAGES).arg("--");
    command.arg(format!("--test-threads={}", at_once())).env("INSTA_UPDATE", "no");
    command
}

/// How many tests run at the same time: three for each processor, since most tests wait for other processes.
fn at_once() -> usize {
    thread::available_parallelism().map_or(3, |processors| processors.get() * 3)
}
