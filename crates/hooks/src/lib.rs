//! The hook driver: read stdin, load what the event needs, decide, apply, print.
//!
//! This is the hot path: it is started at every tool call. It links no argument parser, runtime, logger or
//! regular expressions, and loads configuration, specs or lessons only for the hooks that need them. Whatever
//! goes wrong, the client gets the default answer and exit code 0; one line on stderr says what it was.

mod apply;
mod command;
mod dashboard;
mod environment;
mod facts;
mod foreign_skills;
mod guard;
mod limits;
mod run;
mod stdin;
mod transcript;
mod trigger;

pub use command::{Documented, act, shift_feature};
pub use environment::Environment;
pub use guard::{read_stdin, run_event, run_hook};
