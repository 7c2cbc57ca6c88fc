//! `cargo xtask ci`: every check, in the order of how fast it says no.

use std::time::{Duration, Instant};

use nix::sys::resource::{UsageWho, getrusage};

use crate::error::{Error, Result};
use crate::tools::{Missing, Need};
use crate::{browser, codegen, deny, layers, proof, runner, shell, tokens, tools};

#[derive(Debug, clap::Args)]
pub(crate) struct Options {
    /// Only these steps, such as --only test,browser
    #[arg(long, value_name = "STEPS", value_delimiter = ',')]
    only: Vec<String>,
    /// Install and download nothing; list what is missing, with a command for each
    #[arg(long)]
    no_install: bool,
}

pub(crate) struct Step {
    pub(crate) name: &'static str,
    pub(crate) needs: &'static [Need],
    pub(crate) run: fn() -> Result<()>,
}

/// The parts of the proofs follow.
const STEPS: [Step; 8] = [
    Step { name: "format", needs: &[Need::Program("rustfmt")], run: format },
    Step { name: "deny", needs: &[], run: deny::run },
    Step { name: "clippy", needs: &[Need::Program("clippy")], run: clippy },
    Step { name: "layers", needs: &[], run: layers::run },
    Step { name: "codegen", needs: &[], run: codegen::check },
    Step {
        name: "test",
        needs: &[Need::Program("nats-server"), Need::Program("npm"), Need::Program("python3"), Need::Clients],
        run: runner::run_all,
    },
    // After the tests, which have built everything that it plays with.
    Step {
        name: "tokens",
        needs: &[Need::Program("npm"), Need::Program("python3"), Need::Clients],
        run: tokens::run_ci,
    },
    Step {
        name: "browser",
        needs: &[
            Need::Program("nats-server"),
            Need::Program("node"),
            Need::Program("npm"),
            Need::Program("chromium"),
            Need::BrowserPackages,
        ],
        run: browser::run_all,
    },
];

/// Runs the chosen steps, or all of them.
pub(crate) fn run(options: &Options) -> Result<()> {
    let steps = chosen(&options.only)?;
    let started = Instant::now();
    if options.no_install {
        tools::forbid_installing();
        fail_on_missing(&steps)?;
    }
    // First, so that nothing is found to be impossible after minutes of work.
    for need in needs(&steps) {
        need.get()?;
    }
    for (index, step) in steps.iter().enumerate() {
        println!("\n=== ci {}/{}: {} ===", index + 1, steps.len(), step.name);
        let (begun, used) = (Instant::now(), processor_time()?);
        let outcome = (step.run)();
        let took = spent(begun.elapsed(), processor_time()?.saturating_sub(used));
        match outcome {
            Ok(()) => println!("--- {}: ok in {took}", step.name),
            Err(error) => {
                eprintln!("error: {error}");
                return Err(Error::new(format!("ci failed at step `{}` after {took}", step.name)));
            }
        }
    }
    println!("\nci: all {} steps passed in {}", steps.len(), spent(started.elapsed(), processor_time()?));
    Ok(())
}

fn chosen(only: &[String]) -> Result<Vec<&'static Step>> {
    let all = || STEPS.iter().chain(&proof::CI_PARTS);
    for name in only {
        if all().all(|step| step.name != name) {
            let names: Vec<_> = all().map(|step| step.name).collect();
            return Err(Error::new(format!("unknown step: {name}"))
                .hint(format!("the steps are: {}", names.join(", "))));
        }
    }
    Ok(all().filter(|step| only.is_empty() || only.iter().any(|name| name == step.name)).collect())
}

/// What these steps need, each once.
fn needs(steps: &[&Step]) -> Vec<Need> {
    let mut needs = Vec::new();
    for need in steps.iter().flat_map(|step| step.needs) {
        if !needs.contains(need) {
            needs.push(*need);
        }
    }
    needs
}

/// One list of everything that these steps lack.
fn fail_on_missing(steps: &[&Step]) -> Result<()> {
    let mut missing = Vec::new();
    for need in needs(steps) {
        missing.extend(need.missing()?);
    }
    if missing.is_empty() {
        return Ok(());
    }
    for Missing { what, why, command } in &missing {
        println!("  {what:<20} {why}\n  {:<20} {command}", "");
    }
    Err(Error::new(format!("missing: {}", missing.len()))
        .hint("`cargo xtask ci` without --no-install gets them"))
}

/// What finished child processes have used so far. It does not depend on what else the machine does.
fn processor_time() -> Result<Duration> {
    let usage = getrusage(UsageWho::RUSAGE_CHILDREN)
        .map_err(|e| Error::new(format!("cannot read the processor time: {e}")))?;
    let microseconds = [usage.user_time(), usage.system_time()]
        .map(|time| time.tv_sec().unsigned_abs() * 1_000_000 + time.tv_usec().unsigned_abs());
    Ok(Duration::from_micros(microseconds.iter().sum()))
}

fn spent(wall: Duration, processor: Duration) -> String {
    format!("{:.1} s ({:.1} s of processor time)", wall.as_secs_f64(), processor.as_secs_f64())
}

fn format() -> Result<()> {
    shell::run(shell::cargo().args(["fmt", "--all", "--check"])).map_err(|e| e.hint("run `cargo fmt --all`"))
}

fn clippy() -> Result<()> {
    let mut command = shell::cargo();
    command.args(["clippy", "--all-targets", "--quiet"]).args(shell::TEST_PACKAGES);
    shell::run(command.args(["--", "-D", "warnings"]))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn steps_are_chosen_by_name_and_run_in_their_order() {
        let names = |only: &[&str]| {
            let only: Vec<_> = only.iter().map(|name| (*name).to_owned()).collect();
            chosen(&only).map(|steps| steps.iter().map(|step| step.name).collect::<Vec<_>>())
        };
        assert_eq!(names(&["test", "format"]).unwrap(), ["format", "test"]);
        assert_eq!(names(&[]).unwrap().len(), STEPS.len() + proof::CI_PARTS.len());
        let error = names(&["tests"]).unwrap_err();
        assert!(
            error.to_string().starts_with("unknown step: tests\nhint: the steps are: format, "),
            "{error}"
        );
    }

    #[test]
    fn every_program_that_a_step_needs_is_in_the_table() {
        for need in STEPS.iter().chain(&proof::CI_PARTS).flat_map(|step| step.needs) {
            if let Need::Program(_) = need {
                need.missing().unwrap();
            }
        }
    }
}
