//! What a program finds that is run with a fault: a session, a project, a person's settings. There is something in
//! every file that could get lost.

use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::Command;

use overtone_core::registry::Hook;
use serde_json::{Value, json};

use crate::bench::fixture::{self, Phase, Place, SESSION};
use crate::bench::payload;
use crate::bench::state::State;
use crate::error::{Error, Result};
use crate::sandbox::Sandbox;
use crate::shell::write_file;

/// A session beside the one that is worked in.
pub(crate) const OTHER_SESSION: &str = "another-session";

/// Where the session stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum World {
    NoWorkflow,
    /// The developer is to be delegated next.
    Ready,
    /// The developer is at work.
    Active,
    /// The developer is at work on the last stage.
    Last,
    /// The loop was stopped.
    Stopped,
    /// Overtone is a part of the client.
    Installed,
}

impl World {
    /// Those in which a session is worked in.
    pub(crate) const IN_SESSION: [Self; 5] =
        [Self::NoWorkflow, Self::Ready, Self::Active, Self::Last, Self::Stopped];

    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::NoWorkflow => "none",
            Self::Ready | Self::Active => "workflow",
            Self::Last => "last-stage",
            Self::Stopped => "stopped",
            Self::Installed => "installed",
        }
    }

    const fn state(self) -> State {
        match self {
            Self::NoWorkflow => State::None,
            _ => State::Empty,
        }
    }

    const fn phase(self) -> Phase {
        match self {
            Self::Ready | Self::Stopped => Phase::Ready,
            Self::NoWorkflow | Self::Active | Self::Last | Self::Installed => Phase::Active,
        }
    }
}

/// A world on disk.
#[derive(Debug)]
pub(crate) struct Site {
    pub root: PathBuf,
    pub sandbox: Sandbox,
    pub place: Place,
    /// The id of a lesson that the project has taught.
    pub lesson: String,
}

impl Site {
    pub(crate) fn build(root: &Path, binary: &Path, world: World) -> Result<Self> {
        let root = root.to_owned();
        let sandbox = Sandbox::create(root.clone(), binary)?;
        let place = Place::alone(&root, world.state());
        fixture::create(&place, world.phase())?;
        let mut site = Self { root, sandbox, place, lesson: String::new() };
        site.add_project()?;
        site.add_settings()?;
        site.add_client()?;
        site.add_state(world)?;
        site.learn()?;
        if world == World::Installed {
            site.install()?;
        }
        Ok(site)
    }

    pub(crate) fn in_session(&self, name: &str) -> PathBuf {
        self.sandbox.session(SESSION).join(name)
    }

