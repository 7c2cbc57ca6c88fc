//! The fleet with real servers. One program, so that tests that wait do so side by side.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    reason = "a panic is the failure report of a test, and of one that cannot be set up"
)]

mod cluster;
mod entry;
mod mirror;
mod moving;
mod permissions;
mod races;
mod relay;
mod support;
mod trouble;
mod trust;
