//! Brings a fixture back to its first state after a hook has written to it, and tells what was written.
//!
//! Cheap when nothing changed, because it runs before every start: a look at each file's stamp, no reading. Logs are
//! not copied at all: they only grow at their end, so the copy is a second name of the same file, and cutting it brings
//! back what it was.

use std::collections::BTreeMap;
use std::fs::{self, File, Metadata};
use std::io;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};

use crate::error::{Error, Result};
use crate::tree;

/// A folder that hooks change, with an untouched copy beside it.
#[derive(Debug)]
pub(crate) struct Snapshot {
    live: PathBuf,
    pristine: PathBuf,
    files: BTreeMap<PathBuf, Stamp>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Stamp {
    inode: u64,
    length: u64,
    modified: (i64, i64),
}

impl Stamp {
    fn of(metadata: &Metadata) -> Self {
        Self {
            inode: metadata.ino(),
            length: metadata.len(),
            modified: (metadata.mtime(), metadata.mtime_nsec()),
        }
    }
}

impl Snapshot {
    /// Remembers the folder `live` as it is now.
    pub(crate) fn take(live: PathBuf, pristine: PathBuf) -> Result<Self> {
        let files = scan(&live)?;
        for file in files.keys() {
            keep(&live, &pristine, file)?;
        }
        Ok(Self { live, pristine, files })
    }

    /// Undoes every change and returns the files that had one.
    pub(crate) fn restore(&mut self) -> Result<Vec<PathBuf>> {
        let now = scan(&self.live)?;
        let mut changed = self.remove_new(&now)?;
        let expected = self.files.clone();
        for (file, stamp) in expected {
            let found = now.get(&file).copied();
            if found != Some(stamp) {
                self.bring_back(&file, stamp, found)?;
                changed.push(file);
            }
        }
        Ok(changed)
    }

    /// Removes files that were not there. Empty ones stay: they are locks, which a real session has since its
    /// first hook.
    fn remove_new(&self, now: &BTreeMap<PathBuf, Stamp>) -> Result<Vec<PathBuf>> {
        let mut removed = Vec::new();
        for (file, stamp) in now {
            if stamp.length > 0 && !self.files.contains_key(file) {
                let path = self.live.join(file);
                fs::remove_file(&path).map_err(|e| Error::io("cannot remove", &path, &e))?;
                removed.push(file.clone());
            }
        }
        Ok(removed)
    }

    fn bring_back(&mut self, file: &Path, stamp: Stamp, found: Option<Stamp>) -> Result<()> {
        let (path, kept) = (self.live.join(file), self.pristine.join(file));
        let outcome = if is_log(file) {
            cut_log(&path, &kept, stamp, found)
        } else {
            fs::copy(&kept, &path).map(|_| ())
        };
        let metadata = outcome.and_then(|()| fs::metadata(&path));
        let metadata = metadata.map_err(|e| Error::io("cannot restore", &path, &e))?;
        self.files.insert(file.to_owned(), Stamp::of(&metadata));
        Ok(())
    }
}

/// Copying the huge ones before every start would empty the caches that the measured program should find warm.
fn is_log(file: &Path) -> bool {
    file.extension().is_some_and(|extension| extension == "jsonl")
}

fn keep(live: &Path, pristine: &Path, file: &Path) -> Result<()> {
    let (path, kept) = (live.join(file), pristine.join(file));
    let folder = kept.parent().unwrap_or(pristine);
    fs::create_dir_all(folder).map_err(|e| Error::io("cannot create folder", folder, &e))?;
    let outcome = if is_log(file) { fs::hard_link(&path, &kept) } else { fs::copy(&path, &kept).map(|_| ()) };
    outcome.map_err(|e| Error::io("cannot keep", &path, &e))
}

/// A log that was replaced or removed gets its old file back.
fn cut_log(path: &Path, kept: &Path, stamp: Stamp, found: Option<Stamp>) -> io::Result<()> {
    match found {
        Some(now) if now.inode == stamp.inode && now.length <= stamp.length => {
            return Err(io::Error::other("a log was changed in its middle"));
        }
        Some(now) if now.inode == stamp.inode => {}
        replaced => {
            replaced.map(|_| fs::remove_file(path)).transpose()?;
            fs::hard_link(kept, path)?;
        }
    }
    File::options().write(true).open(path)?.set_len(stamp.length)
}

/// The stamps of all files below a folder.
fn scan(root: &Path) -> Result<BTreeMap<PathBuf, Stamp>> {
    let files = tree::files(root)?.into_iter();
    Ok(files.map(|(name, metadata)| (name, Stamp::of(&metadata))).collect())
}

#[cfg(test)]
mod tests {
    use std::io::Write as _;

    use super::*;
    use crate::shell::write_file;

    #[test]
    fn every_kind_of_change_is_undone_and_told() {
        let folder = tempfile::tempdir().unwrap();
        let live = folder.path().join("live");
        for name in ["log.jsonl", "gone.jsonl", "state.json", "gone.json", "same.json"] {
            write_file(&live.join(name), b"first\n").unwrap();
        }
        let mut snapshot = Snapshot::take(live.clone(), folder.path().join("pristine")).unwrap();
        assert!(snapshot.restore().unwrap().is_empty());

        let mut log = File::options().append(true).open(live.join("log.jsonl")).unwrap();
        log.write_all(b"second\n").unwrap();
        write_file(&live.join("state.tmp"), b"other\n").unwrap();
        fs::rename(live.join("state.tmp"), live.join("state.json")).unwrap();
        fs::remove_file(live.join("gone.json")).unwrap();
        fs::remove_file(live.join("gone.jsonl")).unwrap();
        write_file(&live.join("new.json"), b"x").unwrap();
        write_file(&live.join("lock"), b"").unwrap();

        let mut changed = snapshot.restore().unwrap();
        changed.sort();
        let names: Vec<_> = changed.iter().map(|p| p.to_string_lossy().into_owned()).collect();
        assert_eq!(names, ["gone.json", "gone.jsonl", "log.jsonl", "new.json", "state.json"]);
        for name in ["log.jsonl", "gone.jsonl", "state.json", "gone.json", "same.json"] {
            assert_eq!(fs::read(live.join(name)).unwrap(), b"first\n", "{name}");
        }
        assert!(!live.join("new.json").exists() && live.join("lock").exists());
        assert!(snapshot.restore().unwrap().is_empty());
    }
}
