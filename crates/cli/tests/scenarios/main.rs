//! The scenarios of the behaviour documents, each played against the real binary.
//!
//! A test's name begins with the id of its scenario (`s1_2_4_…`, `s2_01_…`, `s3_1c_5_…`); [`ids`] is the record
//! of them all. Where a document was settled differently, the test says so beside the assertion.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::disallowed_methods,
    reason = "a test may panic, and it prepares its files without the store it is testing"
)]

#[path = "../common/mod.rs"]
mod common;
mod ids;
mod plugin_files;
mod reports;
mod spec1_events;
mod spec1_recovery;
mod spec1_tasks;
mod spec2;
mod spec3_agents;
mod spec3_context;
mod spec3_plugin;
mod spec3_session_end;
mod spec3_skills;
mod spec3_tool_failure;
mod support;
