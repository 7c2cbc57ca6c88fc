//! The decisions of Overtone as pure functions.
//!
//! [`decide`] takes what is stored (a [`Snapshot`]), what just happened (a [`Trigger`]) and what else was
//! looked up ([`Facts`]), and returns the [`Outcome`]: what to answer and which [`Effect`]s to carry out.
//! There is no file, clock, environment or JSON in here; the hook driver has those.

mod command_line;
pub mod commands;
mod completion;
mod decide;
pub mod flow;
mod gate;
mod handoff;
mod initiator;
pub mod instinct;
mod marker;
mod notification;
mod outcome;
mod permission;
mod printable;
mod prompt;
mod redact;
mod session;
pub mod settings;
pub mod state;
mod stopping;
pub mod suggestion;
pub mod text;
mod tools;
mod trigger;
mod verdict;
mod wording;

pub use completion::NO_VERDICT;
pub use decide::decide;
pub use gate::identify as identify_agent;
pub use initiator::{Caller, initiator};
pub use notification::ENDED_WITHOUT_RESULT;
pub use outcome::{Effect, FieldValue, Handoff, InputPatch, Outcome, Permission, Record, Reply};
pub use redact::redact_lines;
pub use stopping::{NO_REPORT, NO_REPORT_IN_TIME};
pub use tools::{INTERRUPTED, is_delegation, is_markdown};
pub use trigger::{Facts, Feature, FeatureHolder, FeatureOrigin, Snapshot, StartSource, Trigger};
pub use verdict::{Judgement, judge};
