//! The supervisor's files: a record per session, the audit trail of its reviews, and the log of hook calls.
//!
//! They are in the state folder of `ccc`, not in Overtone's home. The supervisor itself is in `overtone-ccc`.

mod audit;
mod folder;
mod record;
mod switch;

pub use audit::{AuditTrail, append_round, list_trails, read_rounds, read_trails};
pub use folder::{StateFolder, append_line};
pub use record::{BlockTrace, PinnedRequest, RecordError, SupervisionRecord};
pub use switch::{is_session_enabled, switch_session};
