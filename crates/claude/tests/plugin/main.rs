//! The plugin folder: rendered, committed, validated.

#![expect(clippy::unwrap_used, reason = "a panic in a test helper is the failure report")]

mod committed;
mod content;
mod validate;
