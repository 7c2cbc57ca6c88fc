//! A private Overtone home with a session, written like the hooks write it.

use std::fs;
use std::path::PathBuf;
use std::time::Duration;

use overtone_core::engine::Record;
use overtone_core::engine::state::Millis;
use overtone_core::messages::Lang;
use overtone_core::registry::EventKind as Kind;
use overtone_net::Backoff;
use overtone_server::telemetry::{Exporter, Setup};
use overtone_store::{Home, Origin, Session, SessionId, clock, files, timeline};
use overtone_testkit::wait_until;
use serde_json::json;
use tempfile::TempDir;

pub(crate) const MACHINE: &str = "workbench";

pub(crate) struct TestHome {
    root: TempDir,
    /// The time of the first event; each following one is a second later.
    started: i64,
    event_count: std::cell::Cell<i64>,
}

impl TestHome {
    pub(crate) fn new(endpoint: &str) -> Self {
        let root = TempDir::with_prefix("overtone-telemetry-").unwrap();
        let home = Self { root, started: clock::now().0 - 3_600_000, event_count: std::cell::Cell::new(0) };
        home.configure(
            &json!({ "endpoint": endpoint, "headers": { "Authorization": "Bearer header-secret" } }),
        );
        home.session("s1");
        home
    }

    pub(crate) fn configure(&self, telemetry: &serde_json::Value) {
        let text = json!({ "telemetry": telemetry }).to_string();
        files::write_atomic(&self.overtone_home().config_file(), text.as_bytes(), files::PRIVATE).unwrap();
    }

    pub(crate) fn overtone_home(&self) -> Home {
        Home::at(self.root.path().to_owned())
    }

    pub(crate) fn path(&self, below: &str) -> PathBuf {
        self.root.path().join(below)
    }

    pub(crate) fn session(&self, id: &str) -> Session {
        let session = self.overtone_home().session(&SessionId::parse(id).unwrap());
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
            let at = self.event_count.get();
            self.event_count.set(at + 1);
            timeline::append(&self.session(id).timeline_file(), &[record], Millis(self.started + at * 1000))
                .unwrap();
        }
    }

    /// The time of an event in nanoseconds, by its position.
    pub(crate) fn nanos(&self, second: i64) -> u64 {
        u64::try_from((self.started + second * 1000) * 1_000_000).unwrap()
    }

    /// Writes an agent's conversation like the client does.
    pub(crate) fn write_conversation(&self, id: &str, agent_id: &str) {
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
            home: self.overtone_home(),
            version: "9.8.7",
            machine_name: MACHINE.to_owned(),
            lang: Lang::En,
            backoff: Backoff::new(Duration::from_millis(10), 150),
        };
        Exporter::start(setup).unwrap().expect("a collector is configured")
    }

    /// Exports until nothing is left to send, then stops.
    pub(crate) fn export(&self) {
        let exporter = self.start();
        exporter.notify_changed("s1");
        wait_until("an idle exporter", || !exporter.is_needed());
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

pub(crate) fn agent_failed(key: &str, name: &str) -> Record {
    let record = Record::new(Kind::AgentError).with("agent", name).with("stage", key).with("slot", name);
    record.with("error", "secret-error at /home/secret-person/shop/main.rs")
}
