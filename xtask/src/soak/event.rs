//! What happens in a session: the payload that the client sends, and what the player knows about it.

use overtone_registry::{Agent, Hook, PLUGIN_PREFIX};
use serde_json::{Value, json};

use super::words::Verdict;

/// A client version's ways.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Client {
    /// Agents in the foreground; a Stop says nothing about background tasks.
    Old,
    /// Agents in the background unless told otherwise; a Stop lists them.
    New,
}

/// A delegated agent that has not ended.
#[derive(Debug, Clone)]
pub(crate) struct Running {
    pub(crate) agent: Agent,
    pub(crate) call: String,
    pub(crate) id: String,
    pub(crate) background: bool,
    /// The workflow knows of it; not so when the hook of its delegation was killed.
    pub(crate) recorded: bool,
    /// Nothing will ever be heard of it.
    pub(crate) dead: bool,
}

/// One start of the program by the client.
#[derive(Debug, Clone)]
pub(crate) struct Event {
    pub(crate) hook: Hook,
    pub(crate) fields: Value,
    pub(crate) meaning: Meaning,
}

/// What an event means for the workflow.
#[derive(Debug, Clone)]
pub(crate) enum Meaning {
    SessionStart {
        compact: bool,
    },
    SessionEnd,
    Compacting,
    Prompt,
    Delegate {
        agent: Agent,
        call: String,
    },
    AgentStart,
    /// The agent with this call ends; `None` when the API cut it off.
    Ends {
        agent: Agent,
        call: String,
        verdict: Option<Verdict>,
    },
    /// An agent without a record ends: which stage it worked on is the program's guess.
    StrayEnds,
    /// The agent was never launched, or has been killed: nobody works on its stage any more.
    Gone {
        call: String,
    },
    /// The agent is known to run in the background from now on.
    InBackground {
        call: String,
    },
    /// Waiting texts may be delivered, nothing else.
    Delivery,
    Stop {
        running: Option<bool>,
    },
    /// Nothing of the workflow may change.
    Beside,
}

impl Event {
    pub(crate) fn session_start(source: &str) -> Self {
        let fields = json!({"source": source, "model": "claude-sonnet"});
        Self { hook: Hook::OnStart, fields, meaning: Meaning::SessionStart { compact: source == "compact" } }
    }

    pub(crate) fn session_end(reason: &str) -> Self {
        Self { hook: Hook::OnSessionEnd, fields: json!({"reason": reason}), meaning: Meaning::SessionEnd }
    }

    pub(crate) fn compacting(trigger: &str) -> Self {
        let fields = json!({"trigger": trigger, "custom_instructions": ""});
        Self { hook: Hook::PreCompact, fields, meaning: Meaning::Compacting }
    }

    pub(crate) fn prompt(text: &str) -> Self {
        Self { hook: Hook::OnSubmit, fields: json!({"prompt": text}), meaning: Meaning::Prompt }
    }

    pub(crate) fn delegate(agent: Agent, call: &str) -> Self {
        let mut fields = agent_call(&wire(agent), call);
        fields["tool_input"]["model"] = json!("sonnet");
        let meaning = Meaning::Delegate { agent, call: call.to_owned() };
        Self { hook: Hook::PreTask, fields, meaning }
    }

    /// An agent of another plugin or of the client itself.
    pub(crate) fn foreign_delegate(call: &str) -> Self {
        Self { hook: Hook::PreTask, fields: agent_call("Explore", call), meaning: Meaning::Beside }
    }

    /// A sub-agent that wants to delegate.
    pub(crate) fn nested_delegate(from: &Running, agent: Agent) -> Self {
        let mut fields = agent_call(&wire(agent), &format!("{}-nested", from.call));
        fields["agent_id"] = json!(from.id);
        fields["agent_type"] = json!(wire(from.agent));
        Self { hook: Hook::PreTask, fields, meaning: Meaning::Beside }
    }

    pub(crate) fn write_by(from: &Running) -> Self {
        let fields = json!({"tool_name": "Write", "tool_input": {"file_path": "a.rs", "content": "x"},
            "agent_id": from.id, "agent_type": wire(from.agent), "tool_use_id": format!("{}-write", from.call)});
        Self { hook: Hook::PreWrite, fields, meaning: Meaning::Beside }
    }

    pub(crate) fn agent_start(kind: &str, id: &str) -> Self {
        let fields = json!({"agent_id": id, "agent_type": kind});
        Self { hook: Hook::OnAgentStart, fields, meaning: Meaning::AgentStart }
    }

