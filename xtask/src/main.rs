//! Development commands. `cargo xtask ci` is everything that CI checks; this file only knows their names.

mod advisories;
mod background;
mod bench;
mod browser;
mod ci;
mod codegen;
mod crowd;
mod deny;
mod discipline;
mod dist;
mod e2e;
mod elf;
mod error;
mod faults;
mod fleet;
mod fuzz;
mod kit;
mod layers;
mod load;
mod markdown;
mod measure;
mod peers;
mod proof;
mod runner;
mod sandbox;
mod sealed;
mod shell;
mod tokens;
mod tools;
mod traffic;
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
    /// Format, clippy, all tests with the real clients, layer invariants, generated files, a real browser, dependency
    /// rules, short parts of the proofs, and of the token measurement. Installs what is missing, and says so: the table is in xtask/src/tools.rs.
    /// Run it before you push.
    Ci(ci::Options),
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
    /// Compares the lock file with a pinned table of the `RustSec` database, which --from renews from a clone of it;
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
    /// Run one of the long proofs; without a name it lists them
    ///
    /// `cargo xtask ci` has a short part of faults, crowd and fuzz. ARCHITECTURE.md says what each is for.
    #[command(arg_required_else_help = true)]
    Proof {
        #[command(subcommand)]
        proof: proof::Proof,
    },
    /// Run the end-to-end tests: the real Claude Code clients against a scripted API on loopback
    ///
    /// Fetches the versions of crates/testkit/clients.txt with npm when they are missing, builds the dev binary and
    /// runs crates/testkit/tests/e2e. They are part of the step `test` of `ci`. `OVERTONE_E2E_KEEP=1` keeps the folders of failed tests.
    E2e(e2e::Options),
    /// Play scripted misbehaviour and honest work in the real client, with and without a gate
    ///
    /// The bare client, peers from npm, and Overtone at both guard levels. Prints who caught what, at which cost, and fails
    /// if a bar is broken; docs/discipline.md has the method. `cargo xtask ci` has a part of it among its tests.
    Discipline(discipline::Options),
    /// Measure what Overtone costs in input tokens, by scripted sessions in the real client
    ///
    /// The same small job by the client alone, by each workflow, in each profile and language, and with peers from npm. Prints
    /// where the input comes from and what a cache leaves of its cost; docs/benchmarks/tokens.md has the method. Byte counts
    /// are the same in every run: --check, a step of `ci`, fails if they differ from xtask/src/tokens/counts.tsv.
    Tokens(tokens::Options),
    /// Run the dashboard's page in a real browser
    ///
    /// Installs Chromium (Debian) and the pinned npm packages of tests/browser when they are missing, builds the
    /// dev binary and runs tests/browser against servers of it.
    Browser(browser::Options),
}

fn main() -> ExitCode {
    let outcome = match Arguments::parse().command {
        Task::Ci(options) => ci::run(&options),
        Task::Layers => layers::run(),
        Task::Codegen { check: true } => codegen::check(),
        Task::Codegen { check: false } => codegen::write(),
        Task::Advisories(options) => advisories::run(&options),
        Task::Up { arguments } => dist::up(&arguments),
        Task::Dist => dist::run(),
        Task::Proof { proof } => proof::run(&proof),
        Task::E2e(options) => e2e::run(&options),
        Task::Discipline(options) => discipline::run(&options),
        Task::Tokens(options) => tokens::run(&options),
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
