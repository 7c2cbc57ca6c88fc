//! Errors of this module, each with the file location it concerns. The command line turns them into user-facing texts.

use std::fmt;
use std::io;
use std::path::{Path, PathBuf};

use jsonc_edit::{Document, SettingsError};
use thiserror::Error;

use crate::providers::{Conflict, ValueType};

/// A line of a file, displayed as `path:line`, which editors understand.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FileLocation {
    pub path: PathBuf,
    pub line: usize,
}

impl FileLocation {
    /// The line of a key, or the first line if the document does not contain the key.
    pub(crate) fn of_key(path: &Path, document: &Document, key: &[&str]) -> Self {
        Self { path: path.to_owned(), line: document.line_of(key).unwrap_or(1) }
    }
}

impl fmt::Display for FileLocation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.path.display(), self.line)
    }
}

/// The messages are single lines for a log and contain no value of the environment.
#[derive(Debug, Error)]
pub enum ProvidersError {
    /// Neither `HOME` nor the variables for the folders are set.
    #[error("no home folder")]
    NoHome,
    #[error(transparent)]
    Settings(#[from] SettingsError),
    /// The client reads plain JSON only and ignores a file with comments as a whole.
    #[error("not plain JSON: {0}")]
    NotPlain(FileLocation),
    #[error("wrong type: {key} at {location}")]
    WrongType { location: FileLocation, key: String, expected: ValueType },
    /// A `${VARIABLE}` reference to a variable that is not set.
    #[error("{variable} is not set: {key} at {location}")]
    Unset { location: FileLocation, key: String, variable: String },
    #[error("unknown provider: {name}")]
    UnknownProvider {
        name: String,
        known: Vec<String>,
        /// Where the name is written, unless it comes from the command line.
        location: Option<FileLocation>,
    },
    /// No provider is named and there is no current one.
    #[error("no provider is chosen in {}", file.display())]
    NoneChosen { known: Vec<String>, file: PathBuf },
    #[error("{name} exists at {location}")]
    Exists { name: String, location: FileLocation },
    /// Settings files would send the client to another provider, and nothing can overrule them.
    #[error("{provider} is overruled: {}", list_conflicts(conflicts))]
    Overruled { provider: String, conflicts: Vec<Conflict> },
    /// The provider needs a private settings file, which a supervised start must not have.
    #[error("{key} of {provider} needs a private file")]
    NeedsPrivate { provider: String, key: String },
    /// Another process has held the lock for too long.
    #[error("busy: {}", .0.display())]
    Busy(PathBuf),
    #[error("cannot use {}: {error}", path.display())]
    Io {
        path: PathBuf,
        #[source]
        error: io::Error,
    },
}

fn list_conflicts(conflicts: &[Conflict]) -> String {
    let items: Vec<_> =
        conflicts.iter().map(|conflict| format!("{} at {}", conflict.key, conflict.location)).collect();
    items.join(", ")
}

impl ProvidersError {
    pub(crate) fn io(path: &Path, error: io::Error) -> Self {
        Self::Io { path: path.to_owned(), error }
    }
}
