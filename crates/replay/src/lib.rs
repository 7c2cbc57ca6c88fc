//! Re-runs a recorded timeline through the engine and says where the engine would have written something else.
//!
//! A timeline holds two kinds of lines: what happened outside (an agent was sent, it came back with a verdict, a
//! person stopped the loop) and what the engine made of it. [`Replay`] takes the first kind as given, feeds it
//! through [`overtone_engine::decide`] on a state in memory, and compares the second kind line by line. What a
//! timeline does not say (texts, times, ids, refused calls) is neither needed nor compared.
//!
//! There is no file here: lines come in as an iterator, differences go out as one.

mod cause;
mod compare;
mod line;
mod redact;
mod replay;
mod session;
mod stored;
mod window;

pub use compare::{Difference, Finding, fields_of};
pub use line::{Line, Skipped, Why, parse};
pub use redact::redact;
pub use replay::{Replay, Summary};
pub use stored::{Mismatch, mismatches};
