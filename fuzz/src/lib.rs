//! What the fuzz targets check. Each module has one function `check`, which panics if a promise is broken by its input.
//!
//! The programs in `fuzz_targets/` call it from libFuzzer. `tests/seeds.rs` calls it with every seed and with simple
//! mutations of them, without instrumentation.

pub mod ccc_json;
pub mod frontmatter;
pub mod permission;
#[cfg(feature = "query")]
pub mod query;
pub mod settings_merge;
pub mod stream_json;
pub mod tasks;
pub mod verdict;
pub mod wire;

use std::fs;
use std::path::{Path, PathBuf};

use tempfile::TempDir;

/// An empty folder that is deleted with the returned value. `TMPDIR` says where: memory is much faster than a disk.
pub(crate) fn scratch() -> TempDir {
    tempfile::Builder::new().prefix("overtone-fuzz-").tempdir().expect("a folder to work in")
}

/// Puts `tasks.md` of the feature `f` on the shelf in progress, whatever was there before.
pub(crate) fn put_tasks(project: &Path, bytes: &[u8]) -> PathBuf {
    let dir = project.join("specs/features/in-progress/f");
    fs::create_dir_all(&dir).expect("a folder for the feature");
    let path = dir.join("tasks.md");
    fs::write(&path, bytes).expect("a document to read");
    path
}

/// What is left of two texts without what they begin and end with in common.
pub(crate) fn difference<'a>(old: &'a [u8], new: &'a [u8]) -> (&'a [u8], &'a [u8]) {
    let start = old.iter().zip(new).take_while(|(a, b)| a == b).count();
    let (old, new) = (&old[start..], &new[start..]);
    let end = old.iter().rev().zip(new.iter().rev()).take_while(|(a, b)| a == b).count();
    (&old[..old.len() - end], &new[..new.len() - end])
}

/// Whether inserting text turns `old` into `new`. White space does not count.
pub(crate) fn is_kept_in(old: &str, new: &str) -> bool {
    let mut rest = new.chars().filter(|c| !c.is_whitespace());
    old.chars().filter(|c| !c.is_whitespace()).all(|next| rest.any(|c| c == next))
}

/// A text without its white space.
pub(crate) fn dense(text: &str) -> String {
    text.chars().filter(|c| !c.is_whitespace()).collect()
}
