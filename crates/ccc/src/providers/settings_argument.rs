//! The user's own `--settings` argument for the client: a file, or JSON text.

use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};

use jsonc_edit::{Document, SettingsFile};
use serde_json::Value;

use crate::providers::switch::check_plain;
use crate::providers::{Fragment, ProvidersError};

/// Used instead of a path in error messages when the argument is JSON text.
const ARGUMENT: &str = "--settings";

/// The settings that the user passes to one start.
#[derive(Debug)]
pub struct SettingsArgument {
    pub(crate) path: PathBuf,
    pub(crate) document: Document,
}

impl SettingsArgument {
    /// Reads the argument like the client does: a path is relative to the folder in which the client is started. A
    /// missing or malformed file is an error, since the client would refuse it, too.
    pub fn read(argument: &OsStr, folder: &Path) -> Result<Self, ProvidersError> {
        let text = argument.to_string_lossy();
        let text = text.trim();
        let (path, document) = if text.starts_with('{') && text.ends_with('}') {
            (PathBuf::from(ARGUMENT), Document::parse(Path::new(ARGUMENT), text)?)
        } else {
            let path = folder.join(argument);
            fs::metadata(&path).map_err(|error| ProvidersError::io(&path, error))?;
            let document = SettingsFile::at(&path).read()?;
            (path, document)
        };
        check_plain(&path, &document)?;
        Ok(Self { path, document })
    }

    pub(crate) fn fragment(&self) -> Fragment {
        match self.document.get(&[]) {
            Some(Value::Object(object)) => object,
            _ => Fragment::new(),
        }
    }
}
