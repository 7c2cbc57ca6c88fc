//! Tests of the fleet with real servers. They are one binary, so that waiting tests run in parallel.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    reason = "a panic is the failure report of a test, and of one that cannot be set up"
)]

mod authentication;
mod cluster;
mod failures;
mod mirror;
mod moving;
mod permissions;
mod races;
mod relay;
mod support;
mod trust;
