//! What can go wrong between this machine and the others.

use std::fmt;
use std::io;

/// Why something could not be done.
#[derive(Debug)]
pub enum FleetError {
    /// The server cannot be reached, or does not let us in.
    Unreachable(String),
    /// It can be reached, but has not done what it was asked for.
    Server { what: &'static str, why: String },
    /// Files on this machine.
    Io(io::Error),
}

impl FleetError {
    pub(crate) fn server(what: &'static str, why: impl fmt::Display) -> Self {
        Self::Server { what, why: why.to_string() }
    }
}

impl fmt::Display for FleetError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unreachable(why) => write!(f, "cannot reach the fleet's server: {why}"),
            Self::Server { what, why } => write!(f, "cannot {what}: {why}"),
            Self::Io(error) => error.fmt(f),
        }
    }
}

impl std::error::Error for FleetError {}

impl From<io::Error> for FleetError {
    fn from(error: io::Error) -> Self {
        Self::Io(error)
    }
}

pub type Result<T> = std::result::Result<T, FleetError>;
