//! What a collector receives for the timelines of sessions.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::disallowed_methods,
    reason = "tests may panic, and prepare files without the store under test"
)]

mod collector;
mod delivery;
mod restart;
mod shape;
mod test_home;
