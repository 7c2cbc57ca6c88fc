//! Runners for JavaScript and TypeScript.

use super::output::{counted, is_duration, leading_number, parenthesised};
use crate::evidence::TestCounts;

/// Passed, failed and skipped tests while a summary is read.
#[derive(Debug, Default)]
struct Outcomes {
    passed: u32,
    failed: u32,
    skipped: u32,
}

impl Outcomes {
    /// Adds a number under the word that the runner uses. Returns whether the word is one of an outcome.
    fn add(&mut self, number: u32, word: &str) -> bool {
        let sum = match word {
            "pass" | "passed" | "passing" | "expected fail" | "flaky" => &mut self.passed,
            "fail" | "failed" | "failing" | "cancelled" | "interrupted" => &mut self.failed,
            "skip" | "skipped" | "pending" | "todo" | "ignored" | "did not run" => &mut self.skipped,
            _ => return false,
        };
        *sum = sum.saturating_add(number);
        true
    }

    fn counts(&self) -> TestCounts {
        TestCounts::new(self.passed, self.failed, self.skipped)
    }

    /// The counts if at least this many files have failed. A file fails with a test in it, or because it cannot be loaded.
    fn counts_with_failed_files(&self, files: u32) -> TestCounts {
        TestCounts::new(self.passed, self.failed.max(files), self.skipped)
    }
}

/// `Tests:       1 failed, 1 todo, 3 passed, 5 total`, below the line for the files.
pub(super) fn jest(lines: &[&str], at: usize) -> Option<TestCounts> {
    let list = lines[at].strip_prefix("Tests: ")?;
    let mut outcomes = Outcomes::default();
    let mut has_total = false;
    for piece in list.split(", ") {
        match counted(piece)? {
            (_, "total") => has_total = true,
            (number, word) if outcomes.add(number, word) => {}
            _ => return None,
        }
    }
    if !has_total {
        return None;
    }
    let files = line_above(lines, at).strip_prefix("Test Suites: ").unwrap_or_default();
    Some(outcomes.counts_with_failed_files(failed_files(files.split(", "))))
}

/// `      Tests  1 failed | 3 passed | 1 skipped (5)`, below the line for the files.
pub(super) fn vitest(lines: &[&str], at: usize) -> Option<TestCounts> {
    let list = lines[at].trim_start().strip_prefix("Tests  ")?;
    let mut outcomes = Outcomes::default();
    if list.trim() != "no tests" {
        let (list, total) = parenthesised(list.trim_end())?;
        leading_number(total)?;
        for piece in list.split(" | ") {
            let (number, word) = counted(piece)?;
            if !outcomes.add(number, word) {
                return None;
            }
        }
    }
    let files = line_above(lines, at).trim_start().strip_prefix("Test Files  ").unwrap_or_default();
    Some(outcomes.counts_with_failed_files(failed_files(files.split(" | "))))
}

fn line_above<'a>(lines: &[&'a str], at: usize) -> &'a str {
    match at.checked_sub(1) {
        Some(above) => lines[above],
        None => "",
    }
}

fn failed_files<'a>(mut pieces: impl Iterator<Item = &'a str>) -> u32 {
    let failed = pieces.find_map(|piece| match counted(piece) {
        Some((number, word)) if word.split(' ').next() == Some("failed") => Some(number),
        _ => None,
    });
    failed.unwrap_or(0)
}

/// A block of lines that begins with `# tests 5`, or `ℹ tests 5` for people. Tape ends in the same way.
pub(super) fn node(lines: &[&str], at: usize) -> Option<TestCounts> {
    let mark = if lines[at].starts_with("# tests ") { "# " } else { "ℹ " };
    let (label, _) = node_line(lines[at], mark)?;
    if label != "tests" {
        return None;
    }
    let mut outcomes = Outcomes::default();
    let mut has_outcome = false;
    for line in &lines[at + 1..] {
        let Some((label, number)) = node_line(line, mark) else { break };
        has_outcome |= outcomes.add(number, label);
    }
    if has_outcome { Some(outcomes.counts()) } else { None }
}

fn node_line<'a>(line: &'a str, mark: &str) -> Option<(&'a str, u32)> {
    let (label, number) = line.strip_prefix(mark)?.split_once(' ')?;
    let (number, _) = leading_number(number.trim())?;
    Some((label, number))
}

