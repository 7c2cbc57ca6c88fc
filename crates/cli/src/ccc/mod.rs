//! The commands of `ccc`, the binary's second name: it starts Claude Code on any provider.
//!
//! `ccc [provider] [claude arguments…]` is parsed manually, since everything after the provider belongs to the client;
//! the other commands use clap. Results go to stdout, all other messages to stderr.

mod add;
mod args;
mod audit;
mod change;
mod command_line;
mod completions;
mod context;
mod doctor;
mod edit;
mod entry;
mod launch;
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
