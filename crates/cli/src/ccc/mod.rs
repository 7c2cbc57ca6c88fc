//! The second face of the binary: `ccc` starts Claude Code on any provider.
//!
//! `ccc [provider] [claude arguments…]` is understood by hand, since everything after the provider is the client's
//! business; the other commands have a parser. Results go to stdout, all that `ccc` says beside them to stderr.

mod add;
mod args;
mod change;
mod entry;
mod face;
mod launch;
mod line;
mod report;
mod show;
mod supervisor;

pub(crate) use entry::{is_called, run};
