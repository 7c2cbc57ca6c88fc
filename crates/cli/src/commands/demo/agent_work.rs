//! What the scripted agents do before they report, so that the evidence agrees with their reports: a developer changes a
//! file, a reviewer reads it, a tester runs the tests.

use std::fs;
use std::io;

use overtone_core::registry::Agent;
use overtone_store::{clock, files};
use serde_json::{Value, json};

use super::payload::Delegation;
use super::sandbox::Sandbox;
use crate::ui::error::{CommandError, CommandResult};

impl Sandbox {
    pub(super) fn do_work(&self, delegation: Delegation) -> CommandResult {
        let done = match delegation.agent {
            Agent::Developer => self.change_source(delegation),
            Agent::CodeReviewer => {
                self.call_tool(delegation, "Read", &json!({ "file_path": "src/login.js" }))
            }
            Agent::Tester => self.call_tool(delegation, "Bash", &json!({ "command": "npm test" })),
            _ => Ok(()),
        };
        done.map_err(|error| CommandError::io(self.lang(), &self.project(), &error))
    }

    fn change_source(&self, delegation: Delegation) -> io::Result<()> {
        let folder = self.project().join("src");
        fs::create_dir_all(&folder)?;
        let text = format!("export const attempt = {};\n", delegation.number);
        files::write_atomic(&folder.join("login.js"), text.as_bytes(), 0o644)
    }

    /// Records a tool call and its result in the agent's transcript.
    fn call_tool(&self, delegation: Delegation, tool: &str, input: &Value) -> io::Result<()> {
        let transcript = self.agent_transcript(&delegation.agent_id());
        if let Some(folder) = transcript.parent() {
            fs::create_dir_all(folder)?;
        }
        let now = clock::to_iso(clock::now());
        let entry = |kind: &str, block: &Value| {
            json!({ "type": kind, "timestamp": now, "message": { "content": [block] } }).to_string()
        };
        let call = json!({ "type": "tool_use", "id": "t1", "name": tool, "input": input });
        let result = json!({
            "type": "tool_result", "tool_use_id": "t1", "is_error": !delegation.passes, "content": "",
        });
        files::append_lines(
            &transcript,
            &format!("{}\n{}\n", entry("assistant", &call), entry("user", &result)),
        )
    }
}
