//! Settings that the user gives to the client themselves, with `--settings`: a file, or JSON in the argument.

use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};

use overtone_settings::{Document, SettingsFile};
use serde_json::Value;

use crate::switch::check_plain;
use crate::{Fragment, ProvidersError};

/// What stands for a file where the settings are in the argument itself.
const ARGUMENT: &str = "--settings";

/// The user's own settings for one start.
#[derive(Debug)]
pub struct Given {
    pub(crate) path: PathBuf,
    pub(crate) document: Document,
}

impl Given {
    /// Reads them as the client does: relative to the folder it is started in. A file that is not there or cannot be
    /// understood is refused, since the client would refuse it, too.
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
