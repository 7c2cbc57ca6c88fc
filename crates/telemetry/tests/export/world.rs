//! A private home with a session, written as the hooks write it.

use std::fs;
use std::path::PathBuf;
use std::time::Duration;

use overtone_engine::Record;
use overtone_engine::state::Millis;
use overtone_messages::Lang;
use overtone_registry::EventKind as Kind;
use overtone_store::{Home, Origin, Session, SessionId, clock, files, timeline};
use overtone_telemetry::{Exporter, Pace, Setup};
use serde_json::json;
use tempfile::TempDir;

use crate::collector::wait_for;

pub(crate) const MACHINE: &str = "workbench";

pub(crate) struct World {
    root: TempDir,
    /// When the first event happened; each following one is a second later.
    begun: i64,
    written: std::cell::Cell<i64>,
}

impl World {
    pub(crate) fn new(endpoint: &str) -> Self {
        let root = TempDir::with_prefix("overtone-telemetry-").unwrap();
        let world = Self { root, begun: clock::now().0 - 3_600_000, written: std::cell::Cell::new(0) };
        world.configure(
            &json!({ "endpoint": endpoint, "headers": { "Authorization": "Bearer header-secret" } }),
        );
        world.session("s1");
        world
    }

    pub(crate) fn configure(&self, telemetry: &serde_json::Value) {
        let text = json!({ "telemetry": telemetry }).to_string();
        files::write_atomic(&self.home().config_file(), text.as_bytes(), files::PRIVATE).unwrap();
    }

    pub(crate) fn home(&self) -> Home {
        Home::at(self.root.path().to_owned())
    }

    pub(crate) fn path(&self, below: &str) -> PathBuf {
        self.root.path().join(below)
    }

    pub(crate) fn session(&self, id: &str) -> Session {
        let session = self.home().session(&SessionId::parse(id).unwrap());
        if !session.exists() {
            session.create().unwrap();
            let origin = Origin {
                project: Some(PathBuf::from("/home/secret-person/shop")),
                transcript: Some(self.path(&format!("{id}.jsonl"))),
            };
            session.note_origin(&origin).unwrap();
        }
        session
    }

    pub(crate) fn write(&self, id: &str, records: &[Record]) {
        for record in records {
            let at = self.written.get();
            self.written.set(at + 1);
            timeline::append(&self.session(id).timeline_file(), &[record], Millis(self.begun + at * 1000))
                .unwrap();
        }
    }

    pub(crate) fn nanos(&self, second: i64) -> u64 {
        u64::try_from((self.begun + second * 1000) * 1_000_000).unwrap()
    }

    /// What the client keeps of an agent's conversation.
    pub(crate) fn conversation(&self, id: &str, agent_id: &str) {
        let folder = self.path(id).join("subagents");
        fs::create_dir_all(&folder).unwrap();
        let usage = json!({ "input_tokens": 1000, "output_tokens": 200, "cache_read_input_tokens": 50_000 });
        let message = json!({ "id": "m1", "model": "claude-sonnet-4-5", "usage": usage,
            "content": [{ "type": "text", "text": "secret-answer" }] });
        let line = json!({ "type": "assistant", "message": message }).to_string() + "\n";
        fs::write(folder.join(format!("agent-{agent_id}.jsonl")), line).unwrap();
    }

    pub(crate) fn start(&self) -> Exporter {
        let setup = Setup {
            home: self.home(),
            version: "9.8.7",
            machine_name: MACHINE.to_owned(),
            lang: Lang::En,
            pace: Pace::new(Duration::from_millis(10)),
        };
        Exporter::start(setup).unwrap().expect("it is configured")
    }

    /// Exports until nothing is left to do, then stops.
    pub(crate) fn export(&self) {
        let exporter = self.start();
        exporter.tell("s1");
        wait_for("an idle exporter", || !exporter.is_needed());
        exporter.stop();
    }

    pub(crate) fn log(&self) -> String {
        fs::read_to_string(self.path("telemetry/export.log")).unwrap_or_default()
    }
}

pub(crate) fn workflow(kind: &str) -> Record {
    Record::new(Kind::WorkflowStart).with("workflowType", kind).with("featureName", "secret-feature")
}

pub(crate) fn completed(kind: &str) -> Record {
    Record::new(Kind::WorkflowComplete)
        .with("workflowType", kind)
        .with("failCount", 1_u32)
        .with("rejectCount", 0_u32)
}

pub(crate) fn aborted(reason: &str) -> Record {
    Record::new(Kind::WorkflowAbort).with("workflowType", "quick").with("stage", "DEV").with("reason", reason)
}

pub(crate) fn stage(key: &str, attempt: u32) -> Record {
    Record::new(Kind::StageStart).with("stage", key).with("attempt", attempt)
}

pub(crate) fn stage_done(key: &str, verdict: &str) -> Record {
    let kind = if ["fail", "reject"].contains(&verdict) { Kind::StageRetry } else { Kind::StageComplete };
    Record::new(kind).with("stage", key).with("result", verdict)
}

pub(crate) fn agent(key: &str, name: &str) -> Record {
    Record::new(Kind::AgentDelegate).with("agent", name).with("stage", key).with("slot", name)
}

pub(crate) fn agent_done(key: &str, name: &str, verdict: &str, id: &str) -> Record {
    let record = Record::new(Kind::AgentComplete).with("agent", name).with("stage", key).with("slot", name);
    record.with("result", verdict).with("agentId", id)
}

pub(crate) fn agent_broke(key: &str, name: &str) -> Record {
    let record = Record::new(Kind::AgentError).with("agent", name).with("stage", key).with("slot", name);
    record.with("error", "secret-error at /home/secret-person/shop/main.rs")
}
