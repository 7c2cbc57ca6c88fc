//! Tests whether a provider would answer Claude Code, with the same address, headers, proxy and certificates.
//!
//! The list of models costs nothing, so it is requested first. If there is none, or if it is public, a message with an
//! answer of one token is requested. Redirects are not followed: the token is meant only for the address that the user
//! has configured.
//!
//! This module contains no user-facing texts; the providers themselves are in [`crate::providers`]. No returned value
//! contains a token, even if the server repeats it.

mod account;
mod client;
mod response;
mod server_message;

use std::time::Duration;

use overtone_net::NetworkError;

pub use account::{Account, DEFAULT_BASE_URL};
pub use client::probe;

/// The result of a probe.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ProbeResult {
    pub outcome: ProbeOutcome,
    /// The server's error message, on one short line.
    pub server_message: Option<String>,
    pub duration: Duration,
}

/// Whether a provider can be used, and why not.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ProbeOutcome {
    Works,
    /// The token is valid, but a rate limit or quota is exceeded.
    Limited,
    /// The server answered with status 401 or 403.
    KeyRefused {
        status: u16,
    },
    /// There is a server, but no Messages API at this address.
    NoSuchAddress,
    /// The answer is not one of the Messages API.
    NotTheApi,
    NoSuchModel {
        model: String,
    },
    /// Any other client error.
    Rejected {
        status: u16,
    },
    ServerFailed {
        status: u16,
    },
    /// A redirect to this address, without the parts that may be secret.
    Redirected {
        to: Option<String>,
    },
    TimedOut,
    Tls {
        fault: TlsFault,
    },
    UnknownHost,
    ConnectionRefused,
    Unreachable,
    ProxyFailed,
    BadAddress,
    /// The token or a header contains characters that cannot be sent.
    BadHeader,
    NoToken,
    /// This variable routes the client to another API.
    OtherRoute {
        variable: &'static str,
    },
    /// The file of additional certificates that this variable names cannot be used.
    BadCertificates {
        variable: &'static str,
    },
}

/// Why an encrypted connection failed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TlsFault {
    /// The certificate is not trusted for this address.
    Certificate,
    /// The server does not support TLS, or no common version or cipher.
    Handshake,
}

impl From<NetworkError> for ProbeOutcome {
    fn from(error: NetworkError) -> Self {
        match error {
            NetworkError::Proxy => Self::ProxyFailed,
            NetworkError::Certificates { variable } => Self::BadCertificates { variable },
        }
    }
}

impl ProbeOutcome {
    /// Whether the client would get answers, now or after a limit expires.
    pub fn is_usable(&self) -> bool {
        matches!(self, Self::Works | Self::Limited)
    }

    /// A short stable name for JSON output.
    pub fn name(&self) -> &'static str {
        match self {
            Self::Works => "ok",
            Self::Limited => "limited",
            Self::KeyRefused { .. } => "key-refused",
            Self::NoSuchAddress => "no-such-address",
            Self::NotTheApi => "not-the-api",
            Self::NoSuchModel { .. } => "no-such-model",
            Self::Rejected { .. } => "rejected",
            Self::ServerFailed { .. } => "server-failed",
            Self::Redirected { .. } => "redirected",
            Self::TimedOut => "timeout",
            Self::Tls { .. } => "tls",
            Self::UnknownHost => "unknown-host",
            Self::ConnectionRefused => "connection-refused",
            Self::Unreachable => "unreachable",
            Self::ProxyFailed => "proxy-failed",
            Self::BadAddress => "bad-address",
            Self::BadHeader => "bad-header",
            Self::NoToken => "no-token",
            Self::OtherRoute { .. } => "other-route",
            Self::BadCertificates { .. } => "bad-certificates",
        }
    }
}
