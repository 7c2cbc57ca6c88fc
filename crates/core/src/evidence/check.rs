//! Checks: commands of the project that have to succeed before a stage passes, and the receipts of their runs.

use std::time::Duration;

use crate::engine::state::{Millis, StageState};
use crate::registry::{Stage, StageKey, TestMode, limits};

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

/// The longest name of a check.
const MAX_NAME_BYTES: usize = 64;

impl Check {
    pub const DEFAULT_TIMEOUT: Duration = Duration::from_secs(limits::CHECK_SECONDS);
    pub const MAX_TIMEOUT: Duration = Duration::from_secs(limits::MAX_CHECK_SECONDS);
    pub const DEFAULT_STAGES: [Stage; 2] = [Stage::Dev, Stage::Test];

    /// Whether a check may have this name: lower-case words and numbers, joined by hyphens. A file is named after it.
    pub fn is_name(text: &str) -> bool {
        let is_word = |word: &str| {
            !word.is_empty() && word.bytes().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit())
        };
        text.len() <= MAX_NAME_BYTES && text.split('-').all(is_word)
    }

    /// Whether a pass of this stage depends on the check. A TEST before development writes tests that cannot succeed yet.
    pub fn is_needed_by(&self, stage: &StageState) -> bool {
        stage.mode != Some(TestMode::Spec) && self.stages.contains(&stage.key.stage)
    }

    /// Whether two definitions are the same. The order of the stages does not matter.
    fn is_same_as(&self, other: &Self) -> bool {
        let has_all = |one: &Self, two: &Self| one.stages.iter().all(|stage| two.stages.contains(stage));
        self.name == other.name
            && self.run == other.run
            && self.timeout == other.timeout
            && has_all(self, other)
            && has_all(other, self)
    }

    /// Whether two lists define exactly the same checks. Their order does not matter.
    pub fn are_same(one: &[Self], other: &[Self]) -> bool {
        let has_all =
            |one: &[Self], two: &[Self]| one.iter().all(|check| two.iter().any(|c| c.is_same_as(check)));
        one.len() == other.len() && has_all(one, other) && has_all(other, one)
    }
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

    fn check() -> Check {
        Check {
            name: "test".to_owned(),
            run: "make test".to_owned(),
            stages: vec![Stage::Dev, Stage::Test],
            timeout: Duration::from_secs(1),
        }
    }

    #[test]
    fn names_are_safe_as_file_names() {
        for name in ["test", "test-node", "e2e", "a-1-b"] {
            assert!(Check::is_name(name), "{name}");
        }
        for name in ["", "-", "a-", "-a", "a--b", "Test", "a b", "a/b", "..", "a.b", "測試", "a_b", "a\n"] {
            assert!(!Check::is_name(name), "{name}");
        }
        assert!(Check::is_name(&"a".repeat(64)) && !Check::is_name(&"a".repeat(65)));
    }

    #[test]
    fn a_specification_needs_no_check() {
        let key = StageKey::first(Stage::Test);
        assert!(check().is_needed_by(&StageState::pending(key, Some(TestMode::Verify))));
        assert!(!check().is_needed_by(&StageState::pending(key, Some(TestMode::Spec))));
        assert!(!check().is_needed_by(&StageState::pending(StageKey::first(Stage::Review), None)));
    }

    #[test]
    fn any_change_of_a_definition_makes_another_one() {
        let lint = Check { name: "lint".to_owned(), ..check() };
        let (one, swapped) = ([check(), lint.clone()], [lint.clone(), check()]);
        assert!(Check::are_same(&one, &swapped));
        let turned = Check { stages: vec![Stage::Test, Stage::Dev], ..check() };
        assert!(Check::are_same(&[turned], &[check()]));
        let others = [
            Check { name: "tests".to_owned(), ..check() },
            Check { run: "make tests".to_owned(), ..check() },
            Check { stages: vec![Stage::Dev], ..check() },
            Check { stages: vec![Stage::Dev, Stage::Test, Stage::Qa], ..check() },
            Check { timeout: Duration::from_secs(2), ..check() },
        ];
        for other in others {
            let (one, two) = ([other], [check()]);
            assert!(!Check::are_same(&one, &two) && !Check::are_same(&two, &one), "{one:?}");
        }
        assert!(!Check::are_same(&one, &[check()]) && !Check::are_same(&[check(), check()], &one));
    }

    #[test]
    fn a_receipt_counts_for_its_command_and_its_tree_only() {
        let check = check();
        let green = receipt(CheckEnd::Exited(0), None);
        assert!(green.proves(&check, "t1"));
        assert!(!green.proves(&check, "t2"));
        assert!(!green.proves(&Check { run: "true".to_owned(), ..check.clone() }, "t1"));
        assert!(!receipt(CheckEnd::Exited(1), None).proves(&check, "t1"));
    }
}
