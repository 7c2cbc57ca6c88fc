//! Runs the checks of a project and keeps their receipts.

mod output;
mod pinned;
mod progress;
mod run;

use std::path::Path;
use std::time::{Duration, Instant};

use overtone_core::engine::state::Millis;
use overtone_core::evidence::{Check, CheckEnd, CheckResult, Receipt, count_tests};
use overtone_core::registry::{StageKey, limits};
use overtone_store::{Session, StoreError, clock, files};

use crate::evidence::WorkTree;

pub use output::Output;
pub(crate) use output::last_lines;
pub use pinned::PinnedChecks;
pub use progress::{RunningCheck, running_check};
pub use run::{Finished, run_check};

/// How long the checks for one event may take. Waiting for the checks of another hook counts.
const TIME_LIMIT: Duration = Duration::from_secs(limits::ALL_CHECKS_SECONDS);

/// A check with the stage that needs it. `None` if the user runs it.
#[derive(Debug, Clone, Copy)]
pub struct NeededCheck<'a> {
    pub check: &'a Check,
    pub stage: Option<StageKey>,
}

/// Where checks run and where their receipts are kept.
#[derive(Debug)]
pub struct CheckContext<'a> {
    pub session: &'a Session,
    pub project: &'a Path,
}

impl CheckContext<'_> {
    /// The results of these checks on the work tree as it is now. A check that has succeeded on exactly this tree is not run
    /// again. A check that cannot be run or recorded has failed.
    pub fn results(&self, needed: &[NeededCheck]) -> Vec<CheckResult> {
        if needed.is_empty() {
            return Vec::new();
        }
        let deadline = Instant::now() + TIME_LIMIT;
        // Checks of one session run one after the other. A hook that waits for another one's checks finds their receipts.
        let lock = self.session.checks_lock_file();
        match files::lock_file(&lock, TIME_LIMIT) {
            Ok(_lock) => needed.iter().map(|needed| self.result(*needed, deadline)).collect(),
            Err(error) => {
                let error = StoreError::io(&lock, error).to_string();
                needed.iter().map(|needed| not_started(&needed.check.name, needed.stage, &error)).collect()
            }
        }
    }

    fn result(&self, needed: NeededCheck, deadline: Instant) -> CheckResult {
        match self.find_or_run(needed, deadline) {
            Ok(result) => result,
            Err(error) => not_started(&needed.check.name, needed.stage, &error.to_string()),
        }
    }

    fn find_or_run(&self, needed: NeededCheck, deadline: Instant) -> Result<CheckResult, StoreError> {
        let NeededCheck { check, stage } = needed;
        let receipts = self.session.receipts()?;
        let tree = self.fingerprint();
        let valid = receipts.iter().rfind(|receipt| receipt.proves(check, &tree));
        if let Some(receipt) = valid {
            let receipt = receipt.clone();
            return Ok(CheckResult { receipt, last_lines: String::new(), previous: None, is_new: false });
        }
        let previous = receipts
            .iter()
            .rfind(|receipt| receipt.check == check.name && receipt.failure().is_none())
            .cloned();
        let left = deadline.saturating_duration_since(Instant::now());
        let check = Check { timeout: check.timeout.min(left), ..check.clone() };
        let (receipt, last_lines) = self.run(NeededCheck { check: &check, stage }, |_| {})?;
        Ok(CheckResult { receipt, last_lines, previous, is_new: true })
    }

    /// Runs a check, whether it has a receipt or not, and stores its receipt. Returns it with the end of the output. If the
    /// check itself changes files, as a formatter does, the receipt is for the tree that it leaves.
    pub fn run(
        &self,
        needed: NeededCheck,
        on_output: impl FnMut(&[u8]) + Send + 'static,
    ) -> Result<(Receipt, String), StoreError> {
        let check = needed.check;
        let started_at = clock::now();
        let shown = progress::show(self.session, check, started_at);
        let finished = run_check(check, self.project, on_output);
        drop(shown);
        let log = format!("checks/{}.log", check.name);
        self.session.save_check_log(&log, &finished.output.to_bytes())?;
        let receipt = Receipt { log: Some(log), ..finished.receipt(needed, started_at, self.fingerprint()) };
        self.session.add_receipt(&receipt)?;
        Ok((receipt, last_lines(&finished.output.to_text())))
    }

    /// The fingerprint of the work tree. If it cannot be read, the result matches no other, so that no receipt is believed
    /// for a tree that is not known.
    pub fn fingerprint(&self) -> String {
        let now = match WorkTree::stored(self.session) {
            Some(earlier) => earlier.now(self.project),
            None => WorkTree::at_beginning(self.project),
        };
        match now {
            Some(tree) => tree.fingerprint(),
            None => format!("unknown-{}-{}", clock::now().0, std::process::id()),
        }
    }
}

