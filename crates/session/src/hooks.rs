//! The hook driver: read stdin, load what the event needs, decide, apply, print.
//!
//! This is the hot path: it starts on every tool call. It links no argument parser, runtime, logger or
//! regular expressions, and loads configuration, specs or lessons only for the hooks that need them. On any
//! error the client gets the default answer and exit code 0, and one line on stderr names the error.

mod apply;
mod budget;
mod dashboard;
mod facts;
mod foreign_skills;
mod guard;
mod limits;
mod run;
mod trigger;
mod update;
mod usage;

pub use guard::{run_event, run_hook};
pub(crate) use update::move_feature;
pub use update::{DocumentMode, accept_edit, update_session};
