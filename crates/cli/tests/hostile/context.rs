//! A home, a project and folder names with characters that control a terminal.

use std::fs::{self, Permissions};
use std::io::Write;
use std::os::unix::fs::PermissionsExt;
use std::process::{Output, Stdio};

use serde_json::{Value, json};

use crate::common::{TestContext, put};

/// Clears the screen, sets the title, colours, turns the line around, hides text, breaks lines.
pub(crate) const EVIL: &str = "ev\u{1b}[2J\u{1b}]0;title\u{7}\u{9b}31m\u{202e}rtl\u{2066}iso\u{200b}zero\u{feff}\r\nline\u{2028}\u{2029}sep\u{e0041}tag\u{7f}\u{85}il";

/// The same for the name of a folder or a feature, where control characters are possible but line breaks confuse the test.
const EVIL_NAME: &str = "ev\u{1b}[31m\u{202e}\u{200b}il";

/// A feature may have such a folder: none of these is a control character.
const EVIL_FEATURE: &str = "ev\u{202e}\u{2066}\u{200b}\u{e0041}il";

impl TestContext {
    /// Everything is below a folder with a hostile name, so that every path in every message has it.
    pub(crate) fn hostile() -> Self {
        let mut context = Self::below(EVIL_NAME);
        context.create_folders(&["home/.claude", "project/.git", "bin"]);
        let mut search_path = context.path("bin").into_os_string();
        search_path.push(":");
        search_path.push(std::env::var_os("PATH").unwrap_or_default());
        context.set_env("PATH", search_path);
        let variables =
            [("EDITOR", "true"), ("BROWSER", "true"), ("NO_COLOR", "1"), ("OVERTONE_SESSION_ID", "s1")];
        for (name, value) in variables {
            context.set_env(name, value);
        }
        context.put_client();
        for session in ["s1", "mv01"] {
            let command = context.command(&["init", "quick", "--session", session]).output().unwrap();
            assert!(command.status.success(), "{command:?}");
            context.spoil_session(session);
        }
        context.spoil_workflow("mv01", "movedTo", json!(EVIL));
        context.put_features();
        context.put_lessons();
        context.put_settings();
        context
    }

    /// Runs a hook, or a command that the client also starts with an event on stdin.
    pub(crate) fn run_with_event(&self, words: &[&str], stdin: &Value) -> Output {
        let mut child = self.command(words).stdin(Stdio::piped()).spawn().unwrap();
        child.stdin.take().unwrap().write_all(stdin.to_string().as_bytes()).unwrap();
        child.wait_with_output().unwrap()
    }

    /// What the client sends for a hook of this session, and for its status line.
    pub(crate) fn event(&self, session: &str) -> Value {
        json!({
            "session_id": session, "cwd": self.path("project"), "transcript_path": self.path("transcript"),
            "model": { "display_name": EVIL }, "workspace": { "project_dir": self.path("project") },
            "columns": 400, "tasks": [{ "id": EVIL, "description": EVIL, "tokenCount": 5 }],
        })
    }

    /// A client with hostile output. Without arguments, as a user starts it, it prints nothing.
    fn put_client(&self) {
        let client = self.path("bin/claude");
        fs::write(&client, format!("#!/bin/sh\n[ $# = 0 ] || printf '%s' '{EVIL}' >&2\nexit 3\n")).unwrap();
        fs::set_permissions(&client, Permissions::from_mode(0o755)).unwrap();
    }

    fn spoil_workflow(&self, session: &str, field: &str, value: Value) {
        self.forget_seal(session);
        let file = self.state().join(format!("sessions/{session}/workflow.json"));
        let mut state: Value = serde_json::from_slice(&fs::read(&file).unwrap()).unwrap();
        state[field] = value;
        fs::write(&file, state.to_string()).unwrap();
    }

