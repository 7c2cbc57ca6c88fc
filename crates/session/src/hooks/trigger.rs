//! Converts a payload to the engine's trigger. [`Event`] owns the strings that the trigger borrows.

use std::borrow::Cow;
use std::path::Path;

use overtone_claude::wire::{AgentResult, HookInput};
use overtone_core::engine::{StartSource, ToolCaller, Trigger, identify_agent, is_delegation, is_markdown};
use overtone_core::registry::{Agent, Hook};

use crate::transcript;

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
        caller: CallerNames<'a>,
    },
    Written {
        path: Cow<'a, str>,
        text: String,
        caller: CallerNames<'a>,
    },
    Failed {
        tool: Cow<'a, str>,
        error: Cow<'a, str>,
        command: Cow<'a, str>,
        interrupted: bool,
        call: Cow<'a, str>,
        agent: Option<Agent>,
        caller: CallerNames<'a>,
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
        caller: CallerNames<'a>,
        tool: Cow<'a, str>,
        path: Cow<'a, str>,
        text: String,
    },
    CommandStart {
        command: Cow<'a, str>,
        caller: CallerNames<'a>,
    },
    NativeWorkflow,
}

/// The names that a payload has for the agent that makes a tool call.
pub(crate) struct CallerNames<'a> {
    agent_id: Cow<'a, str>,
    agent_type: Cow<'a, str>,
}

impl<'a> CallerNames<'a> {
    fn from_input(input: &HookInput<'a>) -> Self {
        Self { agent_id: input.agent_id(), agent_type: input.agent_type() }
    }

    fn caller(&self) -> ToolCaller<'_> {
        ToolCaller::new(&self.agent_id, &self.agent_type)
    }
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
            Hook::PreTask if tool == "Workflow" => Self::NativeWorkflow,
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
                caller: CallerNames::from_input(input),
                tool,
            },
            Hook::OnStop => Self::Stop { background: input.background_agents() },
            Hook::AllowOwn if tool == "Skill" => Self::Skill { skill: input.input_text("skill") },
            Hook::AllowOwn if tool == "Bash" => Self::Command { command: input.input_text("command") },
            // Only the budget is checked before other tools.
            Hook::AllowOwn | Hook::PreTool => return None,
            Hook::PreWrite => Self::Write {
                caller: CallerNames::from_input(input),
                path: written_path(input),
                text: settings_text(input),
                tool,
            },
            Hook::PreCommand => Self::CommandStart {
                command: input.input_text("command"),
                caller: CallerNames::from_input(input),
            },
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
                caller: CallerNames::from_input(input),
            }),
            "Write" | "Edit" | "MultiEdit" | "NotebookEdit" => {
                let path = written_path(input);
                // Only Markdown is checked, so the contents of other files are not even unescaped.
                let text = if is_markdown(&path) { input.written_text() } else { String::new() };
                Some(Self::Written { text, path, caller: CallerNames::from_input(input) })
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
            Self::Bash { command, error, caller } => {
                Trigger::BashRan { command, error: error.as_deref(), caller: caller.caller() }
            }
            Self::Written { path, text, caller } => {
                Trigger::FileWritten { path, text, caller: caller.caller() }
            }
            Self::Failed { tool, error, command, interrupted, call, agent, caller } => Trigger::ToolFailed {
                tool,
                error,
                command,
                interrupted: *interrupted,
                tool_use_id: non_empty(call),
                agent: *agent,
                caller: caller.caller(),
            },
            Self::Stop { background } => Trigger::Stopping { background: background.as_deref() },
            Self::Skill { skill } => Trigger::CallingSkill { skill },
            Self::Command { command } => Trigger::RunningCommand { command },
            Self::Write { caller, tool, path, text } => Trigger::ChangingFile {
                agent_type: &caller.agent_type,
                caller: caller.caller(),
                tool,
                path,
                text,
            },
            Self::CommandStart { command, caller } => {
                Trigger::StartingCommand { command, caller: caller.caller() }
            }
            Self::NativeWorkflow => Trigger::StartingNativeWorkflow,
        }
    }
}

/// The file that an editing tool is about.
fn written_path<'a>(input: &HookInput<'a>) -> Cow<'a, str> {
    let path = input.input_text("file_path");
    if path.is_empty() { input.input_text("notebook_path") } else { path }
}

/// What is written to a settings file. The contents of other files are not even unescaped.
fn settings_text(input: &HookInput) -> String {
    let path = input.input_text("file_path");
    if path.ends_with(".json") && path.contains("settings") { input.written_text() } else { String::new() }
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
