//! The assertions of a test file: what its tests expect.

use super::code::{Language, code_only};
use super::count_in_source;

/// An assertion may go on over several lines.
const MAX_LINES: usize = 30;

/// Words of assertions in the usual frameworks, in lower case.
const WORDS: [&str; 8] = ["assert", "expect", "should", "refute", "must_", ".fatal", ".error", ".fail"];

/// Beginnings of lines that name an assertion without making one.
const DECLARATIONS: [&str; 13] = [
    "use ",
    "import ",
    "from ",
    "require ",
    "def ",
    "async def ",
    "fn ",
    "pub fn ",
    "func ",
    "function ",
    "class ",
    "public ",
    "alias ",
];

/// A number for each assertion of a file with tests, sorted. Equal assertions have equal numbers, however they are laid out.
pub fn assertions_in_source(path: &str, text: &str) -> Vec<u32> {
    let Some(language) = Language::from_path(path) else { return Vec::new() };
    if count_in_source(path, text).tests == 0 {
        return Vec::new();
    }
    // Comments and strings do not make an assertion, but strings are part of what it expects.
    let code = code_only(language, text);
    let code: Vec<&str> = code.lines().collect();
    let text: Vec<&str> = text.lines().collect();
    let mut found = Vec::new();
    let mut at = 0;
    while at < code.len() {
        let end = if is_assertion(code[at]) { statement_end(&code, at) } else { at };
        if end > at {
            found.push(number_of(text.get(at..end).unwrap_or_default()));
        }
        at = end.max(at + 1);
    }
    found.sort_unstable();
    found
}

fn is_assertion(line: &str) -> bool {
    let line = line.trim_start().to_ascii_lowercase();
    WORDS.iter().any(|word| line.contains(word)) && !DECLARATIONS.iter().any(|start| line.starts_with(start))
}

/// The line after the statement: that in which the last bracket is closed.
fn statement_end(code: &[&str], start: usize) -> usize {
    let mut depth = 0_i64;
    for (offset, line) in code[start..].iter().take(MAX_LINES).enumerate() {
        for byte in line.bytes() {
            match byte {
                b'(' | b'[' | b'{' => depth += 1,
                b')' | b']' | b'}' => depth -= 1,
                _ => {}
            }
        }
        if depth <= 0 {
            return start + offset + 1;
        }
    }
    start + 1
}

/// FNV-1a of the words without the blanks between them. It is stored, so it must not differ between versions.
fn number_of(lines: &[&str]) -> u32 {
    let mut hash: u32 = 0x811c_9dc5;
    for byte in lines.iter().flat_map(|line| line.bytes()).filter(|byte| !byte.is_ascii_whitespace()) {
        hash = (hash ^ u32::from(byte)).wrapping_mul(0x0100_0193);
    }
    hash
}

#[cfg(test)]
mod tests {
    use super::*;

    fn count(path: &str, text: &str) -> usize {
        assertions_in_source(path, text).len()
    }

    #[test]
    fn assertions_are_found_in_files_with_tests() {
        let python = "import unittest\nfrom x import assert_that\n\ndef test_a():\n    assert a == 'b'\n    # assert c\n    self.assertEqual(\n        f(1),\n        2,\n    )\n";
        assert_eq!(count("tests/test_a.py", python), 2);
        assert_eq!(count("a.py", python), 0, "no test file");
        let rust = "use pretty_assertions::assert_eq;\n#[test]\nfn a() {\n    assert_eq!(f(), \"assert\");\n    let text = \"should\";\n}\n";
        assert_eq!(count("src/a.rs", rust), 1);
        let javascript =
            "import { expect } from 'vitest';\nit('should add', () => {\n  expect(add(1)).toBe(2);\n});\n";
        assert_eq!(count("a.test.js", javascript), 1);
        let go = "func TestA(t *testing.T) {\n\tif f() != 1 {\n\t\tt.Errorf(\"x\")\n\t}\n}\n";
        assert_eq!(count("a_test.go", go), 1);
        assert_eq!(count("notes.md", "assert"), 0);
    }

    #[test]
    fn an_assertion_is_known_by_what_it_expects_and_not_by_its_layout() {
        let source =
            |assertion: &str| assertions_in_source("test_a.py", &format!("def test_a():\n{assertion}\n"));
        let one = source("    assert f(1, 2) == 'x'");
        assert_eq!(one, source("        assert  f(1,\n    2) == 'x'"));
        assert_ne!(one, source("    assert f(1, 2) == 'y'"));
    }
}
