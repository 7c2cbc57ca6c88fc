//! The agents of a workflow: those at work, and those that have reported.

use crate::registry::{Agent, StageKey, table};

use crate::engine::state::Millis;

/// A delegated agent that has not reported back yet.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ActiveAgent {
    /// Unique in the workflow: `tester`, and `tester#2` for a second one at the same time.
    pub slot: String,
    pub stage: Option<StageKey>,
    pub started_at: Option<Millis>,
    pub tool_use_id: Option<String>,
    pub agent_id: Option<String>,
    pub background: bool,
    /// The main agent continues it, and it has not started again yet. A report until then belongs to its earlier run.
    pub awaits_start: bool,
    /// The reasons for which its report was sent back, each as often as it happened.
    pub sent_back_for: Vec<SendBackReason>,
    /// When its report was sent back the last time. A later report is another one, even if it has the same words.
    pub sent_back_at: Option<Millis>,
    /// The file with the report that was sent back because it had no verdict.
    pub handoff: Option<String>,
}

table! {
    /// Why a report is sent back to the agent that made it.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    pub enum SendBackReason {
        NoVerdict("no-verdict", 1),
        OpenTasks("open-tasks", 1),
        /// A check of the project does not succeed.
        ChecksFailed("checks-failed", 2),
        /// A check succeeds with fewer tests than before, or with more of them skipped.
        FewerTests("fewer-tests", 1),
        /// No file differs from before.
        NothingChanged("nothing-changed", 1),
        /// Tests were deleted or disabled.
        TestsRemoved("tests-removed", 1),
        /// Tests expect something else than before.
        TestsChanged("tests-changed", 1),
        /// The report says PASS, and that tests failed.
        Contradiction("contradiction", 1),
        /// The agent ran nothing.
        NothingRun("nothing-run", 1),
        /// The agent looked at nothing.
        NothingRead("nothing-read", 1),
        /// The agent's last test command failed.
        TestFailed("test-failed", 1),
    }

    struct SendBackReasonRow {
        pub key: &'static str,
        /// How often one attempt of a stage is sent back for it.
        pub limit: usize,
    }

    pub fn from_key(key) -> Option<Self>;
}

/// An agent that has reported. The client can continue it, under the same id.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FinishedAgent {
    pub id: String,
    /// `None` in files of versions that stored only the id.
    pub agent: Option<Agent>,
}

impl ActiveAgent {
    /// Whether its report may still be sent back for this reason.
    pub(crate) fn may_be_sent_back(&self, reason: SendBackReason) -> bool {
        self.sent_back_for.iter().filter(|earlier| **earlier == reason).count() < reason.limit()
    }

    pub fn name(&self) -> &str {
        self.slot.split('#').next().unwrap_or_default()
    }

    pub fn agent(&self) -> Option<Agent> {
        Agent::from_name(self.name())
    }

    /// Whether this is the agent of the given call, or has the given id.
    pub fn is(&self, tool_use_id: Option<&str>, agent_id: Option<&str>) -> bool {
        let same = |own: &Option<String>, given: Option<&str>| given.is_some() && own.as_deref() == given;
        same(&self.tool_use_id, tool_use_id) || same(&self.agent_id, agent_id)
    }
}
