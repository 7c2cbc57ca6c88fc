//! Careful access to the specs folder: which directories and documents we are willing to touch.
//!
//! Checks come before use (`lstat`, then open). They are against accidents and against what a cloned repository
//! brings along, not against somebody who swaps files in between: that one has the rights of the user anyway.

use std::fs::{self, Metadata};
use std::io::{self, ErrorKind};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use super::Shelf;
use super::error::Context;
use super::name::is_plain;
use crate::files;

pub(super) const TASKS_FILE: &str = "tasks.md";

/// A larger document is not a list of tasks.
const MAX_DOCUMENT: u64 = 1_000_000;

/// A document and the permissions to write it back with.
#[derive(Debug)]
pub(super) struct Document {
    pub(super) bytes: Vec<u8>,
    pub(super) mode: u32,
}

/// The folder of a shelf; none when it or a folder above it is missing.
pub(super) fn shelf_dir(root: &Path, shelf: Shelf) -> io::Result<Option<PathBuf>> {
    let levels = levels(root, shelf);
    for dir in &levels {
        if !is_real_dir(dir)? {
            return Ok(None);
        }
    }
    let [_, _, shelf_dir] = levels;
    Ok(Some(shelf_dir))
}

/// The folder of a shelf, made where it is missing.
pub(super) fn ensure_shelf(root: &Path, shelf: Shelf) -> io::Result<PathBuf> {
    let levels = levels(root, shelf);
    for dir in &levels {
        if is_real_dir(dir)? {
            continue;
        }
        match fs::create_dir(dir) {
            // Another process was faster. Looking again finds out what it made.
            Err(error) if error.kind() == ErrorKind::AlreadyExists => is_real_dir(dir).map(drop)?,
            made => made.context("create", dir)?,
        }
    }
    let [_, _, shelf_dir] = levels;
    Ok(shelf_dir)
}

pub(super) fn features_dir(root: &Path) -> PathBuf {
    root.join("specs").join("features")
}

fn levels(root: &Path, shelf: Shelf) -> [PathBuf; 3] {
    let features = features_dir(root);
    let shelf_dir = features.join(shelf.folder());
    [root.join("specs"), features, shelf_dir]
}

/// False when there is nothing. Anything but a directory is an error, a symlink to one too: behind it we
/// would write outside of the project.
fn is_real_dir(path: &Path) -> io::Result<bool> {
    match found(fs::symlink_metadata(path)).context("look at", path)? {
        None => Ok(false),
        Some(meta) if meta.is_dir() => Ok(true),
        Some(_) => Err(io::Error::from(ErrorKind::NotADirectory)).context("use", path),
    }
}

/// The folder of a feature; none when the name is no plain name or is not that of a real directory.
pub(super) fn feature_dir(shelf_dir: &Path, name: &str) -> io::Result<Option<PathBuf>> {
    if !is_plain(name) {
        return Ok(None);
    }
    let dir = shelf_dir.join(name);
    let meta = found(fs::symlink_metadata(&dir)).context("look at", &dir)?;
    Ok(meta.filter(Metadata::is_dir).map(|_| dir))
}

/// The names of the features on a shelf, sorted; files, symlinks, hidden and odd entries are left out.
pub(super) fn feature_names(shelf_dir: &Path) -> io::Result<Vec<String>> {
    let mut names = Vec::new();
    for entry in fs::read_dir(shelf_dir).context("list", shelf_dir)? {
        let entry = entry.context("list", shelf_dir)?;
        let is_dir = entry.file_type().is_ok_and(|kind| kind.is_dir());
        if let Ok(name) = entry.file_name().into_string()
            && is_dir
            && is_plain(&name)
        {
            names.push(name);
        }
    }
    names.sort_unstable();
    Ok(names)
}

/// A whole document; none when it is missing, not a regular file or too large.
pub(super) fn read_document(path: &Path) -> io::Result<Option<Document>> {
    let document = read_start(path, MAX_DOCUMENT + 1)?;
    Ok(document.filter(|document| document.bytes.len() as u64 <= MAX_DOCUMENT))
}

/// The first bytes of a document; none as for [`read_document`].
pub(super) fn read_start(path: &Path, limit: u64) -> io::Result<Option<Document>> {
    let Some(meta) = found(fs::symlink_metadata(path)).context("look at", path)? else {
        return Ok(None);
    };
    // Before opening: a pipe would block, a device may do anything.
    if !meta.is_file() || meta.len() > MAX_DOCUMENT {
        return Ok(None);
    }
    let Some(file) = files::open_to_read(path).context("open", path)? else {
        return Ok(None);
    };
    let bytes = files::read_to_end(&file, meta.len(), limit).context("read", path)?;
    let mode = meta.permissions().mode() & 0o7777;
    Ok(Some(Document { bytes, mode }))
}

/// None for what does not exist.
pub(super) fn found<T>(result: io::Result<T>) -> io::Result<Option<T>> {
    match result {
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
        other => other.map(Some),
    }
}
