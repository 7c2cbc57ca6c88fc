//! The JSON that the client sends with each event.

use std::path::Path;

use overtone_core::registry::{Agent, Hook};
use serde_json::{Value, json};

/// The session of the demo.
pub(super) const SESSION: &str = "demo";

/// The conversation of the main agent, beside the project. Those of the other agents are in a folder of the same name.
pub(super) const TRANSCRIPT: &str = "transcript.jsonl";

/// One delegation to an agent, and its result.
#[derive(Debug, Clone, Copy)]
pub(super) struct Delegation {
    pub(super) agent: Agent,
    /// Different for every delegation.
    pub(super) number: usize,
    pub(super) passes: bool,
}

impl Delegation {
    pub(super) const PROMPT: &'static str = "Do your part of the login page.";

    fn tool_use_id(self) -> String {
        format!("toolu_demo{:02}", self.number)
    }

    pub(super) fn agent_id(self) -> String {
        format!("a{:016x}", self.number)
    }

    fn agent_type(self) -> String {
        format!("ot:{}", self.agent.name())
    }

    fn report(self) -> &'static str {
        if self.passes {
            "Done.\n\n<!-- VERDICT: {\"result\":\"PASS\"} -->"
        } else {
            "14 passed, 2 failed\n\n<!-- VERDICT: {\"result\":\"FAIL\"} -->"
        }
    }

    fn input(self) -> Value {
        json!({ "description": self.agent.name(), "prompt": Self::PROMPT, "subagent_type": self.agent_type() })
    }

    /// The event fields for the hooks around a delegation.
    pub(super) fn payload(self, hook: Hook) -> Value {
        match hook {
            Hook::OnAgentStart => json!({ "agent_id": self.agent_id(), "agent_type": self.agent_type() }),
            Hook::OnAgentStop => json!({
                "agent_id": self.agent_id(), "agent_type": self.agent_type(), "stop_hook_active": false,
                "last_assistant_message": self.report(), "background_tasks": [], "session_crons": [],
            }),
            Hook::PostUse => json!({
                "tool_name": "Agent", "tool_use_id": self.tool_use_id(), "tool_input": self.input(),
                "tool_response": {
                    "status": "completed", "agentId": self.agent_id(),
                    "content": [{ "type": "text", "text": self.report() }],
                },
            }),
            _ => {
                json!({ "tool_name": "Agent", "tool_use_id": self.tool_use_id(), "tool_input": self.input() })
            }
        }
    }
}

/// Adds the fields that every event has.
pub(super) fn event_json(hook: Hook, project: &Path, payload: &Value) -> Value {
    let mut event = json!({
        "session_id": SESSION,
        "transcript_path": project.with_file_name(TRANSCRIPT),
        "cwd": project,
        "permission_mode": "default",
        "hook_event_name": hook.event(),
    });
    if let (Some(fields), Some(more)) = (event.as_object_mut(), payload.as_object()) {
        fields.extend(more.clone());
    }
    event
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_delegation_keeps_its_ids() {
        let delegation = Delegation { agent: Agent::Tester, number: 7, passes: false };
        let (before, after) = (delegation.payload(Hook::PreTask), delegation.payload(Hook::PostUse));
        assert_eq!(before["tool_use_id"], after["tool_use_id"]);
        assert_eq!(delegation.payload(Hook::OnAgentStop)["agent_id"], after["tool_response"]["agentId"]);
        let event = event_json(Hook::PreTask, Path::new("/p"), &before);
        assert_eq!((&event["hook_event_name"], &event["cwd"]), (&json!("PreToolUse"), &json!("/p")));
    }
}
