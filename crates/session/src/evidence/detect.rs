//! Reads the files of a project from which checks are proposed.

use std::ffi::OsStr;
use std::fs;
use std::io;
use std::path::Path;

use overtone_core::evidence::detect::{Project, ProjectFile, ProposedCheck, Script, detect, is_read};
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
pub fn detect_checks(project: &Path) -> io::Result<Vec<ProposedCheck>> {
    let mut texts = read_folder(project, "")?;
    for folder in TEST_FOLDERS {
        let is_python = |file: &FileText| Path::new(&file.path).extension() == Some(OsStr::new("py"));
        texts.extend(read_folder(project, folder)?.into_iter().filter(is_python));
    }
    let files: Vec<_> = texts.iter().map(|file| ProjectFile { path: &file.path, text: &file.text }).collect();
    let (node, composer) = (scripts_in(&texts, "package.json"), scripts_in(&texts, "composer.json"));
    let project =
        Project { files: &files, node_scripts: &as_scripts(&node), composer_scripts: &as_scripts(&composer) };
    Ok(detect(&project))
}

/// The regular files of a folder, with the texts of those that matter. Links are not followed.
fn read_folder(project: &Path, folder: &str) -> io::Result<Vec<FileText>> {
    let entries = match fs::read_dir(project.join(folder)) {
        Ok(entries) => entries,
        Err(error) if matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory) => {
            return Ok(Vec::new());
        }
        Err(error) => return Err(error),
    };
    let mut found = Vec::new();
    for entry in entries.take(MAX_ENTRIES) {
        let entry = entry?;
        let Ok(name) = entry.file_name().into_string() else { continue };
        if !entry.file_type()?.is_file() {
            continue;
        }
        let text = if is_read(&name) { read_text(&entry.path())? } else { String::new() };
        let path = if folder.is_empty() { name } else { format!("{folder}/{name}") };
        found.push(FileText { path, text });
    }
    // The order of a folder is arbitrary, and the first file that fits decides.
    found.sort_by(|one, other| one.path.cmp(&other.path));
    Ok(found)
}

/// The text of a file. One that is too large or not text counts as empty.
fn read_text(path: &Path) -> io::Result<String> {
    match files::read_limited(path, MAX_BYTES) {
        Ok(bytes) => Ok(String::from_utf8(bytes.unwrap_or_default()).unwrap_or_default()),
        Err(error) if error.kind() == io::ErrorKind::FileTooLarge => Ok(String::new()),
        Err(error) => Err(error),
    }
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
        let checks = detect_checks(folder.path()).unwrap().into_iter();
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
        assert_eq!(proposals(&[("Makefile", &"#".repeat(300_000)), ("Cargo.toml/x", "")]), [""; 0]);
        assert_eq!(detect_checks(Path::new("/nowhere")).unwrap(), []);
    }
}
