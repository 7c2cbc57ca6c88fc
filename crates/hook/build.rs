//! Computes the build id: a hash of everything that decides what a hook does. `overtone` and `overtone-hook` both contain
//! it, so that programs of different builds are recognised although their version is the same.

use std::collections::hash_map::DefaultHasher;
use std::fs;
use std::hash::{Hash, Hasher};
use std::path::{Path, PathBuf};
use std::{env, io};

const SOURCES: [&str; 9] = [
    "../core/src",
    "../core/skills",
    "../store/src",
    "../claude/src",
    "../claude/content",
    "../session/src",
    "../ccc/src",
    "src",
    "../../Cargo.lock",
];

fn main() -> io::Result<()> {
    let package = PathBuf::from(env::var_os("CARGO_MANIFEST_DIR").unwrap_or_default());
    let mut hasher = DefaultHasher::new();
    for source in SOURCES {
        println!("cargo::rerun-if-changed={source}");
        hash_tree(&package.join(source), &mut hasher)?;
    }
    println!("cargo::rustc-env=OVERTONE_BUILD={:08x}", hasher.finish() >> 32);
    Ok(())
}

/// Files in the order of their names, so that the result does not depend on the file system.
fn hash_tree(path: &Path, hasher: &mut DefaultHasher) -> io::Result<()> {
    if !path.is_dir() {
        fs::read(path)?.hash(hasher);
        return Ok(());
    }
    let mut entries = fs::read_dir(path)?.map(|entry| Ok(entry?.path())).collect::<io::Result<Vec<_>>>()?;
    entries.sort();
    for entry in entries {
        entry.file_name().hash(hasher);
        hash_tree(&entry, hasher)?;
    }
    Ok(())
}
