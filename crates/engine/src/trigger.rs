//! What the engine is told: the stored state, what happened, and what was looked up for it.

use overtone_messages::Lang;
use overtone_registry::Agent;

use crate::instinct::Learned;
use crate::settings::Settings;
use crate::state::{LoopState, Millis, WorkflowState};
use crate::suggestion::SinceCompact;

/// What is stored for the session.
#[derive(Debug, Clone, Default)]
pub struct Snapshot {
    pub workflow: Option<WorkflowState>,
    pub looping: Option<LoopState>,
}

impl Snapshot {
    /// The user has stopped or interrupted the loop, or it waits for them: nothing may order the main agent on.
    pub fn is_halted(&self) -> bool {
        self.looping.as_ref().is_some_and(|looping| looping.stopped || looping.paused.is_some())
    }
}

/// Why a session starts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StartSource {
    Startup,
    Resume,
    Clear,
    Compact,
    /// A copy of another session's conversation, under an id of its own.
    Fork,
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
    /// The main agent sends a message to an agent, which goes on with it.
    ContinuingAgent {
        agent_id: &'a str,
    },
    /// An agent is about to deliver its report.
    HandingBack {
        agent_type: &'a str,
        agent_id: &'a str,
        message: &'a str,
    },
    /// `hands_back`: the client will have the agent deliver its report in a call of its own.
    AgentStopped {
        agent_type: &'a str,
        agent_id: &'a str,
        message: &'a str,
        hands_back: bool,
    },
    /// The Agent tool returned: `finished` unless it only launched in the background.
    AgentReturned {
        tool_use_id: Option<&'a str>,
        agent_id: Option<&'a str>,
        subagent_type: &'a str,
        finished: bool,
        content: &'a str,
        /// How the client delivered the report, where it says: `send`, `flagged`, `withheld`.
        handback: &'a str,
    },
    /// The user answered a question of the main agent.
    UserAnswered,
    BashRan {
        command: &'a str,
        error: Option<&'a str>,
        is_main_agent: bool,
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
        is_main_agent: bool,
    },
    /// `background` are the sub-agents that the client says are running; `None` when it does not say.
    Stopping {
        background: Option<&'a [String]>,
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

/// Whose a feature is.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum FeatureOrigin {
    /// It was begun on this machine, or the workflow names it.
    Own,
    /// It came with the project's files: nobody here has asked for it.
    #[default]
    Repository,
}

/// An active feature of the project's specs.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Feature {
    pub name: String,
    pub origin: FeatureOrigin,
    pub checked: usize,
    pub total: usize,
    pub pending: Vec<String>,
    /// The pending tasks that are work, not the boxes of stages.
    pub open_work: Vec<String>,
}

/// Another session that is at work on a feature.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FeatureHolder {
    pub session_id: String,
    pub last_active: Millis,
}

/// Everything else a decision may need. The driver fills in what the trigger asks for.
#[derive(Debug, Clone, Default)]
pub struct Facts {
    pub now: Millis,
    pub lang: Lang,
    pub settings: Settings,
    pub version: &'static str,
    /// The user is planning: nothing is started and nobody is sent on.
    pub plan_mode: bool,
    /// A skill of the repository or the user may bear a name of ours, and would run in its place.
    pub may_have_foreign_skills: bool,
    /// The client's name for the turn that a prompt begins or is typed in.
    pub prompt_id: Option<String>,
    /// The client prints what is answered to a compaction, as it is, for the user.
    pub shows_compaction: bool,
    /// The project's folder, where agents work in another one.
    pub project_dir: Option<String>,
    /// The in-progress feature: the workflow's own, else the newest that was begun here, else the newest of all.
    pub feature: Option<Feature>,
    /// The other session of this machine that works on that feature.
    pub feature_holder: Option<FeatureHolder>,
    pub transcript_bytes: Option<u64>,
    pub context_percent: Option<u32>,
    pub since_compact: SinceCompact,
    /// Where handoffs are, as a path that agents can read.
    pub session_dir: String,
    /// Lessons of this project that are sure enough to be told.
    pub lessons: Vec<Learned>,
}

impl Facts {
    /// The feature in progress, unless nobody here has begun it.
    pub(crate) fn known_feature(&self) -> Option<&Feature> {
        self.feature.as_ref().filter(|feature| feature.origin == FeatureOrigin::Own)
    }

    /// The feature that belongs to the workflow; another one must not hold its end up.
    pub fn own_feature(&self, workflow: &WorkflowState) -> Option<&Feature> {
        self.feature.as_ref().filter(|f| workflow.feature_name.as_deref() == Some(f.name.as_str()))
    }

    /// The unticked tasks of the workflow's feature, the boxes of stages aside.
    pub fn open_work(&self, workflow: &WorkflowState) -> &[String] {
        self.own_feature(workflow).map_or(&[], |feature| &feature.open_work)
    }
}