    fn spoil_session(&self, session: &str) {
        self.spoil_workflow(session, "workflowType", json!(EVIL));
        self.spoil_workflow(session, "featureName", json!(EVIL));
        self.spoil_workflow(session, "notices", json!([EVIL]));
        let agents =
            json!({ EVIL: { "stage": "DEV", "startedAt": "2026-01-01T00:00:00Z", "agentId": EVIL } });
        self.spoil_workflow(session, "activeAgents", agents);
        let stage = json!({ "status": "completed", "result": EVIL, "handoff": EVIL, "attempts": 2 });
        self.spoil_workflow(session, "stages", json!({ "DEV": stage, "REVIEW": { "status": "pending" } }));
        let events = [
            json!({ "ts": EVIL, "type": "stage:start", "stage": EVIL, "agent": EVIL }),
            json!({ "ts": "2026-01-01T00:00:00.000Z", "type": EVIL, EVIL: EVIL }),
            json!({ "ts": "2026-01-01T00:00:00.000Z", "type": "workflow:start", "workflowType": EVIL, "list": [EVIL] }),
            json!({ "ts": "2026-01-01T00:00:00.000Z", "type": "session:start", "version": EVIL }),
            json!({ "ts": "2026-01-01T00:00:01.000Z", "type": "tool:failure", "toolName": EVIL, "error": EVIL }),
        ];
        let lines = events.iter().fold(String::new(), |lines, event| format!("{lines}{event}\n"));
        fs::write(
            self.state().join(format!("sessions/{session}/timeline.jsonl")),
            lines + "torn \u{1b}[2J\n",
        )
        .unwrap();
    }

    fn put_features(&self) {
        for (name, title) in [("login", "- [ ] "), (EVIL_FEATURE, "- [x] ")] {
            let folder = self.path("project/specs/features/in-progress").join(name);
            fs::create_dir_all(&folder).unwrap();
            let task: String = EVIL.replace(['\r', '\n'], " ");
            let text = format!("---\nworkflow: {task}\ncreated: {task}\n---\n{title}{task}\n- [ ] {task}\n");
            fs::write(folder.join("tasks.md"), text).unwrap();
        }
    }

    fn put_lessons(&self) {
        let projects = self.state().join("projects");
        // The folder's name is made by the program: one failure, and then its lesson is replaced.
        let mut event = self.event("s1");
        event["tool_name"] = json!("Bash");
        event["tool_input"] = json!({ "command": "npm test" });
        event["error"] = json!("Exit code 1\nbad");
        assert!(self.run_with_event(&["hook", "post-use-failure"], &event).status.success());
        let memory = fs::read_dir(&projects).unwrap().next().unwrap().unwrap().path().join("instincts");
        let lesson = json!({ "type": "error_resolutions", "trigger": EVIL, "action": EVIL, "confidence": 0.9,
                             "count": 9, "lastSeen": EVIL, "origin": { "session": EVIL, "command": EVIL } });
        for (id, lesson) in [("er-00000001", &lesson), (EVIL_NAME, &lesson)] {
            put(&memory.join(format!("{id}.json")), lesson.to_string());
        }
    }

    fn put_settings(&self) {
        let remote =
            json!({ "ntfy": { "topic": EVIL, "events": [EVIL] }, "webhook": { "url": EVIL }, EVIL: EVIL });
        let config = json!({ "language": EVIL, "loop": { "maxIterations": EVIL }, "remote": remote,
                             "fleet": { "url": format!("nats://{EVIL}"), "name": EVIL, EVIL: EVIL }, EVIL: EVIL });
        put(&self.state().join("config.json"), config.to_string());
        let server = json!({ "pid": 1, "port": 1, "address": EVIL, "url": EVIL, "version": EVIL });
        put(&self.state().join("dashboard/server.json"), server.to_string());
        let env = json!({ "ANTHROPIC_BASE_URL": format!("http://127.0.0.1:1/{EVIL}"), "ANTHROPIC_AUTH_TOKEN": "dummy",
                          "ANTHROPIC_MODEL": EVIL, EVIL: EVIL });
        let ccc = json!({ "current_provider": EVIL, "providers": { "evil": { "env": env }, EVIL: { "env": env } },
                          EVIL: EVIL });
        put(&self.path("home/.claude/ccc.json"), ccc.to_string());
        let settings =
            json!({ "env": { "ANTHROPIC_BASE_URL": EVIL, EVIL: EVIL }, "disableAllHooks": true, EVIL: EVIL });
        put(&self.path("home/.claude/settings.json"), settings.to_string());
        let round = json!({ "time": EVIL, "round": 1, "outcome": "block", "feedback": EVIL,
                            "evidence": [{ "name": EVIL, "result": EVIL }] });
        put(&self.path("home/.claude/ccc/supervisor-s1-audit.jsonl"), format!("{round}\n"));
    }
}
