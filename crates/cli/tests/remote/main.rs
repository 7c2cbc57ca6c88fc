//! Notifications, remote commands and telemetry: the real server as a child process, real sessions made by the real
//! hooks, and services on 127.0.0.1 that record what they receive.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::disallowed_methods,
    reason = "a test may panic, and it prepares its files without the store it is testing"
)]

mod check;
mod commands;
#[path = "../common/mod.rs"]
mod common;
mod delivery;
mod events;
mod fixture;
mod restart;
mod secure;
mod service;
mod telemetry;
#[path = "../common/tls.rs"]
mod tls;
