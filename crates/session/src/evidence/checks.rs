//! Runs the checks of a project and keeps their receipts.

mod output;
mod progress;
mod run;

use std::path::Path;
use std::time::Duration;

use overtone_core::evidence::{Check, CheckResult, Receipt, count_tests};
use overtone_core::registry::StageKey;
use overtone_store::{Session, StoreError, clock, files};

use crate::evidence::WorkTree;

pub use output::Output;
pub use progress::{RunningCheck, running_check};
pub use run::{Finished, run_check};

/// Checks of one session run one after the other. A hook that waits for another one's checks finds their receipts
/// afterwards.
const LOCK_LIMIT: Duration = Duration::from_hours(2);

/// Where checks run and where their receipts are kept.
#[derive(Debug)]
pub struct CheckContext<'a> {
    pub session: &'a Session,
    pub project: &'a Path,
    /// The stage that needs them.
    pub stage: Option<StageKey>,
}

impl CheckContext<'_> {
    /// The results of these checks on the work tree as it is now. A check that has succeeded on exactly this tree is not run
    /// again.
    pub fn results(&self, checks: &[&Check]) -> Result<Vec<CheckResult>, StoreError> {
        if checks.is_empty() {
            return Ok(Vec::new());
        }
        let lock = self.session.dir().join(".checks-lock");
        let _lock = files::lock_file(&lock, LOCK_LIMIT).map_err(|error| StoreError::io(&lock, error))?;
        checks.iter().map(|check| self.result(check)).collect()
    }

    fn result(&self, check: &Check) -> Result<CheckResult, StoreError> {
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
        let (receipt, last_lines) = self.run(check)?;
        Ok(CheckResult { receipt, last_lines, previous, is_new: true })
    }

    /// Runs a check and stores its receipt. If the check itself changes files, as a formatter does, the receipt is for the
    /// tree that it leaves.
    fn run(&self, check: &Check) -> Result<(Receipt, String), StoreError> {
        let started_at = clock::now();
        let _shown = progress::show(self.session, check, started_at);
        let finished = run_check(check, self.project, |_| {});
        let log = format!("checks/{}.log", check.name);
        self.session.save_check_log(&log, &finished.output.to_bytes())?;
        let text = finished.output.to_text();
        let receipt = Receipt {
            check: check.name.clone(),
            command: check.run.clone(),
            stage: self.stage,
            counts: count_tests(&check.run, &text),
            end: finished.end,
            started_at,
            duration_ms: i64::try_from(finished.duration.as_millis()).unwrap_or(i64::MAX),
            tree: self.fingerprint(),
            log: Some(log),
        };
        self.session.add_receipt(&receipt)?;
        Ok((receipt, output::last_lines(&text)))
    }

    /// The fingerprint of the work tree. If it cannot be read, the result matches no other, so that no receipt is believed
    /// for a tree that is not known.
    fn fingerprint(&self) -> String {
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
