//! Outputs of real test runners, read as a check reads them. `fixtures/README.md` says which ones were written by hand.

use overtone_core::evidence::TestCounts;
use overtone_core::evidence::runners::count_tests;

/// The output, and the tests that ran, failed and were skipped.
type Expectation = (&'static str, &'static str, Option<(u32, u32, u32)>);

macro_rules! outputs {
    ($($name:literal => $counts:expr,)*) => {
        const OUTPUTS: &[Expectation] = &[$(($name, include_str!(concat!("fixtures/", $name, ".txt")), $counts),)*];
    };
}

outputs! {
    "bats" => Some((2, 0, 1)),
    "bats-failed" => Some((2, 1, 1)),
    "bats-pretty-failed" => Some((2, 1, 1)),
    "cargo-test" => Some((5, 0, 1)),
    "cargo-test-failed" => Some((5, 1, 1)),
    "cargo-test-none" => Some((0, 0, 0)),
    "cargo-test-quiet-failed" => Some((4, 1, 1)),
    "dotnet" => Some((6, 1, 1)),
    "dotnet-platform" => Some((3, 1, 1)),
    "dotnet-terminal" => Some((3, 1, 1)),
    "dotnet-verbose" => Some((3, 1, 1)),
    "exunit" => Some((3, 0, 2)),
    "exunit-failed" => Some((3, 1, 2)),
    "exunit-none" => Some((0, 0, 0)),
    "go" => None,
    "go-build-failed" => Some((1, 1, 0)),
    "go-failed" => Some((1, 1, 0)),
    "go-json" => Some((3, 0, 1)),
    "go-json-build-failed" => Some((1, 1, 0)),
    "go-json-failed" => Some((3, 1, 1)),
    "go-json-none" => Some((0, 0, 0)),
    "go-no-files" => Some((0, 0, 0)),
    "go-none" => Some((0, 0, 0)),
    "go-v" => Some((3, 0, 1)),
    "go-v-failed" => Some((3, 1, 1)),
    "go-v-none" => Some((0, 0, 0)),
    "gradle" => None,
    "gradle-failed" => Some((2, 1, 1)),
    "gradle-logged" => Some((2, 0, 1)),
    "gradle-none" => Some((0, 0, 0)),
    "gradle-quiet" => None,
    "gradle-up-to-date" => None,
    "jest" => Some((3, 0, 2)),
    // One file could not be loaded, so none of its tests is in the numbers.
    "jest-failed" => Some((3, 2, 2)),
    "jest-none" => Some((0, 0, 0)),
    "jest-none-allowed" => Some((0, 0, 0)),
    "maven" => Some((4, 0, 1)),
    "maven-failed" => Some((2, 1, 1)),
    "maven-skipped" => Some((0, 0, 0)),
    "minitest" => Some((2, 0, 1)),
    "minitest-failed" => Some((2, 1, 1)),
    "mocha" => Some((2, 0, 2)),
    "mocha-failed" => Some((2, 1, 2)),
    "mocha-none" => Some((0, 0, 0)),
    "nextest" => Some((4, 0, 1)),
    "nextest-failed" => Some((4, 1, 1)),
    "nextest-none" => Some((0, 0, 5)),
    "node-spec" => Some((2, 0, 2)),
    "node-spec-failed" => Some((2, 1, 2)),
    "node-spec-none" => Some((0, 0, 0)),
    "node-tap" => Some((2, 0, 2)),
    "node-tap-failed" => Some((2, 1, 2)),
    "node-tap-none" => Some((0, 0, 0)),
    "phpunit" => Some((3, 0, 0)),
    "phpunit-failed" => Some((2, 1, 1)),
    "phpunit-none" => Some((0, 0, 0)),
    "phpunit-skipped" => Some((2, 0, 1)),
    "playwright" => Some((3, 0, 1)),
    "playwright-all-failed" => Some((1, 1, 0)),
    "playwright-failed" => Some((3, 2, 1)),
    "playwright-none" => Some((0, 0, 0)),
    "pytest" => Some((4, 0, 2)),
    "pytest-collect-only" => Some((0, 0, 0)),
    "pytest-collect-only-full" => Some((0, 0, 0)),
    "pytest-deselected" => Some((0, 0, 0)),
    "pytest-failed" => Some((4, 2, 2)),
    "pytest-import-error" => Some((1, 1, 0)),
    "pytest-none" => Some((0, 0, 0)),
    "pytest-quiet" => Some((4, 0, 2)),
    "pytest-quiet-failed" => Some((4, 2, 2)),
    "pytest-quiet-none" => Some((0, 0, 0)),
    "pytest-xdist" => Some((4, 0, 2)),
    "rspec" => Some((2, 0, 2)),
    "rspec-failed" => Some((2, 1, 2)),
    "rspec-load-error" => Some((1, 1, 0)),
    "rspec-none" => Some((0, 0, 0)),
    "tape-failed" => Some((2, 1, 0)),
    "unittest" => Some((3, 0, 2)),
    "unittest-failed" => Some((2, 2, 2)),
    "unittest-none" => Some((0, 0, 0)),
    "vitest" => Some((3, 0, 2)),
    "vitest-failed" => Some((3, 2, 2)),
    "vitest-filtered" => Some((0, 0, 5)),
    "vitest-none" => Some((0, 0, 0)),
}

fn counts(expected: Option<(u32, u32, u32)>) -> Option<TestCounts> {
    expected.map(|(run, failed, skipped)| TestCounts { run, failed, skipped })
}

#[test]
fn outputs_of_runners_are_counted() {
    for (name, output, expected) in OUTPUTS {
        assert_eq!(count_tests("make test", output), counts(*expected), "{name}");
    }
}

#[test]
fn line_ends_of_windows_make_no_difference() {
    for (name, output, expected) in OUTPUTS {
        let output = output.replace('\n', "\r\n");
        assert_eq!(count_tests("make test", &output), counts(*expected), "{name}");
    }
}

#[test]
fn several_runners_in_one_output_are_summed() {
    let known: Vec<_> = OUTPUTS.iter().filter(|(_, _, expected)| expected.is_some()).collect();
    let all = known.iter().map(|(_, output, _)| output.as_ref()).collect::<Vec<&str>>().join("\n");
    let mut sum = TestCounts::default();
    for (_, _, expected) in known {
        let (run, failed, skipped) = expected.unwrap_or_default();
        sum.run += run;
        sum.failed += failed;
        sum.skipped += skipped;
    }
    assert_eq!(count_tests("make test", &all), Some(sum));
}

#[test]
fn a_cut_beginning_does_no_harm() {
    for (name, output, expected) in OUTPUTS {
        let with_noise = format!("{} passed in the line that was cut\n{output}", "x".repeat(50));
        assert_eq!(count_tests("make test", &with_noise), counts(*expected), "{name}");
        // A beginning may be missing anywhere, also within an escape sequence or a number.
        for (at, _) in output.char_indices().step_by(3) {
            // nextest shows the summary of each failed test with an indentation, without which it would count.
            if output[..at].ends_with(' ') {
                continue;
            }
            let Some(found) = count_tests("make test", &output[at..]) else { continue };
            let (run, _, _) = expected.unwrap_or((u32::MAX, 0, 0));
            assert!(found.run <= run, "{name} from {at}: {found:?}");
        }
    }
}