    pub(crate) fn agent_stop(kind: &str, id: &str, said: &str, meaning: Meaning) -> Self {
        let fields = json!({"agent_id": id, "agent_type": kind, "stop_hook_active": false,
            "agent_transcript_path": format!("/nowhere/agent-{id}.jsonl"), "last_assistant_message": said});
        Self { hook: Hook::OnAgentStop, fields, meaning }
    }

    /// The Agent tool comes back with a result.
    pub(crate) fn returned(kind: &str, call: &str, id: &str, said: &str, meaning: Meaning) -> Self {
        let mut fields = agent_call(kind, call);
        fields["tool_response"] = json!({"status": "completed", "agentId": id, "totalTokens": 1200,
            "totalDurationMs": 900, "totalToolUseCount": 3, "content": [{"type": "text", "text": said}]});
        Self { hook: Hook::PostUse, fields, meaning }
    }

    pub(crate) fn launched(running: &Running) -> Self {
        let mut fields = agent_call(&wire(running.agent), &running.call);
        fields["tool_response"] = json!({"isAsync": true, "status": "async_launched", "agentId": running.id});
        let meaning = if running.recorded {
            Meaning::InBackground { call: running.call.clone() }
        } else {
            Meaning::Beside
        };
        Self { hook: Hook::PostUse, fields, meaning }
    }

    pub(crate) fn agent_failed(running: &Running, error: &str, interrupt: bool, meaning: Meaning) -> Self {
        let mut fields = agent_call(&wire(running.agent), &running.call);
        fields["error"] = json!(error);
        fields["is_interrupt"] = json!(interrupt);
        Self { hook: Hook::PostUseFailure, fields, meaning }
    }

    /// The prompt that the client makes when a background agent has ended.
    pub(crate) fn notification(running: &Running, status: &str, said: &str, meaning: Meaning) -> Self {
        let said = said.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;");
        let prompt = format!(
            "<task-notification>\n<task-id>{}</task-id>\n<tool-use-id>{}</tool-use-id>\n<status>{status}</status>\n\
             <summary>Agent ended</summary>\n<result>{said}</result>\n</task-notification>",
            running.id, running.call
        );
        Self { hook: Hook::OnSubmit, fields: json!({"prompt": prompt}), meaning }
    }

    pub(crate) fn tool_failed(tool: &str) -> Self {
        let fields = json!({"tool_name": tool, "tool_input": {"command": "make all", "file_path": "a.rs"},
            "error": "Exit code 2\nmake: nothing to be done", "is_interrupt": false, "tool_use_id": "tool-failed"});
        Self { hook: Hook::PostUseFailure, fields, meaning: Meaning::Beside }
    }

    pub(crate) fn bash_used(command: &str) -> Self {
        let fields = json!({"tool_name": "Bash", "tool_input": {"command": command}, "tool_use_id": "tool-used",
            "tool_response": {"stdout": "fine", "stderr": "", "interrupted": false}});
        Self { hook: Hook::PostUse, fields, meaning: Meaning::Beside }
    }

    pub(crate) fn own_command(command: &str) -> Self {
        let fields =
            json!({"tool_name": "Bash", "tool_input": {"command": command}, "tool_use_id": "tool-own"});
        Self { hook: Hook::AllowOwn, fields, meaning: Meaning::Beside }
    }

    /// `running`: the background agents, where the client tells.
    pub(crate) fn stop(running: Option<&[&Running]>, again: bool) -> Self {
        let mut fields = json!({"stop_hook_active": again, "last_assistant_message": "I stop here."});
        if let Some(agents) = running {
            let tasks = agents.iter().map(
                |a| json!({"id": a.id, "type": "subagent", "status": "running", "agent_type": wire(a.agent)}),
            );
            fields["background_tasks"] = Value::Array(tasks.collect());
            fields["session_crons"] = json!([]);
        }
        let running = running.map(|agents| !agents.is_empty());
        Self { hook: Hook::OnStop, fields, meaning: Meaning::Stop { running } }
    }
}

pub(crate) fn wire(agent: Agent) -> String {
    format!("{PLUGIN_PREFIX}{}", agent.name())
}

fn agent_call(kind: &str, call: &str) -> Value {
    json!({"tool_name": "Agent", "tool_use_id": call,
        "tool_input": {"description": "carry out the stage", "prompt": "do your part", "subagent_type": kind}})
}
