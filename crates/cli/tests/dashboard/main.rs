//! The dashboard's server as a child process, asked over real connections.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::disallowed_methods,
    reason = "a test may panic, and it prepares its files without the store it is testing"
)]

mod api;
mod fleet;
mod http;
mod lifecycle;
mod live;
mod nats;
mod security;
mod steering;
mod world;
