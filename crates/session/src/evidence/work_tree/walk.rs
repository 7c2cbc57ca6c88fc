//! Finds the files of a project that has no git repository.

use std::fs;
use std::path::Path;

/// Folders with results of builds and with installed packages. Without git, nothing says which files are ignored.
const GENERATED: [&str; 15] = [
    "node_modules",
    "target",
    "dist",
    "build",
    "out",
    "bin",
    "obj",
    "venv",
    "__pycache__",
    "coverage",
    "vendor",
    "deps",
    "_build",
    "tmp",
    "logs",
];

/// The files of the project, as relative paths. Hidden folders and folders of generated files are left out, and links are
/// not followed. `None` if there are more than `max`, or the folder cannot be read.
pub(crate) fn all_files(project: &Path, max: usize) -> Option<Vec<String>> {
    let mut found = Vec::new();
    let mut folders = vec![String::new()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(project.join(&folder)).ok()? {
            let entry = entry.ok()?;
            let name = entry.file_name().to_string_lossy().into_owned();
            let path = if folder.is_empty() { name.clone() } else { format!("{folder}/{name}") };
            let kind = entry.file_type().ok()?;
            if kind.is_dir() {
                if !name.starts_with('.') && !GENERATED.contains(&name.as_str()) {
                    folders.push(path);
                }
            } else {
                found.push(path);
            }
            if found.len() + folders.len() > max {
                return None;
            }
        }
    }
    Some(found)
}
