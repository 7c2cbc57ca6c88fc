//! What happens in a session: the payload that the client sends, and what the player knows about it.

use overtone_core::registry::{Agent, Hook, PLUGIN_PREFIX};
use serde_json::{Value, json};

use super::words::Content;

/// A client version's ways.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Client {
    /// Agents in the foreground; a Stop says nothing about background tasks.
    Old,
    /// Agents in the background unless told otherwise; a Stop lists them, and agents may hand their reports back.
    New,
}

/// A delegated agent that has not ended.
#[derive(Debug, Clone)]
pub(crate) struct Running {
    pub(crate) agent: Agent,
    pub(crate) call: String,
    pub(crate) id: String,
    /// The type that the main agent has written; not always the exact name.
    pub(crate) kind: String,
    pub(crate) background: bool,
    /// The workflow knows of it; not so when the hook of its delegation was killed.
    pub(crate) recorded: bool,
    /// Nothing will ever be heard of it.
    pub(crate) dead: bool,
}

impl Running {
    pub(crate) fn reporter(&self) -> Reporter {
        Reporter { agent: self.agent, call: self.call.clone(), id: self.id.clone() }
    }
}

/// Who reports.
#[derive(Debug, Clone)]
pub(crate) struct Reporter {
    pub(crate) agent: Agent,
    pub(crate) call: String,
    pub(crate) id: String,
}

/// The way in which an agent's end becomes known.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Channel {
    /// `SubagentStop` with the report.
    Stop,
    /// `SubagentStop` of an agent that is going to hand its report back.
    StopBeforeHandback,
    /// `SubagentHandback` is about to deliver the report.
    Handback,
    /// The result of the Agent tool.
    Result,
    /// The failure of the Agent tool.
    Failure,
    /// The client's prompt about the end of a background task.
    Notification,
    /// The client's prompt with a report that was handed back.
    Message,
}

impl Channel {
    pub(crate) const fn names_call(self) -> bool {
        matches!(self, Self::Result | Self::Notification)
    }

    pub(crate) const fn names_kind(self) -> bool {
        !matches!(self, Self::Notification | Self::Message)
    }
}

/// One start of the program by the client.
#[derive(Debug, Clone)]
pub(crate) struct Event {
    pub(crate) hook: Hook,
    pub(crate) fields: Value,
    pub(crate) meaning: Meaning,
}

/// What the user has typed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Input {
    /// Words, or a command that asks for work.
    Text,
    /// The command that stops the loop.
    Stop,
    /// A command of ours that only shows something.
    Look,
}

/// What an event means for the workflow.
#[derive(Debug, Clone)]
pub(crate) enum Meaning {
    SessionStart {
        compact: bool,
    },
    SessionEnd,
    Compacting,
    Prompt(Input),
    /// The user answers a question of the main agent.
    UserAnswer,
    Delegate {
        agent: Agent,
        call: String,
    },
    /// The main agent writes to an agent that has reported.
    Continue {
        id: String,
    },
    /// `agent` is `None` for those of others.
    AgentStart {
        agent: Option<Agent>,
        id: String,
    },
    Report {
        reporter: Reporter,
        channel: Channel,
        content: Content,
    },
    /// An agent without a record ends: which stage it worked on is the program's guess.
    StrayEnds,
    /// The agent was never launched, or has been killed: nobody works on its stage any more.
    Gone {
        reporter: Reporter,
        channel: Channel,
    },
    /// The user interrupts an agent that the main agent waits for.
    Interrupted(Reporter),
    /// The user stops an agent in the background.
    AgentStoppedByUser,
    /// The agent is known to run in the background from now on.
    InBackground {
        call: String,
    },
    /// Waiting texts may be delivered, nothing else.
    Delivery,
    /// `listed`: the agents that the client says are running.
    Stop {
        listed: Option<Vec<String>>,
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
        let input = match text.strip_prefix("/ot:") {
            Some("status" | "dashboard" | "specs list") => Input::Look,
            Some("stop") => Input::Stop,
            _ => Input::Text,
        };
        Self { hook: Hook::OnSubmit, fields: json!({"prompt": text}), meaning: Meaning::Prompt(input) }
    }

    /// The main agent has asked the user something.
    pub(crate) fn user_answer() -> Self {
        let fields = json!({"tool_name": "AskUserQuestion", "tool_use_id": "tool-asked",
            "tool_input": {"questions": [{"question": "Which database?"}]},
            "tool_response": {"answers": {"Which database?": "the local one"}}});
        Self { hook: Hook::PostUse, fields, meaning: Meaning::UserAnswer }
    }

    pub(crate) fn delegate(running: &Running) -> Self {
        let mut fields = agent_call(&running.kind, &running.call);
        fields["tool_input"]["model"] = json!("sonnet");
        let meaning = Meaning::Delegate { agent: running.agent, call: running.call.clone() };
        Self { hook: Hook::PreTask, fields, meaning }
    }

