//! `ccc.json` as a whole, for an editor: makes a private copy and writes the edited text back.

use std::fs::{self, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

use jsonc_edit::SettingsFile;

use crate::providers::config::make_private;
use crate::providers::isolated::has_ended;
use crate::providers::switch::make_state_folder;
use crate::providers::{CccPaths, ProvidersError};

pub(crate) const COPY_PREFIX: &str = "edit-";

/// The text of the file at one moment, even if it is malformed.
pub struct ConfigSnapshot {
    path: PathBuf,
    text: Option<String>,
}

/// The outcome of [`ConfigSnapshot::replace`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ReplaceOutcome {
    Done,
    /// Somebody else has changed the file; nothing was written.
    ChangedMeanwhile,
}

impl ConfigSnapshot {
    pub fn take(paths: &CccPaths) -> Result<Self, ProvidersError> {
        let path = paths.config_file();
        let text = SettingsFile::at(&path).read_text()?;
        Ok(Self { path, text })
    }

    /// The text; `None` if there was no file.
    pub fn text(&self) -> Option<&str> {
        self.text.as_deref()
    }

    /// Writes a text to a new file that only the user can read.
    pub fn copy(paths: &CccPaths, text: &str) -> Result<PathBuf, ProvidersError> {
        make_state_folder(paths)?;
        remove_untouched_copies(&paths.state(), text);
        let process = std::process::id();
        let name = |number: u32| paths.state().join(format!("{COPY_PREFIX}{process}-{number}.json"));
        // An earlier process with the same id may have left copies behind. If no name is free, writing fails.
        let free = (1..u32::MAX).map(name).find(|path| fs::symlink_metadata(path).is_err());
        let path = free.unwrap_or_else(|| name(0));
        write_new(&path, text).map_err(|error| ProvidersError::io(&path, error))?;
        Ok(path)
    }

    /// Reads an edited copy and makes it private again: some editors write a new file that others could read.
    pub fn read_copy(copy: &Path) -> Result<String, ProvidersError> {
        let text = SettingsFile::at(copy).read_text()?.unwrap_or_default();
        make_private(copy).map_err(|error| ProvidersError::io(copy, error))?;
        Ok(text)
    }

    /// Replaces the file by a new text, unless it has changed since the snapshot.
    pub fn replace(&self, text: &str) -> Result<ReplaceOutcome, ProvidersError> {
        if !SettingsFile::at(&self.path).replace_text(self.text(), text)? {
            return Ok(ReplaceOutcome::ChangedMeanwhile);
        }
        make_private(&self.path).map_err(|error| ProvidersError::io(&self.path, error))?;
        Ok(ReplaceOutcome::Done)
    }
}

/// Omits the text, which contains tokens.
impl std::fmt::Debug for ConfigSnapshot {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("ConfigSnapshot").field("path", &self.path).finish_non_exhaustive()
    }
}

/// Removes unedited copies left by processes that were killed. A copy with other content is the user's work and is
/// kept.
fn remove_untouched_copies(state: &Path, text: &str) {
    for entry in fs::read_dir(state).into_iter().flatten().flatten() {
        if let Some(process) = process_of(&entry.file_name().to_string_lossy())
            && has_ended(process)
            && let Ok(copy) = fs::read_to_string(entry.path())
            && text.starts_with(&copy)
        {
            // Another start may have removed it already.
            let _ = fs::remove_file(entry.path());
        }
    }
}

fn process_of(name: &str) -> Option<i32> {
    name.strip_prefix(COPY_PREFIX)?.split_once('-')?.0.parse().ok()
}

fn write_new(path: &Path, text: &str) -> io::Result<()> {
    let mut file = OpenOptions::new().write(true).create_new(true).mode(0o600).open(path)?;
    file.write_all(text.as_bytes())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Larger than any process id on Linux.
    const ENDED_PROCESS: i32 = 999_999_999;

    #[test]
    fn untouched_copies_of_killed_processes_are_removed_and_edited_ones_are_kept() {
        let dir = tempfile::tempdir().unwrap();
        let put = |name: String, text: &str| write_new(&dir.path().join(name), text).unwrap();
        put(format!("edit-{ENDED_PROCESS}-1.json"), "{}\n");
        put(format!("edit-{ENDED_PROCESS}-2.json"), "{");
        put(format!("edit-{ENDED_PROCESS}-3.json"), "{\"mine\":1}\n");
        put("edit-1-1.json".to_owned(), "{}\n");
        put("edit-x.json".to_owned(), "{}\n");
        remove_untouched_copies(dir.path(), "{}\n");
        let mut left: Vec<_> =
            fs::read_dir(dir.path()).unwrap().flatten().map(|entry| entry.file_name()).collect();
        left.sort();
        let work = format!("edit-{ENDED_PROCESS}-3.json");
        assert_eq!(left, ["edit-1-1.json", work.as_str(), "edit-x.json"]);
    }
}
