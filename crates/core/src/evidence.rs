//! What Overtone can find out about an agent's work by itself, without believing its report.
//!
//! Everything here is pure: the definition of a check, the receipt of a run, and readers for texts that others wrote, such as
//! the output of a test runner or the source of a test. Running checks and reading files is the driver's job; whether
//! a report passes is decided in [`crate::engine`].

mod activity;
mod check;
pub mod commands;
pub mod detect;
mod judged;
pub mod runners;
pub mod sources;

pub use activity::{Activity, ToolCall};
pub use check::{Check, CheckEnd, CheckFailure, Receipt, TestCounts};
pub use commands::{CommandKind, classify, names_test};
pub use judged::{AssertionChange, CheckResult, Evidence, TreeChange, WorkflowChange};
pub use runners::count_tests;
pub use sources::{SourceTests, assertions_in_source, count_in_source};
