//! Checks: commands of the project that have to succeed before a stage passes, and the receipts of their runs.

use std::time::Duration;

use crate::engine::state::Millis;
use crate::registry::{Stage, StageKey};

/// A command of the project, from `overtone.toml`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Check {
    pub name: String,
    /// Run by the shell, in the project's root.
    pub run: String,
    /// The stages whose pass depends on it.
    pub stages: Vec<Stage>,
    pub timeout: Duration,
}

/// How many tests a run had, as its runner reports them.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct TestCounts {
    /// Tests that ran, whatever their result was. Skipped tests are not among them.
    pub run: u32,
    pub failed: u32,
    pub skipped: u32,
}

/// How the run of a check ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum CheckEnd {
    Exited(i32),
    Signalled(i32),
    /// It was killed at its time limit.
    TimedOut,
    /// The shell could not be started, for this reason.
    NotStarted(String),
}

/// The proof that a check was run on a certain state of the work tree.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Receipt {
    pub check: String,
    pub command: String,
    /// The stage that needed it. `None` if the user ran it.
    pub stage: Option<StageKey>,
    pub end: CheckEnd,
    pub started_at: Millis,
    pub duration_ms: i64,
    /// `None` for a runner that is not known.
    pub counts: Option<TestCounts>,
    /// The fingerprint of the work tree, the same before and after the run.
    pub tree: String,
    /// The file with the output, relative to the session's folder.
    pub log: Option<String>,
}

/// Why a run does not count as a success.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CheckFailure {
    ExitCode(i32),
    Signal(i32),
    TimedOut,
    NotStarted,
    /// The runner reports failed tests although it exited with 0.
    FailedTests(u32),
    /// The runner is known and ran no test.
    NoTestRun,
}

impl Receipt {
    /// Why the run failed. `None` if it succeeded.
    pub fn failure(&self) -> Option<CheckFailure> {
        match self.end {
            CheckEnd::Exited(0) => match self.counts {
                Some(TestCounts { failed, .. }) if failed > 0 => Some(CheckFailure::FailedTests(failed)),
                Some(TestCounts { run: 0, .. }) => Some(CheckFailure::NoTestRun),
                _ => None,
            },
            CheckEnd::Exited(code) => Some(CheckFailure::ExitCode(code)),
            CheckEnd::Signalled(signal) => Some(CheckFailure::Signal(signal)),
            CheckEnd::TimedOut => Some(CheckFailure::TimedOut),
            CheckEnd::NotStarted(_) => Some(CheckFailure::NotStarted),
        }
    }

    /// Whether the run succeeded on this state of the work tree.
    pub fn proves(&self, check: &Check, tree: &str) -> bool {
        self.check == check.name && self.command == check.run && self.tree == tree && self.failure().is_none()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn receipt(end: CheckEnd, counts: Option<TestCounts>) -> Receipt {
        Receipt {
            check: "test".to_owned(),
            command: "make test".to_owned(),
            stage: None,
            end,
            started_at: Millis(0),
            duration_ms: 1,
            counts,
            tree: "t1".to_owned(),
            log: None,
        }
    }

    #[test]
    fn a_green_run_without_a_test_has_failed() {
        let none = TestCounts::default();
        let cases = [
            (CheckEnd::Exited(0), None, None),
            (CheckEnd::Exited(0), Some(TestCounts { run: 3, ..none }), None),
            (CheckEnd::Exited(0), Some(none), Some(CheckFailure::NoTestRun)),
            (CheckEnd::Exited(0), Some(TestCounts { skipped: 4, ..none }), Some(CheckFailure::NoTestRun)),
            (
                CheckEnd::Exited(0),
                Some(TestCounts { run: 3, failed: 1, ..none }),
                Some(CheckFailure::FailedTests(1)),
            ),
            (CheckEnd::Exited(2), Some(TestCounts { run: 3, ..none }), Some(CheckFailure::ExitCode(2))),
            (CheckEnd::Signalled(9), None, Some(CheckFailure::Signal(9))),
            (CheckEnd::TimedOut, None, Some(CheckFailure::TimedOut)),
            (CheckEnd::NotStarted("no sh".to_owned()), None, Some(CheckFailure::NotStarted)),
        ];
        for (end, counts, failure) in cases {
            assert_eq!(receipt(end.clone(), counts).failure(), failure, "{end:?} {counts:?}");
        }
    }

    #[test]
    fn a_receipt_counts_for_its_command_and_its_tree_only() {
        let check = Check {
            name: "test".to_owned(),
            run: "make test".to_owned(),
            stages: vec![Stage::Dev],
            timeout: Duration::from_secs(1),
        };
        let green = receipt(CheckEnd::Exited(0), None);
        assert!(green.proves(&check, "t1"));
        assert!(!green.proves(&check, "t2"));
        assert!(!green.proves(&Check { run: "true".to_owned(), ..check.clone() }, "t1"));
        assert!(!receipt(CheckEnd::Exited(1), None).proves(&check, "t1"));
    }
}
