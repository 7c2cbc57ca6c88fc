//! The state of one stage.

use crate::registry::{StageKey, TestMode, table};

use crate::engine::state::Millis;

table! {
    /// How far a stage is.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    pub enum Status {
        Pending("pending"),
        Active("active"),
        Completed("completed"),
    }

    struct StatusRow {
        pub key: &'static str,
    }

    pub fn from_key(key) -> Option<Self>;
}

table! {
    /// The verdict on an agent's work, ordered from best to worst.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
    pub enum Verdict {
        Pass("pass"),
        Issues("issues"),
        Fail("fail"),
        Reject("reject"),
        /// The stage needs the user, or cannot run here. Nothing is repaired, and the user is asked.
        Blocked("blocked"),
    }

    struct VerdictRow {
        pub key: &'static str,
    }

    pub fn from_key(key) -> Option<Self>;
}

impl Verdict {
    /// Whether later stages may start after a stage with this verdict.
    pub const fn is_good(self) -> bool {
        matches!(self, Self::Pass | Self::Issues)
    }
}

/// The `result` field of a stage: a verdict, or a text that another version wrote.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum StageResult {
    Verdict(Verdict),
    /// A rule says that the stage is not needed.
    ByRule,
    Other(String),
}

/// The result of a stage that a rule has completed.
const BY_RULE: &str = "skipped";

impl StageResult {
    /// The result with this name.
    pub fn from_name(name: &str) -> Self {
        match Verdict::from_key(name) {
            Some(verdict) => Self::Verdict(verdict),
            None if name == BY_RULE => Self::ByRule,
            None => Self::Other(name.to_owned()),
        }
    }

    pub fn as_str(&self) -> &str {
        match self {
            Self::Verdict(verdict) => verdict.key(),
            Self::ByRule => BY_RULE,
            Self::Other(text) => text,
        }
    }

    pub fn verdict(&self) -> Option<Verdict> {
        match self {
            Self::Verdict(verdict) => Some(*verdict),
            Self::ByRule | Self::Other(_) => None,
        }
    }
}

/// One stage of the running workflow.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StageState {
    pub key: StageKey,
    pub status: Status,
    pub result: Option<StageResult>,
    pub mode: Option<TestMode>,
    /// How often an agent was delegated to it.
    pub attempts: u32,
    pub started_at: Option<Millis>,
    pub completed_at: Option<Millis>,
    /// The file with the agent's last message, relative to the session directory.
    pub handoff: Option<String>,
    /// The result of the previous attempt, to which `handoff` belongs, while the stage is open for another one.
    pub last_result: Option<StageResult>,
    /// How often the stage has failed, without rejections.
    pub failures: u32,
    /// The report of the last failure names a file and a line.
    pub names_place: bool,
}

impl StageState {
    pub fn pending(key: StageKey, mode: Option<TestMode>) -> Self {
        Self {
            key,
            status: Status::Pending,
            result: None,
            mode,
            attempts: 0,
            started_at: None,
            completed_at: None,
            handoff: None,
            last_result: None,
            failures: 0,
            names_place: false,
        }
    }

    pub fn verdict(&self) -> Option<Verdict> {
        self.result.as_ref()?.verdict()
    }

    /// Whether the stage ended with a verdict that does not let the workflow continue.
    pub fn is_failed(&self) -> bool {
        self.status == Status::Completed && matches!(self.verdict(), Some(verdict) if !verdict.is_good())
    }

    /// Whether the stage was completed by a rule.
    pub fn is_by_rule(&self) -> bool {
        self.status == Status::Completed && self.result == Some(StageResult::ByRule)
    }

    /// Whether the stage has failed for the first time, at a place that its report names. The cause need not be searched for.
    pub(crate) fn has_clear_failure(&self) -> bool {
        self.verdict() == Some(Verdict::Fail) && self.failures == 1 && self.names_place
    }

    /// Whether the stage ended because it needs the user.
    pub fn is_blocked(&self) -> bool {
        self.status == Status::Completed && self.verdict() == Some(Verdict::Blocked)
    }

    /// Whether the stage ended with a good verdict.
    pub fn is_resolved(&self) -> bool {
        self.status == Status::Completed && !self.is_failed()
    }

    /// Opens the stage for another attempt. `attempts` and the last handoff are kept.
    pub fn reopen(&mut self) {
        self.status = Status::Pending;
        if let Some(result) = self.result.take() {
            self.last_result = Some(result);
        }
        self.completed_at = None;
    }
}
