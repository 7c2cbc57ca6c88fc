//! From a clone of the `RustSec` database to our table. Each advisory there is a page that begins with a block of TOML; only
//! the id, the package, the kind and the version ranges are taken.

use std::path::Path;
use std::process::Command;

use crate::error::{Error, Result};
use crate::shell;

const BLOCK: &str = "```toml";

/// The table as text, with where it comes from in its first lines.
pub(super) fn table(clone: &Path) -> Result<String> {
    let head = git(clone, &["log", "-1", "--format=%h of %cs"])?;
    let names = git(clone, &["ls-tree", "-r", "--name-only", "HEAD", "crates"])?;
    let mut lines = Vec::new();
    for name in names.lines().filter(|name| Path::new(name).extension().is_some_and(|end| end == "md")) {
        let page = git(clone, &["show", &format!("HEAD:{name}")])?;
        lines.extend(line(&page).map_err(|e| Error::new(format!("{name}: {e}")))?);
    }
    lines.sort();
    let source = format!("# RustSec advisory database (CC0-1.0), {}", head.trim());
    let legend = "# id, package, kind, version ranges that are not affected; written by `cargo xtask advisories --from`";
    Ok(format!("{source}\n{legend}\n{}\n", lines.join("\n")))
}

/// Which state of the database a table was made from.
pub(super) fn stamp(table: &str) -> &str {
    table.lines().next().unwrap_or_default().trim_start_matches("# ")
}

fn git(clone: &Path, arguments: &[&str]) -> Result<String> {
    shell::capture(Command::new("git").arg("-C").arg(clone).args(arguments))
}

/// The line of one advisory; none for one that was withdrawn.
fn line(page: &str) -> Result<Option<String>> {
    let block = page.split_once(BLOCK).and_then(|(_, rest)| rest.split_once("```"));
    let (block, _) = block.ok_or_else(|| Error::new("no TOML block"))?;
    if !texts(block, "withdrawn").is_empty() {
        return Ok(None);
    }
    let one = |key: &str| texts(block, key).into_iter().next();
    let (Some(id), Some(package)) = (one("id"), one("package")) else {
        return Err(Error::new("no id or no package"));
    };
    let kind = one("informational").unwrap_or("vulnerability");
    let fine = [texts(block, "patched"), texts(block, "unaffected")].concat().join("; ");
    Ok(Some(format!("{id}\t{package}\t{kind}\t{fine}")))
}

/// The quoted texts of a key: of one value, or of a list that may go over several lines.
fn texts<'a>(block: &'a str, key: &str) -> Vec<&'a str> {
    let start = block.match_indices(key).find(|(at, _)| {
        let begins_line = block[..*at].ends_with('\n');
        begins_line && block[at + key.len()..].trim_start().starts_with('=')
    });
    let Some((at, _)) = start else { return Vec::new() };
    let Some((_, value)) = block[at..].split_once('=') else { return Vec::new() };
    let value = value.trim_start();
    let end = if value.starts_with('[') { value.find(']') } else { value.find('\n') };
    let value = &value[..end.unwrap_or(value.len())];
    value.split('"').skip(1).step_by(2).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const PAGE: &str = "```toml\n[advisory]\nid = \"R-1\"\npackage = \"door\"\ncategories = [\"x\"]\n\n[versions]\npatched = [\n  \
                        \">= 1.2.3\", # since then\n  \"^0.9.5\",\n]\nunaffected = []\n```\n\n# Words\n";

    #[test]
    fn the_facts_are_taken_from_a_page() {
        assert_eq!(line(PAGE).unwrap().unwrap(), "R-1\tdoor\tvulnerability\t>= 1.2.3; ^0.9.5");
        let notice = PAGE.replace("categories", "informational = \"unsound\"\ncategories");
        assert!(line(&notice).unwrap().unwrap().contains("\tunsound\t"));
        let withdrawn = PAGE.replace("categories", "withdrawn = \"2026-01-01\"\ncategories");
        assert_eq!(line(&withdrawn).unwrap(), None);
        assert!(line("no block").is_err());
    }
}
