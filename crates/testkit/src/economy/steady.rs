//! Takes out of texts what differs between two runs of the same session, so that every run has the same length.

use crate::recorder::flattened;
use crate::{ROOT, Sandbox};

/// What stands before a value that differs from run to run or from machine to machine. The value ends with the line, or where a
/// tag begins.
const LABELS: [&str; 5] = ["OS Version: ", "duration_ms: ", "created: ", "seconds_elapsed: ", " tests in "];

/// The marks of stages that wait and of stages that run. Two agents that start at the same time may see each other as either.
const MARKS: [(&str, &str); 1] = [("🔄", "⬜")];

/// Replaces what belongs to one run or one machine.
#[derive(Debug)]
pub(super) struct Steady {
    /// The sandbox's folder, and the same as the client writes it in names of folders.
    root: String,
    flat_root: String,
}

impl Steady {
    pub(super) fn new(sandbox: &Sandbox) -> Self {
        Self::below(&sandbox.root().to_string_lossy())
    }

    fn below(root: &str) -> Self {
        Self { root: root.to_owned(), flat_root: flattened(root) }
    }

    #[cfg(test)]
    pub(super) fn for_tests() -> Self {
        Self::below("/tmp/x")
    }

    pub(super) fn text(&self, text: &str) -> String {
        let mut text = text.replace(&self.flat_root, &flattened(ROOT)).replace(&self.root, ROOT);
        for (mark, other) in MARKS {
            text = text.replace(mark, other);
        }
        for label in LABELS {
            if text.contains(label) {
                text = without_values(&text, label);
            }
        }
        text
    }
}

/// The text without the values of a label.
fn without_values(text: &str, label: &str) -> String {
    let mut parts = text.split(label);
    let mut kept = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let end = part.find(['\n', '<']).unwrap_or(part.len());
        kept.push_str(label);
        kept.push_str(&part[end..]);
    }
    kept
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn two_runs_have_the_same_text() {
        let first =
            Steady::below("/tmp/a1").text("/tmp/a1/project -tmp-a1-project\n<usage>duration_ms: 3</usage>");
        let second = Steady::below("/tmp/longer")
            .text("/tmp/longer/project -tmp-longer-project\n<usage>duration_ms: 1488</usage>");
        assert_eq!(
            (first.as_str(), first == second),
            ("/sandbox/project -sandbox-project\n<usage>duration_ms: </usage>", true)
        );
    }
}
