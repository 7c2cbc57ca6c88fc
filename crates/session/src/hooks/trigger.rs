//! Converts a payload to the engine's trigger. [`Event`] owns the strings that the trigger borrows.

use std::borrow::Cow;
use std::path::Path;

use overtone_claude::wire::{AgentResult, HookInput};
use overtone_core::engine::{StartSource, Trigger, identify_agent, is_delegation, is_markdown};
use overtone_core::registry::{Agent, Hook};

use crate::hooks::transcript;

/// The fields of a payload that its hook uses.
pub(crate) enum Event<'a> {
    Start(StartSource),
    End {
        reason: Cow<'a, str>,
    },
    Compact {
        trigger: Cow<'a, str>,
    },
    Prompt {
        prompt: Cow<'a, str>,
    },
    Delegate {
        subagent_type: Cow<'a, str>,
        description: Cow<'a, str>,
        prompt: Cow<'a, str>,
        call: Cow<'a, str>,
    },
    AgentDelegate {
        subagent_type: Cow<'a, str>,
    },
    AgentStart {
        agent_type: Cow<'a, str>,
        agent_id: Cow<'a, str>,
    },
    AgentContinue {
        agent_id: Cow<'a, str>,
    },
    Handback {
        agent_type: Cow<'a, str>,
        agent_id: Cow<'a, str>,
        message: Cow<'a, str>,
    },
    AgentStop {
        agent_type: Cow<'a, str>,
        agent_id: Cow<'a, str>,
        message: Cow<'a, str>,
        hands_back: bool,
    },
    UserAnswer,
    AgentReturn {
        subagent_type: Cow<'a, str>,
        call: Cow<'a, str>,
        result: AgentResult,
    },
    Bash {
        command: Cow<'a, str>,
        error: Option<String>,
        is_main_agent: bool,
    },
    Written {
        path: Cow<'a, str>,
        text: String,
    },
    Failed {
        tool: Cow<'a, str>,
        error: Cow<'a, str>,
        command: Cow<'a, str>,
        interrupted: bool,
        call: Cow<'a, str>,
        agent: Option<Agent>,
        is_main_agent: bool,
    },
    Stop {
        background: Option<Vec<String>>,
    },
    Skill {
        skill: Cow<'a, str>,
    },
    Command {
        command: Cow<'a, str>,
    },
    Write {
        agent_type: Cow<'a, str>,
        tool: Cow<'a, str>,
    },
}

impl<'a> Event<'a> {
    /// Returns `None` for payloads that the hook ignores.
    pub(crate) fn from_input(hook: Hook, input: &HookInput<'a>) -> Option<Self> {
        let tool = input.tool_name();
        Some(match hook {
            Hook::OnStart => Self::Start(start_source(&input.source())),
            Hook::OnSessionEnd => Self::End { reason: input.reason() },
            Hook::PreCompact => Self::Compact { trigger: input.trigger() },
            Hook::OnSubmit => Self::Prompt { prompt: input.prompt() },
            // Agents may write to each other. Only a message of the main agent continues a stage.
            Hook::PreTask if tool == "SendMessage" => {
                let to = input.input_text("to");
                if is_sub_agent(input) || to.is_empty() {
                    return None;
                }
                Self::AgentContinue { agent_id: to }
            }
            Hook::PreTask if is_sub_agent(input) => {
                Self::AgentDelegate { subagent_type: input.input_text("subagent_type") }
            }
            Hook::PreTask => Self::Delegate {
                subagent_type: input.input_text("subagent_type"),
                description: input.input_text("description"),
                prompt: input.input_text("prompt"),
                call: input.tool_use_id(),
            },
            Hook::OnAgentStart => {
                Self::AgentStart { agent_type: input.agent_type(), agent_id: input.agent_id() }
            }
            Hook::OnAgentStop => {
                let message = input.last_assistant_message();
                let is_silent = message.trim().is_empty();
                Self::AgentStop {
                    agent_type: input.agent_type(),
                    agent_id: input.agent_id(),
                    hands_back: input.is_auto_mode() && !is_silent,
                    message: if is_silent { Cow::Owned(last_report(input)) } else { message },
                }
            }
            Hook::OnHandback => Self::Handback {
                agent_type: input.agent_type(),
                agent_id: input.agent_id(),
                message: input.input_text("message"),
            },
            Hook::PostUse => return Self::from_tool_use(&tool, input),
            Hook::PostUseFailure => Self::Failed {
                error: input.error(),
                command: if tool == "Bash" { input.input_text("command") } else { Cow::Borrowed("") },
                interrupted: input.is_interrupt(),
                call: input.tool_use_id(),
                agent: delegated_agent(&tool, input),
                is_main_agent: !is_sub_agent(input),
                tool,
            },
            Hook::OnStop => Self::Stop { background: input.background_agents() },
            Hook::AllowOwn if tool == "Skill" => Self::Skill { skill: input.input_text("skill") },
            Hook::AllowOwn if tool == "Bash" => Self::Command { command: input.input_text("command") },
            Hook::AllowOwn => return None,
            Hook::PreWrite => Self::Write { agent_type: input.agent_type(), tool },
        })
    }

