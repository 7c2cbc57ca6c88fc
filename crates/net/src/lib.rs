//! The network as every part of Overtone uses it: one HTTP client, one way to find proxies and certificates, one type for
//! secrets and one for the delays between attempts.
//!
//! Not here: what is sent to whom. Hooks never link this crate.

mod backoff;
mod client;
mod network;
mod secret;

pub use backoff::Backoff;
pub use client::{Client, Response, describe_error};
pub use network::{Network, NetworkError};
pub use secret::{Secret, SecretError, variable_reference};
