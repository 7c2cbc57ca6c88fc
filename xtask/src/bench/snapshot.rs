//! Brings a fixture back to its first state after a hook has written to it, and tells what was written.
//!
//! Cheap when nothing changed, because it runs before every start: a look at each file's stamp, no reading.

use std::collections::BTreeMap;
use std::fs::{self, File, Metadata};
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
        tree::copy(&live, &pristine)?;
        let files = scan(&live)?;
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
        let path = self.live.join(file);
        let outcome = if appended(file, stamp, found) {
            File::options().write(true).open(&path).and_then(|f| f.set_len(stamp.length))
        } else {
            fs::copy(self.pristine.join(file), &path).map(|_| ())
        };
        let metadata = outcome.and_then(|()| fs::metadata(&path));
        let metadata = metadata.map_err(|e| Error::io("cannot restore", &path, &e))?;
        self.files.insert(file.to_owned(), Stamp::of(&metadata));
        Ok(())
    }
}

/// Logs only grow at their end, so cutting them is enough: copying the huge ones before every start would
/// empty the caches that the measured program should find warm.
fn appended(file: &Path, stamp: Stamp, found: Option<Stamp>) -> bool {
    let is_log = file.extension().is_some_and(|extension| extension == "jsonl");
    is_log && found.is_some_and(|now| now.inode == stamp.inode && now.length > stamp.length)
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
        for name in ["log.jsonl", "state.json", "gone.json", "same.json"] {
            write_file(&live.join(name), b"first\n").unwrap();
        }
        let mut snapshot = Snapshot::take(live.clone(), folder.path().join("pristine")).unwrap();
        assert!(snapshot.restore().unwrap().is_empty());

        let mut log = File::options().append(true).open(live.join("log.jsonl")).unwrap();
        log.write_all(b"second\n").unwrap();
        write_file(&live.join("state.tmp"), b"other\n").unwrap();
        fs::rename(live.join("state.tmp"), live.join("state.json")).unwrap();
        fs::remove_file(live.join("gone.json")).unwrap();
        write_file(&live.join("new.json"), b"x").unwrap();
        write_file(&live.join("lock"), b"").unwrap();

        let mut changed = snapshot.restore().unwrap();
        changed.sort();
        let names: Vec<_> = changed.iter().map(|p| p.to_string_lossy().into_owned()).collect();
        assert_eq!(names, ["gone.json", "log.jsonl", "new.json", "state.json"]);
        for name in ["log.jsonl", "state.json", "gone.json", "same.json"] {
            assert_eq!(fs::read(live.join(name)).unwrap(), b"first\n", "{name}");
        }
        assert!(!live.join("new.json").exists() && live.join("lock").exists());
        assert!(snapshot.restore().unwrap().is_empty());
    }
}
