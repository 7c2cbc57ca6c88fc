use super::*;

#[track_caller]
fn assert_counts(output: &str, run: u32, failed: u32, skipped: u32) {
    assert_eq!(count_tests("make test", output), Some(TestCounts { run, failed, skipped }), "{output}");
}

#[test]
fn numbers_are_read_as_a_whole() {
    assert_counts("10 failed, 20 passed in 1.20s", 30, 10, 0);
    assert_counts(
        "test result: FAILED. 100 passed; 10 failed; 0 ignored; 0 measured; 0 filtered out",
        110,
        10,
        0,
    );
    assert_counts("10 examples, 10 failures", 10, 10, 0);
    assert_counts("Tests:       10 failed, 10 total", 10, 10, 0);
}

#[test]
fn prose_is_not_a_runner() {
    for output in [
        "",
        "3 passed",
        "All 3 tests passed in the end.",
        "We have 3 passed, 0 failed.",
        "3 passed in Paris",
        "Tests: see below",
        "Tests: 3 of 4 done",
        "ok, 3 tests",
        "ok 1",
        "FAIL: something failed",
        "warning: 2 warnings in 0.1s",
        "2 warnings in 0.1s",
        "Ran 3 migrations in 0.1s",
        "3 tests, many failures",
        "Summary: 3 tests run",
        "passing (5ms)",
        "Total tests: many",
    ] {
        assert_eq!(count_tests("make test", output), None, "{output}");
    }
}

#[test]
fn a_shown_log_is_not_a_run() {
    let log = "test result: ok. 3 passed; 0 failed; 0 ignored; 0 measured; 0 filtered out";
    assert_eq!(count_tests("tail -20 test.log", log), None);
    assert_counts(log, 3, 0, 0);
    assert_eq!(count_tests("", log), count_tests("cargo test | tail -5", log));
}

#[test]
fn runners_without_a_recorded_output() {
    assert_counts(
        " 3 pass\n 1 skip\n 1 fail\n 4 expect() calls\nRan 5 tests across 2 files. [8.00ms]",
        4,
        1,
        1,
    );
    assert_counts("ok | 3 passed (2 steps) | 0 failed | 1 ignored (5ms)", 3, 0, 1);
    assert_counts("FAILED | 2 passed | 1 failed (5ms)", 3, 1, 0);
    assert_counts("67% tests passed, 1 tests failed out of 3", 3, 1, 0);
    assert_counts("  Tests:    1 failed, 1 skipped, 3 passed (7 assertions)", 4, 1, 1);
    assert_counts("65 passed, 2 warnings in 65.32s (0:01:05)", 65, 0, 0);
    assert_counts(
        "     Summary [   0.1s] 3/9 tests run: 1 passed (1 slow), 1 failed, 1 timed out, 2 skipped",
        3,
        2,
        2,
    );
    assert_counts("No test is available in /project/a.dll. Make sure that …", 0, 0, 0);
}

#[test]
fn an_unknown_number_is_not_zero() {
    // The tests of the first package ran, but nobody says how many.
    assert_eq!(count_tests("go test ./...", "ok  \ta\t0.1s\n?   \tb\t[no test files]\n"), None);
    assert_counts("ok  \ta\t0.1s\nTests:       3 passed, 3 total\n", 3, 0, 0);
}
