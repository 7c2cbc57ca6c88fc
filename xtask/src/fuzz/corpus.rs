//! Inputs: the ones in the source tree, and the ones that runs have found, which stay below the target folder.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Stdio;

use crate::error::{Error, Result};
use crate::fuzz::build::Programs;
use crate::fuzz::target::scratch;
use crate::{shell, tree};

/// More are not for a source tree.
pub(super) const MAX_SEEDS: usize = 60;
const MAX_BYTES: u64 = 1_024;

pub(super) fn seeds(name: &str) -> PathBuf {
    shell::root().join("fuzz/seeds").join(name)
}

pub(super) fn found(work: &Path, name: &str) -> PathBuf {
    work.join("corpus").join(name)
}

/// Puts into the source tree what reaches code that its seeds do not.
pub(super) fn keep(programs: &Programs, work: &Path, name: &str) -> Result<()> {
    let (seeds, scratch) = (seeds(name), scratch()?);
    let merged = scratch.path().join("merged");
    tree::copy(&seeds, &merged)?;
    fs::create_dir_all(&merged).map_err(|e| Error::io("cannot create folder", &merged, &e))?;
    let mut command = programs.command(name, scratch.path());
    command.arg("-merge=1").arg(&merged).arg(found(work, name)).stderr(Stdio::null()).stdout(Stdio::null());
    shell::run(&mut command)?;
    let new = chosen(&merged, &seeds)?;
    for file in &new {
        let (from, to) = (merged.join(file), seeds.join(file));
        fs::copy(&from, &to).map_err(|e| Error::io("cannot copy", &from, &e))?;
    }
    eprintln!("fuzz: {name} has {} new seeds", new.len());
    Ok(())
}

/// What is new, and if that is too much, some of every size: the smallest alone would be hardly more than one bracket.
fn chosen(merged: &Path, seeds: &Path) -> Result<Vec<PathBuf>> {
    let known = tree::files(seeds)?;
    let is_new =
        |(file, about): &(PathBuf, fs::Metadata)| !known.contains_key(file) && about.len() <= MAX_BYTES;
    let mut new: Vec<_> =
        tree::files(merged)?.into_iter().filter(is_new).map(|(file, about)| (about.len(), file)).collect();
    new.sort();
    let room = MAX_SEEDS.saturating_sub(known.len()).min(new.len());
    let count = new.len();
    Ok((0..room).map(|turn| std::mem::take(&mut new[turn * count / room].1)).collect())
}
