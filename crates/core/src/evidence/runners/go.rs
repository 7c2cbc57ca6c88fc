//! `go test`: plain, verbose and as JSON.
//!
//! Only tests at the top level are counted, not their subtests.

use super::Tally;
use crate::evidence::TestCounts;

pub(super) fn count(lines: &[&str], tally: &mut Tally) {
    count_text(lines, tally);
    count_json(lines, tally);
}

/// The results of a package come before the line of the package.
fn count_text(lines: &[&str], tally: &mut Tally) {
    let mut package = TestCounts::default();
    let mut is_verbose = false;
    for line in lines {
        if line.starts_with("=== RUN ") {
            is_verbose = true;
        } else if let Some(result) = line.strip_prefix("--- ") {
            add_result(&mut package, result);
        } else if let Some(end) = package_end(line) {
            end_package(package, end, is_verbose, tally);
            package = TestCounts::default();
            is_verbose = false;
        }
    }
    // A test program that is run without `go test` prints no line for its package.
    if is_verbose && package != TestCounts::default() {
        tally.add(package);
    }
}

/// `PASS: TestName (0.00s)`
fn add_result(package: &mut TestCounts, result: &str) {
    let Some((outcome, rest)) = result.split_once(": ") else { return };
    let name = rest.split(' ').next().unwrap_or_default();
    if name.contains('/') || !rest.ends_with("s)") {
        return;
    }
    add_outcome(package, outcome);
}

fn add_outcome(counts: &mut TestCounts, outcome: &str) {
    match outcome {
        "PASS" | "pass" => counts.run += 1,
        "FAIL" | "fail" => {
            counts.run += 1;
            counts.failed += 1;
        }
        "SKIP" | "skip" => counts.skipped += 1,
        _ => {}
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum PackageEnd {
    Passed,
    WithoutTests,
    Failed,
}

/// `ok example.com/a 0.003s`, `? example.com/b [no test files]` or `FAIL example.com/c [build failed]`, with tabs between
fn package_end(line: &str) -> Option<PackageEnd> {
    let mut words = line.split_whitespace();
    let status = words.next()?;
    let _package = words.next()?;
    let time = words.next()?;
    let is_time =
        time == "(cached)" || (time.ends_with('s') && time.starts_with(|c: char| c.is_ascii_digit()));
    match status {
        "?" if line.ends_with("[no test files]") => Some(PackageEnd::WithoutTests),
        "ok" if is_time && line.ends_with("[no tests to run]") => Some(PackageEnd::WithoutTests),
        "ok" if is_time => Some(PackageEnd::Passed),
        "FAIL" if is_time || line.ends_with("failed]") => Some(PackageEnd::Failed),
        _ => None,
    }
}

fn end_package(package: TestCounts, end: PackageEnd, is_verbose: bool, tally: &mut Tally) {
    match end {
        PackageEnd::WithoutTests => tally.add(TestCounts::default()),
        PackageEnd::Passed if package == TestCounts::default() => tally.add_uncounted(),
        PackageEnd::Passed => tally.add(package),
        PackageEnd::Failed => {
            // It was not built, or it ended before its tests did.
            tally.add(if package.failed == 0 {
                TestCounts { run: package.run + 1, failed: 1, ..package }
            } else {
                package
            });
            if !is_verbose {
                tally.add_uncounted();
            }
        }
    }
}

/// One event on each line. The packages run at the same time, so their events are mixed.
fn count_json(lines: &[&str], tally: &mut Tally) {
    let mut counts = TestCounts::default();
    let mut packages_with_failed_test = Vec::new();
    let mut failed_packages = Vec::new();
    let mut has_package_end = false;
    for line in lines.iter().filter(|line| line.starts_with("{\"")) {
        let (Some(action), Some(package)) = (json_field(line, "Action"), json_field(line, "Package")) else {
            continue;
        };
        match json_field(line, "Test") {
            Some(test) if test.contains('/') => {}
            Some(_) => {
                add_outcome(&mut counts, action);
                if action == "fail" {
                    packages_with_failed_test.push(package);
                }
            }
            None => {
                has_package_end |= matches!(action, "pass" | "fail" | "skip");
                if action == "fail" {
                    failed_packages.push(package);
                }
            }
        }
    }
    for package in failed_packages {
        if !packages_with_failed_test.contains(&package) {
            add_outcome(&mut counts, "fail");
        }
    }
    if has_package_end {
        tally.add(counts);
    }
}

/// The string value of a field. The fields that are read contain nothing that JSON escapes, and a quote in the value
/// of another field is escaped, so it cannot look like the beginning of a field.
fn json_field<'a>(line: &'a str, name: &str) -> Option<&'a str> {
    let mut rest = line;
    loop {
        let (_, after) = rest.split_once(name)?;
        if let Some(value) = after.strip_prefix("\":\"") {
            return value.split('"').next();
        }
        rest = after;
    }
}
