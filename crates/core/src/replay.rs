//! Runs a recorded timeline through the engine again and finds where the engine would have recorded something else.
//!
//! A timeline has two kinds of lines: events from outside (an agent was delegated, it reported a verdict, the user
//! stopped the loop) and what the engine decided. [`Replay`] derives the events from the lines, feeds them through
//! [`crate::engine::decide`] on a state in memory, and compares what the engine records line by line. What a timeline
//! does not contain (texts, times, ids, denied calls) is neither needed nor compared.
//!
//! Nothing here reads files: lines come from an iterator, and differences are returned as one.

mod cause;
mod compare;
mod line;
mod redact;
mod run;
mod session;
mod stored;
mod window;

pub use compare::{Difference, Finding, record_fields};
pub use line::{Line, SkipReason, SkippedLine, parse};
pub use redact::redact;
pub use run::{Replay, Summary};
pub use stored::{Mismatch, mismatches};
