//! `.ccc.json`: the provider that a project is worked on with. It can only name one of the user's own.

use std::fs;
use std::path::Path;

use overtone_settings::SettingsFile;
use serde_json::Value;

use crate::{Place, ProvidersError, Wanted};

const FILE: &str = ".ccc.json";

/// A provider that a project asks for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Pin {
    pub provider: String,
    pub place: Place,
}

/// Looks in the folder and around it, up to the end of the repository or the home folder.
pub fn find_pin(folder: &Path, home: Option<&Path>) -> Result<Option<Pin>, ProvidersError> {
    for folder in folder.ancestors() {
        let file = folder.join(FILE);
        if is_there(&file)? {
            return read(&file);
        }
        if folder.join(".git").exists() || Some(folder) == home {
            break;
        }
    }
    Ok(None)
}

/// A link that leads nowhere is not taken for none: the work would go to another provider, unnoticed.
fn is_there(file: &Path) -> Result<bool, ProvidersError> {
    match fs::metadata(file) {
        Ok(_) => Ok(true),
        Err(error) if fs::symlink_metadata(file).is_ok() => Err(ProvidersError::io(file, error)),
        Err(_) => Ok(false),
    }
}

fn read(path: &Path) -> Result<Option<Pin>, ProvidersError> {
    let document = SettingsFile::at(path).read()?;
    let place = Place::of(path, &document, &["provider"]);
    match document.get(&["provider"]) {
        None => Ok(None),
        Some(Value::String(provider)) => Ok(Some(Pin { provider, place })),
        Some(_) => Err(ProvidersError::WrongType { place, key: "provider".to_owned(), wanted: Wanted::Text }),
    }
}
