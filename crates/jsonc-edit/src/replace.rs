//! Replaces a file in one step.
//!
//! The new content is written to a temporary file in the same folder, flushed to the disk, and renamed over the old file.
//! At any moment the path leads to the complete old or the complete new content. A killed process leaves at most the
//! temporary file, which has a fixed name and is removed by the next edit.

use std::ffi::OsString;
use std::fs::{self, File, Metadata, OpenOptions, Permissions};
use std::io::{self, Write};
use std::os::unix::fs::{MetadataExt, OpenOptionsExt, PermissionsExt, fchown};
use std::path::{Path, PathBuf};

use crate::target::folder_of;

/// The mode of a new file: settings contain tokens.
const PRIVATE: u32 = 0o600;

/// New content that waits for its rename. Dropping it leaves the old file as it is.
#[derive(Debug)]
pub(crate) struct Prepared {
    file: PathBuf,
    temp: PathBuf,
    done: bool,
}

impl Prepared {
    /// Writes the new content of `file` to its temporary file, with mode and owner of `like`.
    pub(crate) fn write(file: &Path, bytes: &[u8], like: Option<&Metadata>) -> io::Result<Self> {
        remove_leftover(file);
        let temp = temp_path(file);
        let new = OpenOptions::new().write(true).create_new(true).mode(PRIVATE).open(&temp)?;
        let prepared = Self { file: file.to_owned(), temp, done: false };
        write_content(new, bytes, like)?;
        Ok(prepared)
    }

    pub(crate) fn commit(mut self) -> io::Result<()> {
        fs::rename(&self.temp, &self.file)?;
        self.done = true;
        Ok(())
    }
}

impl Drop for Prepared {
    fn drop(&mut self) {
        if !self.done {
            let _ = fs::remove_file(&self.temp);
        }
    }
}

/// Flushes the folder to the disk, so that a rename survives a power failure. This needs no lock.
pub(crate) fn sync_folder(file: &Path) {
    // The content is complete either way, so a failure is not an error.
    let _ = File::open(folder_of(file)).and_then(|folder| folder.sync_all());
}

/// Removes the temporary file of a killed process. The caller holds the lock.
pub(crate) fn remove_leftover(file: &Path) {
    // Usually there is none. If it cannot be removed, creating it again reports why.
    let _ = fs::remove_file(temp_path(file));
}

fn temp_path(file: &Path) -> PathBuf {
    let mut name = OsString::from(".");
    name.push(file.file_name().unwrap_or_default());
    name.push(".overtone-tmp");
    file.with_file_name(name)
}

fn write_content(mut new: File, bytes: &[u8], like: Option<&Metadata>) -> io::Result<()> {
    if let Some(like) = like {
        let own = new.metadata()?;
        if (own.uid(), own.gid()) != (like.uid(), like.gid()) {
            fchown(&new, Some(like.uid()), Some(like.gid()))?;
        }
        // Not at creation, where the umask would remove bits.
        new.set_permissions(Permissions::from_mode(like.mode() & 0o7777))?;
    }
    new.write_all(bytes)?;
    new.sync_all()
}
