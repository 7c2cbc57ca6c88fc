//! Everything that is pure: the tables, the texts, the decisions and the replay of recorded sessions.
//!
//! Nothing in this crate reads files, the clock or the environment. `cargo xtask layers` checks that.

pub mod economy;
pub mod engine;
pub mod evidence;
pub mod messages;
pub mod registry;
pub mod replay;
