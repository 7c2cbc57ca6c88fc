//! The discipline benchmark: scripted misbehaviour, and honest work that looks like it, in the real client.
//!
//! A [`Case`] is data: who says what, and what is on disk if the misbehaviour gets through. [`play`] runs it in one
//! [`Column`] (the client alone, a peer, or Overtone at a guard level) and judges it by the disk and by the requests of the
//! model. What the scripted model claims does not count.
//!
//! `cargo xtask discipline` runs all of it, and `docs/discipline.md` explains the method. Add a case to one of the tables
//! in `cases`.

mod case;
mod cases;
mod cast;
mod column;
mod judge;
mod play;
mod project;
mod trace;

pub use case::{Case, Harm, Informed, Role, Screen, Source, Step};
pub use cases::{all, find};
pub use column::{Column, Peer};
pub use judge::{Cell, Means, Outcome};
pub use play::play;
