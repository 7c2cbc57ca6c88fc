//! The input of the engine: the stored state, what happened, and what was looked up for it.

use crate::messages::Lang;
use crate::registry::Agent;

use crate::engine::budget::WorkflowSpending;
use crate::engine::instinct::Learned;
use crate::engine::settings::Settings;
use crate::engine::state::{LoopState, Millis, WorkflowState};
use crate::engine::suggestion::SinceCompact;
use crate::evidence::{Evidence, Receipt, WorkflowChange};

/// What is stored for the session.
#[derive(Debug, Clone, Default)]
pub struct Snapshot {
    pub workflow: Option<WorkflowState>,
    pub looping: Option<LoopState>,
}

impl Snapshot {
    /// Whether the user has stopped or interrupted the loop, or it waits for them. The main agent then gets no orders to
    /// continue.
    pub fn is_halted(&self) -> bool {
        matches!(&self.looping, Some(looping) if looping.stopped || looping.paused.is_some())
    }

    /// Whether the loop was stopped.
    pub(crate) fn is_stopped(&self) -> bool {
        matches!(&self.looping, Some(looping) if looping.stopped)
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
    /// A sub-agent is about to delegate.
    AgentDelegating {
        subagent_type: &'a str,
    },
    AgentStarted {
        agent_type: &'a str,
        agent_id: &'a str,
    },
    /// The main agent sends a message to an agent, which continues with it.
    ContinuingAgent {
        agent_id: &'a str,
    },
    /// An agent is about to deliver its report.
    HandingBack {
        agent_type: &'a str,
        agent_id: &'a str,
        message: &'a str,
    },
    /// `hands_back` means that the agent will deliver its report in a call of its own.
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
        /// How the client delivered the report, if it says so: `send`, `flagged`, `withheld`.
        handback: &'a str,
    },
    /// The user answered a question of the main agent.
    UserAnswered,
    BashRan {
        command: &'a str,
        error: Option<&'a str>,
        caller: ToolCaller<'a>,
    },
    FileWritten {
        path: &'a str,
        /// What was written, if it is Markdown.
        text: &'a str,
        caller: ToolCaller<'a>,
    },
    ToolFailed {
        tool: &'a str,
        error: &'a str,
        command: &'a str,
        interrupted: bool,
        tool_use_id: Option<&'a str>,
        /// The agent that the main agent tried to delegate to, if the delegation failed.
        agent: Option<Agent>,
        caller: ToolCaller<'a>,
    },
    /// `background` lists the running sub-agents. It is `None` for clients that do not list them.
    Stopping {
        background: Option<&'a [String]>,
    },
    CallingSkill {
        skill: &'a str,
    },
    RunningCommand {
        command: &'a str,
    },
    /// An agent is about to call a tool. `message` is the message of the model that the call is part of, and `starts_agent`
    /// whether the tool starts or continues an agent.
    CallingTool {
        caller: ToolCaller<'a>,
        agent_id: &'a str,
        message: Option<&'a str>,
        starts_agent: bool,
    },
    /// A file is about to be changed by one of the client's editing tools.
    ChangingFile {
        /// The type of the agent. The main agent has one too if it was started as an agent.
        agent_type: &'a str,
        caller: ToolCaller<'a>,
        tool: &'a str,
        path: &'a str,
        text: &'a str,
    },
    /// A shell command is about to run.
    StartingCommand {
        command: &'a str,
        caller: ToolCaller<'a>,
    },
    /// The client's own `Workflow` tool is about to start agents.
    StartingNativeWorkflow,
}

/// Who makes a tool call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ToolCaller<'a> {
    Main,
    /// An agent of ours.
    Stage(Agent),
    /// An agent of another kind, such as `general-purpose`.
    Other(&'a str),
}

impl<'a> ToolCaller<'a> {
    /// Only sub-agents have an id. The main agent may have a type, too.
    pub fn new(agent_id: &str, agent_type: &'a str) -> Self {
        match Agent::from_wire(agent_type) {
            _ if agent_id.is_empty() => Self::Main,
            Some(agent) => Self::Stage(agent),
            None => Self::Other(agent_type),
        }
    }
}

