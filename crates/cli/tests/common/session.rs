//! What the client does in a session, as calls of our hooks.

use overtone_core::registry::Hook;
use serde_json::{Value, json};

use super::context::{TestContext, put};
use super::output::Output;

impl TestContext {
    /// Sends an event of a session to a hook. `fields` are added to those that every event has.
    #[track_caller]
    pub(crate) fn send_event(&self, hook: &str, session: &str, fields: Value) -> Output {
        let mut event = json!({
            "session_id": session, "cwd": self.project(),
            "hook_event_name": Hook::from_name(hook).unwrap().event(),
        });
        let Value::Object(fields) = fields else { panic!("the fields of an event are an object") };
        event.as_object_mut().unwrap().extend(fields);
        self.run_hook(hook, &event).succeeds()
    }

    /// Starts a session without a workflow.
    #[track_caller]
    pub(crate) fn start_session(&self, session: &str) {
        let transcript = self.path(format!("transcripts/{session}.jsonl"));
        self.send_event("on-start", session, json!({ "source": "startup", "transcript_path": transcript }));
    }

    /// The main agent delegates to an agent of ours.
    #[track_caller]
    pub(crate) fn delegate(&self, session: &str, agent: &str) -> Output {
        let input = json!({ "subagent_type": format!("ot:{agent}"), "description": "x", "prompt": "do it" });
        let call = json!({ "tool_name": "Agent", "tool_use_id": agent, "tool_input": input });
        self.send_event("pre-task", session, call)
    }

    /// The main agent delegates to an agent of ours, which reports.
    #[track_caller]
    pub(crate) fn run_agent(&self, session: &str, agent: &str, report: &str) {
        self.delegate(session, agent);
        self.report(session, agent, report);
    }

    /// Changes the project's files, as an honest developer does before it reports.
    pub(crate) fn change_project(&self) {
        if self.project().exists() {
            put(&self.project().join("src").join(self.next_agent_id("change")), "");
        }
    }

    /// The agent starts, works and reports. Its id is `id-<agent>`, and `id-<agent>-2` for its second start.
    #[track_caller]
    pub(crate) fn report(&self, session: &str, agent: &str, report: &str) {
        let mut fields =
            json!({ "agent_id": self.next_agent_id(agent), "agent_type": format!("ot:{agent}") });
        self.send_event("on-agent-start", session, fields.clone());
        if agent == "developer" {
            self.change_project();
        }
        fields["last_assistant_message"] = json!(report);
        self.send_event("on-agent-stop", session, fields);
    }
}

/// A report with a verdict.
pub(crate) fn with_verdict(words: &str, result: &str) -> String {
    format!("{words}\n<!-- VERDICT: {{\"result\":\"{result}\"}} -->")
}
