//! The second face of the binary: `ccc` starts Claude Code on any provider.
//!
//! `ccc [provider] [claude arguments…]` is understood by hand, since everything after the provider is the client's
//! business; the other commands have a parser. Results go to stdout, all that `ccc` says beside them to stderr.

mod add;
mod args;
mod audit;
mod change;
mod completions;
mod doctor;
mod edit;
mod entry;
mod face;
mod launch;
mod line;
mod migrate;
mod report;
mod review;
mod schema;
mod show;
mod supervise;
mod supervisor;
mod validate;

pub(crate) use completions::command;
pub(crate) use entry::{is_called, run};

/// With it, `supervisor-hook` was called by the plugin.
pub(crate) const OF_PLUGIN: &str = overtone_registry::SUPERVISOR_HOOK[2];
