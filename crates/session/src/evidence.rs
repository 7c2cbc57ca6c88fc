//! Evidence of an agent's work that does not depend on its report: the work tree, the project's checks and the agent's
//! transcript.
//!
//! Hooks call this only when a report would pass, or when something may have changed files that should not. None of it runs
//! on ordinary tool calls.

pub mod checks;
mod command;
mod detect;
mod report;
mod transcript;
mod work_tree;

pub(crate) use checks::{last_lines, not_started};
pub use detect::detect_checks;
pub(crate) use report::{Collected, EvidenceContext};
pub use transcript::read_activity;
pub(crate) use work_tree::TREE_FILE;
pub use work_tree::{WorkTree, record_baseline};
