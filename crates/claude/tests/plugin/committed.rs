//! The committed `plugins/overtone/` is what the renderer makes, no more and no less.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use overtone_claude::plugin::{render, validate};

#[test]
fn the_committed_plugin_is_up_to_date() {
    let dir = plugin_dir();
    let mut committed = BTreeMap::new();
    collect(&dir, &dir, &mut committed);
    let mut faults = Vec::new();
    for file in render() {
        match committed.remove(&file.path) {
            None => faults.push(format!("missing: {}", file.path)),
            Some(found) if found != file.contents.as_bytes() => faults.push(format!("stale: {}", file.path)),
            Some(_) => {}
        }
    }
    faults.extend(committed.keys().map(|path| format!("extra: {path}")));
    assert!(
        faults.is_empty(),
        "plugins/overtone differs from the registry; run `cargo xtask codegen`\n{}",
        faults.join("\n")
    );
}

#[test]
fn the_committed_plugin_is_valid() {
    assert_eq!(validate(&plugin_dir()), []);
}

fn plugin_dir() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../plugins/overtone")
}

/// All files below `dir` by their path relative to `root`; the binary's folder is not part of the repository.
fn collect(root: &Path, dir: &Path, files: &mut BTreeMap<String, Vec<u8>>) {
    for entry in fs::read_dir(dir).into_iter().flatten() {
        let path = entry.unwrap().path();
        let relative = path.strip_prefix(root).unwrap();
        let name: Vec<_> = relative.iter().map(|part| part.to_string_lossy()).collect();
        if name == ["bin"] {
            continue;
        }
        if path.is_dir() {
            collect(root, &path, files);
        } else {
            files.insert(name.join("/"), fs::read(&path).unwrap());
        }
    }
}
