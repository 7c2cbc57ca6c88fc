//! `RSpec`, minitest and the tests of Rails.

use super::SourceTests;

pub(super) fn count(code: &str) -> SourceTests {
    let mut reader = Reader::default();
    for line in code.lines() {
        let statement = line.trim();
        if !statement.is_empty() {
            reader.read_statement(statement, line.len() - line.trim_start().len());
        }
    }
    reader.found
}

#[derive(Debug, Default)]
struct Reader {
    found: SourceTests,
    /// Indentation of each group around the current line, and whether it is disabled.
    groups: Vec<(usize, bool)>,
    /// Whether the next statement is the first one of a test that is not disabled yet.
    is_at_test_start: bool,
}

impl Reader {
    fn read_statement(&mut self, statement: &str, indentation: usize) {
        let is_first_in_test = std::mem::take(&mut self.is_at_test_start);
        let (word, rest) = first_word(statement);
        if word == "end" {
            self.groups.retain(|(outer, _)| *outer < indentation);
            return;
        }
        match word {
            "describe" | "context" | "feature" | "RSpec" | "xdescribe" | "xcontext" | "xfeature" => {
                let is_skipped = word.starts_with('x') || has_skip_option(rest) || self.is_group_skipped();
                self.groups.push((indentation, is_skipped));
            }
            "it" | "specify" | "example" | "scenario" | "its" | "test" | "should" | "fit"
                if begins_test(rest) =>
            {
                self.add_test(!has_body(rest) || has_skip_option(rest), rest);
            }
            "xit" | "xspecify" | "xexample" | "xscenario" if begins_test(rest) => self.add_test(true, rest),
            "skip" | "pending" if is_first_in_test => self.found.skipped += 1,
            // With a body, both declare a test.
            "skip" | "pending" if begins_test(rest) && rest.ends_with("do") => self.add_test(true, rest),
            "def" if rest.trim_start().starts_with("test_") => self.add_test(false, rest),
            _ => {}
        }
    }

    fn add_test(&mut self, is_disabled: bool, rest: &str) {
        let is_skipped = is_disabled || self.is_group_skipped();
        self.found.add(is_skipped);
        let is_one_line = rest.ends_with(['}']) || rest.ends_with(" end");
        self.is_at_test_start = !is_skipped && !is_one_line;
    }

    fn is_group_skipped(&self) -> bool {
        self.groups.iter().any(|(_, is_skipped)| *is_skipped)
    }
}

fn first_word(statement: &str) -> (&str, &str) {
    let end = statement.find(|c: char| !c.is_alphanumeric() && c != '_').unwrap_or(statement.len());
    statement.split_at(end)
}

/// Whether a description or a body follows, so that the word is not a variable.
fn begins_test(rest: &str) -> bool {
    let argument = rest.trim_start();
    argument.starts_with(['"', '\'', '{', '(']) || argument == "do" || argument.starts_with("do ")
}

/// A test without a body is pending. The body may also begin on a later line.
fn has_body(rest: &str) -> bool {
    rest.contains('{') || rest.contains(" do") || rest.ends_with([',', '\\'])
}

/// `skip: 'reason'`, `:skip`, `pending: true`
fn has_skip_option(rest: &str) -> bool {
    let has = |option: &str| rest.contains(option) && !rest.contains(&format!("{option} false"));
    has(" skip:") || has(" pending:") || rest.contains(" :skip") || rest.contains(" :pending")
}
