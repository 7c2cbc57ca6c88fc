//! Access to the specs folder that only touches real directories and regular files.
//!
//! Paths are checked before use (`lstat`, then open). This protects against accidents and against the contents of a cloned
//! repository, not against a process that replaces files in between: such a process has the user's permissions anyway.

use std::fs;
use std::io::{self, ErrorKind};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use super::Shelf;
use super::error::Context;
use super::name::is_safe_name;
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

/// The folder of a shelf; `None` if it or a folder above it is missing.
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

/// The folder of a shelf, which is created if it is missing.
pub(super) fn ensure_shelf(root: &Path, shelf: Shelf) -> io::Result<PathBuf> {
    let levels = levels(root, shelf);
    for dir in &levels {
        if is_real_dir(dir)? {
            continue;
        }
        match fs::create_dir(dir) {
            // Another process was faster. It has to be checked what it created.
            Err(error) if error.kind() == ErrorKind::AlreadyExists => is_real_dir(dir).map(drop)?,
            created => created.context("create", dir)?,
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

/// False if there is nothing. Anything but a directory is an error, including a symbolic link to one, through which files
/// outside the project would be written.
fn is_real_dir(path: &Path) -> io::Result<bool> {
    match none_if_missing(fs::symlink_metadata(path)).context("inspect", path)? {
        None => Ok(false),
        Some(meta) if meta.is_dir() => Ok(true),
        Some(_) => Err(io::Error::from(ErrorKind::NotADirectory)).context("use", path),
    }
}

/// The folder of a feature; `None` if the name is not safe or is not that of a real directory.
pub(super) fn feature_dir(shelf_dir: &Path, name: &str) -> io::Result<Option<PathBuf>> {
    if !is_safe_name(name) {
        return Ok(None);
    }
    let dir = shelf_dir.join(name);
    let meta = none_if_missing(fs::symlink_metadata(&dir)).context("inspect", &dir)?;
    match meta {
        Some(meta) if meta.is_dir() => Ok(Some(dir)),
        _ => Ok(None),
    }
}

/// The names of the features on a shelf, sorted. Files, symbolic links, and hidden or unsafe names are left out.
pub(super) fn feature_names(shelf_dir: &Path) -> io::Result<Vec<String>> {
    let mut names = Vec::new();
    for entry in fs::read_dir(shelf_dir).context("list", shelf_dir)? {
        let entry = entry.context("list", shelf_dir)?;
        if let Ok(kind) = entry.file_type()
            && kind.is_dir()
            && let Ok(name) = entry.file_name().into_string()
            && is_safe_name(&name)
        {
            names.push(name);
        }
    }
    names.sort_unstable();
    Ok(names)
}

/// A whole document; `None` if it is missing, not a regular file or too large.
pub(super) fn read_document(path: &Path) -> io::Result<Option<Document>> {
    match read_start(path, MAX_DOCUMENT + 1)? {
        // It has grown while it was read.
        Some(document) if document.bytes.len() as u64 > MAX_DOCUMENT => Ok(None),
        document => Ok(document),
    }
}

/// The first bytes of a document; `None` as for [`read_document`].
pub(super) fn read_start(path: &Path, limit: u64) -> io::Result<Option<Document>> {
    let Some(meta) = none_if_missing(fs::symlink_metadata(path)).context("inspect", path)? else {
        return Ok(None);
    };
    // Checked before opening: a pipe would block, and a device may have side effects.
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

/// Turns "not found" into `None`.
pub(super) fn none_if_missing<T>(result: io::Result<T>) -> io::Result<Option<T>> {
    match result {
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
        other => other.map(Some),
    }
}
