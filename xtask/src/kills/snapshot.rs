//! All of a folder in memory: to compare it with, and to go back to.

use std::collections::BTreeMap;
use std::fs;
use std::io::ErrorKind;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

use crate::error::{Error, Result};
use crate::shell::write_file;

/// What is at a path.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Entry {
    Folder,
    File { bytes: Vec<u8>, mode: u32 },
}

impl Entry {
    pub(super) fn text(&self) -> Option<String> {
        match self {
            Self::Folder => None,
            Self::File { bytes, .. } => Some(String::from_utf8_lossy(bytes).into_owned()),
        }
    }

    /// The same words, open to nobody who could not see them before: a file with keys is closed before it is changed.
    pub(super) fn is_no_looser_than(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::File { bytes, mode }, Self::File { bytes: others, mode: allowed }) => {
                bytes == others && mode & !allowed == 0
            }
            _ => self == other,
        }
    }
}

/// Paths are relative to the folder, so that the outer ones come first.
pub(super) type Snapshot = BTreeMap<PathBuf, Entry>;

pub(super) fn take(root: &Path) -> Result<Snapshot> {
    let mut all = Snapshot::new();
    let mut folders = vec![root.to_owned()];
    while let Some(folder) = folders.pop() {
        let failed = |e: std::io::Error| Error::io("cannot read folder", &folder, &e);
        for entry in fs::read_dir(&folder).map_err(failed)? {
            let path = entry.map_err(failed)?.path();
            let Some(found) = read(&path)? else { continue };
            if found == Entry::Folder {
                folders.push(path.clone());
            }
            all.insert(path.strip_prefix(root).unwrap_or(&path).to_owned(), found);
        }
    }
    Ok(all)
}

/// `None` for what is gone by now, or is neither file nor folder.
fn read(path: &Path) -> Result<Option<Entry>> {
    let failed = |e: std::io::Error| Error::io("cannot read", path, &e);
    let about = match fs::symlink_metadata(path) {
        Err(e) if e.kind() == ErrorKind::NotFound => return Ok(None),
        about => about.map_err(failed)?,
    };
    if about.is_dir() {
        return Ok(Some(Entry::Folder));
    }
    if !about.is_file() {
        return Ok(None);
    }
    let bytes = fs::read(path).map_err(failed)?;
    Ok(Some(Entry::File { bytes, mode: about.permissions().mode() & 0o7777 }))
}

/// Makes the folder what it was.
pub(super) fn restore(root: &Path, wanted: &Snapshot) -> Result<()> {
    let now = take(root)?;
    for (path, entry) in now.iter().rev().filter(|(path, _)| !wanted.contains_key(*path)) {
        let path = root.join(path);
        let gone = if *entry == Entry::Folder { fs::remove_dir(&path) } else { fs::remove_file(&path) };
        gone.map_err(|e| Error::io("cannot remove", &path, &e))?;
    }
    for (path, entry) in wanted.iter().filter(|(path, entry)| now.get(*path) != Some(entry)) {
        put(&root.join(path), entry)?;
    }
    Ok(())
}

fn put(path: &Path, entry: &Entry) -> Result<()> {
    match entry {
        Entry::Folder => fs::create_dir_all(path).map_err(|e| Error::io("cannot create folder", path, &e)),
        Entry::File { bytes, mode } => {
            write_file(path, bytes)?;
            let mode = fs::Permissions::from_mode(*mode);
            fs::set_permissions(path, mode).map_err(|e| Error::io("cannot change", path, &e))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_folder_becomes_what_it_was() {
        let dir = tempfile::tempdir().unwrap();
        let file = |name: &str, text: &str| write_file(&dir.path().join(name), text.as_bytes()).unwrap();
        file("a/b", "old");
        file("a/c", "stays");
        fs::create_dir(dir.path().join("empty")).unwrap();
        let before = take(dir.path()).unwrap();
        file("a/b", "new");
        file("d/e/f", "more");
        fs::remove_dir(dir.path().join("empty")).unwrap();
        fs::remove_file(dir.path().join("a/c")).unwrap();
        assert_ne!(take(dir.path()).unwrap(), before);
        restore(dir.path(), &before).unwrap();
        assert_eq!(take(dir.path()).unwrap(), before);
    }
}
