//! Moving a feature's folder so that it never replaces another one.
//!
//! `rename` silently replaces an empty directory, so the new name is claimed first: `mkdir` succeeds for one
//! process only, and what `rename` then replaces is our own empty directory.

use std::fs;
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};

use super::SpecsError;
use super::error::Context;

/// No feature is archived that often on one day.
const MAX_COPIES: u32 = 1000;

/// Makes a directory that must not exist yet.
pub(super) fn claim(dir: &Path) -> Result<(), SpecsError> {
    match fs::create_dir(dir) {
        Err(error) if error.kind() == ErrorKind::AlreadyExists => {
            Err(SpecsError::Exists { path: dir.to_owned() })
        }
        made => Ok(made.context("create", dir)?),
    }
}

/// Moves a directory to a name that must be free.
pub(super) fn move_to(from: &Path, to: &Path) -> Result<(), SpecsError> {
    claim(to)?;
    let moved = fs::rename(from, to).context("move", from);
    if moved.is_err() {
        give_back(to);
    }
    Ok(moved?)
}

/// Moves a directory into a folder as `name`, or `name_2`, `name_3`… when that is taken.
pub(super) fn move_to_free(from: &Path, folder: &Path, name: &str) -> Result<PathBuf, SpecsError> {
    let mut last = folder.join(name);
    for copy in 2..=MAX_COPIES {
        match move_to(from, &last) {
            Err(SpecsError::Exists { .. }) => last = folder.join(format!("{name}_{copy}")),
            moved => return moved.map(|()| last),
        }
    }
    Err(SpecsError::Exists { path: last })
}

/// Removes a claimed directory; only if it is still empty, so nothing can get lost.
pub(super) fn give_back(dir: &Path) {
    let _: io::Result<()> = fs::remove_dir(dir);
}
