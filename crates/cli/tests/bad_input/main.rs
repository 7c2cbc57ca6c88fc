//! Hooks with bad input, session ids, files, disks, environments and specs.
//!
//! A hook runs during the user's work, so the same rule holds for every hook and every error: it ends with 0, prints
//! exactly one JSON object, reports the error on stderr, writes only in its own folder and loses nothing.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::disallowed_methods,
    reason = "a test may panic, and it prepares its files without the store it is testing"
)]

#[path = "../common/mod.rs"]
mod common;
mod disk;
mod environment;
mod fixture;
mod limits;
mod session_id;
mod state_files;
mod stdin;
