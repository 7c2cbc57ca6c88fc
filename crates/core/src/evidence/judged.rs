//! Everything that was found out about the work behind one report.

use std::ops::AddAssign;

use crate::engine::state::{Millis, SendBackReason};
use crate::evidence::{Activity, CheckEnd, Receipt, SourceTests, TestCounts};
use crate::registry::StageKey;

/// The result of a check on the work tree as it is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CheckResult {
    pub receipt: Receipt,
    /// The end of its output, for an agent that has to repair what failed. Empty for an earlier run.
    pub last_lines: String,
    /// The receipt of the last run before this one that succeeded.
    pub previous: Option<Receipt>,
    /// The check was run now. Otherwise an earlier run is still valid.
    pub is_new: bool,
}

impl CheckResult {
    /// The counts before and after, if the check succeeded with fewer tests than before, or with more of them skipped.
    pub fn lost_tests(&self) -> Option<(TestCounts, TestCounts)> {
        let before = self.previous.as_ref()?.counts?;
        let after = self.receipt.counts?;
        let is_lost = after.run < before.run || after.skipped > before.skipped;
        (is_lost && self.receipt.failure().is_none()).then_some((before, after))
    }
}

/// How the work tree differs from the one before the agent started.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct TreeChange {
    pub files: Vec<String>,
    /// The tests that the changed files declared before, and now. Tests that were moved are in both.
    pub tests_before: SourceTests,
    pub tests_after: SourceTests,
    pub assertions: AssertionChange,
}

/// What has changed since the workflow began.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct WorkflowChange {
    /// The commit at the beginning.
    pub base: String,
    pub files: Vec<String>,
}

/// How the assertions of the changed files differ.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct AssertionChange {
    pub before: u32,
    pub after: u32,
    /// How many of those before are not there any more, because they were removed or changed.
    pub gone: u32,
}

impl TreeChange {
    /// Whether there are fewer tests than before, or more of them are disabled.
    pub fn removes_tests(&self) -> bool {
        self.tests_after.tests < self.tests_before.tests
            || self.tests_after.skipped > self.tests_before.skipped
    }

    /// Whether the tests check less than before, although there are as many of them.
    pub fn removes_assertions(&self) -> bool {
        self.assertions.after < self.assertions.before
    }
}

impl AddAssign for SourceTests {
    fn add_assign(&mut self, other: Self) {
        self.tests = self.tests.saturating_add(other.tests);
        self.skipped = self.skipped.saturating_add(other.skipped);
    }
}

/// What Overtone found out about the work behind a report. What could not be found out is `None` and not held against the
/// agent.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Evidence {
    /// The results of the checks that are needed.
    pub checks: Vec<CheckResult>,
    /// The names of checks that are needed and were not run, because the user has not allowed them.
    pub untrusted: Vec<String>,
    /// How the work tree has changed since the agent started.
    pub change: Option<TreeChange>,
    /// What the agent has done, according to its transcript.
    pub activity: Option<Activity>,
    /// The report says PASS, but its last count of tests has failed ones.
    pub reports_failures: bool,
}

impl Evidence {
    /// The checks that did not succeed.
    pub fn failed_checks(&self) -> impl Iterator<Item = &CheckResult> {
        self.checks.iter().filter(|check| check.receipt.failure().is_some())
    }

    /// The least evidence for which a report is sent back or fails for this reason. A recorded session has the reason, but
    /// not the evidence.
    pub fn that_objects(reason: SendBackReason) -> Self {
        let mut evidence = Self::default();
        match reason {
            SendBackReason::NoVerdict | SendBackReason::OpenTasks => {}
            SendBackReason::ChecksFailed => evidence.checks.push(stand_in(CheckEnd::Exited(1), 1, None)),
            SendBackReason::FewerTests => {
                let previous = stand_in(CheckEnd::Exited(0), 2, None).receipt;
                evidence.checks.push(stand_in(CheckEnd::Exited(0), 1, Some(previous)));
            }
            SendBackReason::NothingChanged => evidence.change = Some(TreeChange::default()),
            SendBackReason::TestsRemoved => {
                let tests_before = SourceTests { tests: 1, skipped: 0 };
                let files = vec![String::new()];
                evidence.change = Some(TreeChange { files, tests_before, ..TreeChange::default() });
            }
            SendBackReason::TestsChanged => {
                let files = vec![String::new()];
                let assertions = AssertionChange { before: 1, after: 1, gone: 1 };
                evidence.change = Some(TreeChange { files, assertions, ..TreeChange::default() });
            }
            SendBackReason::Contradiction => evidence.reports_failures = true,
            SendBackReason::NothingRun | SendBackReason::NothingRead => {
                evidence.activity = Some(Activity::default());
            }
            SendBackReason::TestFailed => {
                evidence.activity = Some(Activity { runs: 1, last_test_failed: true, ..Activity::default() });
            }
        }
        evidence
    }

    /// The least evidence for which these stages fail at the end of a workflow.
    pub fn that_fails_stages(keys: &[StageKey]) -> Self {
        let failed = |key: &StageKey| {
            let mut check = stand_in(CheckEnd::Exited(1), 1, None);
            check.receipt.stage = Some(*key);
            check
        };
        Self { checks: keys.iter().map(failed).collect(), ..Self::default() }
    }
}

fn stand_in(end: CheckEnd, run: u32, previous: Option<Receipt>) -> CheckResult {
    let receipt = Receipt {
        check: String::new(),
        command: String::new(),
        stage: None,
        end,
        started_at: Millis::default(),
        duration_ms: 0,
        counts: Some(TestCounts { run, ..TestCounts::default() }),
        tree: String::new(),
        log: None,
    };
    CheckResult { receipt, last_lines: String::new(), previous, is_new: true }
}
