//! Development commands. `cargo xtask ci` is everything that CI checks; this file only knows their names.

mod bench;
mod browser;
mod ci;
mod codegen;
mod dist;
mod e2e;
mod elf;
mod error;
mod layers;
mod load;
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
    /// Format, clippy, tests, layer invariants, dependency rules (cargo-deny, installed below the target
    /// folder when it is missing) and generated files. Run it before you push.
    Ci,
    /// Check who may depend on whom
    ///
    /// The rules are a table in xtask/src/layers/rules.rs: which crates are pure, and what the hook path must
    /// never link because it would be paid for on every tool call.
    Layers,
    /// Write the Claude Code plugin (plugins/overtone) from the registry
    ///
    /// Edit crates/registry or crates/plugin, never the generated files, then run this and commit both.
    Codegen {
        /// Write nothing; fail when the folder is stale
        #[arg(long)]
        check: bool,
    },
    /// Build the static release binary: <target>/dist/overtone
    ///
    /// For musl when rustup has or gets that target, else for glibc with a static C runtime: a dynamic loader
    /// would double the time that a hook takes to start.
    Dist,
    /// Measure every hook against /bin/true: time, instructions, memory, growth with the session's length
    ///
    /// Builds the dist binary first. The bars are a table in xtask/src/bench/budgets.rs. Instructions, growth in
    /// instructions, memory and behaviour decide the exit code; wall time depends on the machine's load and
    /// decides only with --strict.
    Bench(bench::Options),
    /// Put the dashboard under load and hold it against its bars
    ///
    /// 1,000 sessions with 1,000,000 events on disk; 200 listeners while 500 events arrive every second.
    Load(load::Options),
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
}

fn main() -> ExitCode {
    let outcome = match Arguments::parse().command {
        Task::Ci => ci::run(),
        Task::Layers => layers::run(),
        Task::Codegen { check: true } => codegen::check(),
        Task::Codegen { check: false } => codegen::write(),
        Task::Dist => dist::run(),
        Task::Bench(options) => bench::run(&options),
        Task::Load(options) => load::run(&options),
        Task::E2e(options) => e2e::run(&options),
        Task::Browser(options) => browser::run(&options),
    };
    match outcome {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::FAILURE
        }
    }
}
