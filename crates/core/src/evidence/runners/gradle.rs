//! Gradle. It reports numbers only for tasks with a failed test, unless the build logs every test.

use super::Tally;
use super::output::{counted, leading_number};
use crate::evidence::TestCounts;

/// The tests between two lines of tasks belong to the first of them.
pub(super) fn count(lines: &[&str], tally: &mut Tally) {
    let mut task: Option<TestTask> = None;
    for line in lines {
        // Old versions print only the name.
        if let Some(name_and_state) = line.strip_prefix("> Task :").or_else(|| line.strip_prefix(':')) {
            end_task(task.take(), tally);
            task = TestTask::start(name_and_state, tally);
        } else if line.starts_with("BUILD SUCCESSFUL") || line.starts_with("BUILD FAILED") {
            end_task(task.take(), tally);
        } else if let Some(task) = &mut task {
            task.read(line);
        } else if let Some(total) = completed(line) {
            tally.add(total);
        }
    }
    end_task(task, tally);
}

#[derive(Debug, Default)]
struct TestTask {
    /// Counted from the lines of single tests.
    logged: TestCounts,
    has_passed: bool,
    /// From the line that follows a failure.
    total: Option<TestCounts>,
}

impl TestTask {
    /// The task if it runs tests now. Tasks that need not run are added at once.
    fn start(name_and_state: &str, tally: &mut Tally) -> Option<Self> {
        let mut words = name_and_state.split(' ');
        let name = words.next()?.rsplit(':').next()?;
        if name != "test" && !name.ends_with("Test") {
            return None;
        }
        match words.next() {
            None | Some("FAILED") => Some(Self::default()),
            Some("UP-TO-DATE" | "FROM-CACHE") => {
                tally.add_uncounted();
                None
            }
            // `NO-SOURCE` or `SKIPPED`
            Some(_) => {
                tally.add(TestCounts::default());
                None
            }
        }
    }

    fn read(&mut self, line: &str) {
        if let Some(total) = completed(line) {
            self.total = Some(total);
        } else if line.contains(" > ") {
            match line.rsplit(' ').next() {
                Some("PASSED") => {
                    self.logged.run += 1;
                    self.has_passed = true;
                }
                Some("FAILED") => {
                    self.logged.run += 1;
                    self.logged.failed += 1;
                }
                Some("SKIPPED") => self.logged.skipped += 1,
                _ => {}
            }
        }
    }
}

/// `5 tests completed, 1 failed, 1 skipped`
fn completed(line: &str) -> Option<TestCounts> {
    let (total, rest) = leading_number(line)?;
    let list = rest.strip_prefix(" tests completed").or_else(|| rest.strip_prefix(" test completed"))?;
    let (mut failed, mut skipped) = (0, 0);
    for piece in list.split(", ") {
        match counted(piece) {
            Some((number, "failed")) => failed = number,
            Some((number, "skipped")) => skipped = number,
            _ => {}
        }
    }
    Some(TestCounts::from_total(total, failed, skipped))
}

fn end_task(task: Option<TestTask>, tally: &mut Tally) {
    let Some(task) = task else { return };
    if let Some(total) = task.total {
        tally.add(total);
        return;
    }
    tally.add(task.logged);
    if !task.has_passed {
        tally.add_uncounted();
    }
}
