//! The fleet as people use it: the real binary, homes of their own, and a real server on loopback.

#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a panic is the failure report of a test")]
#![allow(clippy::disallowed_methods, reason = "tests write their fixtures plainly")]

mod attack;
mod features;
mod joining;
mod moving;
#[path = "../common/nats_server.rs"]
mod nats_server;
mod server;
mod steering;
mod team;
mod world;
