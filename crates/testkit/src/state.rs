//! What Overtone wrote about a session, read as plain JSON: a test looks at files as a user would.

use std::fs;
use std::path::PathBuf;

use overtone_core::registry::Workflow;
use serde_json::{Map, Value, json};

use crate::Sandbox;

const WORKFLOW: &str = "workflow.json";

impl Sandbox {
    /// `workflow.json`, or null when there is none.
    pub fn workflow(&self, session: &str) -> Value {
        self.document(session, WORKFLOW)
    }

    /// `loop.json`, or null when there is none.
    pub fn loop_state(&self, session: &str) -> Value {
        self.document(session, "loop.json")
    }

    /// The events of `timeline.jsonl`, none when there is no such file.
    pub fn timeline(&self, session: &str) -> Vec<Value> {
        let text = self.session_file(session, "timeline.jsonl");
        let lines = text.lines().map(serde_json::from_str);
        lines.collect::<Result<_, _>>().unwrap_or_else(|cause| panic!("broken timeline: {cause}: {text}"))
    }

    /// The types of the timeline's events, in order.
    pub fn timeline_types(&self, session: &str) -> Vec<String> {
        let events = self.timeline(session);
        events.iter().map(|event| event["type"].as_str().unwrap_or_default().to_owned()).collect()
    }

    /// How many of the timeline's events are of one type.
    pub fn event_count(&self, session: &str, kind: &str) -> usize {
        self.timeline_types(session).iter().filter(|found| *found == kind).count()
    }

    /// The ids of all sessions that have a folder, sorted.
    pub fn sessions(&self) -> Vec<String> {
        let entries = fs::read_dir(self.state().join("sessions")).into_iter().flatten().flatten();
        let mut names: Vec<_> =
            entries.map(|entry| entry.file_name().to_string_lossy().into_owned()).collect();
        names.sort();
        names
    }

    /// Puts a workflow at its beginning into a session, as `overtone init` would.
    pub fn put_workflow(&self, session: &str, name: &str) {
        let workflow = Workflow::from_name(name).unwrap_or_else(|| panic!("no workflow is named {name:?}"));
        let stages: Map<_, _> =
            workflow.stage_keys().map(|key| (key.to_string(), pending(workflow, key))).collect();
        let document = json!({
            "sessionId": session, "workflowType": name, "createdAt": jiff::Timestamp::now().to_string(),
            "currentStage": stages.keys().next(), "stages": stages,
            "activeAgents": {}, "failCount": 0, "rejectCount": 0,
        });
        self.put_state(session, WORKFLOW, &document);
    }

    /// Writes `config.json`.
    pub fn put_config(&self, document: &Value) {
        self.write(&self.state().join("config.json"), &document.to_string());
    }

    /// Puts any file into a session's folder. A workflow has no seal then, like one that an earlier version wrote, so that it
    /// is not taken for a change by another program.
    pub fn put_state(&self, session: &str, file: &str, document: &Value) {
        let mut document = document.clone();
        if let (WORKFLOW, Value::Object(members)) = (file, &mut document) {
            members.shift_remove("seal");
            // There is none before the first hook has run.
            let _ = fs::remove_file(self.session_path(session, "workflow.sealed.json"));
        }
        self.write(&self.session_path(session, file), &document.to_string());
    }

    /// Any JSON file of a session's folder, or null when there is none.
    pub fn document(&self, session: &str, file: &str) -> Value {
        let text = self.session_file(session, file);
        if text.is_empty() {
            return Value::Null;
        }
        serde_json::from_str(&text).unwrap_or_else(|cause| panic!("broken {file}: {cause}: {text}"))
    }

    /// The text of a session's file, empty when it does not exist.
    fn session_file(&self, session: &str, file: &str) -> String {
        fs::read_to_string(self.session_path(session, file)).unwrap_or_default()
    }

    fn session_path(&self, session: &str, file: &str) -> PathBuf {
        self.state().join("sessions").join(session).join(file)
    }
}

fn pending(workflow: Workflow, key: overtone_core::registry::StageKey) -> Value {
    let mut stage = json!({"status": "pending", "result": null});
    if let Some(mode) = workflow.test_mode(key) {
        stage["mode"] = json!(mode.key());
    }
    stage
}
