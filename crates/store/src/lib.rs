//! Everything on disk: sessions, their state and timeline, specs, instincts and the configuration.
//!
//! Rules that hold for every file here: a state file is replaced by a rename while the session's lock is held; a
//! log line is appended with one write; unknown fields survive; symbolic links are not followed; nothing is
//! written outside the home folder and the project's `specs/`.

mod adopt;
mod claims;
pub mod clock;
pub mod config;
pub mod files;
mod home;
pub mod instincts;
mod log;
mod lookup;
mod loop_doc;
mod mark;
pub mod object;
mod own_features;
mod patience;
mod session;
pub mod specs;
pub mod timeline;
mod transaction;
mod workflow_doc;

pub use adopt::AdoptError;
pub use claims::{HOLD_LIMIT_MS, Holder};
pub use home::{Home, SessionId, create_private_dir};
pub use log::Log;
pub use lookup::MIN_PREFIX;
pub use loop_doc::LoopDoc;
pub use mark::Ownership;
pub use own_features::OwnFeatures;
pub use patience::patience;
pub use session::{Compactions, Origin, Session, SessionLock, Usage};
pub use transaction::Transaction;
pub use workflow_doc::WorkflowDoc;

use std::fmt;
use std::io;
use std::path::{Path, PathBuf};

/// A file that could not be read or written, and why.
#[derive(Debug)]
pub struct StoreError {
    pub path: PathBuf,
    pub problem: Problem,
}

/// What is wrong with a file.
#[derive(Debug)]
pub enum Problem {
    Io(io::Error),
    /// The content is not what the file is for.
    Broken(String),
    Locked,
}

impl StoreError {
    pub(crate) fn io(path: &Path, error: io::Error) -> Self {
        Self { path: path.to_owned(), problem: Problem::Io(error) }
    }

    /// A lock that was not to be had.
    pub(crate) fn lock(path: &Path, error: io::Error) -> Self {
        match error.kind() {
            io::ErrorKind::WouldBlock => Self { path: path.to_owned(), problem: Problem::Locked },
            _ => Self::io(path, error),
        }
    }

    pub(crate) fn broken(path: &Path, what: impl Into<String>) -> Self {
        Self { path: path.to_owned(), problem: Problem::Broken(what.into()) }
    }
}

impl fmt::Display for StoreError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let path = self.path.display();
        match &self.problem {
            Problem::Io(error) => write!(f, "cannot use {path}: {error}"),
            Problem::Broken(what) => write!(f, "broken file {path}: {what}"),
            Problem::Locked => write!(f, "busy: another process holds {path}"),
        }
    }
}

impl std::error::Error for StoreError {}
