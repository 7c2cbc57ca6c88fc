//! `.ccc.json`: names the provider of a project. It can only refer to providers in the user's `ccc.json`.

use std::fs;
use std::path::Path;

use jsonc_edit::SettingsFile;
use serde_json::Value;

use crate::providers::{FileLocation, ProvidersError, ValueType};

const FILE: &str = ".ccc.json";

/// The provider named by a project.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Pin {
    pub provider: String,
    pub location: FileLocation,
}

/// Searches the folder and its parents, up to the root of the repository or the home folder.
pub fn find_pin(folder: &Path, home: Option<&Path>) -> Result<Option<Pin>, ProvidersError> {
    for folder in folder.ancestors() {
        let file = folder.join(FILE);
        if exists(&file)? {
            return read(&file);
        }
        if folder.join(".git").exists() || Some(folder) == home {
            break;
        }
    }
    Ok(None)
}

/// A dangling link is an error and does not count as missing: the work would go to another provider, unnoticed.
fn exists(file: &Path) -> Result<bool, ProvidersError> {
    match fs::metadata(file) {
        Ok(_) => Ok(true),
        Err(error) if fs::symlink_metadata(file).is_ok() => Err(ProvidersError::io(file, error)),
        Err(_) => Ok(false),
    }
}

fn read(path: &Path) -> Result<Option<Pin>, ProvidersError> {
    let document = SettingsFile::at(path).read()?;
    let location = FileLocation::of_key(path, &document, &["provider"]);
    match document.get(&["provider"]) {
        None => Ok(None),
        Some(Value::String(provider)) => Ok(Some(Pin { provider, location })),
        Some(_) => {
            Err(ProvidersError::WrongType { location, key: "provider".to_owned(), expected: ValueType::Text })
        }
    }
}
