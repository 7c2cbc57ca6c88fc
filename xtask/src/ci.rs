//! `cargo xtask ci`: every check, in the order of how fast it says no.

use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use crate::error::{Error, Result};
use crate::{advisories, browser, codegen, crowd, e2e, faults, fuzz, kills, layers, shell, tools};

struct Step {
    name: &'static str,
    run: fn() -> Result<()>,
}

const STEPS: [Step; 12] = [
    Step { name: "format", run: format },
    Step { name: "clippy", run: clippy },
    Step { name: "test", run: test },
    Step { name: "layers", run: layers::run },
    Step { name: "codegen", run: codegen::check },
    Step { name: "e2e", run: e2e::run_all },
    Step { name: "browser", run: browser::run_all },
    Step { name: "faults", run: faults::run_ci },
    Step { name: "crowd", run: crowd::run_ci },
    Step { name: "kills", run: kills::run_ci },
    Step { name: "fuzz", run: fuzz::run_ci },
    // Last: on a fresh machine its tool takes minutes to build.
    Step { name: "deny", run: deny },
];

/// Runs the steps with these names, or all of them.
pub(crate) fn run(only: &[String]) -> Result<()> {
    if let Some(unknown) = only.iter().find(|name| STEPS.iter().all(|step| step.name != name.as_str())) {
        let names = STEPS.map(|step| step.name).join(", ");
        return Err(Error::new(format!("unknown step: {unknown}")).hint(format!("the steps are: {names}")));
    }
    let started = Instant::now();
    let is_chosen = |step: &&Step| only.is_empty() || only.iter().any(|name| name == step.name);
    let steps: Vec<&Step> = STEPS.iter().filter(is_chosen).collect();
    for (index, step) in steps.iter().enumerate() {
        println!("\n=== ci {}/{}: {} ===", index + 1, steps.len(), step.name);
        let begun = Instant::now();
        let outcome = (step.run)();
        let took = seconds(begun.elapsed());
        match outcome {
            Ok(()) => println!("--- {}: ok in {took}", step.name),
            Err(error) => {
                eprintln!("error: {error}");
                return Err(Error::new(format!("ci failed at step `{}` after {took}", step.name)));
            }
        }
    }
    println!("\nci: all {} steps passed in {}", steps.len(), seconds(started.elapsed()));
    Ok(())
}

fn format() -> Result<()> {
    tools::component("rustfmt", "fmt")?;
    shell::run(shell::cargo().args(["fmt", "--all", "--check"])).map_err(|e| e.hint("run `cargo fmt --all`"))
}

fn clippy() -> Result<()> {
    tools::component("clippy", "clippy")?;
    let arguments =
        ["clippy", "--workspace", "--all-targets", "--features", "overtone-testkit/e2e", "--quiet"];
    shell::run(shell::cargo().args(arguments).args(["--", "-D", "warnings"]))
}

/// All failures at once, and no new snapshot files beside the old ones: a check changes nothing.
fn test() -> Result<()> {
    // The fleet's tests start real servers.
    tools::debian_package("nats-server")?;
    shell::build_tests()?;
    let mut command = shell::cargo();
    command.args(["test", "--workspace", "--no-fail-fast"]);
    shell::run(command.env("INSTA_UPDATE", "no"))
}

/// Advisories from our own table: cargo-deny would download a database, and an answer that changes from day to day does
/// not belong into the check of a commit.
fn deny() -> Result<()> {
    advisories::check()?;
    let mut command = Command::new(tools::cargo_deny()?);
    command.args(["--color", "never", "check", "bans", "licenses", "sources"]);
    shell::run(command.current_dir(shell::root()).stdin(Stdio::null()))
        .map_err(|e| e.hint("the rules are in deny.toml"))
}

fn seconds(duration: Duration) -> String {
    format!("{:.1} s", duration.as_secs_f64())
}
