//! What the hooks do when nothing is as it should be: input, session ids, files, disk, environment, specs.
//!
//! A hook runs inside somebody's work, so the rule is the same for each of the twelve and whatever is wrong: it
//! ends with 0, prints exactly one JSON object, says on stderr what was wrong, writes nowhere but in its own
//! folder and loses nothing that was there.

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
mod limits;
mod session_id;
mod state_files;
mod stdin;
mod world;
