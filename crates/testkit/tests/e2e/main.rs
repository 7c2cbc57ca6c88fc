//! The real clients with our plugin, against a scripted API. Only `cargo xtask e2e` builds and runs these.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::disallowed_methods,
    reason = "a panic is the failure report of a test, and its files need no atomic writes"
)]

mod background;
mod budget;
mod ccc;
mod checks;
mod compaction;
mod cost;
mod delegation;
mod discipline;
mod foreign;
mod golden;
mod guard;
mod install;
mod integrity;
mod interactive;
mod kit;
mod lean;
mod loading;
mod parallel;
mod permissions;
mod prompt;
mod repair;
mod resume;
mod robustness;
mod sessions;
mod steps;
mod stopping;
mod supervisor;
mod toggle;
mod workflow;

use overtone_testkit::{Turn, tool};
use serde_json::json;

/// A turn that hands a job to a sub-agent.
fn delegate(agent: &str, prompt: &str) -> Turn {
    tool("Agent", json!({"subagent_type": agent, "description": "the job", "prompt": prompt}))
}