    /// The main agent goes on with an agent that has reported.
    pub(crate) fn send_message(running: &Running) -> Self {
        let fields = json!({"tool_name": "SendMessage", "tool_use_id": running.call,
            "tool_input": {"to": running.id, "message": "please look again", "summary": "another attempt"}});
        Self { hook: Hook::PreTask, fields, meaning: Meaning::Continue { id: running.id.clone() } }
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
        let agent = kind.strip_prefix(PLUGIN_PREFIX).and_then(Agent::from_name);
        let meaning = Meaning::AgentStart { agent, id: id.to_owned() };
        Self { hook: Hook::OnAgentStart, fields, meaning }
    }

    pub(crate) fn agent_stop(kind: &str, id: &str, said: &str, meaning: Meaning) -> Self {
        let fields = json!({"agent_id": id, "agent_type": kind, "stop_hook_active": false,
            "agent_transcript_path": format!("/nowhere/agent-{id}.jsonl"), "last_assistant_message": said});
        Self { hook: Hook::OnAgentStop, fields, meaning }
    }

    /// The end of an agent that hands its report back: the client does so in the mode `auto`.
    pub(crate) fn agent_stop_in_auto_mode(kind: &str, id: &str, said: &str, meaning: Meaning) -> Self {
        let mut event = Self::agent_stop(kind, id, said, meaning);
        event.fields["permission_mode"] = json!("auto");
        event
    }

    pub(crate) fn hand_back(running: &Running, said: &str, meaning: Meaning) -> Self {
        let fields = json!({"agent_id": running.id, "agent_type": wire(running.agent),
            "tool_name": "SubagentHandback", "tool_use_id": format!("{}-handback", running.call),
            "tool_input": {"message": said}, "permission_mode": "auto"});
        Self { hook: Hook::OnHandback, fields, meaning }
    }

    /// The prompt with which the client delivers a report that was handed back.
    pub(crate) fn delivered(running: &Running, said: &str, meaning: Meaning) -> Self {
        let lines: Vec<_> = said.lines().map(|line| format!("  {line}")).collect();
        let prompt = format!(
            "<agent-message from=\"{}\">\n[Subagent hand-back] Not a message from the user. The report follows:\n{}\n\
             </agent-message>",
            running.id,
            lines.join("\n")
        );
        Self { hook: Hook::OnSubmit, fields: json!({"prompt": prompt}), meaning }
    }

    pub(crate) fn stopped_by_user() -> Self {
        let fields = json!({"prompt": "Background agent \"carry out the stage\" was stopped by the user."});
        Self { hook: Hook::OnSubmit, fields, meaning: Meaning::AgentStoppedByUser }
    }

    /// The Agent tool comes back with a result.
    pub(crate) fn returned(kind: &str, call: &str, id: &str, said: &str, meaning: Meaning) -> Self {
        let mut fields = agent_call(kind, call);
        fields["tool_response"] = json!({"status": "completed", "agentId": id, "totalTokens": 1200,
            "totalDurationMs": 900, "totalToolUseCount": 3, "content": [{"type": "text", "text": said}]});
        Self { hook: Hook::PostUse, fields, meaning }
    }

    pub(crate) fn launched(running: &Running) -> Self {
        let mut fields = agent_call(&running.kind, &running.call);
        fields["tool_response"] = json!({"isAsync": true, "status": "async_launched", "agentId": running.id});
        let meaning = if running.recorded {
            Meaning::InBackground { call: running.call.clone() }
        } else {
            Meaning::Beside
        };
        Self { hook: Hook::PostUse, fields, meaning }
    }

    pub(crate) fn agent_failed(running: &Running, error: &str, interrupt: bool, meaning: Meaning) -> Self {
        let mut fields = agent_call(&running.kind, &running.call);
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

    /// `running`: the agents that the client takes for running, where it says.
    pub(crate) fn stop(running: Option<&[Running]>, again: bool) -> Self {
        let mut fields = json!({"stop_hook_active": again, "last_assistant_message": "I stop here."});
        if let Some(agents) = running {
            let tasks = agents.iter().map(
                |a| json!({"id": a.id, "type": "subagent", "status": "running", "agent_type": wire(a.agent)}),
            );
            fields["background_tasks"] = Value::Array(tasks.collect());
            fields["session_crons"] = json!([]);
        }
        let listed = running.map(|agents| agents.iter().map(|agent| agent.id.clone()).collect());
        Self { hook: Hook::OnStop, fields, meaning: Meaning::Stop { listed } }
    }
}

pub(crate) fn wire(agent: Agent) -> String {
    format!("{PLUGIN_PREFIX}{}", agent.name())
}

/// A name as a model may write it; the hooks read it as the agent's.
pub(crate) fn misspelled(agent: Agent) -> String {
    let name = agent.name();
    let (first, rest) = name.split_at(1);
    format!("{PLUGIN_PREFIX}{}{}", first.to_uppercase(), rest.replace('-', "_"))
}

fn agent_call(kind: &str, call: &str) -> Value {
    json!({"tool_name": "Agent", "tool_use_id": call,
        "tool_input": {"description": "carry out the stage", "prompt": "do your part", "subagent_type": kind}})
}
