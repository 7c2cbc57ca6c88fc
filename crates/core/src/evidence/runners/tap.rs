//! The Test Anything Protocol, as `bats` prints it.

use super::Tally;
use super::output::leading_number;
use crate::evidence::TestCounts;

/// A plan `1..3` with lines `ok 1 name` and `not ok 2 name` before or after it. Results that end with a summary of
/// Node.js or tape are left to the reader of that summary.
pub(super) fn count(lines: &[&str], tally: &mut Tally) {
    let mut counts = TestCounts::default();
    let mut has_plan = false;
    for line in lines {
        if is_plan(line) {
            if has_plan {
                tally.add(counts);
                counts = TestCounts::default();
            }
            has_plan = true;
        } else if line.starts_with("# tests ") {
            counts = TestCounts::default();
            has_plan = false;
        } else {
            add_result(&mut counts, line);
        }
    }
    if has_plan {
        tally.add(counts);
    }
}

fn is_plan(line: &str) -> bool {
    match line.strip_prefix("1..").and_then(leading_number) {
        Some((_, rest)) => rest.is_empty() || rest.starts_with(" #"),
        None => false,
    }
}

fn add_result(counts: &mut TestCounts, line: &str) {
    let (has_failed, result) = match line.strip_prefix("not ") {
        Some(result) => (true, result),
        None => (false, line),
    };
    let Some((_, name)) = result.strip_prefix("ok ").and_then(leading_number) else { return };
    if is_skipped(name) {
        counts.skipped += 1;
    } else if name.is_empty() || name.starts_with(' ') {
        counts.run += 1;
        counts.failed += u32::from(has_failed);
    }
}

/// Whether the line ends with a directive: `# skip reason` or `# TODO reason`.
fn is_skipped(name: &str) -> bool {
    let Some((_, directive)) = name.rsplit_once("# ") else { return false };
    let word = directive.split(' ').next().unwrap_or_default();
    word.eq_ignore_ascii_case("skip") || word.eq_ignore_ascii_case("todo")
}
