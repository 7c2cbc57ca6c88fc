//! What the engine is told: the stored state, what happened, and what was looked up for it.

use overtone_messages::Lang;
use overtone_registry::Agent;

use crate::settings::Settings;
use crate::state::{LoopState, Millis, WorkflowState};
use crate::suggestion::SinceCompact;

/// What is stored for the session.
#[derive(Debug, Clone, Default)]
pub struct Snapshot {
    pub workflow: Option<WorkflowState>,
    pub looping: Option<LoopState>,
}

/// Why a session starts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StartSource {
    Startup,
    Resume,
    Clear,
    Compact,
}

/// What just happened in the client.
#[derive(Debug, Clone)]
pub enum Trigger<'a> {
    SessionStarted {
        source: StartSource,
    },
    SessionEnded {
        reason: &'a str,
    },
    Compacting {
        trigger: &'a str,
    },
    Prompted {
        prompt: &'a str,
    },
    Delegating {
        subagent_type: &'a str,
        description: &'a str,
        prompt: &'a str,
        tool_use_id: Option<&'a str>,
    },
    /// A sub-agent wants to delegate.
    AgentDelegating {
        subagent_type: &'a str,
    },
    AgentStarted {
        agent_type: &'a str,
        agent_id: &'a str,
    },
    AgentStopped {
        agent_type: &'a str,
        agent_id: &'a str,
        message: &'a str,
    },
    /// The Agent tool returned: `finished` unless it only launched in the background.
    AgentReturned {
        tool_use_id: Option<&'a str>,
        agent_id: Option<&'a str>,
        subagent_type: &'a str,
        finished: bool,
        content: &'a str,
    },
    BashRan {
        command: &'a str,
        error: Option<&'a str>,
    },
    FileWritten {
        path: &'a str,
        text: &'a str,
    },
    ToolFailed {
        tool: &'a str,
        error: &'a str,
        command: &'a str,
        interrupted: bool,
        tool_use_id: Option<&'a str>,
        /// Whom the main agent meant to send, if that is what failed.
        agent: Option<Agent>,
    },
    /// `background` is what the client says about running sub-agents; `None` when it does not say.
    Stopping {
        background: Option<bool>,
    },
    CallingSkill {
        skill: &'a str,
    },
    RunningCommand {
        command: &'a str,
    },
    ChangingFile {
        agent_type: &'a str,
        tool: &'a str,
    },
}

/// An active feature of the project's specs.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Feature {
    pub name: String,
    pub checked: usize,
    pub total: usize,
    pub pending: Vec<String>,
}

/// Everything else a decision may need. The driver fills in what the trigger asks for.
#[derive(Debug, Clone, Default)]
pub struct Facts {
    pub now: Millis,
    pub lang: Lang,
    pub settings: Settings,
    pub version: &'static str,
    /// The in-progress feature: the workflow's own, or else the newest.
    pub feature: Option<Feature>,
    /// Another session works on that feature: it must not be taken from it.
    pub feature_is_taken: bool,
    pub transcript_bytes: Option<u64>,
    pub context_percent: Option<u32>,
    pub since_compact: SinceCompact,
    /// Where handoffs are, as a path that agents can read.
    pub session_dir: String,
    /// Lessons of this project that are sure enough to be told.
    pub lessons: Vec<String>,
}

impl Facts {
    /// The feature that belongs to the workflow; another one must not hold its end up.
    pub fn own_feature(&self, workflow: &WorkflowState) -> Option<&Feature> {
        self.feature.as_ref().filter(|f| workflow.feature_name.as_deref() == Some(f.name.as_str()))
    }
}
