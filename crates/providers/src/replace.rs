//! `ccc.json` as a whole, for an editor: a private copy to work on, and the way back.

use std::fs::{self, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

use overtone_settings::SettingsFile;

use crate::config::make_private;
use crate::isolated::has_ended;
use crate::switch::make_state;
use crate::{Places, ProvidersError};

pub(crate) const COPY_PREFIX: &str = "edit-";

/// The file as it was at a moment, even if it is broken.
pub struct Snapshot {
    path: PathBuf,
    text: Option<String>,
}

/// Whether the new text is in the file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Replaced {
    Done,
    /// Somebody else has written it; their text is still there.
    ChangedMeanwhile,
}

impl Snapshot {
    pub fn take(places: &Places) -> Result<Self, ProvidersError> {
        let path = places.config_file();
        let text = SettingsFile::at(&path).text()?;
        Ok(Self { path, text })
    }

    /// Nothing if there is no file yet.
    pub fn text(&self) -> Option<&str> {
        self.text.as_deref()
    }

    /// Writes a text into a new file that only the user can read.
    pub fn copy(places: &Places, text: &str) -> Result<PathBuf, ProvidersError> {
        make_state(places)?;
        sweep(&places.state(), text);
        let process = std::process::id();
        let name = |number: u32| places.state().join(format!("{COPY_PREFIX}{process}-{number}.json"));
        // Earlier processes of this number may have left some behind; in the end writing tells.
        let free = (1..u32::MAX).map(name).find(|path| fs::symlink_metadata(path).is_err());
        let path = free.unwrap_or_else(|| name(0));
        write_new(&path, text).map_err(|error| ProvidersError::io(&path, error))?;
        Ok(path)
    }

    /// What is in a copy by now. Some editors write a new file, which others could read.
    pub fn read_copy(copy: &Path) -> Result<String, ProvidersError> {
        let text = SettingsFile::at(copy).text()?.unwrap_or_default();
        make_private(copy).map_err(|error| ProvidersError::io(copy, error))?;
        Ok(text)
    }

    /// Puts a text in place of this one.
    pub fn replace(&self, text: &str) -> Result<Replaced, ProvidersError> {
        if !SettingsFile::at(&self.path).replace_text(self.text(), text)? {
            return Ok(Replaced::ChangedMeanwhile);
        }
        make_private(&self.path).map_err(|error| ProvidersError::io(&self.path, error))?;
        Ok(Replaced::Done)
    }
}

/// Shows no content: it holds tokens.
impl std::fmt::Debug for Snapshot {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Snapshot").field("path", &self.path).finish_non_exhaustive()
    }
}

/// Takes away copies of processes that were killed before anybody changed them. What holds another word is a person's
/// work, and stays until they have seen it.
fn sweep(state: &Path, text: &str) {
    for entry in fs::read_dir(state).into_iter().flatten().flatten() {
        let is_left = process_of(&entry.file_name().to_string_lossy()).is_some_and(has_ended);
        let is_untouched = || fs::read_to_string(entry.path()).is_ok_and(|copy| text.starts_with(&copy));
        if is_left && is_untouched() {
            // Another start may have been faster.
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

    /// No process has this number: it is above what Linux gives out.
    const GONE: i32 = 999_999_999;

    #[test]
    fn untouched_copies_of_killed_processes_go_and_a_persons_work_stays() {
        let dir = tempfile::tempdir().unwrap();
        let put = |name: String, text: &str| write_new(&dir.path().join(name), text).unwrap();
        put(format!("edit-{GONE}-1.json"), "{}\n");
        put(format!("edit-{GONE}-2.json"), "{");
        put(format!("edit-{GONE}-3.json"), "{\"mine\":1}\n");
        put("edit-1-1.json".to_owned(), "{}\n");
        put("edit-x.json".to_owned(), "{}\n");
        sweep(dir.path(), "{}\n");
        let mut left: Vec<_> =
            fs::read_dir(dir.path()).unwrap().flatten().map(|entry| entry.file_name()).collect();
        left.sort();
        let work = format!("edit-{GONE}-3.json");
        assert_eq!(left, ["edit-1-1.json", work.as_str(), "edit-x.json"]);
    }
}
