//! Errors between this machine and the fleet's server.

use std::fmt;
use std::io;

#[derive(Debug, thiserror::Error)]
pub enum FleetError {
    /// The server cannot be reached, or it rejects the connection.
    #[error("cannot reach the fleet's server: {0}")]
    Unreachable(String),
    /// The server is reachable, but a request to it failed.
    #[error("cannot {what}: {why}")]
    Server { what: &'static str, why: String },
    /// A file of this machine cannot be read or written.
    #[error(transparent)]
    Io(#[from] io::Error),
}

impl FleetError {
    pub(crate) fn server(what: &'static str, why: impl fmt::Display) -> Self {
        Self::Server { what, why: why.to_string() }
    }
}

pub type Result<T> = std::result::Result<T, FleetError>;
