//! What sessions look like from outside, for everything that shows them: the command line, the dashboard, `top`.
//!
//! Only reads. A torn, foreign or vanishing file never fails the whole: it is passed over and named. Timelines are
//! read in pages and from their end, since they grow without limit. Not here: how it is drawn, and texts for people.

mod backwards;
mod condition;
mod copy;
mod event;
mod figures;
mod history;
mod lines;
mod page;
mod registry;
mod spans;
mod summary;
mod supervision;
mod usage;

pub use backwards::{Backwards, PastLine};
pub use condition::{Condition, pause_words};
pub use copy::{TOLD_FILE, copied, machine};
pub use figures::{AgentFigures, DayFigures, Figures, Filter, StageFigures, WorkflowFigures, figures};
pub use history::{AgentRun, History, HistoryReader, read_history};
pub use lines::{Line, Lines, MAX_LINE, line_end};
pub use page::{Direction, Page, Query, Seen, read_page};
pub use registry::registry;
pub use spans::{Span, SpanKind, Spans, spans};
pub use summary::{Skipped, State, Summary};
pub use supervision::{Supervision, rounds, supervised, supervisor_switch};
pub use usage::{AgentUsage, Tokens, agent_conversation, agent_conversations, agent_usage};
