//! Claude Code's hook JSON: the payload on stdin and the answer on stdout.
//!
//! Input is parsed leniently: a field of the wrong type counts as missing, so that one unexpected field does not disable
//! a whole hook. Output is exact, because the client discards answers that it does not understand. This module reads no
//! files and makes no decisions.

mod input;
mod output;
mod transcript;

pub use input::{AgentResult, HookInput, HookInputError};
pub use output::{DEFAULT_OUTPUT, render};
pub use transcript::{
    MessageUsage, TranscriptAction, TranscriptEntry, read_transcript_actions, read_transcript_entry,
    read_transcript_usage,
};
