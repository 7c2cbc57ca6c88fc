//! `ccc` as users and Claude Code run it: the real binary, a stand-in for the client, real files.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::disallowed_methods,
    reason = "a test may panic, and it prepares its files without the store it is testing"
)]

mod bad_files;
mod commands;
#[path = "../common/mod.rs"]
mod common;
mod concurrency;
mod conflicts;
mod context;
mod doctor;
mod edit;
mod isolated;
mod keys;
mod launch;
mod managed;
mod migrate;
mod namespace;
mod odd_files;
mod schema;
mod server;
mod sharing;
mod spec5;
mod supervised;
mod switching;
mod terminal;
#[path = "../common/tls.rs"]
mod tls;
mod validate;
