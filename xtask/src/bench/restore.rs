//! Undoes what a program has changed in its fixture, and touches nothing else: a file system that has just linked thousands of
//! files is slow for the next program.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io;
use std::os::unix::fs::MetadataExt as _;
use std::path::Path;

use crate::error::{Error, Result};
use crate::shell::write_file;
use crate::tree;

/// The folder that programs work in, and the one with the files as they were.
const LIVE: &str = "live";
const KEPT: &str = "kept";
/// The lengths of the logs.
const LENGTHS: &str = "lengths.json";

/// Makes a fixture restorable. The live folder has hard links to the files of the kept one: state files are replaced by
/// renaming, which does not touch the kept file, and logs only grow, so that they are restored by cutting them.
pub(crate) fn keep(fixture: &Path) -> Result<()> {
    let (live, kept) = (fixture.join(LIVE), fixture.join(KEPT));
    fs::rename(&live, &kept).map_err(|e| Error::io("cannot rename", &live, &e))?;
    let files = tree::files(&kept)?;
    let is_log = |path: &Path| path.extension().is_some_and(|extension| extension == "jsonl");
    let logs = files.iter().filter(|(path, _)| is_log(path));
    let lengths: BTreeMap<_, _> =
        logs.map(|(path, metadata)| (path.to_string_lossy().into_owned(), metadata.len())).collect();
    let lengths = serde_json::to_vec(&lengths).map_err(|e| Error::new(e.to_string()))?;
    let file = fixture.join(LENGTHS);
    write_file(&file, &lengths)?;
    restore(fixture)
}

/// Makes the live folder what it was.
pub(crate) fn restore(fixture: &Path) -> Result<()> {
    let (live, kept) = (fixture.join(LIVE), fixture.join(KEPT));
    let (now, before) = (tree::files(&live)?, tree::files(&kept)?);
    for path in now.keys().filter(|path| !before.contains_key(*path)) {
        remove_with_folders(&live.join(path), &live, &kept)?;
    }
    for (path, metadata) in &before {
        let is_same = now.get(path).is_some_and(|other| other.ino() == metadata.ino());
        if !is_same {
            link(&kept.join(path), &live.join(path))?;
        }
    }
    cut_logs(fixture, &before)
}

/// Removes a new file, and the folders that were made for it.
fn remove_with_folders(file: &Path, live: &Path, kept: &Path) -> Result<()> {
    fs::remove_file(file).map_err(|e| Error::io("cannot remove", file, &e))?;
    for folder in file.ancestors().skip(1).take_while(|folder| *folder != live) {
        let was_there = folder.strip_prefix(live).is_ok_and(|path| kept.join(path).is_dir());
        if was_there || fs::remove_dir(folder).is_err() {
            break;
        }
    }
    Ok(())
}

fn link(kept: &Path, live: &Path) -> Result<()> {
    let folder = live.parent().unwrap_or(live);
    fs::create_dir_all(folder).map_err(|e| Error::io("cannot create folder", folder, &e))?;
    match fs::remove_file(live) {
        Err(e) if e.kind() != io::ErrorKind::NotFound => return Err(Error::io("cannot remove", live, &e)),
        _ => {}
    }
    fs::hard_link(kept, live).map_err(|e| Error::io("cannot link", live, &e))
}

fn cut_logs(fixture: &Path, files: &BTreeMap<std::path::PathBuf, fs::Metadata>) -> Result<()> {
    let list = fixture.join(LENGTHS);
    let text = fs::read(&list).map_err(|e| Error::io("cannot read", &list, &e))?;
    let lengths: BTreeMap<String, u64> =
        serde_json::from_slice(&text).map_err(|e| Error::new(format!("{}: {e}", list.display())))?;
    for (path, length) in lengths {
        let is_longer = files.get(Path::new(&path)).is_some_and(|metadata| metadata.len() != length);
        if is_longer {
            let file = fixture.join(KEPT).join(&path);
            let cut = File::options().write(true).open(&file).and_then(|file| file.set_len(length));
            cut.map_err(|e| Error::io("cannot cut", &file, &e))?;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn replaced_new_missing_and_longer_files_are_restored() {
        let fixture = tempfile::tempdir().unwrap();
        let live = fixture.path().join(LIVE);
        fs::create_dir_all(live.join("a")).unwrap();
        for (name, text) in [("a/state.json", "1"), ("log.jsonl", "one\n"), ("gone", "x")] {
            write_file(&live.join(name), text.as_bytes()).unwrap();
        }
        keep(fixture.path()).unwrap();
        write_file(&live.join("new.json"), b"2").unwrap();
        fs::rename(live.join("new.json"), live.join("a/state.json")).unwrap();
        fs::remove_file(live.join("gone")).unwrap();
        fs::create_dir_all(live.join("b/c")).unwrap();
        write_file(&live.join("b/c/extra"), b"x").unwrap();
        write_file(&live.join("log.jsonl"), b"one\ntwo\n").unwrap();
        restore(fixture.path()).unwrap();
        let read = |name: &str| fs::read_to_string(live.join(name)).unwrap();
        assert_eq!(
            (read("a/state.json"), read("log.jsonl"), read("gone")),
            ("1".into(), "one\n".into(), "x".into())
        );
        assert!(!live.join("b").exists());
    }
}
