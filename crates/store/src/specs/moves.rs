//! Moves a feature's folder without ever replacing another one.
//!
//! `rename` silently replaces an empty directory, so the kernel is asked not to. On file systems without that option the
//! new name is claimed first: `mkdir` succeeds for one process only, and `rename` then replaces this empty directory. A kill
//! in between leaves the empty directory, so this is only the fallback.

use std::fs;
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};

use rustix::fs::{CWD, RenameFlags, renameat_with};
use rustix::io::Errno;

use super::SpecsError;
use super::error::Context;

/// A limit for the numbers that are tried. No feature is archived that often on one day.
const MAX_COPIES: u32 = 1000;

/// Moves a directory to a name that must be free.
pub(super) fn move_to(from: &Path, to: &Path) -> Result<(), SpecsError> {
    match renameat_with(CWD, from, CWD, to, RenameFlags::NOREPLACE) {
        Ok(()) => Ok(()),
        Err(Errno::EXIST) => Err(SpecsError::Exists { path: to.to_owned() }),
        Err(Errno::INVAL | Errno::NOSYS) => move_to_claimed(from, to),
        Err(error) => Ok(Err(io::Error::from(error)).context("move", from)?),
    }
}

fn move_to_claimed(from: &Path, to: &Path) -> Result<(), SpecsError> {
    claim(to)?;
    let moved = fs::rename(from, to).context("move", from);
    if moved.is_err() {
        // Removes only an empty directory.
        let _ = fs::remove_dir(to);
    }
    Ok(moved?)
}

/// Creates a directory that must not exist yet.
fn claim(dir: &Path) -> Result<(), SpecsError> {
    match fs::create_dir(dir) {
        Err(error) if error.kind() == ErrorKind::AlreadyExists => {
            Err(SpecsError::Exists { path: dir.to_owned() })
        }
        created => Ok(created.context("create", dir)?),
    }
}

/// Moves a directory into a folder as `name`, or as `name_2`, `name_3` and so on if that exists.
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
