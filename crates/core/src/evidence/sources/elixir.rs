//! `ExUnit`.

use super::SourceTests;

pub(super) fn count(code: &str) -> SourceTests {
    let mut found = SourceTests::default();
    let (mut is_module_skipped, mut has_skip_tag) = (false, false);
    // Indentation of the `describe` around the current line, and whether it is disabled.
    let mut group: Option<(usize, bool)> = None;
    for line in code.lines() {
        let statement = line.trim();
        let indentation = line.len() - line.trim_start().len();
        if let Some(tag) = statement.strip_prefix("@tag ") {
            has_skip_tag |= is_skip(tag);
        } else if let Some(tag) = statement.strip_prefix("@moduletag ") {
            is_module_skipped |= is_skip(tag);
        } else if let Some(tag) = statement.strip_prefix("@describetag ") {
            if let Some((_, is_skipped)) = &mut group {
                *is_skipped |= is_skip(tag);
            }
        } else if statement.starts_with("describe ") {
            group = Some((indentation, false));
        } else if statement == "end" {
            match group {
                Some((outer, _)) if outer == indentation => group = None,
                _ => {}
            }
        } else if is_test(statement) {
            let is_group_skipped = matches!(group, Some((_, true)));
            found.add(std::mem::take(&mut has_skip_tag) || is_group_skipped);
        }
    }
    if is_module_skipped { SourceTests { skipped: found.tests, ..found } } else { found }
}

fn is_test(statement: &str) -> bool {
    ["test \"", "test(\"", "property \"", "property(\""]
        .iter()
        .any(|beginning| statement.starts_with(beginning))
}

/// `:skip` or `skip: "reason"`
fn is_skip(tag: &str) -> bool {
    let tag = tag.trim();
    tag == ":skip" || (tag.starts_with("skip:") && tag != "skip: false")
}
