//! Changes several state files after the client was answered.
//!
//! The new contents are first written to temporary files, which fails on a full disk. Then the caller answers the client,
//! and only after that the files are replaced: state never changes for an answer that could not be given.

use std::fs;
use std::path::PathBuf;

use crate::files::{self, PRIVATE, Replaced};
use crate::seal::Layout;
use crate::{Session, StoreError};

/// Prepared files. Dropping it without [`commit`](Self::commit) leaves everything as it was.
#[derive(Debug, Default)]
pub struct Transaction {
    /// Temporary files, each with the path that it replaces.
    prepared: Vec<(PathBuf, PathBuf)>,
}

impl Transaction {
    pub(crate) fn put(&mut self, path: PathBuf, bytes: &[u8]) -> Result<(), StoreError> {
        let temp = files::write_temp(&path, bytes, PRIVATE).map_err(|error| StoreError::io(&path, error))?;
        // A second version of the same file has overwritten the temporary file of the first.
        if !self.prepared.iter().any(|(_, target)| *target == path) {
            self.prepared.push((temp, path));
        }
        Ok(())
    }

    /// Adds a small JSON file of the session with its seal.
    pub fn put_sealed(
        &mut self,
        session: &Session,
        file: &str,
        layout: Layout,
        mut content: Vec<u8>,
    ) -> Result<(), StoreError> {
        let path = session.dir().join(file);
        session.seal_file(file, layout, &mut content).map_err(|error| StoreError::io(&path, error))?;
        self.put(path, &content)
    }

    /// Replaces the files. The caller drops the result after releasing the session's lock.
    pub fn commit(mut self) -> Result<Vec<Replaced>, StoreError> {
        let put = |(temp, path): (PathBuf, PathBuf)| {
            files::put_in_place(&temp, &path).map_err(|error| StoreError::io(&path, error))
        };
        self.prepared.drain(..).map(put).collect()
    }
}

impl Drop for Transaction {
    fn drop(&mut self) {
        for (temp, _) in &self.prepared {
            // If this fails, the next writer replaces the file.
            let _ = fs::remove_file(temp);
        }
    }
}
