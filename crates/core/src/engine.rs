//! The decisions of Overtone as pure functions.
//!
//! [`decide`] takes the stored state (a [`Snapshot`]), the event (a [`Trigger`]) and what else was looked up for it
//! ([`Facts`]), and returns the [`Outcome`]: the answer and the [`Effect`]s to carry out. Nothing here accesses files, the
//! clock or the environment, or knows JSON; that is the job of the hook driver.

mod agents;
mod budget;
mod by_rule;
mod command_line;
pub mod commands;
mod completion;
pub mod context;
mod decide;
mod evidence;
pub mod flow;
mod gate;
mod guard;
mod handoff;
mod initiator;
pub mod instinct;
pub mod integrity;
mod marker;
mod notices;
mod notification;
mod outcome;
mod permission;
mod place;
mod printable;
mod prompt;
mod quote;
mod redact;
mod release;
mod report;
mod send_back;
mod session;
pub mod settings;
pub mod state;
mod stopping;
pub mod suggestion;
pub mod text;
mod ticks;
mod tools;
mod trigger;
mod verdict;
mod wording;

pub use agents::identify as identify_agent;
pub(crate) use budget::ENDS_WORK;
pub use budget::{
    LimitUse, NATIVE_WORKFLOW_AGENT, WorkflowSpending, concerns_budget, describe_use, limits_in_use,
};
pub(crate) use by_rule::{REASONS as RULE_REASONS, Reason as RuleReason};
pub use by_rule::{RULE, depends_on_changes};
pub(crate) use completion::CUT_SHORT;
pub use completion::NO_VERDICT;
pub use context::{ContextNeeds, context_needs, earlier_handoffs};
pub use decide::decide;
pub use evidence::{StageReport, describe_receipt, describe_result, repairing_stage, stage_report};
pub use gate::{is_out_of_order, starts_helper};
pub use guard::{concerns_guard, note_changes};
pub use initiator::{Caller, initiator};
pub use outcome::{Effect, FieldValue, Handoff, InputPatch, Outcome, Permission, Record, Reply};
pub use permission::{always_needs_decision, needs_no_decision, question_to_remember};
pub use redact::redact_lines;
pub use release::{ENDED_WITHOUT_RESULT, INTERRUPTED, NO_REPORT, NO_REPORT_IN_TIME};
pub use tools::{is_delegation, is_markdown};
pub use trigger::{
    EarlierReport, Facts, Feature, FeatureHolder, FeatureOrigin, Folders, Snapshot, StartSource, ToolCaller,
    Trigger,
};
pub use verdict::{Judgement, judge, reports_failures};
