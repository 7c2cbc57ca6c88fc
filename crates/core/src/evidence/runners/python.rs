//! pytest and `unittest`, which Django uses as well.

use super::output::{counted, is_duration, labelled, leading_number, parenthesised};
use crate::evidence::TestCounts;

/// `==== 1 failed, 3 passed, 1 skipped in 0.12s ====`, without the signs if it is quiet.
pub(super) fn pytest(lines: &[&str], at: usize) -> Option<TestCounts> {
    let line = lines[at].trim_matches('=').trim();
    let (list, time) = line.rsplit_once(" in ")?;
    // Long runs add the time in hours: `65.32s (0:01:05)`.
    let time = time.split(" (").next().unwrap_or(time);
    if !is_duration(time) {
        return None;
    }
    let is_without_run =
        list == "no tests ran" || list.contains("tests collected") || list == "1 test collected";
    if is_without_run {
        return Some(TestCounts::default());
    }
    pytest_outcomes(list)
}

/// The list of outcomes. `None` if it has a piece that pytest does not write.
fn pytest_outcomes(list: &str) -> Option<TestCounts> {
    let (mut passed, mut failed, mut skipped) = (0u32, 0u32, 0u32);
    let mut has_outcome = false;
    for piece in list.split(", ") {
        let (number, word) = counted(piece)?;
        match word {
            "passed" | "xpassed" => passed = passed.saturating_add(number),
            "failed" | "error" | "errors" => failed = failed.saturating_add(number),
            "skipped" | "xfailed" => skipped = skipped.saturating_add(number),
            "deselected" => {}
            "warning" | "warnings" | "rerun" | "subtests passed" | "subtests failed" | "subtests skipped" => {
                continue;
            }
            _ => return None,
        }
        has_outcome = true;
    }
    if has_outcome { Some(TestCounts::new(passed, failed, skipped)) } else { None }
}

/// `Ran 3 tests in 0.001s`, and below it `OK (skipped=1)` or `FAILED (failures=1, errors=1)`.
pub(super) fn unittest(lines: &[&str], at: usize) -> Option<TestCounts> {
    let (total, rest) = leading_number(lines[at].strip_prefix("Ran ")?)?;
    let time = rest.strip_prefix(" tests in ").or_else(|| rest.strip_prefix(" test in "))?;
    if !is_duration(time) {
        return None;
    }
    let outcome = lines[at + 1..].iter().take(3).find(|line| !line.is_empty());
    let (mut failed, mut skipped) = (0u32, 0u32);
    if let Some((_, details)) = outcome.and_then(|line| parenthesised(line)) {
        for piece in details.split(", ") {
            match labelled(piece, '=') {
                Some(("failures" | "errors" | "unexpected successes", number)) => {
                    failed = failed.saturating_add(number);
                }
                Some(("skipped" | "expected failures", number)) => skipped = skipped.saturating_add(number),
                _ => {}
            }
        }
    }
    Some(TestCounts::from_total(total, failed, skipped))
}
