//! Runners that end with a summary in one place: Java, .NET, Ruby, PHP, Elixir and C++.

use super::output::{counted, labelled, leading_number, parenthesised};
use crate::evidence::TestCounts;

/// `[INFO] Tests run: 5, Failures: 1, Errors: 0, Skipped: 1`, once for each module. The lines of single classes have a time.
pub(super) fn surefire(lines: &[&str], at: usize) -> Option<TestCounts> {
    let line = without_log_level(lines[at]);
    if !line.starts_with("Tests run: ") || line.contains("Time elapsed") {
        return None;
    }
    let (mut total, mut failed, mut skipped) = (0, 0u32, 0);
    for piece in line.split(", ") {
        match labelled(piece, ':')? {
            ("Tests run", number) => total = number,
            ("Failures" | "Errors", number) => failed = failed.saturating_add(number),
            ("Skipped", number) => skipped = number,
            _ => {}
        }
    }
    Some(TestCounts::from_total(total, failed, skipped))
}

fn without_log_level(line: &str) -> &str {
    for level in ["[INFO] ", "[WARNING] ", "[ERROR] "] {
        if let Some(rest) = line.strip_prefix(level) {
            return rest.trim();
        }
    }
    line.trim_end()
}

/// `Passed!  - Failed:     0, Passed:     3, Skipped:     0, Total:     3, Duration: 5 ms - App.Tests.dll (net8.0)`
pub(super) fn dotnet(lines: &[&str], at: usize) -> Option<TestCounts> {
    let (verdict, list) = lines[at].trim_start().split_once(" - ")?;
    if !matches!(verdict.trim_end(), "Passed!" | "Failed!" | "Skipped!") {
        return None;
    }
    labelled_outcomes(list.split(", "))
}

/// `Test summary: total: 5, failed: 1, succeeded: 3, skipped: 1, duration: 1.2s`, or `Test run summary: Failed!` with
/// one number on each line below.
pub(super) fn dotnet_summary(lines: &[&str], at: usize) -> Option<TestCounts> {
    let line = lines[at].trim_start();
    match line.strip_prefix("Test summary: ") {
        Some(list) => labelled_outcomes(list.split(", ")),
        None if line.starts_with("Test run summary: ") => labelled_outcomes(indented_below(lines, at)),
        None => None,
    }
}

/// `Total tests: 5`, with one number on each line below.
pub(super) fn dotnet_verbose(lines: &[&str], at: usize) -> Option<TestCounts> {
    let ("Total tests", total) = labelled(lines[at], ':')? else { return None };
    match labelled_outcomes(indented_below(lines, at)) {
        Some(counts) => Some(counts),
        None if total == 0 => Some(TestCounts::default()),
        None => None,
    }
}

fn indented_below<'a>(lines: &[&'a str], at: usize) -> impl Iterator<Item = &'a str> {
    lines[at + 1..].iter().take_while(|line| line.starts_with(' ')).copied()
}

/// `None` if no piece is an outcome.
fn labelled_outcomes<'a>(pieces: impl Iterator<Item = &'a str>) -> Option<TestCounts> {
    let (mut passed, mut failed, mut skipped) = (0, 0, 0);
    let mut has_outcome = false;
    for piece in pieces {
        match labelled(piece, ':') {
            Some(("Passed" | "succeeded", number)) => passed = number,
            Some(("Failed" | "failed", number)) => failed = number,
            Some(("Skipped" | "skipped", number)) => skipped = number,
            _ => continue,
        }
        has_outcome = true;
    }
    if has_outcome { Some(TestCounts::new(passed, failed, skipped)) } else { None }
}

/// `5 examples, 1 failure, 1 pending`
pub(super) fn rspec(lines: &[&str], at: usize) -> Option<TestCounts> {
    let mut pieces = lines[at].split(", ");
    let (total, "example" | "examples") = counted(pieces.next()?)? else { return None };
    let (mut failed, "failure" | "failures") = counted(pieces.next()?)? else { return None };
    let mut skipped = 0;
    for piece in pieces {
        match counted(piece)? {
            (number, "pending") => skipped = number,
            // `error(s) occurred outside of examples`
            (number, word) if word.starts_with("error") => failed += number,
            _ => return None,
        }
    }
    Some(TestCounts::from_total(total, failed, skipped))
}

