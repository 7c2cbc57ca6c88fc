//! What several targets need: a private folder, a feature in it, and how two texts differ.

use std::fs;
use std::path::{Path, PathBuf};

/// A folder of this process, empty at its start. Whoever starts a target says with `TMPDIR` where, and cleans up.
pub fn scratch() -> PathBuf {
    let folder = std::env::temp_dir().join(format!("overtone-fuzz-{}", std::process::id()));
    let _ = fs::remove_dir_all(&folder);
    fs::create_dir_all(&folder).expect("a folder to work in");
    folder
}

/// Puts `tasks.md` of the feature `f` on the shelf in progress, whatever was there before.
pub fn put_tasks(project: &Path, bytes: &[u8]) -> PathBuf {
    let dir = project.join("specs/features/in-progress/f");
    fs::create_dir_all(&dir).expect("a folder for the feature");
    let path = dir.join("tasks.md");
    fs::write(&path, bytes).expect("a document to read");
    path
}

/// What is left of two texts without what they begin and end with in common.
pub fn difference<'a>(old: &'a [u8], new: &'a [u8]) -> (&'a [u8], &'a [u8]) {
    let start = old.iter().zip(new).take_while(|(a, b)| a == b).count();
    let (old, new) = (&old[start..], &new[start..]);
    let end = old.iter().rev().zip(new.iter().rev()).take_while(|(a, b)| a == b).count();
    (&old[..old.len() - end], &new[..new.len() - end])
}

/// Whether a text can be made from another by putting things in only. White space does not count.
pub fn is_kept_in(old: &str, new: &str) -> bool {
    let mut rest = new.chars().filter(|c| !c.is_whitespace());
    old.chars().filter(|c| !c.is_whitespace()).all(|wanted| rest.any(|c| c == wanted))
}

/// A text without its white space.
pub fn dense(text: &str) -> String {
    text.chars().filter(|c| !c.is_whitespace()).collect()
}
