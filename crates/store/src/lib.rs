//! The files on disk: sessions with their state and timeline, specs, instincts and the configuration.
//!
//! For every file: state is replaced by a rename while the session's lock is held, a log line is appended with one write,
//! unknown fields survive, symbolic links are not followed, and nothing is written outside the home folder and the project's
//! `specs/`.

mod adopt;
mod check_definitions;
mod claims;
mod client_process;
pub mod clock;
pub mod config;
pub mod files;
pub mod front_matter;
mod home;
pub mod instincts;
mod lines;
mod log;
mod lookup;
mod loop_doc;
mod mark;
pub mod object;
mod own_features;
mod pinned_checks;
#[cfg(feature = "project-file")]
pub mod project_file;
mod question;
mod receipts;
pub mod seal;
mod sealed_workflow;
mod session;
pub mod specs;
pub mod supervision;
pub mod timeline;
mod transaction;
mod trust;
mod usage;
mod workflow_doc;

pub use adopt::AdoptError;
pub use claims::{HOLD_LIMIT_MS, Holder};
pub use client_process::ClientProcess;
pub use home::{Home, SessionId, create_private_dir};
pub use jsonc_edit::effective_timeout;
pub use log::Log;
pub use lookup::MIN_PREFIX;
pub use loop_doc::{LoadedLoop, LoopDoc};
pub use mark::Ownership;
pub use own_features::OwnFeatures;
pub use pinned_checks::CHECKS_FILE;
pub use sealed_workflow::{Edit, LoadedWorkflow};
pub use session::{Compactions, Origin, Session, SessionLock, Usage};
pub use transaction::Transaction;
pub use trust::Trust;
pub use usage::{
    CountedMessage, LastPart, UsageEntry, UsageLedger, UsageScope, WorkflowUsage, parse_usage_entry,
};
pub use workflow_doc::WorkflowDoc;

use std::io;
use std::path::{Path, PathBuf};

/// A file that could not be read or written, and why.
#[derive(Debug, thiserror::Error)]
#[error("{}", kind.message(path))]
pub struct StoreError {
    pub path: PathBuf,
    pub kind: StoreErrorKind,
}

/// Why a file could not be read or written.
#[derive(Debug)]
pub enum StoreErrorKind {
    Io(io::Error),
    /// The content is not what this file should contain.
    Broken(String),
    /// Another process holds the lock.
    Locked,
    /// Another program has changed the file, and there is no copy of ours to use instead.
    Untrusted,
}

impl StoreErrorKind {
    fn message(&self, path: &Path) -> String {
        let path = path.display();
        match self {
            Self::Io(error) => format!("cannot use {path}: {error}"),
            Self::Broken(reason) => format!("broken file {path}: {reason}"),
            Self::Locked => format!("busy: another process holds {path}"),
            Self::Untrusted => format!("changed by another program: {path}"),
        }
    }
}

impl StoreError {
    pub fn io(path: &Path, error: io::Error) -> Self {
        Self { path: path.to_owned(), kind: StoreErrorKind::Io(error) }
    }

    /// The error of an attempt to take a lock.
    pub(crate) fn lock(path: &Path, error: io::Error) -> Self {
        match error.kind() {
            io::ErrorKind::WouldBlock => Self { path: path.to_owned(), kind: StoreErrorKind::Locked },
            _ => Self::io(path, error),
        }
    }

    pub(crate) fn untrusted(path: &Path) -> Self {
        Self { path: path.to_owned(), kind: StoreErrorKind::Untrusted }
    }

    pub(crate) fn broken(path: &Path, reason: impl Into<String>) -> Self {
        Self { path: path.to_owned(), kind: StoreErrorKind::Broken(reason.into()) }
    }
}
