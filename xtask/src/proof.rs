//! `cargo xtask proof`: the long proofs, and which of them have a short part in `cargo xtask ci`.

use clap::Subcommand;

use crate::ci::Step;
use crate::error::Result;
use crate::tools::Need;
use crate::{bench, crowd, faults, fleet, fuzz, load, traffic};

/// Each proof with its own options. The comments are the help.
#[derive(Debug, Subcommand)]
pub(crate) enum Proof {
    /// Let every system call on files fail, and kill programs at each of them
    ///
    /// Runs every hook, the status lines, `ccc` and every command that writes under strace (Debian's, installed when it is
    /// missing), with an error and a kill at each call, with writes that stop half-way, with their session deleted
    /// meanwhile, and in unusual environments: full disk, no permissions, no locks, clock back, files of other versions.
    /// Hooks answer all the same, commands say what went wrong, every file is the old or the new one, and the next run
    /// ends where it would have without the fault. Builds the dist binary first.
    Faults(faults::Options),
    /// Let many processes work on one session, and on many sessions at once
    ///
    /// 64 processes with 200 starts each: hooks of all kinds, status lines and commands on one session, every update
    /// with a mark that must be there exactly once; 200 sessions at once that must come out as one alone does. Prints
    /// how long the session's lock was waited for, which decides the exit code only with --strict: it depends on the
    /// machine's load.
    Crowd(crowd::Options),
    /// Search for input that breaks a reader of foreign data (cargo-fuzz)
    ///
    /// Ten targets in fuzz/, which `cargo test` runs with their seeds only: payloads, verdicts, commands, tasks.md, front
    /// matter, ccc.json, settings, the reviewer's stream, query strings and the fleet's messages. A minute for each; a
    /// long run: `cargo xtask proof fuzz wire --seconds 3600`. The inputs that are found stay in fuzz/corpus and
    /// fuzz/artifacts.
    Fuzz(fuzz::Options),
    /// Measure every hook, the status lines and ccc: instructions, system calls, memory, time
    ///
    /// Builds the dist programs first, and compares them with /bin/true and with a hook in Node, in sessions of up to
    /// 1,000,000 events. A full run writes docs/benchmarks; --counts takes no times and needs no quiet machine. The bars
    /// are a table in xtask/src/bench/bars.rs: counts always decide the exit code, times only with --strict.
    Bench(bench::Options),
    /// Put the dashboard under load and hold it to its limits
    ///
    /// 1,000 sessions with 2,000,000 events on disk; 200 listeners while 500 events arrive every second.
    Load(traffic::Options),
    /// Put the relay under load, with a real server
    ///
    /// 1,000 sessions with 200,000 events waiting, then 500 a second: how many a second go through one relay, how long
    /// each takes to a listener, what the relay uses. And what hooks cost without a fleet, with a relay, and with a
    /// relay whose server is gone.
    Fleet(traffic::Options),
}

/// What `cargo xtask ci` runs of the proofs, with the development programs. The other proofs (bench, load, fleet) measure the
/// release programs on a quiet machine, which a check of a commit cannot count on.
pub(crate) const CI_PARTS: [Step; 2] = [
    Step { name: "faults", needs: &[Need::Program("strace")], run: faults::run_ci },
    Step { name: "crowd", needs: &[], run: crowd::run_ci },
];

pub(crate) fn run(proof: &Proof) -> Result<()> {
    match proof {
        Proof::Faults(options) => faults::run(options),
        Proof::Crowd(options) => crowd::run(options),
        Proof::Fuzz(options) => fuzz::run(options),
        Proof::Bench(options) => bench::run(options),
        Proof::Load(options) => load::run(options),
        Proof::Fleet(options) => fleet::run(options),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_part_in_ci_is_a_proof() {
        let command = Proof::augment_subcommands(clap::Command::new("proof"));
        for part in CI_PARTS {
            assert!(command.find_subcommand(part.name).is_some(), "{}", part.name);
        }
    }
}