/// The folders that a decision on a file depends on, as absolute paths. Those that are not known are empty.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Folders {
    pub project: String,
    /// Where the tool call runs.
    pub current: String,
    /// Overtone's own files: its home, and the plugin.
    pub own: Vec<String>,
    pub user_home: String,
}

/// Where a feature comes from.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum FeatureOrigin {
    /// It was begun on this machine, or the workflow names it.
    Own,
    /// It came with the files of the project, without a request on this machine.
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
    /// The pending tasks without those that stand for stages.
    pub open_work: Vec<String>,
    /// How many tasks are ticked, without those that stand for stages.
    pub ticked_work: usize,
}

/// Another session that is at work on a feature.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FeatureHolder {
    pub session_id: String,
    pub last_active: Millis,
}

/// A report that an earlier agent of the workflow has left.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct EarlierReport {
    /// The name of its file in the folder of the handoffs.
    pub file: String,
    pub text: String,
}

/// Everything else that a decision may need. The driver fills in what the trigger requires.
#[derive(Debug, Clone, Default)]
pub struct Facts {
    pub now: Millis,
    pub lang: Lang,
    pub settings: Settings,
    pub version: &'static str,
    /// The user is planning, so nothing is started and the loop does not continue.
    pub plan_mode: bool,
    /// A skill of the repository or the user may have the name of one of ours and would run in its place.
    pub may_have_foreign_skills: bool,
    /// The client's id of the turn that a prompt begins or is typed in.
    pub prompt_id: Option<String>,
    /// The client has a screen: it shows its output to a user, who can answer questions.
    pub has_screen: bool,
    /// The folder of the project, if agents work in another one.
    pub project_dir: Option<String>,
    /// The feature in progress: that of the workflow, or the newest one that was begun here, or the newest of all.
    pub feature: Option<Feature>,
    /// The other session of this machine that works on that feature.
    pub feature_holder: Option<FeatureHolder>,
    pub transcript_bytes: Option<u64>,
    pub context_percent: Option<u32>,
    pub since_compact: SinceCompact,
    /// The folder of the session, as a path that agents can read.
    pub session_dir: String,
    /// The lessons of this project that are confident enough to be used.
    pub lessons: Vec<Learned>,
    /// How many agents of other kinds were started in this session since its workflow began, if this event starts one or the
    /// number of agents is limited.
    pub helpers: u32,
    /// What the workflow has used so far, if it was counted for this event.
    pub spent: Option<WorkflowSpending>,
    /// What was found out about the work behind a report that says PASS.
    pub evidence: Evidence,
    /// What has changed since the workflow began, if it is known and the decision or the context block depends on it.
    pub workflow_change: Option<WorkflowChange>,
    /// The checks that have succeeded on the work tree as it is, if a tester is delegated.
    pub green_checks: Vec<Receipt>,
    /// The earlier reports that could be read, oldest first, if an agent starts.
    pub earlier_reports: Vec<EarlierReport>,
    /// The folders that a tool call may change files in.
    pub folders: Folders,
    /// The files that differ from the state after the last stage, if they were compared because somebody else may have
    /// changed some.
    pub changed_since_stage: Option<Vec<String>>,
}

impl Facts {
    /// The feature in progress, if it was begun on this machine.
    pub(crate) fn known_feature(&self) -> Option<&Feature> {
        self.feature.as_ref().filter(|feature| feature.origin == FeatureOrigin::Own)
    }

    /// The feature that belongs to the workflow. Another one must not delay its completion.
    pub fn own_feature(&self, workflow: &WorkflowState) -> Option<&Feature> {
        self.feature.as_ref().filter(|f| workflow.feature_name.as_deref() == Some(f.name.as_str()))
    }

    /// The open tasks of the workflow's feature, without those that stand for stages.
    pub fn open_work(&self, workflow: &WorkflowState) -> &[String] {
        match self.own_feature(workflow) {
            Some(feature) => &feature.open_work,
            None => &[],
        }
    }
}
