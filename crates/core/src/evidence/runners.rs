//! Reads the output of test runners: how many tests ran, failed and were skipped.
//!
//! A runner is recognised by its own closing lines, since the command is often only `make test`. The formats are strict
//! enough that "3 passed" in a sentence is not taken for one. The beginning of the output may be missing.

mod go;
mod gradle;
mod javascript;
mod output;
mod python;
mod rust;
mod summaries;
mod tap;

use crate::evidence::TestCounts;
use crate::evidence::commands::{CommandKind, classify};

/// The tests of a run, summed over all runners in the output. `None` if no runner was recognised, or if the
/// recognised ones do not say how many tests they ran.
///
/// - `run` are executed tests, and `skipped` are those that the runner reports as skipped, ignored, pending, to do or expected
///   to fail.
/// - `go test` and Gradle name only failed tests unless they are verbose. Then `run` is at least as large as `failed`.
/// - A command that only shows files has run nothing, so a test log in its output does not count.
pub fn count_tests(command: &str, output: &str) -> Option<TestCounts> {
    if !command.trim().is_empty() && classify(command) == CommandKind::ReadOnly {
        return None;
    }
    let plain = output::without_escapes(output);
    let lines: Vec<&str> = plain.split('\n').map(output::visible_line).collect();
    let mut tally = Tally::default();
    for at in 0..lines.len() {
        for reader in READERS {
            if let Some(counts) = reader(&lines, at) {
                tally.add(counts);
                break;
            }
        }
    }
    go::count(&lines, &mut tally);
    gradle::count(&lines, &mut tally);
    tap::count(&lines, &mut tally);
    tally.result()
}

/// Reads the summary that has its decisive line at this index. The reader may look at the lines around it.
type Reader = fn(&[&str], usize) -> Option<TestCounts>;

const READERS: [Reader; 22] = [
    rust::cargo_test,
    rust::nextest,
    python::pytest,
    python::unittest,
    javascript::jest,
    javascript::vitest,
    javascript::node,
    javascript::mocha,
    javascript::playwright,
    javascript::bun,
    javascript::deno,
    summaries::surefire,
    summaries::dotnet,
    summaries::dotnet_summary,
    summaries::dotnet_verbose,
    summaries::rspec,
    summaries::minitest,
    summaries::phpunit,
    summaries::pest,
    summaries::exunit,
    summaries::ctest,
    summaries::nothing_to_run,
];

/// What the readers have found so far.
#[derive(Debug, Default)]
struct Tally {
    counts: TestCounts,
    is_recognised: bool,
    /// Some tests ran whose number is unknown.
    has_uncounted: bool,
}

impl Tally {
    fn add(&mut self, counts: TestCounts) {
        self.is_recognised = true;
        self.counts.run = self.counts.run.saturating_add(counts.run);
        self.counts.failed = self.counts.failed.saturating_add(counts.failed);
        self.counts.skipped = self.counts.skipped.saturating_add(counts.skipped);
    }

    fn add_uncounted(&mut self) {
        self.is_recognised = true;
        self.has_uncounted = true;
    }

    fn result(&self) -> Option<TestCounts> {
        let is_unknown = self.has_uncounted && self.counts.run == 0;
        if self.is_recognised && !is_unknown { Some(self.counts) } else { None }
    }
}

impl TestCounts {
    /// The counts of a runner that reports passed and failed tests.
    fn new(passed: u32, failed: u32, skipped: u32) -> Self {
        Self { run: passed.saturating_add(failed), failed, skipped }
    }

    /// The counts of a runner that includes the skipped tests in the total.
    fn from_total(total: u32, failed: u32, skipped: u32) -> Self {
        // Errors outside of tests are not part of the total.
        Self { run: total.saturating_sub(skipped).max(failed), failed, skipped }
    }
}

#[cfg(test)]
mod tests;
