//! Reads the files of a project from which checks are proposed.

use std::ffi::OsStr;
use std::fs;
use std::path::Path;

use overtone_core::evidence::detect::{Project, ProjectFile, ProposedCheck, Script, detect};
use overtone_store::files;
use serde_json::Value;

/// Manifests and lists of tasks are small. Of a larger file, only the presence counts.
const MAX_BYTES: u64 = 256 * 1024;

/// More entries of a folder are not looked at.
const MAX_ENTRIES: usize = 2_000;

/// The folders whose Python files are looked at, to recognise their kind of tests.
const TEST_FOLDERS: [&str; 2] = ["tests", "test"];

/// A file with its path from the root of the project.
struct FileText {
    path: String,
    text: String,
}

/// The checks that a project offers, according to the files in its root. Nothing is run.
pub fn detect_checks(project: &Path) -> Vec<ProposedCheck> {
    let mut texts = read_folder(project, "");
    for folder in TEST_FOLDERS {
        let is_python = |file: &FileText| Path::new(&file.path).extension() == Some(OsStr::new("py"));
        texts.extend(read_folder(project, folder).into_iter().filter(is_python));
    }
    let files: Vec<_> = texts.iter().map(|file| ProjectFile { path: &file.path, text: &file.text }).collect();
    let (node, composer) = (scripts_in(&texts, "package.json"), scripts_in(&texts, "composer.json"));
    let project =
        Project { files: &files, node_scripts: &as_scripts(&node), composer_scripts: &as_scripts(&composer) };
    detect(&project)
}

/// The regular files of a folder. Links are not followed, and a file that is not text counts as empty.
fn read_folder(project: &Path, folder: &str) -> Vec<FileText> {
    let Ok(entries) = fs::read_dir(project.join(folder)) else { return Vec::new() };
    let mut found = Vec::new();
    for entry in entries.flatten().take(MAX_ENTRIES) {
        let Ok(name) = entry.file_name().into_string() else { continue };
        if !entry.file_type().is_ok_and(|kind| kind.is_file()) {
            continue;
        }
        let bytes = files::read_limited(&entry.path(), MAX_BYTES).ok().flatten().unwrap_or_default();
        let path = if folder.is_empty() { name } else { format!("{folder}/{name}") };
        found.push(FileText { path, text: String::from_utf8(bytes).unwrap_or_default() });
    }
    // The order of a folder is arbitrary, and the first file that fits decides.
    found.sort_by(|one, other| one.path.cmp(&other.path));
    found
}

/// The `scripts` of a manifest: names and commands.
fn scripts_in(texts: &[FileText], manifest: &str) -> Vec<(String, String)> {
    let Some(file) = texts.iter().find(|file| file.path == manifest) else { return Vec::new() };
    let Ok(document) = serde_json::from_str::<Value>(&file.text) else { return Vec::new() };
    let Some(scripts) = document["scripts"].as_object() else { return Vec::new() };
    let command = |value: &Value| match value {
        Value::String(text) => text.clone(),
        other => other.to_string(),
    };
    scripts.iter().map(|(name, value)| (name.clone(), command(value))).collect()
}

fn as_scripts(scripts: &[(String, String)]) -> Vec<Script<'_>> {
    scripts.iter().map(|(name, command)| Script { name, command }).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn proposals(texts: &[(&str, &str)]) -> Vec<String> {
        let folder = tempfile::tempdir().unwrap();
        for (path, text) in texts {
            let path = folder.path().join(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            files::write_atomic(&path, text.as_bytes(), 0o644).unwrap();
        }
        let checks = detect_checks(folder.path()).into_iter();
        checks.map(|check| format!("{}: {} ({})", check.name, check.run, check.because)).collect()
    }

    #[test]
    fn manifests_scripts_and_tests_are_found() {
        let package = r#"{"scripts":{"test":"vitest run","lint":"eslint ."}}"#;
        assert_eq!(
            proposals(&[("package.json", package), ("yarn.lock", "")]),
            ["test: yarn test (package.json)", "lint: yarn run lint (package.json)"]
        );
        assert_eq!(
            proposals(&[("tests/test_a.py", "import unittest"), ("tests/data.json", "{}")]),
            ["test: python3 -m unittest discover -s tests (tests/test_a.py)"]
        );
        assert_eq!(proposals(&[("package.json", "{broken"), ("README.md", "make test")]), [""; 0]);
        assert_eq!(detect_checks(Path::new("/nowhere")), []);
    }
}
