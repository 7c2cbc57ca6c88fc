//! A private settings file for one start of the client, so that two terminals can use two providers at once.

use std::fs;
use std::path::{Path, PathBuf};

use overtone_settings::SettingsFile;
use rustix::process::{Pid, test_kill_process};
use serde_json::Value;

use crate::switch::make_state;
use crate::{Fragment, Places, ProvidersError};

const PREFIX: &str = "isolated-";
const SUFFIX: &str = ".json";

/// Writes the settings into a file for the process with this id, and returns its path. Files of processes that
/// have ended are taken away.
pub fn private_settings(
    places: &Places,
    content: &Fragment,
    process: u32,
) -> Result<PathBuf, ProvidersError> {
    make_state(places)?;
    sweep(&places.state());
    let path = places.state().join(format!("{PREFIX}{process}{SUFFIX}"));
    // Whoever has left such a file behind may have given it another mode.
    let _ = fs::remove_file(&path);
    SettingsFile::at(&path).edit(|document| document.set(&[], Value::Object(content.clone())))?;
    Ok(path)
}

fn sweep(state: &Path) {
    for file in stale(state) {
        // Another start may have been faster.
        let _ = fs::remove_file(file);
    }
}

/// Private files of processes that have ended.
pub(crate) fn stale(state: &Path) -> Vec<PathBuf> {
    let files = fs::read_dir(state).into_iter().flatten().flatten();
    let is_stale =
        |file: &fs::DirEntry| process_of(&file.file_name().to_string_lossy()).is_some_and(has_ended);
    files.filter(is_stale).map(|file| file.path()).collect()
}

fn process_of(name: &str) -> Option<i32> {
    name.strip_prefix(PREFIX)?.strip_suffix(SUFFIX)?.parse().ok()
}

/// Our own id is a leftover, too: this process has not written its file yet.
pub(crate) fn has_ended(process: i32) -> bool {
    match Pid::from_raw(process) {
        Some(pid) => {
            process.unsigned_abs() == std::process::id()
                || test_kill_process(pid) == Err(rustix::io::Errno::SRCH)
        }
        None => true,
    }
}
