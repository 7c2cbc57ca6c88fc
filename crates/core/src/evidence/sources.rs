//! Reads the sources of tests: which files contain tests, how many they declare, and how many of those are disabled.
//!
//! The readers know the usual frameworks of each language, not the language itself. Comments and the contents of strings are
//! removed first.

mod assertions;
mod code;
mod elixir;
mod functions;
mod javascript;
mod paths;
mod python;
mod ruby;

pub use assertions::assertions_in_source;
pub use paths::{is_document, is_test_file};

use code::{Language, code_only};

/// The tests that a source file declares.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct SourceTests {
    /// All declared tests, disabled ones included. A test with several cases counts once.
    pub tests: u32,
    /// Tests that do not run, run only under a condition, or are expected to fail.
    pub skipped: u32,
}

impl SourceTests {
    fn add(&mut self, is_skipped: bool) {
        self.tests += 1;
        self.skipped += u32::from(is_skipped);
    }
}

/// Counts the tests in a source file. The path tells the language; a file without tests, or in an unknown language, has none.
///
/// Where tests are ordinary functions or calls, as in Python or JavaScript, only test files can contain them: see
/// [`is_test_file`]. Where they are marked, as in Rust or Java, any file can.
pub fn count_in_source(path: &str, text: &str) -> SourceTests {
    let Some(language) = Language::from_path(path) else { return SourceTests::default() };
    if !language.marks_tests() && !may_declare_tests(language, path) {
        return SourceTests::default();
    }
    let code = code_only(language, text);
    match language {
        Language::Python => python::count(&code),
        Language::JavaScript => javascript::count(&code),
        Language::Ruby => ruby::count(&code),
        Language::Elixir => elixir::count(&code),
        Language::Php => {
            let (functions, calls) = (functions::count(language, &code), javascript::count(&code));
            SourceTests { tests: functions.tests + calls.tests, skipped: functions.skipped + calls.skipped }
        }
        Language::Go if has_ignored_build(text) => all_skipped(functions::count(language, &code)),
        Language::Rust | Language::Go | Language::Java | Language::CSharp => {
            functions::count(language, &code)
        }
    }
}

/// Whether a runner looks for tests in a file with this name. Some runners find only files with certain names, whatever folder
/// they are in.
fn may_declare_tests(language: Language, path: &str) -> bool {
    let name = path.rsplit(['/', '\\']).next().unwrap_or(path);
    match language {
        Language::Python => name.starts_with("test") || name.contains("_test"),
        Language::Go | Language::Elixir => name.contains("_test."),
        _ => is_test_file(path),
    }
}

/// Whether the build constraint of a Go file excludes it from every build.
fn has_ignored_build(text: &str) -> bool {
    let mut head = text.lines().take_while(|line| !line.starts_with("package "));
    head.any(|line| matches!(line.trim_end(), "//go:build ignore" | "// +build ignore"))
}

fn all_skipped(found: SourceTests) -> SourceTests {
    SourceTests { skipped: found.tests, ..found }
}

#[cfg(test)]
mod tests;
