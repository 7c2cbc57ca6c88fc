//! What can go wrong, with the place. The texts for people are made by the command line.

use std::fmt;
use std::io;
use std::path::{Path, PathBuf};

use overtone_settings::{Document, SettingsError};

use crate::Conflict;

/// A line of a file; editors understand `path:line`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Place {
    pub path: PathBuf,
    pub line: usize,
}

impl Place {
    /// The line of a key, or the first one.
    pub(crate) fn of(path: &Path, document: &Document, key: &[&str]) -> Self {
        Self { path: path.to_owned(), line: document.line_of(key).unwrap_or(1) }
    }
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.path.display(), self.line)
    }
}

/// What a value should have been.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Wanted {
    Object,
    Text,
    ListOfTexts,
}

#[derive(Debug)]
pub enum ProvidersError {
    /// No variable says where anything is.
    NoHome,
    Settings(SettingsError),
    /// The client reads plain JSON only and ignores a file with comments as a whole.
    NotPlain(Place),
    WrongType {
        place: Place,
        key: String,
        wanted: Wanted,
    },
    /// `${VARIABLE}` without such a variable, or without an end.
    Unset {
        place: Place,
        key: String,
        variable: String,
    },
    UnknownProvider {
        name: String,
        known: Vec<String>,
        /// Where the name is written, if it is not from the command line.
        place: Option<Place>,
    },
    /// No provider is named and none is current.
    NoneChosen {
        known: Vec<String>,
        file: PathBuf,
    },
    Exists {
        name: String,
        place: Place,
    },
    /// Settings files would send the client to another provider, and nothing can overrule them.
    Overruled {
        provider: String,
        conflicts: Vec<Conflict>,
    },
    /// The provider needs a settings file of its own, which a supervised start must not have.
    NeedsPrivate {
        provider: String,
        key: String,
    },
    /// Another process has been switching for too long.
    Busy(PathBuf),
    Io {
        path: PathBuf,
        error: io::Error,
    },
}

impl From<SettingsError> for ProvidersError {
    fn from(error: SettingsError) -> Self {
        Self::Settings(error)
    }
}

impl ProvidersError {
    /// One line for a log: where it is, without a value of the environment.
    pub fn summary(&self) -> String {
        match self {
            Self::NoHome => "no home folder".to_owned(),
            Self::Settings(error) => error.to_string(),
            Self::NotPlain(place) => format!("not plain JSON: {place}"),
            Self::WrongType { place, key, .. } => format!("wrong type: {key} at {place}"),
            Self::Unset { place, key, variable } => format!("{variable} is not set: {key} at {place}"),
            Self::UnknownProvider { name, .. } => format!("unknown provider: {name}"),
            Self::NoneChosen { file, .. } => format!("no provider is chosen in {}", file.display()),
            Self::Exists { name, place } => format!("{name} exists at {place}"),
            Self::Overruled { provider, conflicts } => {
                let places: Vec<_> = conflicts
                    .iter()
                    .map(|conflict| format!("{} at {}", conflict.key, conflict.place))
                    .collect();
                format!("{provider} is overruled: {}", places.join(", "))
            }
            Self::NeedsPrivate { provider, key } => format!("{key} of {provider} needs a private file"),
            Self::Busy(path) => format!("busy: {}", path.display()),
            Self::Io { path, error } => format!("cannot use {}: {error}", path.display()),
        }
    }

    pub(crate) fn io(path: &Path, error: io::Error) -> Self {
        Self::Io { path: path.to_owned(), error }
    }
}
