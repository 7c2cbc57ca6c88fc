//! Whole folders: listing and copying. Links are not followed.

use std::collections::BTreeMap;
use std::fs::{self, Metadata};
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use crate::error::{Error, Result};

/// All files below a folder, by their path in it, in order. A folder that does not exist has none.
pub(crate) fn files(root: &Path) -> Result<BTreeMap<PathBuf, Metadata>> {
    let mut files = BTreeMap::new();
    let mut folders = vec![root.to_owned()];
    while let Some(folder) = folders.pop() {
        let failed = |e: std::io::Error| Error::io("cannot read folder", &folder, &e);
        let entries = match fs::read_dir(&folder) {
            Err(e) if e.kind() == ErrorKind::NotFound => continue,
            entries => entries.map_err(failed)?,
        };
        for entry in entries {
            let entry = entry.map_err(failed)?;
            let metadata = entry.metadata().map_err(failed)?;
            if metadata.is_dir() {
                folders.push(entry.path());
            } else if let Ok(relative) = entry.path().strip_prefix(root) {
                files.insert(relative.to_owned(), metadata);
            }
        }
    }
    Ok(files)
}

/// Copies all files of a folder into another.
pub(crate) fn copy(from: &Path, to: &Path) -> Result<()> {
    for relative in files(from)?.keys() {
        let (source, copy) = (from.join(relative), to.join(relative));
        let folder = copy.parent().unwrap_or(to);
        fs::create_dir_all(folder).map_err(|e| Error::io("cannot create folder", folder, &e))?;
        fs::copy(&source, &copy).map_err(|e| Error::io("cannot copy", &source, &e))?;
    }
    Ok(())
}

/// Removes a folder with everything in it, if it is there.
pub(crate) fn remove(folder: &Path) -> Result<()> {
    match fs::remove_dir_all(folder) {
        Err(e) if e.kind() != ErrorKind::NotFound => Err(Error::io("cannot remove folder", folder, &e)),
        _ => Ok(()),
    }
}
