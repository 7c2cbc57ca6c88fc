//! What a program under test finds: a session, a project and a user's settings, with something in every file that could
//! get lost.

use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::Command;

use overtone_core::registry::{EventKind, Hook, Workflow};
use serde_json::{Map, Value, json};

use super::subject::hook_input;
use crate::error::{Error, Result};
use crate::sandbox::Sandbox;
use crate::shell::write_file;

pub(super) const SESSION: &str = "5f0c7a52-3f0e-4b5e-9a51-2f6d1c0e7b11";
/// The id that the client gives to the developer at work.
pub(super) const DEVELOPER: &str = "a1b2c3d4";

/// Where the session stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Situation {
    NoWorkflow,
    /// The developer is to be delegated next.
    Ready,
    /// The developer is at work.
    Active,
    /// The developer is at work on the last stage.
    LastStage,
    /// The loop was stopped.
    Stopped,
    /// Overtone is installed in the client.
    Installed,
}

impl Situation {
    pub(super) const fn name(self) -> &'static str {
        match self {
            Self::NoWorkflow => "none",
            Self::Ready | Self::Active => "workflow",
            Self::LastStage => "last-stage",
            Self::Stopped => "stopped",
            Self::Installed => "installed",
        }
    }
}

/// A situation on disk.
#[derive(Debug)]
pub(super) struct Fixture {
    pub root: PathBuf,
    pub sandbox: Sandbox,
    /// The id of a lesson that was learned in the project.
    lesson: String,
}

impl Fixture {
    pub(super) fn create(root: &Path, binary: &Path, situation: Situation) -> Result<Self> {
        let sandbox = Sandbox::create(root.to_owned(), binary)?;
        let mut fixture = Self { root: root.to_owned(), sandbox, lesson: String::new() };
        fixture.write_project()?;
        fixture.write_client()?;
        fixture.write_settings()?;
        fixture.write_home()?;
        if situation != Situation::NoWorkflow {
            fixture.write_workflow(situation)?;
        }
        fixture.learn()?;
        if situation == Situation::Installed {
            let mut command = fixture.sandbox.command(&["up"]);
            crate::shell::run(fixture.add_environment(&mut command))?;
        }
        Ok(fixture)
    }

    /// Replaces the placeholders: the fixture's folder, the session's id and the lesson's.
    pub(super) fn fill(&self, template: &str) -> String {
        let root = self.root.to_string_lossy();
        template.replace("{root}", &root).replace("{session}", SESSION).replace("{lesson}", &self.lesson)
    }

