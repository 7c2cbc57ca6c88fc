//! The dashboard's server as a child process, asked over real connections.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::disallowed_methods,
    reason = "a test may panic, and it prepares its files without the store it is testing"
)]

mod api;
mod bounds;
#[path = "../common/mod.rs"]
mod common;
mod context;
mod control;
mod entering;
mod evidence;
mod fleet;
mod http;
mod impostors;
mod lifecycle;
mod live;
mod security;
mod statistics;
