//! `cargo xtask codegen`: the plugin folder as the registry says it must be.

use std::fs;
use std::path::{Path, PathBuf};

use crate::error::{Error, Result};
use crate::{shell, tree};

const PLUGIN: &str = "plugins/overtone";

/// Writes the plugin folder.
pub(crate) fn write() -> Result<()> {
    let folder = shell::root().join(PLUGIN);
    render_into(&folder)?;
    fail_on_problems(&folder)?;
    println!("codegen: {} files in {PLUGIN}", overtone_claude::plugin::render().len());
    Ok(())
}

/// Fails when writing would change anything.
pub(crate) fn check() -> Result<()> {
    let folder = shell::root().join(PLUGIN);
    let stale = what_writing_changes(&folder, &shell::target_dir()?.join("codegen"))?;
    if !stale.is_empty() {
        let what = format!("generated files are stale: {PLUGIN}: {}", stale.join(", "));
        return Err(Error::new(what).hint("run `cargo xtask codegen` and commit the result"));
    }
    fail_on_problems(&folder)?;
    println!("codegen: {PLUGIN} is up to date");
    Ok(())
}

/// Writes into a copy of the folder and names the files that came out different: changed, missing or
/// superfluous.
fn what_writing_changes(folder: &Path, scratch: &Path) -> Result<Vec<String>> {
    tree::remove(scratch)?;
    tree::copy(folder, scratch)?;
    render_into(scratch)?;
    let names = tree::files(folder)?.into_keys().chain(tree::files(scratch)?.into_keys());
    let mut stale: Vec<PathBuf> =
        names.filter(|name| fs::read(folder.join(name)).ok() != fs::read(scratch.join(name)).ok()).collect();
    stale.sort();
    stale.dedup();
    Ok(stale.iter().map(|name| name.display().to_string()).collect())
}

fn render_into(folder: &Path) -> Result<()> {
    overtone_claude::plugin::write_to(folder).map_err(|e| Error::io("cannot write plugin", folder, &e))
}

fn fail_on_problems(folder: &Path) -> Result<()> {
    let problems = overtone_claude::plugin::validate(folder);
    for problem in &problems {
        println!("{}: {}\nhint: {}", problem.path, problem.what, problem.hint);
    }
    if problems.is_empty() {
        return Ok(());
    }
    Err(Error::new(format!("the plugin has {} problems: {PLUGIN}", problems.len()))
        .hint("fix crates/core/src/registry or crates/claude, then run `cargo xtask codegen`"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn missing_changed_and_superfluous_files_are_stale() {
        let temporary = tempfile::tempdir().unwrap();
        let (folder, scratch) = (temporary.path().join("plugin"), temporary.path().join("scratch"));
        assert!(!what_writing_changes(&folder, &scratch).unwrap().is_empty());

        render_into(&folder).unwrap();
        assert!(what_writing_changes(&folder, &scratch).unwrap().is_empty());

        let first = overtone_claude::plugin::render().remove(0).path;
        shell::write_file(&folder.join(&first), b"edited by hand").unwrap();
        assert_eq!(what_writing_changes(&folder, &scratch).unwrap(), [first]);
    }
}