    /// A program in this world: with the client on the path, and in English, so that a failure can be read.
    pub(crate) fn furnish<'a>(&self, command: &'a mut Command) -> &'a mut Command {
        let path = format!("{}:/usr/local/bin:/usr/bin:/bin", self.root.join("bin").display());
        command
            .env("PATH", path)
            .env("OVERTONE_LANG", "en")
            .env("CLAUDE_ENV_FILE", self.root.join("project/env.sh"))
    }

    fn add_project(&self) -> Result<()> {
        let tasks = |name: &str, status: &str| {
            format!(
                "---\nfeature: {name}\nstatus: {status}\nworkflow: standard\nowner: a person\n---\n\n## Stages\n\n- [x] \
                 PLAN\n- [x] ARCH\n- [x] TEST\n- [ ] DEV\n- [ ] REVIEW\n\n## Tasks\n\n- [x] plan\n- [ ] implement the \
                 login messages\n"
            )
        };
        for (shelf, name) in [("in-progress", "demo"), ("paused", "put-aside"), ("backlog", "for-later")] {
            let folder = self.root.join("project/specs/features").join(shelf).join(name);
            write_file(&folder.join("tasks.md"), tasks(name, shelf).as_bytes())?;
            write_file(&folder.join("notes.md"), format!("notes on {name}\n").as_bytes())?;
        }
        write_file(&self.root.join("project/env.sh"), b"export MINE=1\n")?;
        let asked = json!({
            "type": "user", "uuid": "1", "timestamp": "2026-01-01T00:00:00.000Z", "sessionId": SESSION,
            "message": { "role": "user", "content": "Make the login messages translatable." },
        });
        // Hooks only look at a transcript's size; a review reads it, and needs no more than this.
        write_file(&self.place.path("request.jsonl"), format!("{asked}\n").as_bytes())
    }

    fn add_settings(&self) -> Result<()> {
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
        let folder = self.sandbox.home().join(".claude");
        write_file(&folder.join("ccc.json"), format!("{config:#}\n").as_bytes())?;
        write_file(&folder.join("settings.json"), format!("{settings:#}\n").as_bytes())
    }

    fn install(&self) -> Result<()> {
        let mut command = self.sandbox.command(&["up"]);
        let output = self.furnish(&mut command).output().map_err(|e| Error::new(format!("no up: {e}")))?;
        if output.status.success() {
            return Ok(());
        }
        Err(Error::new(format!("up fails: {}", String::from_utf8_lossy(&output.stderr))))
    }

    /// It approves whatever it is asked to review, and has no plugins.
    fn add_client(&self) -> Result<()> {
        let verdict = json!({ "completed": true, "feedback": "" });
        let result = json!({
            "type": "result", "subtype": "success", "is_error": false, "result": verdict.to_string(),
            "structured_output": verdict, "total_cost_usd": 0.25,
        });
        let script = format!(
            "#!/bin/sh\ncase \"$1\" in\n--version) echo '2.1.325 (Claude Code)' ;;\nplugin) echo '[]' ;;\n*) cat \
             <<'END'\n{result}\nEND\n;;\nesac\n"
        );
        let path = self.root.join("bin/claude");
        write_file(&path, script.as_bytes())?;
        fs::set_permissions(&path, Permissions::from_mode(0o755))
            .map_err(|e| Error::io("cannot set mode", &path, &e))
    }

    fn add_state(&self, world: World) -> Result<()> {
        let put = |path: PathBuf, value: &Value| write_file(&path, format!("{value}\n").as_bytes());
        let home = self.sandbox.overtone_home();
        put(
            home.join("config.json"),
            &json!({ "instinct": { "enabled": true }, "unknown": { "kept": true } }),
        )?;
        // Made up when it is missing, another one each time.
        put(home.join("fleet/machine.json"), &json!({ "id": "0123456789abcdef" }))?;
        let key = home.join("fleet/machine.key");
        write_file(&key, format!("{}\n", "0123456789abcdef".repeat(4)).as_bytes())?;
        fs::set_permissions(&key, Permissions::from_mode(0o600))
            .map_err(|e| Error::io("cannot set mode", &key, &e))?;
        put(
            self.in_session("compact-count.json"),
            &json!({ "auto": 4, "manual": 2, "count": 6, "completedStages": 1, "unknown": "kept" }),
        )?;
        put(
            self.in_session("context.json"),
            &json!({ "usedPercentage": 41, "costUsd": 1.25, "unknown": "kept" }),
        )?;
        put(
            self.in_session("session.json"),
            &json!({ "project": "/elsewhere", "transcript": null, "unknown": "kept" }),
        )?;
        let other = self.sandbox.session(OTHER_SESSION);
        put(
            other.join("timeline.jsonl"),
            &json!({ "ts": "2026-01-01T00:00:00.000Z", "type": "session:start" }),
        )?;
        let reviewed = self.sandbox.home().join(format!(".claude/ccc/supervisor-{SESSION}.json"));
        put(reviewed, &json!({ "session_id": SESSION, "count": 3, "enabled": true, "unknown": "kept" }))?;
        match world {
            World::Last => put(self.in_session("workflow.json"), &last_stage()),
            World::Stopped => put(
                self.in_session("loop.json"),
                &json!({ "iterations": 3, "stopped": true, "unknown": "kept" }),
            ),
            World::NoWorkflow | World::Ready | World::Active | World::Installed => Ok(()),
        }
    }

    /// The memory's place depends on the project's path, so the program itself makes it.
    fn learn(&mut self) -> Result<()> {
        let payload = payload::instructive_command(&self.place);
        for _ in 0..3 {
            self.sandbox.hook(Hook::PostUse, &payload)?;
        }
        let lesson = self.lessons()?.into_iter().next();
        self.lesson = lesson.ok_or_else(|| Error::new("the project taught no lesson"))?;
        Ok(())
    }

    /// The ids of what the project has taught.
    pub(crate) fn lessons(&self) -> Result<Vec<String>> {
        let list: Value = serde_json::from_str(&self.sandbox.succeed(&["instinct", "list", "--json"])?)
            .map_err(|e| Error::new(format!("the list of lessons is not JSON: {e}")))?;
        let lessons = list["lessons"].as_array().into_iter().flatten();
        Ok(lessons.filter_map(|lesson| Some(lesson["id"].as_str()?.to_owned())).collect())
    }
}

/// One stage is all there is to it.
fn last_stage() -> Value {
    let now = jiff::Timestamp::now().strftime("%Y-%m-%dT%H:%M:%S%.3fZ").to_string();
    json!({
        "sessionId": SESSION, "workflowType": "single", "createdAt": now, "currentStage": "DEV",
        "stages": { "DEV": { "status": "active", "result": null } },
        "activeAgents": { "developer": { "stage": "DEV", "startedAt": now } },
        "failCount": 0, "completedStages": 0, "rejectCount": 0, "featureName": "demo", "retroCount": 0,
        "unknown": { "kept": true },
    })
}
