//! The one error of these commands: what went wrong, and what to do about it.

use std::fmt;
use std::io;
use std::path::Path;

pub(crate) type Result<T> = std::result::Result<T, Error>;

/// A lowercase fragment for the reader of a terminal, with an optional way out.
#[derive(Debug)]
pub(crate) struct Error {
    what: String,
    hint: Option<String>,
}

impl Error {
    pub(crate) fn new(what: impl Into<String>) -> Self {
        Self { what: what.into(), hint: None }
    }

    /// An operation on a file: `cannot read state: <path>: <cause>`.
    pub(crate) fn io(what: &str, path: &Path, cause: &io::Error) -> Self {
        Self::new(format!("{what}: {}: {cause}", path.display()))
    }

    #[must_use]
    pub(crate) fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = Some(hint.into());
        self
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.what)?;
        match &self.hint {
            Some(hint) => write!(f, "\nhint: {hint}"),
            None => Ok(()),
        }
    }
}

impl std::error::Error for Error {}