    /// The client is on the path, and texts are English, so that a failure can be read.
    pub(super) fn add_environment<'a>(&self, command: &'a mut Command) -> &'a mut Command {
        let path = format!("{}:/usr/local/bin:/usr/bin:/bin", self.root.join("bin").display());
        let variables = [("PATH", path.as_str()), ("OVERTONE_LANG", "en"), ("EDITOR", "true")];
        command.envs(variables).env("CLAUDE_ENV_FILE", self.root.join("project/env.sh"))
    }

    fn write_project(&self) -> Result<()> {
        for (shelf, name) in [("in-progress", "demo"), ("paused", "put-aside"), ("backlog", "for-later")] {
            let folder = self.sandbox.project().join("specs/features").join(shelf).join(name);
            let tasks = format!(
                "---\nfeature: {name}\nstatus: {shelf}\nworkflow: standard\nowner: a user\n---\n\n## Stages\n\n- [x] PLAN\n\
                 - [x] ARCH\n- [x] TEST\n- [ ] DEV\n- [ ] REVIEW\n\n## Tasks\n\n- [x] plan\n- [x] implement\n"
            );
            write_file(&folder.join("tasks.md"), tasks.as_bytes())?;
            write_file(&folder.join("notes.md"), format!("notes on {name}\n").as_bytes())?;
        }
        write_file(&self.root.join("project/env.sh"), b"export MINE=1\n")?;
        let request = json!({
            "type": "user", "uuid": "1", "timestamp": "2026-01-01T00:00:00.000Z", "sessionId": SESSION,
            "message": { "role": "user", "content": "Make the login messages translatable." },
        });
        write_file(&self.root.join("transcript.jsonl"), format!("{request}\n").as_bytes())
    }

    /// A client that approves whatever it is asked to review and has no plugins.
    fn write_client(&self) -> Result<()> {
        let verdict = json!({ "completed": true, "feedback": "" });
        let result = json!({
            "type": "result", "subtype": "success", "is_error": false, "result": verdict.to_string(),
            "structured_output": verdict, "total_cost_usd": 0.25,
        });
        let script = format!(
            "#!/bin/sh\ncase \"$1\" in\n--version) echo '2.1.325 (Claude Code)' ;;\nplugin) echo '[]' ;;\n*) cat \
             <<'END'\n{result}\nEND\n;;\nesac\n"
        );
        write_with_mode(&self.root.join("bin/claude"), &script, 0o755)
    }

    fn write_settings(&self) -> Result<()> {
        let provider = |name: &str| {
            json!({ "env": {
                "ANTHROPIC_BASE_URL": format!("https://{name}.example/anthropic"),
                "ANTHROPIC_AUTH_TOKEN": format!("sk-{name}-0123456789abcdef0123456789abcdef"),
            } })
        };
        let config = json!({
            "settings": { "permissions": { "allow": ["Read"] } },
            "providers": { "first": provider("first"), "second": provider("second") },
            "current_provider": "first", "unknown": { "kept": true },
        });
        let settings = json!({
            "model": "opus", "permissions": { "allow": ["Bash(ls)"] },
            "env": { "HTTP_PROXY": "", "ANTHROPIC_BASE_URL": "https://own.example" },
        });
        self.write_in_home(".claude/ccc.json", &config)?;
        self.write_in_home(".claude/settings.json", &settings)
    }

    fn write_home(&self) -> Result<()> {
        let counts = json!({ "auto": 4, "manual": 2, "count": 6, "completedStages": 1, "unknown": "kept" });
        let reviewed = json!({ "session_id": SESSION, "count": 3, "enabled": true, "unknown": "kept" });
        for (name, value) in [
            (
                ".overtone/config.json",
                json!({ "instinct": { "enabled": true }, "unknown": { "kept": true } }),
            ),
            // Without it every run would make up another machine id.
            (".overtone/fleet/machine.json", json!({ "id": "0123456789abcdef" })),
            (".overtone/sessions/{session}/compact-count.json", counts),
            (
                ".overtone/sessions/{session}/context.json",
                json!({ "usedPercentage": 41, "costUsd": 1.25, "unknown": "kept" }),
            ),
            (
                ".overtone/sessions/{session}/session.json",
                json!({ "project": "/elsewhere", "transcript": null, "unknown": "kept" }),
            ),
            (
                ".overtone/sessions/another-session/timeline.jsonl",
                json!({ "ts": "2026-01-01T00:00:00.000Z", "type": "session:start" }),
            ),
            (".claude/ccc/supervisor-{session}.json", reviewed),
        ] {
            self.write_in_home(name, &value)?;
        }
        let home = self.sandbox.overtone_home();
        write_file(&home.join(".current-session-id"), SESSION.as_bytes())?;
        write_with_mode(&home.join("fleet/machine.key"), &("0123456789abcdef".repeat(4) + "\n"), 0o600)
    }

    fn write_workflow(&self, situation: Situation) -> Result<()> {
        // An agent that began long ago would be given up by the hooks.
        let now = jiff::Timestamp::now().strftime("%Y-%m-%dT%H:%M:%S%.3fZ").to_string();
        let is_active = !matches!(situation, Situation::Ready | Situation::Stopped);
        let workflow = if situation == Situation::LastStage { Workflow::Single } else { Workflow::Standard };
        let stages = stages(workflow, if is_active { "active" } else { "pending" });
        let agents =
            if is_active { json!({ "developer": { "stage": "DEV", "startedAt": now } }) } else { json!({}) };
        let state = json!({
            "sessionId": SESSION, "workflowType": workflow.name(), "createdAt": now, "currentStage": "DEV",
            "stages": stages, "activeAgents": agents, "failCount": 0, "completedStages": 3, "rejectCount": 0,
            "featureName": "demo", "retroCount": 0, "unknown": { "kept": true },
        });
        let is_stopped = situation == Situation::Stopped;
        self.write_in_home(".overtone/sessions/{session}/workflow.json", &state)?;
        self.write_in_home(
            ".overtone/sessions/{session}/loop.json",
            &json!({ "iterations": 3, "stopped": is_stopped, "unknown": "kept" }),
        )?;
        // Longer than every state file, so that a limit on file sizes can stop within its next line.
        let kinds = [EventKind::SessionStart, EventKind::WorkflowStart, EventKind::SessionCompact];
        let kinds = kinds.into_iter().chain([EventKind::ToolFailure; 100]);
        let lines = kinds.map(|kind| {
            let (name, category, label) = (kind.name(), kind.category(), kind.label());
            json!({ "ts": now, "type": name, "category": category, "label": label, "stage": "DEV" })
                .to_string()
                + "\n"
        });
        let timeline = self.sandbox.session(SESSION).join("timeline.jsonl");
        write_file(&timeline, lines.collect::<String>().as_bytes())
    }

    /// The lesson's folder depends on the project's path, so the program itself makes it.
    fn learn(&mut self) -> Result<()> {
        let lesson = json!({
            "tool_name": "Bash", "tool_input": { "command": "cat src/main.rs" },
            "tool_response": { "stdout": "fn main() {}\n", "stderr": "" },
        });
        let payload = self.fill(&hook_input(Hook::PostUse, &lesson));
        let payload: Value = serde_json::from_str(&payload).unwrap_or_default();
        for _ in 0..3 {
            self.sandbox.hook(Hook::PostUse, &payload)?;
        }
        let list = self.sandbox.succeed(&["instinct", "list", "--json"])?;
        let list: Value = serde_json::from_str(&list).unwrap_or_default();
        let id = list["lessons"][0]["id"].as_str();
        id.ok_or_else(|| Error::new("no lesson was learned"))?.clone_into(&mut self.lesson);
        Ok(())
    }

    fn write_in_home(&self, name: &str, value: &Value) -> Result<()> {
        let path = self.sandbox.home().join(self.fill(name));
        write_file(&path, format!("{value}\n").as_bytes())
    }
}

/// The stages before the development have passed, those after it are pending.
fn stages(workflow: Workflow, dev_status: &str) -> Map<String, Value> {
    let mut stages = Map::new();
    for key in workflow.stage_keys() {
        let stage = match (key.to_string().as_str(), stages.contains_key("DEV")) {
            ("DEV", _) => json!({ "status": dev_status, "result": null }),
            (_, true) => json!({ "status": "pending", "result": null, "mode": "verify" }),
            (_, false) => json!({ "status": "completed", "result": "pass", "mode": "spec" }),
        };
        stages.insert(key.to_string(), stage);
    }
    stages
}

fn write_with_mode(path: &Path, text: &str, mode: u32) -> Result<()> {
    write_file(path, text.as_bytes())?;
    fs::set_permissions(path, Permissions::from_mode(mode))
        .map_err(|e| Error::io("cannot set mode", path, &e))
}
