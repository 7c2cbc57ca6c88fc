//! `cargo test` and `cargo nextest`.

use super::output::counted;
use crate::evidence::TestCounts;

/// `test result: ok. 3 passed; 0 failed; 1 ignored; 0 measured; 0 filtered out; finished in 0.00s`, once for each test
/// program and for the documentation tests.
pub(super) fn cargo_test(lines: &[&str], at: usize) -> Option<TestCounts> {
    let result = lines[at].strip_prefix("test result: ")?;
    let list = result.strip_prefix("ok. ").or_else(|| result.strip_prefix("FAILED. "))?;
    let mut counts = TestCounts::default();
    let mut is_complete = false;
    for piece in list.split("; ") {
        match counted(piece) {
            Some((passed, "passed")) => {
                counts.run += passed;
                is_complete = true;
            }
            Some((failed, "failed")) => {
                counts.run = counts.run.saturating_add(failed);
                counts.failed = failed;
            }
            Some((measured, "measured")) => counts.run = counts.run.saturating_add(measured),
            Some((ignored, "ignored")) => counts.skipped = ignored,
            _ => {}
        }
    }
    if is_complete { Some(counts) } else { None }
}

/// `     Summary [   0.015s] 3 tests run: 2 passed (1 slow), 1 failed, 1 skipped`. After a failure, the first number may be
/// `3/9`: three of nine tests were started.
pub(super) fn nextest(lines: &[&str], at: usize) -> Option<TestCounts> {
    let (_, summary) = lines[at].trim_start().strip_prefix("Summary [")?.split_once("] ")?;
    let (total, list) = summary.split_once(" run: ")?;
    if !total.ends_with(" test") && !total.ends_with(" tests") {
        return None;
    }
    let (mut passed, mut failed, mut skipped) = (0, 0, 0);
    for piece in list.split(", ") {
        let Some((number, word)) = counted(piece) else { continue };
        match word.split(" (").next() {
            Some("passed") => passed = number,
            Some("failed" | "exec failed" | "timed out") => failed += number,
            Some("skipped") => skipped = number,
            _ => {}
        }
    }
    Some(TestCounts::new(passed, failed, skipped))
}
