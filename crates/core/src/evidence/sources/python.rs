//! pytest and `unittest`.

use super::SourceTests;

pub(super) fn count(code: &str) -> SourceTests {
    let mut reader = Reader::default();
    for line in code.lines() {
        reader.read_line(line);
    }
    let found = reader.found;
    if reader.is_module_skipped { SourceTests { skipped: found.tests, ..found } } else { found }
}

/// What the decorators above the next class or function say.
#[derive(Debug, Default)]
struct Decorators {
    has_skip: bool,
    has_fixture: bool,
}

#[derive(Debug, Default)]
struct Reader {
    found: SourceTests,
    is_module_skipped: bool,
    /// Brackets that earlier lines have left open.
    depth: usize,
    /// Indentation of each class around the current line, and whether it is disabled.
    classes: Vec<(usize, bool)>,
    decorators: Decorators,
    /// Whether the next statement is the first one of a test that is not disabled yet.
    is_at_test_start: bool,
}

impl Reader {
    fn read_line(&mut self, line: &str) {
        let statement = line.trim_start();
        let is_continued = self.depth > 0;
        self.depth = depth_after(self.depth, line);
        if statement.is_empty() || is_continued {
            return;
        }
        // A documentation string is not yet the first statement.
        if statement.starts_with(['"', '\'']) {
            return;
        }
        self.read_statement(statement, line.len() - statement.len());
    }

    fn read_statement(&mut self, statement: &str, indentation: usize) {
        let is_first_in_test = std::mem::take(&mut self.is_at_test_start);
        while let Some((outer, _)) = self.classes.last()
            && *outer >= indentation
        {
            self.classes.pop();
        }
        let function = statement.strip_prefix("async ").unwrap_or(statement).trim_start();
        if let Some(decorator) = statement.strip_prefix('@') {
            self.decorators.has_skip |= is_skip(decorator);
            self.decorators.has_fixture |= path(decorator).ends_with("fixture");
        } else if let Some(name) = function.strip_prefix("def ") {
            self.read_function(name.trim_start());
        } else if statement.starts_with("class ") {
            let is_skipped = std::mem::take(&mut self.decorators).has_skip || self.is_class_skipped();
            self.classes.push((indentation, is_skipped));
        } else if statement.starts_with("pytestmark") {
            self.read_marks(statement);
        } else if indentation == 0 && path(statement) == "pytest.skip" {
            self.is_module_skipped = true;
        } else if is_first_in_test && skips_test(statement) {
            self.found.skipped += 1;
        }
    }

    fn read_function(&mut self, name: &str) {
        let decorators = std::mem::take(&mut self.decorators);
        if !name.starts_with("test") || decorators.has_fixture {
            return;
        }
        let is_skipped = decorators.has_skip || self.is_class_skipped();
        self.found.add(is_skipped);
        self.is_at_test_start = !is_skipped;
    }

    /// `pytestmark = pytest.mark.skip(…)` is about its class, or about the whole file.
    fn read_marks(&mut self, statement: &str) {
        let mut marks = statement.match_indices("mark.").map(|(at, prefix)| &statement[at + prefix.len()..]);
        if !marks.any(is_skip) {
            return;
        }
        match self.classes.last_mut() {
            Some((_, is_skipped)) => *is_skipped = true,
            None => self.is_module_skipped = true,
        }
    }

    fn is_class_skipped(&self) -> bool {
        self.classes.iter().any(|(_, is_skipped)| *is_skipped)
    }
}

/// Whether a decorator or a mark disables its test, perhaps under a condition: `pytest.mark.skipif(…)`,
/// `unittest.skipUnless(…)`, `pytest.mark.xfail`.
fn is_skip(decorator: &str) -> bool {
    let name = path(decorator).rsplit('.').next().unwrap_or_default();
    name.starts_with("skip") || matches!(name, "xfail" | "expectedFailure")
}

/// Whether the first statement of a test ends it.
fn skips_test(statement: &str) -> bool {
    let statement = statement.strip_prefix("raise ").unwrap_or(statement);
    matches!(
        path(statement),
        "pytest.skip" | "pytest.xfail" | "self.skipTest" | "unittest.SkipTest" | "SkipTest"
    )
}

/// A name with its qualifiers.
fn path(text: &str) -> &str {
    &text[..text.find(|c: char| !c.is_alphanumeric() && !matches!(c, '_' | '.')).unwrap_or(text.len())]
}

fn depth_after(mut depth: usize, line: &str) -> usize {
    for byte in line.bytes() {
        match byte {
            b'(' | b'[' | b'{' => depth += 1,
            b')' | b']' | b'}' => depth = depth.saturating_sub(1),
            _ => {}
        }
    }
    depth
}
