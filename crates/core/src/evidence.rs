//! What Overtone can find out about an agent's work by itself, without believing its report.
//!
//! Everything here is pure: the definition of a check, the receipt of a run, and readers for texts that others wrote, such as
//! the output of a test runner or the source of a test. Running checks and reading files is the driver's job; whether
//! a report passes is decided in [`crate::engine`].

mod check;
pub mod commands;
pub mod detect;
pub mod runners;
pub mod sources;

pub use check::{Check, CheckEnd, CheckFailure, Receipt, TestCounts};
