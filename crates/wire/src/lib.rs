//! Claude Code's hook JSON: what comes in on stdin and what goes out on stdout.
//!
//! Input is read leniently: a field of the wrong type counts as missing, because one odd field must not cost
//! the user a whole hook. Output is exact, because the client discards what it does not know. No file is read
//! here and nothing is decided.

mod input;
mod output;
mod transcript;

pub use input::{AgentResult, BadInput, HookInput};
pub use output::{DEFAULT_OUTPUT, render};
pub use transcript::{TranscriptEntry, read_transcript_entry};
