//! The fleet as users see it: the real binary, private homes, and a real server on loopback.

#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a panic is the failure report of a test")]
#![allow(clippy::disallowed_methods, reason = "tests write their fixtures plainly")]

mod attack;
#[path = "../common/mod.rs"]
mod common;
mod control;
mod features;
mod joining;
mod machine;
mod moving;
mod server;
mod team;
