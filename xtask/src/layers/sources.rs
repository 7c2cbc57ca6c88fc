//! Finds I/O in sources by its name: `std::fs::read`, `use std::{fmt, io}`. Comments may mention it.

use std::fs;
use std::path::Path;

use super::rules::{IMPURE_MODULES, STREAM_FILES, STREAM_NAMES};
use crate::error::{Error, Result};
use crate::{shell, tree};

/// One line per use of an impure module below a folder.
pub(crate) fn impure(folder: &Path) -> Result<Vec<String>> {
    let mut violations = Vec::new();
    for (name, text) in sources(folder)? {
        let found = impure_uses(&text).into_iter();
        violations
            .extend(found.map(|(line, module)| format!("{name}:{line}: uses std::{module} in a pure crate")));
    }
    Ok(violations)
}

/// One line per source below a folder that names a serialization crate.
pub(crate) fn formats(folder: &Path) -> Result<Vec<String>> {
    let mut violations = Vec::new();
    for (name, text) in sources(folder)? {
        for (line, code) in (1..).zip(without_comments(&text).lines()) {
            if code.contains("serde") {
                violations.push(format!("{name}:{line}: names serde: these types know no file format"));
            }
        }
    }
    Ok(violations)
}

/// One line per place below a folder that could write to a terminal past the file that cleans what is written.
pub(crate) fn writes_to_terminal(folder: &Path) -> Result<Vec<String>> {
    let mut violations = Vec::new();
    for (name, text) in sources(folder)? {
        if !STREAM_FILES.contains(&name.as_str()) {
            let found = streams_named(&text).into_iter();
            violations.extend(
                found.map(|(line, stream)| format!("{name}:{line}: names {stream} instead of using ui::out")),
            );
        }
    }
    Ok(violations)
}

/// Every source below a folder, by its path in the repository.
fn sources(folder: &Path) -> Result<Vec<(String, String)>> {
    let mut names: Vec<_> = tree::files(folder)?.into_keys().collect();
    names.retain(|name| name.extension().is_some_and(|extension| extension == "rs"));
    if names.is_empty() {
        // A rule for a folder that moved away would hold for ever.
        return Err(Error::new(format!("no sources to check: {}", folder.display())));
    }
    names.iter().map(|name| source(&folder.join(name))).collect()
}

fn source(file: &Path) -> Result<(String, String)> {
    let text = fs::read_to_string(file).map_err(|e| Error::io("cannot read source", file, &e))?;
    let shown = file.strip_prefix(shell::root()).unwrap_or(file).display().to_string();
    Ok((shown, text))
}

/// Line number and name of every mention of a standard stream.
fn streams_named(text: &str) -> Vec<(usize, &'static str)> {
    let mut found = Vec::new();
    for (line, code) in (1..).zip(without_comments(text).lines()) {
        let is_named = |name: &&str| {
            let mut places = code.match_indices(*name);
            places.any(|(at, _)| !code[..at].ends_with(is_word))
        };
        found.extend(STREAM_NAMES.into_iter().filter(is_named).map(|name| (line, name)));
    }
    found
}

/// Line number and module of every use. A path or a group may be broken over lines, so the text is searched
/// as a whole.
fn impure_uses(text: &str) -> Vec<(usize, &'static str)> {
    let code = without_comments(text);
    code.match_indices("std::")
        .flat_map(|(at, prefix)| {
            let line = code[..at].matches('\n').count() + 1;
            let modules = modules_named(&code[at + prefix.len()..]);
            modules.into_iter().map(move |module| (line, module))
        })
        .collect()
}

/// The impure modules that follow `std::`, either one name or a braced group.
fn modules_named(rest: &str) -> Vec<&'static str> {
    let names = match rest.strip_prefix('{') {
        // The first word of each part: `io::{self, Write}` names `io`; its inner braces only add words.
        Some(group) => &group[..group.find(';').unwrap_or(group.len())],
        None => &rest[..rest.find(|c: char| !is_word(c)).unwrap_or(rest.len())],
    };
    let words: Vec<_> = names.split(|c| !is_word(c)).collect();
    IMPURE_MODULES.into_iter().filter(|module| words.contains(module)).collect()
}

fn is_word(c: char) -> bool {
    c.is_alphanumeric() || c == '_'
}

/// Drops `//` comments and keeps the line breaks. A `//` inside a string only hides the rest of that line.
fn without_comments(text: &str) -> String {
    text.lines().map(|line| line.split("//").next().unwrap_or_default()).collect::<Vec<_>>().join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_and_groups_are_found() {
        let text = "use std::fmt;\nuse std::{\n    fmt, fs,\n    io::{self, Write},\n};\nlet x = std::env::var(\"X\");\n";
        assert_eq!(impure_uses(text), [(2, "fs"), (2, "io"), (6, "env")]);
    }

    #[test]
    fn standard_streams_are_found() {
        let text = "// println! is not for us\nlet mut out = io::stdout().lock();\neprintln!(\"x\");\nPalette::for_stdout();\n";
        assert_eq!(streams_named(text), [(2, "stdout()"), (3, "eprintln!")]);
    }

    #[test]
    fn comments_and_other_modules_pass() {
        let text = "//! No `std::fs` here.\nuse std::fmt::{self, Write};\nuse std::collections::BTreeMap; // not std::io\n";
        assert!(impure_uses(text).is_empty());
    }
}
