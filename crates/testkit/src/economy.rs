//! What Overtone costs in input tokens, measured in the real client with scripted agents.
//!
//! [`play`] plays one session: the same small job by the client alone, by a workflow, or with another product installed, or three
//! questions. The agents do only what is needed, so that the [`Bill`] has what Overtone adds and not how long a model
//! searches.
//!
//! `cargo xtask tokens` plays all sessions, and `docs/benchmarks/tokens.md` has the results.

mod bill;
mod cache;
mod cast;
mod job;
mod origin;
mod play;
mod size;
mod steady;
mod step;
mod subject;
mod words;

pub use bill::{Amount, Bill, Piece, StageBill};
pub use cache::Cost;
pub use origin::Origin;
pub use play::{Played, play};
pub use subject::{Profile, Subject};
pub use words::Language;
