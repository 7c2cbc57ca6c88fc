use std::path::Path;

/// The length of a file; 0 if there is none. Links are not followed.
pub(crate) fn file_length(path: &Path) -> u64 {
    match path.symlink_metadata() {
        Ok(metadata) => metadata.len(),
        Err(_) => 0,
    }
}
