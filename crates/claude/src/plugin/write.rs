//! Writes the plugin's folder: replaces files that differ, and removes those that are no longer part of it.

use std::collections::HashSet;
use std::fs::{self, File};
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

use overtone_core::registry::Economy;

use crate::plugin::render_for;

/// The folders that belong to the renderer alone. `bin/` and anything else is left as it is.
const OWNED: [&str; 4] = [".claude-plugin", "hooks", "agents", "skills"];

/// Makes the owned folders in `dir` contain exactly the plugin as it is specified.
pub fn write_to(dir: &Path) -> io::Result<()> {
    write_for(dir, Economy::Standard)
}

/// Makes the owned folders in `dir` contain exactly the rendered plugin of this economy. Files with the right content are not
/// written. A killed process leaves each file old or new, and the next call removes its temporary files.
pub fn write_for(dir: &Path, economy: Economy) -> io::Result<()> {
    let mut rendered = HashSet::new();
    for file in render_for(economy) {
        let path = dir.join(&file.path);
        write_if_changed(&path, &file.contents).map_err(|error| with_path(&path, &error))?;
        rendered.insert(path);
    }
    for folder in OWNED {
        let path = dir.join(folder);
        remove_stale(&path, &rendered).map_err(|error| with_path(&path, &error))?;
    }
    Ok(())
}

fn write_if_changed(path: &Path, contents: &str) -> io::Result<()> {
    // Anything that is not a regular file, such as a pipe, is replaced without being read.
    if let Ok(metadata) = path.metadata()
        && metadata.is_file()
        && metadata.len() == contents.len() as u64
        && let Ok(found) = fs::read(path)
        && found == contents.as_bytes()
    {
        return Ok(());
    }
    if let Some(parent) = path.parent() {
        fs::create_dir_all(parent)?;
    }
    let temporary = temp_path(path);
    let written = File::create(&temporary)
        .and_then(|mut file| file.write_all(contents.as_bytes()))
        .and_then(|()| fs::rename(&temporary, path));
    if written.is_err() {
        // The first error is the one to report.
        let _ = fs::remove_file(&temporary);
    }
    written
}

/// A path in the same folder, so that the rename stays within one file system.
fn temp_path(path: &Path) -> PathBuf {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    path.with_file_name(format!(".{name}.{}.tmp", std::process::id()))
}

/// Removes every file below `dir` that was not rendered, and folders that are empty then. Links are removed and not
/// followed.
fn remove_stale(dir: &Path, rendered: &HashSet<PathBuf>) -> io::Result<()> {
    for entry in fs::read_dir(dir)? {
        let entry = entry?;
        let path = entry.path();
        if entry.file_type()?.is_dir() {
            remove_stale(&path, rendered)?;
            if fs::read_dir(&path)?.next().is_none() {
                fs::remove_dir(&path)?;
            }
        } else if !rendered.contains(&path) {
            fs::remove_file(&path)?;
        }
    }
    Ok(())
}

fn with_path(path: &Path, error: &io::Error) -> io::Error {
    io::Error::new(error.kind(), format!("{}: {error}", path.display()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn put(path: &Path, contents: &str) {
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        File::create(path).unwrap().write_all(contents.as_bytes()).unwrap();
    }

    #[test]
    fn stale_files_go_and_foreign_folders_stay() {
        let dir = tempfile::tempdir().unwrap();
        let at = |path: &str| dir.path().join(path);
        for path in
            ["agents/old.md", "skills/old/SKILL.md", "hooks/.hooks.json.1.tmp", "bin/overtone", "NOTES"]
        {
            put(&at(path), "x");
        }
        write_to(dir.path()).unwrap();
        for path in ["agents/old.md", "skills/old", "hooks/.hooks.json.1.tmp"] {
            assert!(!at(path).exists(), "{path}");
        }
        for path in ["bin/overtone", "NOTES", "agents/qa.md"] {
            assert!(at(path).exists(), "{path}");
        }
    }

    #[test]
    fn a_changed_file_is_repaired_and_an_equal_one_not_touched() {
        let dir = tempfile::tempdir().unwrap();
        write_to(dir.path()).unwrap();
        let (changed, equal) = (dir.path().join("agents/qa.md"), dir.path().join("hooks/hooks.json"));
        let right = fs::read(&changed).unwrap();
        put(&changed, "x");
        let before = fs::metadata(&equal).unwrap().modified().unwrap();
        write_to(dir.path()).unwrap();
        assert_eq!(fs::read(&changed).unwrap(), right);
        assert_eq!(fs::metadata(&equal).unwrap().modified().unwrap(), before);
    }

    #[test]
    fn an_error_names_the_path() {
        let dir = tempfile::tempdir().unwrap();
        put(&dir.path().join("agents"), "a file where a folder belongs");
        let error = write_to(dir.path()).unwrap_err();
        assert!(error.to_string().contains("agents"), "{error}");
    }

    #[cfg(unix)]
    #[test]
    fn a_link_is_removed_and_not_followed() {
        let (dir, outside) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        put(&outside.path().join("precious"), "x");
        fs::create_dir_all(dir.path().join("skills")).unwrap();
        std::os::unix::fs::symlink(outside.path(), dir.path().join("skills/link")).unwrap();
        write_to(dir.path()).unwrap();
        assert!(!dir.path().join("skills/link").exists());
        assert!(outside.path().join("precious").exists());
    }
}
