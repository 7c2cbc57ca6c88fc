//! Finds I/O in sources by its name: `std::fs::read`, `use std::{fmt, io}`. Comments may mention it.

use std::fs;
use std::path::Path;

use super::rules::IMPURE_MODULES;
use crate::error::{Error, Result};
use crate::{shell, tree};

/// One line per use of an impure module below a folder.
pub(crate) fn impure(folder: &Path) -> Result<Vec<String>> {
    let mut names: Vec<_> = tree::files(folder)?.into_keys().collect();
    names.retain(|name| name.extension().is_some_and(|extension| extension == "rs"));
    if names.is_empty() {
        // A rule for a folder that moved away would hold for ever.
        return Err(Error::new(format!("no sources to check: {}", folder.display())));
    }
    let uses = names.iter().map(|name| uses_in(&folder.join(name)));
    Ok(uses.collect::<Result<Vec<_>>>()?.concat())
}

fn uses_in(file: &Path) -> Result<Vec<String>> {
    let text = fs::read_to_string(file).map_err(|e| Error::io("cannot read source", file, &e))?;
    let shown = file.strip_prefix(shell::root()).unwrap_or(file).display();
    let found = impure_uses(&text).into_iter();
    Ok(found.map(|(line, module)| format!("{shown}:{line}: uses std::{module} in a pure crate")).collect())
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
    fn comments_and_other_modules_pass() {
        let text = "//! No `std::fs` here.\nuse std::fmt::{self, Write};\nuse std::collections::BTreeMap; // not std::io\n";
        assert!(impure_uses(text).is_empty());
    }
}
