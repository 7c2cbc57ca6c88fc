//! Private settings files for single starts of the client, so that two terminals can use two providers at once.

use std::fs;
use std::path::{Path, PathBuf};

use jsonc_edit::SettingsFile;
use rustix::process::{Pid, test_kill_process};
use serde_json::Value;

use crate::providers::switch::make_state_folder;
use crate::providers::{CccPaths, Fragment, ProvidersError};

const PREFIX: &str = "isolated-";
const SUFFIX: &str = ".json";
/// How the file ends that a settings file is prepared in. A killed start may leave one.
const TEMPORARY_SUFFIX: &str = ".overtone-tmp";

/// Writes the settings to a file for the process with this id and returns its path. Files of processes that have ended
/// are removed.
pub fn write_private_settings(
    paths: &CccPaths,
    content: &Fragment,
    process: u32,
) -> Result<PathBuf, ProvidersError> {
    make_state_folder(paths)?;
    remove_stale_files(&paths.state());
    let path = paths.state().join(format!("{PREFIX}{process}{SUFFIX}"));
    // A leftover file may have other permissions.
    let _ = fs::remove_file(&path);
    SettingsFile::at(&path).edit(|document| document.set(&[], Value::Object(content.clone())))?;
    Ok(path)
}

fn remove_stale_files(state: &Path) {
    for file in stale_files(state) {
        // Another start may have removed it already.
        let _ = fs::remove_file(file);
    }
}

/// The private files of processes that have ended.
pub(crate) fn stale_files(state: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for file in fs::read_dir(state).into_iter().flatten().flatten() {
        if let Some(process) = process_of(&file.file_name().to_string_lossy())
            && has_ended(process)
        {
            found.push(file.path());
        }
    }
    found
}

/// The process that a private file, or the temporary file beside it, belongs to.
fn process_of(name: &str) -> Option<i32> {
    let name = match name.strip_prefix('.') {
        Some(temporary) => temporary.strip_suffix(TEMPORARY_SUFFIX)?,
        None => name,
    };
    name.strip_prefix(PREFIX)?.strip_suffix(SUFFIX)?.parse().ok()
}

/// Whether a process has ended. The id of this process counts as ended: a file with its id is a leftover of an earlier
/// process, since this one has not written its own yet.
pub(crate) fn has_ended(process: i32) -> bool {
    let Some(pid) = Pid::from_raw(process) else { return true };
    process.unsigned_abs() == std::process::id() || test_kill_process(pid) == Err(rustix::io::Errno::SRCH)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_temporary_file_belongs_to_the_process_of_its_private_file() {
        assert_eq!(process_of("isolated-17.json"), Some(17));
        assert_eq!(process_of(".isolated-17.json.overtone-tmp"), Some(17));
        for other in [
            "isolated-17.json.overtone-tmp",
            ".isolated-17.json",
            ".owned.json.overtone-tmp",
            "isolated-.json",
        ] {
            assert_eq!(process_of(other), None, "{other}");
        }
    }
}
