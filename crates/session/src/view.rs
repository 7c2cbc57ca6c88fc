//! Sessions as seen from outside, for everything that shows them: the command line, the dashboard, `top`.
//!
//! Nothing here writes. A torn, foreign or vanishing file does not make the whole fail: it is skipped and listed as
//! skipped. Timelines grow without limit, so they are read in pages and from their end. How sessions are drawn, and most
//! texts for the user, are elsewhere.

mod condition;
mod copy;
mod costs;
mod event;
mod evidence;
mod history;
mod lines;
mod page;
mod registry;
mod reverse_lines;
mod spans;
mod statistics;
mod summary;
mod supervision;
mod usage;

pub use condition::{Condition, pause_reason};
pub use copy::{COPY_SUMMARY_FILE, Machine, copied_session_json, machine_of_copy};
pub use costs::{CostGroup, CostKey, CostReport, CostRow, Purposes, SessionCosts, cost_report};
pub use evidence::{
    CheckOutcome, ReceiptJson, RecordedEvidence, RecordedStage, StageEvidence, StageEvidenceJson, TestsJson,
    WorkflowEvidence,
};
pub use history::{AgentRun, History, HistoryReader, read_history};
pub use lines::{Line, Lines, MAX_LINE, line_end};
pub use page::{Direction, Page, Query, TimelineEvent, read_page};
pub use registry::registry;
pub use reverse_lines::{OwnedLine, ReverseLines};
pub use spans::{Span, SpanKind, Spans, spans};
pub use statistics::{
    AgentStatistics, DayStatistics, Filter, StageStatistics, Statistics, WorkflowStatistics, statistics,
};
pub use summary::{SessionState, SkippedFile, Summary};
pub use supervision::{Supervision, session_json, supervision_rounds, supervisor_switch};
pub use usage::{SessionUsage, UsageSource, read_ledger_from};
