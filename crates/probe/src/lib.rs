//! Asks a provider whether it would answer Claude Code: with the same address and headers, over the same proxy and
//! with the same certificates.
//!
//! The list of models costs nothing, so it is asked for first. Where there is none, or where everyone may see it,
//! one message of one token is asked for. Redirects are not followed: the token is for the address that the user
//! wrote down.
//!
//! Not here: which providers there are (`overtone-providers`) and any text for people. Nothing that is returned
//! holds a token, not even where the server repeats it.

mod account;
mod ask;
mod judge;
mod said;
mod way;

use std::time::Duration;

pub use account::{Account, DEFAULT_BASE};
pub use ask::ask;
pub use way::Way;

/// What came of asking.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Answer {
    pub outcome: Outcome,
    /// The server's own words for it, on one short line.
    pub said: Option<String>,
    pub took: Duration,
}

/// Whether a provider can be used, and what is in the way if not.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Outcome {
    Works,
    /// The token is good, but for now nothing more is answered.
    Limited,
    /// 401 or 403.
    KeyRefused {
        status: u16,
    },
    /// There is a server, but no Messages API at this address.
    NoSuchAddress,
    /// Something answers, but not as the Messages API does.
    NotTheApi,
    NoSuchModel {
        model: String,
    },
    /// Any other complaint about the request.
    Rejected {
        status: u16,
    },
    ServerFailed {
        status: u16,
    },
    /// To this address, without the parts that may be secret.
    Redirected {
        to: Option<String>,
    },
    TooLate,
    Tls {
        fault: TlsFault,
    },
    UnknownHost,
    ConnectionRefused,
    Unreachable,
    ProxyFailed,
    BadAddress,
    /// A token or a header that cannot be sent.
    BadHeader,
    NoToken,
    /// A route of the client that does not use this API.
    OtherRoute {
        variable: &'static str,
    },
    /// The file of additional certificates cannot be used.
    BadCertificates {
        variable: &'static str,
    },
}

/// What is wrong with an encrypted connection.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TlsFault {
    /// The certificate is not one that is trusted for this address.
    Certificate,
    /// The other side does not speak TLS, or not as we do.
    Handshake,
}

impl Outcome {
    /// Whether the client would get answers, now or soon.
    pub fn is_usable(&self) -> bool {
        matches!(self, Self::Works | Self::Limited)
    }

    /// A short stable name, for programs.
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
            Self::TooLate => "timeout",
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