/// `  3 passing (5ms)`, then `  1 pending` and `  1 failing`.
pub(super) fn mocha(lines: &[&str], at: usize) -> Option<TestCounts> {
    let (passing, time) = parenthesised(lines[at].strip_prefix("  ")?)?;
    let (passed, "passing") = counted(passing)? else { return None };
    if !is_duration(time) {
        return None;
    }
    let mut outcomes = Outcomes { passed, ..Outcomes::default() };
    for line in lines[at + 1..].iter().take(2) {
        match counted(line) {
            Some((number, word @ ("pending" | "failing"))) => outcomes.add(number, word),
            _ => break,
        };
    }
    Some(outcomes.counts())
}

/// `  1 failed`, the names of the failed tests, `  2 skipped`, and `  3 passed (1.2s)` at the end if any test has passed.
pub(super) fn playwright(lines: &[&str], at: usize) -> Option<TestCounts> {
    if is_playwright_end(lines[at]) {
        let above = lines[..at].iter().rev().take_while(|line| is_playwright_summary(line));
        return playwright_outcomes(above.chain(&lines[at..=at]));
    }
    if !is_playwright_start(lines[at]) {
        return None;
    }
    // Without a passed test, only the first line of the run tells whose summary it is.
    let rest = &lines[at + 1..];
    let end = rest.iter().position(|line| is_playwright_start(line)).unwrap_or(rest.len());
    let this_run = &rest[..end];
    if this_run.iter().any(|line| is_playwright_end(line)) {
        return None;
    }
    playwright_outcomes(this_run.iter())
}

fn playwright_outcomes<'a>(lines: impl Iterator<Item = &'a &'a str>) -> Option<TestCounts> {
    let mut outcomes = Outcomes::default();
    let mut has_outcome = false;
    for (number, word) in lines.filter_map(|line| playwright_line(line)) {
        has_outcome |= outcomes.add(number, word);
    }
    if has_outcome { Some(outcomes.counts()) } else { None }
}

/// A number with its outcome, indented by two blanks.
fn playwright_line(line: &str) -> Option<(u32, &str)> {
    let line = line.strip_prefix("  ")?;
    if line.starts_with(' ') {
        return None;
    }
    let (number, word) = counted(line)?;
    if matches!(word, "failed" | "flaky" | "skipped" | "interrupted" | "did not run") {
        return Some((number, word));
    }
    match parenthesised(word)? {
        ("passed", time) if is_duration(time) => Some((number, "passed")),
        _ => None,
    }
}

fn is_playwright_end(line: &str) -> bool {
    matches!(playwright_line(line), Some((_, "passed")))
}

/// Whether a line may belong to the summary above its last line: an outcome or the name of a test.
fn is_playwright_summary(line: &str) -> bool {
    line.starts_with("  ") && !is_playwright_end(line)
}

fn is_playwright_start(line: &str) -> bool {
    line.starts_with("Running ") && line.contains(" using ") && line.contains(" worker")
}

/// `Ran 3 tests across 1 file. [8.00ms]`, below a line for each outcome.
pub(super) fn bun(lines: &[&str], at: usize) -> Option<TestCounts> {
    let (total, rest) = leading_number(lines[at].strip_prefix("Ran ")?)?;
    if !rest.starts_with(" tests across ") && !rest.starts_with(" test across ") {
        return None;
    }
    let mut outcomes = Outcomes::default();
    for line in lines[..at].iter().rev().take(8) {
        match counted(line) {
            Some((number, word @ ("pass" | "fail" | "skip" | "todo"))) => outcomes.add(number, word),
            Some((_, "expect() calls")) => continue,
            _ if line.starts_with("Ran ") => break,
            _ => continue,
        };
    }
    let counts = outcomes.counts();
    if counts.run + counts.skipped == 0 { Some(TestCounts::new(total, 0, 0)) } else { Some(counts) }
}

/// `ok | 3 passed | 0 failed | 1 ignored (5ms)`
pub(super) fn deno(lines: &[&str], at: usize) -> Option<TestCounts> {
    let line = lines[at];
    let list = line.strip_prefix("ok | ").or_else(|| line.strip_prefix("FAILED | "))?;
    let (list, time) = parenthesised(list)?;
    if !is_duration(time) {
        return None;
    }
    let mut outcomes = Outcomes::default();
    for piece in list.split(" | ") {
        let (number, word) = counted(piece)?;
        // `3 passed (2 steps)`
        outcomes.add(number, word.split(" (").next().unwrap_or(word));
    }
    Some(outcomes.counts())
}