/// `5 runs, 7 assertions, 1 failures, 0 errors, 1 skips`, and test-unit with `tests`, `pendings` and `omissions`.
pub(super) fn minitest(lines: &[&str], at: usize) -> Option<TestCounts> {
    let (mut total, mut failed, mut skipped) = (None, 0u32, 0u32);
    let mut has_assertions = false;
    for piece in lines[at].split(", ") {
        match counted(piece)? {
            (number, "runs" | "tests") => total = Some(number),
            (_, "assertions") => has_assertions = true,
            (number, "failures" | "errors") => failed = failed.saturating_add(number),
            (number, "skips" | "pendings" | "omissions") => skipped = skipped.saturating_add(number),
            (_, "notifications") => {}
            _ => return None,
        }
    }
    match total {
        Some(total) if has_assertions => Some(TestCounts::from_total(total, failed, skipped)),
        _ => None,
    }
}

/// `OK (3 tests, 5 assertions)`, or `Tests: 5, Assertions: 7, Failures: 1, Skipped: 1.`
pub(super) fn phpunit(lines: &[&str], at: usize) -> Option<TestCounts> {
    let line = lines[at].trim_end();
    if let Some(("OK", list)) = parenthesised(line) {
        let (tests, assertions) = list.split_once(", ")?;
        let (total, "test" | "tests") = counted(tests)? else { return None };
        let (_, "assertion" | "assertions") = counted(assertions)? else { return None };
        return Some(TestCounts::new(total, 0, 0));
    }
    let list = line.strip_suffix('.')?;
    if !list.starts_with("Tests: ") || !list.contains(", Assertions: ") {
        return None;
    }
    let (mut total, mut failed, mut skipped) = (0, 0u32, 0u32);
    for piece in list.split(", ") {
        match labelled(piece, ':')? {
            ("Tests", number) => total = number,
            ("Failures" | "Errors", number) => failed = failed.saturating_add(number),
            ("Skipped" | "Incomplete", number) => skipped = skipped.saturating_add(number),
            _ => {}
        }
    }
    Some(TestCounts::from_total(total, failed, skipped))
}

/// `  Tests:    1 failed, 1 skipped, 3 passed (7 assertions)`
pub(super) fn pest(lines: &[&str], at: usize) -> Option<TestCounts> {
    let (list, assertions) = parenthesised(lines[at].trim().strip_prefix("Tests: ")?)?;
    let (_, "assertion" | "assertions") = counted(assertions)? else { return None };
    let (mut passed, mut failed, mut skipped) = (0, 0, 0u32);
    for piece in list.split(", ") {
        match counted(piece)? {
            (number, "passed") => passed = number,
            (number, "failed") => failed = number,
            (number, "skipped" | "todo" | "todos" | "incomplete") => skipped = skipped.saturating_add(number),
            _ => {}
        }
    }
    Some(TestCounts::new(passed, failed, skipped))
}

/// `1 doctest, 5 tests, 1 failure, 1 excluded, 1 skipped`
pub(super) fn exunit(lines: &[&str], at: usize) -> Option<TestCounts> {
    let (mut total, mut failed, mut skipped) = (0u32, None, 0u32);
    for piece in lines[at].split(", ") {
        match counted(piece)? {
            (number, "test" | "tests" | "doctest" | "doctests" | "property" | "properties") => {
                total = total.saturating_add(number);
            }
            (number, "failure" | "failures" | "invalid") => {
                failed = Some(failed.unwrap_or(0u32).saturating_add(number));
            }
            (number, "skipped" | "excluded") => skipped = skipped.saturating_add(number),
            _ => return None,
        }
    }
    Some(TestCounts::from_total(total, failed?, skipped))
}

/// `67% tests passed, 1 tests failed out of 3`
pub(super) fn ctest(lines: &[&str], at: usize) -> Option<TestCounts> {
    let (_, list) = lines[at].split_once("% tests passed, ")?;
    let (failed, rest) = counted(list)?;
    let (_, total) = rest.split_once("failed out of ")?;
    let (total, "") = leading_number(total.trim_end())? else { return None };
    Some(TestCounts::from_total(total, failed, 0))
}

/// Lines of runners that have found nothing to run, by their beginning.
const NOTHING_TO_RUN: [&str; 11] = [
    "No tests found, exiting with code",         // jest
    "No test files found, exiting with code",    // vitest
    "Error: No tests found",                     // Playwright
    "error: no tests to run",                    // nextest
    "No tests to run.",                          // Maven
    "Tests are skipped.",                        // Maven
    "No test is available in ",                  // dotnet
    "No test matches the given testcase filter", // dotnet
    "No tests executed!",                        // PHPUnit
    "There are no tests to run",                 // ExUnit
    "No tests were found!!!",                    // ctest
];

pub(super) fn nothing_to_run(lines: &[&str], at: usize) -> Option<TestCounts> {
    let line = without_log_level(lines[at]);
    if NOTHING_TO_RUN.iter().any(|beginning| line.starts_with(beginning)) {
        Some(TestCounts::default())
    } else {
        None
    }
}
