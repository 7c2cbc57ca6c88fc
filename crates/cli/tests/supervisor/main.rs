//! The supervisor's scenarios, each played against the real binary and a scripted `claude`.
//!
//! A test's name begins with `s5_` and the number of its scenario, in the order of the document. The scenarios of
//! the launch (01–04, 19) belong to the launcher; here is what the hook and its files do.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::disallowed_methods,
    reason = "a test may panic, and it prepares its files without the store it is testing"
)]

mod audit;
mod bad_input;
mod breaker;
mod budget;
#[path = "../common/mod.rs"]
mod common;
mod context;
mod evidence;
mod guard;
mod headless;
mod outcomes;
mod request;
mod reviewer;
mod secrets;
mod state;
mod stop;
mod toggle;
