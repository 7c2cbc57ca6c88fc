//! Development commands. `cargo xtask ci` is everything that CI checks; this file only knows their names.

mod advisories;
mod bench;
mod browser;
mod ci;
mod codegen;
mod crowd;
mod dist;
mod e2e;
mod elf;
mod error;
mod faults;
mod figures;
mod fleet;
mod fuzz;
mod kills;
mod layers;
mod load;
mod normal;
mod random;
mod sandbox;
mod shell;
mod tools;
mod tree;

use std::process::ExitCode;

use clap::{Parser, Subcommand};

#[derive(Debug, Parser)]
#[command(name = "cargo xtask", bin_name = "cargo xtask", about = "Development commands of Overtone")]
struct Arguments {
    #[command(subcommand)]
    command: Task,
}

#[derive(Debug, Subcommand)]
enum Task {
    /// Everything that CI checks; stops at the first failure
    ///
    /// Format, clippy, tests, layer invariants, generated files, the real clients, a real browser, faults, load,
    /// kills, fuzzing and dependency rules (cargo-deny, installed below the target folder when
    /// it is missing). Run it before you push.
    Ci {
        /// Only these steps, such as --only e2e,browser
        #[arg(long, value_name = "STEPS", value_delimiter = ',')]
        only: Vec<String>,
    },
    /// Check who may depend on whom
    ///
    /// The rules are a table in xtask/src/layers/rules.rs: which crates are pure, and what the hook path must
    /// never link because it would be paid for on every tool call.
    Layers,
    /// Write the Claude Code plugin (plugins/overtone) from the registry
    ///
    /// Edit crates/core/src/registry or crates/claude, never the generated files, then run this and commit both.
    Codegen {
        /// Write nothing; fail when the folder is stale
        #[arg(long)]
        check: bool,
    },
    /// Look for known vulnerabilities of our dependencies, without a network
    ///
    /// Compares the lock files with a pinned table of the `RustSec` database, which --from renews from a clone of it;
    /// --online asks the newest one.
    Advisories(advisories::Options),
    /// Build both programs and install Overtone with them
    ///
    /// The same as `cargo xtask dist`, then `overtone up` with the arguments given here.
    Up {
        /// Arguments of `overtone up`
        #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
        arguments: Vec<String>,
    },
    /// Build the static release programs: <target>/dist/overtone and overtone-hook
    ///
    /// For musl when rustup has or gets that target, else for glibc with a static C runtime: a dynamic loader
    /// would double the time that a hook takes to start.
    Dist,
    /// Measure every hook, the status line and ccc: time, instructions, system calls, memory, growth
    ///
    /// Builds the dist binary first, and compares it in the same run with /bin/true, with a program that does nothing
    /// and with hooks for jq, Python and Node that do the same. The sessions go up to 1,000,000 events and a transcript
    /// of 200 MB. A full run writes docs/benchmarks. The bars are a table in xtask/src/bench/budgets.rs: counts always
    /// decide the exit code; wall time depends on the machine's load and decides only with --strict.
    Bench(bench::Options),
    /// Put the dashboard under load and hold it against its bars
    ///
    /// 1,000 sessions with 1,000,000 events on disk; 200 listeners while 500 events arrive every second.
    Load(load::Options),
    /// Put the relay under load, with a real server
    ///
    /// 1,000 sessions with 200,000 events waiting, then 500 a second: how many a second go through one relay, how long
    /// each takes to a listener, what the relay uses. And what hooks cost without a fleet, with a relay, and with a
    /// relay whose server is gone. Times decide the exit code only with --strict.
    Fleet(fleet::Options),
    /// Let many processes work on one session, and on many sessions at once
    ///
    /// 64 processes with 200 starts each: hooks of all kinds, status lines and commands on one session, every update
    /// with a mark that must be there exactly once; 200 sessions at once that must come out as one alone does; locks
    /// whose holder was killed or stopped. Prints how long the session's lock was waited for, which decides the exit
    /// code only with --strict: it depends on the machine's load.
    Crowd(crowd::Options),
    /// Kill processes at random instants and look at what they leave behind
    ///
    /// At least 2,000 hooks, commands and calls of ccc, each with SIGKILL at some instant between its start and its
    /// end. Afterwards every file must be as it was before or as it would have become, the person's own settings
    /// untouched, left-overs few, and the next run of the same command a success.
    Kills(kills::Options),
    /// Let the machine fail, one system call at a time, and see what is lost
    ///
    /// Runs every hook, the status line, `ccc` and every command that writes under strace (Debian's, installed when it
    /// is missing), and makes each call on files fail once with each error that it can have: hooks answer all the same,
    /// commands say what went wrong, and every file is the old or the new one. Then come a clock that goes backwards,
    /// files of other versions, a session that is deleted meanwhile, a home without the right to write, a full disk and
    /// a file system without locks. Builds the dist binary first.
    Faults(faults::Options),
    /// Run the end-to-end tests: the real Claude Code clients against a scripted API on loopback
    ///
    /// Fetches the versions of crates/testkit/clients.txt with npm when they are missing, builds the dev binary and
    /// runs crates/testkit/tests/e2e. `OVERTONE_E2E_KEEP=1` keeps the folders of failed tests.
    E2e(e2e::Options),
    /// Run the dashboard's page in a real browser
    ///
    /// Installs Chromium (Debian) and the pinned npm packages of tests/browser when they are missing, builds the
    /// dev binary and runs tests/browser against servers of it.
    Browser(browser::Options),
    /// Feed the readers of foreign input with what nobody expects (libFuzzer)
    ///
    /// Eight targets in fuzz/: payloads, verdicts, tasks.md, front matter, ccc.json, settings, the reviewer's stream
    /// and query strings. Two minutes for all of them; a long run: `cargo xtask fuzz wire --seconds 3600`. What is
    /// found stays below the target folder; --keep puts the best of it into fuzz/seeds.
    Fuzz(fuzz::Options),
}

fn main() -> ExitCode {
    let outcome = match Arguments::parse().command {
        Task::Ci { only } => ci::run(&only),
        Task::Layers => layers::run(),
        Task::Codegen { check: true } => codegen::check(),
        Task::Codegen { check: false } => codegen::write(),
        Task::Advisories(options) => advisories::run(&options),
        Task::Up { arguments } => dist::up(&arguments),
        Task::Dist => dist::run(),
        Task::Bench(options) => bench::run(&options),
        Task::Load(options) => load::run(&options),
        Task::Crowd(options) => crowd::run(&options),
        Task::Fleet(options) => fleet::run(&options),
        Task::Kills(options) => kills::run(&options),
        Task::Faults(options) => faults::run(&options),
        Task::E2e(options) => e2e::run(&options),
        Task::Browser(options) => browser::run(&options),
        Task::Fuzz(options) => fuzz::run(&options),
    };
    match outcome {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::FAILURE
        }
    }
}
