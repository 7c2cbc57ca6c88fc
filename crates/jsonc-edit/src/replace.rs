//! Replaces a file in one step.
//!
//! The new content is written beside the old file, brought to the disk, and renamed over it. At any instant the
//! name leads to the whole old or the whole new content, so a kill can at most leave the file beside it. Its name
//! is fixed, so there is never more than one, and the next edit takes it away.

use std::ffi::OsString;
use std::fs::{self, File, Metadata, OpenOptions, Permissions};
use std::io::{self, Write};
use std::os::unix::fs::{MetadataExt, OpenOptionsExt, PermissionsExt, fchown};
use std::path::{Path, PathBuf};

use crate::target::folder_of;

/// The mode of a file that did not exist: settings hold tokens.
const PRIVATE: u32 = 0o600;

/// New content that waits for its rename. Dropping it leaves the old file as it is.
#[derive(Debug)]
pub(crate) struct Prepared {
    file: PathBuf,
    beside: PathBuf,
    done: bool,
}

impl Prepared {
    /// Writes the content for `file` beside it, with mode and owner of `like`.
    pub(crate) fn write(file: &Path, bytes: &[u8], like: Option<&Metadata>) -> io::Result<Self> {
        clear(file);
        let beside = beside(file);
        let new = OpenOptions::new().write(true).create_new(true).mode(PRIVATE).open(&beside)?;
        let prepared = Self { file: file.to_owned(), beside, done: false };
        fill(new, bytes, like)?;
        Ok(prepared)
    }

    pub(crate) fn commit(mut self) -> io::Result<()> {
        fs::rename(&self.beside, &self.file)?;
        self.done = true;
        Ok(())
    }
}

impl Drop for Prepared {
    fn drop(&mut self) {
        if !self.done {
            let _ = fs::remove_file(&self.beside);
        }
    }
}

/// Makes a rename last. It needs no lock: whoever edits next builds on the content that is there.
pub(crate) fn settle(file: &Path) {
    // The content is whole either way, so a failure is not worth an error.
    let _ = File::open(folder_of(file)).and_then(|folder| folder.sync_all());
}

/// Takes away what a killed editor left. The caller holds the lock.
pub(crate) fn clear(file: &Path) {
    // Usually there is nothing; if it cannot be removed, creating it again will tell.
    let _ = fs::remove_file(beside(file));
}

fn beside(file: &Path) -> PathBuf {
    let mut name = OsString::from(".");
    name.push(file.file_name().unwrap_or_default());
    name.push(".overtone-tmp");
    file.with_file_name(name)
}

fn fill(mut new: File, bytes: &[u8], like: Option<&Metadata>) -> io::Result<()> {
    if let Some(like) = like {
        let own = new.metadata()?;
        if (own.uid(), own.gid()) != (like.uid(), like.gid()) {
            fchown(&new, Some(like.uid()), Some(like.gid()))?;
        }
        // Not at creation: the umask would take bits away.
        new.set_permissions(Permissions::from_mode(like.mode() & 0o7777))?;
    }
    new.write_all(bytes)?;
    new.sync_all()
}
