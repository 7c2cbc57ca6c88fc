//! Errors of specs, with the path they concern and a hint.

use std::fmt;
use std::io;
use std::path::{Path, PathBuf};

use super::FeatureNameError;

/// Why a feature could not be created, moved or archived.
#[derive(Debug)]
pub enum SpecsError {
    Name(FeatureNameError),
    /// The name is used on a live shelf.
    Exists {
        path: PathBuf,
    },
    /// No feature of that name on a live shelf.
    NotFound {
        name: String,
        features: PathBuf,
    },
    /// Features get into the archive only by archiving, which adds a date to the name.
    IntoArchive {
        name: String,
    },
    Date {
        given: String,
    },
    /// The text of these errors names the action and the path.
    Io(io::Error),
}

impl SpecsError {
    pub fn hint(&self) -> Option<String> {
        match self {
            Self::Name(error) => Some(error.hint()),
            Self::Exists { .. } => Some("choose another name, or continue with that feature".to_owned()),
            Self::NotFound { .. } => Some("in-progress, paused and backlog were searched".to_owned()),
            Self::IntoArchive { .. } => Some("archive the feature instead of moving it".to_owned()),
            Self::Date { .. } => Some("write the date as YYYY-MM-DD".to_owned()),
            Self::Io(error) if error.kind() == io::ErrorKind::NotADirectory => {
                Some("make it a real directory: symlinks below the project are not followed".to_owned())
            }
            Self::Io(_) => None,
        }
    }
}

impl fmt::Display for SpecsError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Name(error) => error.fmt(f),
            Self::Exists { path } => write!(f, "{} already exists", path.display()),
            Self::NotFound { name, features } => {
                write!(f, "no feature {name:?} in {}", features.display())
            }
            Self::IntoArchive { name } => write!(f, "{name:?} cannot be put straight into the archive"),
            Self::Date { given } => write!(f, "{given:?} is not a date"),
            Self::Io(error) => error.fmt(f),
        }
    }
}

impl std::error::Error for SpecsError {}

impl From<FeatureNameError> for SpecsError {
    fn from(error: FeatureNameError) -> Self {
        Self::Name(error)
    }
}

impl From<io::Error> for SpecsError {
    fn from(error: io::Error) -> Self {
        Self::Io(error)
    }
}

/// Adds the action and the path to the message of an I/O error. The kind is kept.
pub(super) trait Context<T> {
    fn context(self, action: &str, path: &Path) -> io::Result<T>;
}

impl<T> Context<T> for io::Result<T> {
    fn context(self, action: &str, path: &Path) -> Self {
        self.map_err(|error| {
            let text = format!("cannot {action} {}: {error}", path.display());
            io::Error::new(error.kind(), text)
        })
    }
}