impl Finished {
    /// The receipt of this run on this tree. The output is kept nowhere.
    pub fn receipt(&self, needed: NeededCheck, started_at: Millis, tree: String) -> Receipt {
        Receipt {
            check: needed.check.name.clone(),
            command: needed.check.run.clone(),
            stage: needed.stage,
            counts: count_tests(&needed.check.run, &self.output.to_text()),
            end: self.end.clone(),
            started_at,
            duration_ms: i64::try_from(self.duration.as_millis()).unwrap_or(i64::MAX),
            tree,
            log: None,
        }
    }
}

/// The result of a check that could not be run. The reason takes the place of its output.
pub(crate) fn not_started(check: &str, stage: Option<StageKey>, error: &str) -> CheckResult {
    let receipt = Receipt {
        check: check.to_owned(),
        command: String::new(),
        stage,
        end: CheckEnd::NotStarted(error.to_owned()),
        started_at: clock::now(),
        duration_ms: 0,
        counts: None,
        tree: String::new(),
        log: None,
    };
    CheckResult { receipt, last_lines: last_lines(error), previous: None, is_new: true }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use overtone_store::{Home, SessionId};

    use super::*;

    struct Fixture {
        folder: tempfile::TempDir,
        session: Session,
    }

    impl Fixture {
        fn new() -> Self {
            let folder = tempfile::tempdir().unwrap();
            fs::create_dir(folder.path().join("project")).unwrap();
            let home = Home::at(folder.path().join("home"));
            let session = home.session(&SessionId::parse("s").unwrap());
            session.create().unwrap();
            Self { folder, session }
        }

        /// A check that counts its runs outside of the project.
        fn check(&self, then: &str) -> Check {
            let runs = self.folder.path().join("runs");
            Check {
                name: "test".to_owned(),
                run: format!("echo run >> {}; {then}", runs.display()),
                stages: Check::DEFAULT_STAGES.to_vec(),
                timeout: Check::MAX_TIMEOUT,
            }
        }

        fn result(&self, check: &Check) -> CheckResult {
            let project = self.folder.path().join("project");
            let context = CheckContext { session: &self.session, project: &project };
            context.results(&[NeededCheck { check, stage: None }]).remove(0)
        }

        fn put(&self, text: &str) {
            let path = self.folder.path().join("project/a.txt");
            files::write_atomic(&path, text.as_bytes(), 0o644).unwrap();
        }

        fn runs(&self) -> usize {
            fs::read_to_string(self.folder.path().join("runs")).unwrap_or_default().lines().count()
        }
    }

    #[test]
    fn a_check_runs_once_for_a_tree() {
        let fixture = Fixture::new();
        let check = fixture.check("echo '3 passed in 0.1s'");
        fixture.put("one");
        let first = fixture.result(&check);
        assert!(first.is_new && first.receipt.failure().is_none(), "{first:?}");
        assert_eq!(first.receipt.counts.unwrap().run, 3);
        let log = fs::read_to_string(fixture.session.dir().join("checks/test.log")).unwrap();
        assert_eq!(log, "3 passed in 0.1s\n");
        assert!(!fixture.result(&check).is_new);
        assert_eq!(fixture.runs(), 1);
        fixture.put("two");
        let second = fixture.result(&check);
        assert!(second.is_new && second.previous == Some(first.receipt));
        assert_eq!(fixture.runs(), 2);
        let other = Check { run: check.run.clone() + " ", ..check };
        assert!(fixture.result(&other).is_new, "another command proves something else");
    }

    #[test]
    fn a_red_check_is_run_again() {
        let fixture = Fixture::new();
        let check = fixture.check("echo boom; exit 3");
        for runs in 1..3 {
            let result = fixture.result(&check);
            assert_eq!((result.receipt.end, result.last_lines.as_str()), (CheckEnd::Exited(3), "boom"));
            assert_eq!(fixture.runs(), runs);
        }
    }

    #[test]
    fn a_check_whose_receipt_cannot_be_kept_has_failed() {
        let fixture = Fixture::new();
        fs::create_dir(fixture.session.dir().join("receipts.jsonl")).unwrap();
        let result = fixture.result(&fixture.check("true"));
        assert!(matches!(result.receipt.end, CheckEnd::NotStarted(_)), "{result:?}");
        assert!(result.last_lines.contains("receipts.jsonl"), "{result:?}");
    }
}