    fn from_tool_use(tool: &str, input: &HookInput<'a>) -> Option<Self> {
        match tool {
            // Pending texts are for the main agent, so a sub-agent's delegation must not deliver them.
            _ if is_delegation(tool) && is_sub_agent(input) => None,
            _ if is_delegation(tool) => Some(Self::AgentReturn {
                subagent_type: input.input_text("subagent_type"),
                call: input.tool_use_id(),
                result: input.agent_result(),
            }),
            "AskUserQuestion" if !is_sub_agent(input) => Some(Self::UserAnswer),
            "Bash" => Some(Self::Bash {
                command: input.input_text("command"),
                error: input.bash_error(),
                is_main_agent: !is_sub_agent(input),
            }),
            "Write" | "Edit" | "MultiEdit" => {
                let path = input.input_text("file_path");
                // Only Markdown is checked, so the contents of other files are not even unescaped.
                if is_markdown(&path) {
                    Some(Self::Written { text: input.written_text(), path })
                } else {
                    None
                }
            }
            _ => None,
        }
    }

    pub(crate) fn as_trigger(&self) -> Trigger<'_> {
        match self {
            Self::Start(source) => Trigger::SessionStarted { source: *source },
            Self::End { reason } => Trigger::SessionEnded { reason },
            Self::Compact { trigger } => Trigger::Compacting { trigger },
            Self::Prompt { prompt } => Trigger::Prompted { prompt },
            Self::Delegate { subagent_type, description, prompt, call } => {
                Trigger::Delegating { subagent_type, description, prompt, tool_use_id: non_empty(call) }
            }
            Self::AgentDelegate { subagent_type } => Trigger::AgentDelegating { subagent_type },
            Self::AgentStart { agent_type, agent_id } => Trigger::AgentStarted { agent_type, agent_id },
            Self::AgentContinue { agent_id } => Trigger::ContinuingAgent { agent_id },
            Self::Handback { agent_type, agent_id, message } => {
                Trigger::HandingBack { agent_type, agent_id, message }
            }
            Self::AgentStop { agent_type, agent_id, message, hands_back } => {
                Trigger::AgentStopped { agent_type, agent_id, message, hands_back: *hands_back }
            }
            Self::UserAnswer => Trigger::UserAnswered,
            Self::AgentReturn { subagent_type, call, result } => Trigger::AgentReturned {
                tool_use_id: non_empty(call),
                agent_id: result.agent_id.as_deref(),
                subagent_type,
                finished: result.finished,
                content: &result.content,
                handback: &result.handback,
            },
            Self::Bash { command, error, is_main_agent } => {
                Trigger::BashRan { command, error: error.as_deref(), is_main_agent: *is_main_agent }
            }
            Self::Written { path, text } => Trigger::FileWritten { path, text },
            Self::Failed { tool, error, command, interrupted, call, agent, is_main_agent } => {
                Trigger::ToolFailed {
                    tool,
                    error,
                    command,
                    interrupted: *interrupted,
                    tool_use_id: non_empty(call),
                    agent: *agent,
                    is_main_agent: *is_main_agent,
                }
            }
            Self::Stop { background } => Trigger::Stopping { background: background.as_deref() },
            Self::Skill { skill } => Trigger::CallingSkill { skill },
            Self::Command { command } => Trigger::RunningCommand { command },
            Self::Write { agent_type, tool } => Trigger::ChangingFile { agent_type, tool },
        }
    }
}

/// Only sub-agents have an id. The main agent may have a type, under `--agent`.
fn is_sub_agent(input: &HookInput) -> bool {
    !input.agent_id().is_empty()
}

/// The agent that the main agent delegates to. Delegations of sub-agents are not tracked.
fn delegated_agent(tool: &str, input: &HookInput) -> Option<Agent> {
    if !is_delegation(tool) || is_sub_agent(input) {
        return None;
    }
    identify_agent(&input.input_text("subagent_type"), &input.input_text("description"))
}

/// The report at the end of the transcript, for an agent of Overtone that stopped without a message. Empty if there is
/// none.
fn last_report(input: &HookInput) -> String {
    if Agent::from_wire(&input.agent_type()).is_none() {
        return String::new();
    }
    transcript::last_report(Path::new(&*input.agent_transcript_path())).unwrap_or_default()
}

fn non_empty(text: &str) -> Option<&str> {
    if text.is_empty() { None } else { Some(text) }
}

/// An unknown source is treated like a fresh start.
fn start_source(source: &str) -> StartSource {
    match source {
        "resume" => StartSource::Resume,
        "clear" => StartSource::Clear,
        "compact" => StartSource::Compact,
        "fork" => StartSource::Fork,
        _ => StartSource::Startup,
    }
}
