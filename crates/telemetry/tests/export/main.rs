//! What a collector gets to see, from the timelines of sessions.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::disallowed_methods,
    reason = "a test may panic, and it prepares its files without the store it is testing"
)]

mod collector;
mod delivery;
mod restart;
mod shape;
mod world;
