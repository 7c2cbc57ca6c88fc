//! Puts the page's files into a table, so that a new file needs no second entry anywhere.

use std::fs::File;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::{env, fs, io};

fn main() -> io::Result<()> {
    let assets = PathBuf::from(env::var_os("CARGO_MANIFEST_DIR").unwrap_or_default()).join("assets");
    println!("cargo:rerun-if-changed={}", assets.display());
    let mut files = Vec::new();
    collect(&assets, &mut files)?;
    files.sort();
    let row = |path: &PathBuf| {
        let name = path.strip_prefix(&assets).unwrap_or(path).to_string_lossy().replace('\\', "/");
        format!("({name:?}, include_str!({:?})),\n", path.display().to_string())
    };
    let table = format!("[{}]", files.iter().map(row).collect::<String>());
    let out = PathBuf::from(env::var_os("OUT_DIR").unwrap_or_default()).join("assets.rs");
    File::create(out)?.write_all(table.as_bytes())
}

fn collect(folder: &Path, files: &mut Vec<PathBuf>) -> io::Result<()> {
    println!("cargo:rerun-if-changed={}", folder.display());
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        if path.is_dir() { collect(&path, files)? } else { files.push(path) }
    }
    Ok(())
}
