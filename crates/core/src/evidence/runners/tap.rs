//! The Test Anything Protocol, as `bats` prints it.

use super::Tally;
use super::output::leading_number;
use crate::evidence::TestCounts;

/// A plan `1..3` with lines `ok 1 name` and `not ok 2 name` before or after it. Results that end with a summary of
/// Node.js or tape are left to the reader of that summary.
pub(super) fn count(lines: &[&str], tally: &mut Tally) {
    let mut section = Section::default();
    for line in lines {
        if let Some(planned) = plan(line) {
            if section.planned.is_some() {
                section.end(tally);
            }
            section.planned = Some(planned);
        } else if line.starts_with("# tests ") {
            section = Section::default();
        } else if add_result(&mut section.counts, line) {
            // With the plan in front, the last result is known.
            if section.planned == Some(section.counts.run + section.counts.skipped) {
                section.end(tally);
            }
        }
    }
    section.end(tally);
}

/// The results of one program.
#[derive(Debug, Default)]
struct Section {
    planned: Option<u32>,
    counts: TestCounts,
}

impl Section {
    fn end(&mut self, tally: &mut Tally) {
        let section = std::mem::take(self);
        if section.planned.is_some() {
            tally.add(section.counts);
        }
    }
}

/// The number of tests in `1..3`.
fn plan(line: &str) -> Option<u32> {
    let (planned, rest) = leading_number(line.strip_prefix("1..")?)?;
    if rest.is_empty() || rest.starts_with(" #") { Some(planned) } else { None }
}

/// Returns whether the line is a result.
fn add_result(counts: &mut TestCounts, line: &str) -> bool {
    let (has_failed, result) = match line.strip_prefix("not ") {
        Some(result) => (true, result),
        None => (false, line),
    };
    let Some((_, name)) = result.strip_prefix("ok ").and_then(leading_number) else { return false };
    if !name.is_empty() && !name.starts_with(' ') {
        return false;
    }
    if is_skipped(name) {
        counts.skipped += 1;
    } else {
        counts.run += 1;
        counts.failed += u32::from(has_failed);
    }
    true
}

/// Whether the line ends with a directive: `# skip reason` or `# TODO reason`.
fn is_skipped(name: &str) -> bool {
    let Some((_, directive)) = name.rsplit_once("# ") else { return false };
    let word = directive.split(' ').next().unwrap_or_default();
    word.eq_ignore_ascii_case("skip") || word.eq_ignore_ascii_case("todo")
}
