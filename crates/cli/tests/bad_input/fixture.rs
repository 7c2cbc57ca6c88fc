//! A home with something to lose: a session in the middle of its work, another session, a project.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use overtone_core::registry::Hook;
use serde_json::{Value, json};

use crate::common::{HookCall, Output, TestContext, put};

pub(crate) const ID: &str = "session-in-the-middle";

const TIMELINE: &str = "{\"ts\":\"2026-02-23T14:00:00.000Z\",\"type\":\"workflow:start\",\"category\":\"workflow\",\
                        \"label\":\"工作流啟動\"}\n";
const OBSERVATION: &str = "{\"ts\":\"2026-02-23T14:00:00.000Z\",\"type\":\"error_resolutions\"}\n";

#[derive(Debug)]
pub(crate) struct Fixture {
    pub(crate) context: TestContext,
    before: Snapshot,
}

/// Every path below a folder with what is there.
type Snapshot = BTreeMap<PathBuf, Entry>;

#[derive(Debug, PartialEq, Eq)]
enum Entry {
    Folder,
    File(Vec<u8>),
    Link(PathBuf),
}

impl Fixture {
    pub(crate) fn new() -> Self {
        Self::changed(|_| ())
    }

    /// With one thing made wrong before anything runs.
    pub(crate) fn changed(change: impl FnOnce(&TestContext)) -> Self {
        Self::in_context(TestContext::for_hooks(), change)
    }

    pub(crate) fn in_context(context: TestContext, change: impl FnOnce(&TestContext)) -> Self {
        fill(&context, &context.state());
        change(&context);
        let before = snapshot(context.root());
        Self { context, before }
    }

    pub(crate) fn file(&self, name: &str) -> PathBuf {
        self.context.session_dir(ID).join(name)
    }

    pub(crate) fn call(&self, hook: Hook) -> HookCall {
        self.context.hook_call(hook.name())
    }

    /// Runs a hook with an event that is in order.
    pub(crate) fn run(&self, hook: Hook) -> Output {
        self.call(hook).run(self.event(hook).to_string())
    }

    /// An event as the client sends it, on which the hook acts if it needs the session for that. The hooks that
    /// need no session are given something they have no opinion on.
    pub(crate) fn event(&self, hook: Hook) -> Value {
        let mut event = json!({
            "session_id": ID,
            "transcript_path": self.context.root().join("transcript.jsonl"),
            "cwd": self.context.project(),
            "hook_event_name": hook.event(),
        });
        event.as_object_mut().unwrap().extend(fields(hook).as_object().unwrap().clone());
        event
    }

    /// Nothing outside the state folder was touched.
    #[track_caller]
    pub(crate) fn assert_outside_untouched(&self) {
        let state = self.context.state();
        let outside = |all: &Snapshot| -> Vec<_> {
            all.iter()
                .filter(|(path, _)| !path.starts_with(&state))
                .map(|(path, entry)| format!("{} {entry:?}", path.display()))
                .collect()
        };
        assert_eq!(outside(&snapshot(self.context.root())), outside(&self.before));
    }

    /// Nothing outside was touched, and inside everything is still there, byte for byte; no session was added.
    #[track_caller]
    pub(crate) fn assert_untouched(&self) {
        self.assert_outside_untouched();
        let after = snapshot(self.context.root());
        for (path, entry) in &self.before {
            assert_eq!(after.get(path), Some(entry), "{}", path.display());
        }
        let sessions = self.context.state().join("sessions");
        for path in after.keys().filter(|path| path.parent() == Some(&sessions)) {
            assert!(self.before.contains_key(path), "{} was added", path.display());
        }
    }

    /// Nothing outside was touched, records only grew, and each state file is still whole.
    #[track_caller]
    pub(crate) fn assert_nothing_lost(&self) {
        self.assert_outside_untouched();
        let after = snapshot(self.context.root());
        for (path, entry) in &self.before {
            let now = after.get(path).unwrap_or_else(|| panic!("{} is gone", path.display()));
            let (Entry::File(old), Entry::File(new)) = (entry, now) else {
                assert_eq!(now, entry, "{}", path.display());
                continue;
            };
            match path.extension().and_then(|extension| extension.to_str()) {
                Some("jsonl") => assert!(new.starts_with(old), "{} lost lines", path.display()),
                Some("json") if old != new => {
                    let whole: Result<Value, _> = serde_json::from_slice(new);
                    assert!(whole.is_ok_and(|value| value.is_object()), "{} is torn", path.display());
                }
                _ => {}
            }
        }
    }

    /// One file is what it was.
    #[track_caller]
    pub(crate) fn assert_same(&self, path: &Path) {
        assert_eq!(snapshot(path.parent().unwrap()).get(path), self.before.get(path), "{}", path.display());
    }

    pub(crate) fn has_changed(&self) -> bool {
        snapshot(self.context.root()) != self.before
    }

    pub(crate) fn paths(&self) -> Vec<PathBuf> {
        snapshot(self.context.root()).into_keys().collect()
    }
}

/// Runs a check for each hook with a fixture of its own.
pub(crate) fn each_hook(check: impl Fn(Hook)) {
    for hook in Hook::ALL {
        println!("\n##### {}", hook.name());
        check(hook);
    }
}

/// Stderr is empty or ours; a panic that the guard caught is a mistake all the same.
#[track_caller]
pub(crate) fn assert_clean_log(output: &Output) {
    assert!(output.stderr.is_empty() || output.stderr.starts_with("[overtone/"), "{}", output.stderr);
    assert!(!output.stderr.contains("panicked"), "{}", output.stderr);
}

/// Puts the sessions, the configuration and the project in place; `state` is the folder of Overtone.
pub(crate) fn fill(context: &TestContext, state: &Path) {
    let session = state.join("sessions").join(ID);
    put(&session.join("workflow.json"), serde_json::to_vec_pretty(&workflow()).unwrap());
    put(&session.join("timeline.jsonl"), TIMELINE);
    put(&session.join("observations.jsonl"), OBSERVATION);
    put(&session.join("loop.json"), r#"{"iterations":3,"stopped":false,"consecutiveErrors":0}"#);
    put(&state.join("sessions/another-session/workflow.json"), r#"{"sessionId":"another-session"}"#);
    put(&state.join(".current-session-id"), "another-session");
    put(&state.join("config.json"), r#"{"language":"zh-TW"}"#);
    put(&context.project().join("specs/features/in-progress/my-feature/tasks.md"), "- [x] one\n- [ ] two\n");
    put(&context.root().join("transcript.jsonl"), "{}\n");
}

fn workflow() -> Value {
    json!({
        "sessionId": ID,
        "workflowType": "quick",
        "createdAt": "2026-02-23T14:00:00Z",
        "currentStage": "DEV",
        "stages": {
            "DEV": { "status": "active", "result": null },
            "REVIEW": { "status": "pending", "result": null },
            "TEST": { "status": "pending", "result": null, "mode": "verify" },
            "RETRO": { "status": "pending", "result": null },
            "DOCS": { "status": "pending", "result": null },
        },
        "activeAgents": { "developer": { "stage": "DEV", "startedAt": "2026-02-23T14:00:00.000Z" } },
        "failCount": 0,
        "rejectCount": 0,
        "featureName": "my-feature",
    })
}

fn fields(hook: Hook) -> Value {
    let delegation = json!({ "description": "next", "prompt": "do it", "subagent_type": "ot:developer" });
    match hook {
        Hook::OnStart => json!({ "source": "startup" }),
        Hook::OnSessionEnd => json!({ "reason": "clear" }),
        Hook::PreCompact => json!({ "trigger": "auto", "custom_instructions": "" }),
        Hook::OnSubmit => json!({ "prompt": "hello" }),
        Hook::PreTask => json!({ "tool_name": "Task", "tool_input": delegation, "tool_use_id": "toolu_1" }),
        Hook::OnAgentStart => json!({ "agent_id": "agent-1", "agent_type": "ot:planner" }),
        Hook::OnAgentStop => json!({
            "agent_id": "agent-1",
            "agent_type": "ot:developer",
            "last_assistant_message": "all done",
            "stop_hook_active": false,
        }),
        Hook::OnHandback => json!({
            "agent_id": "agent-1",
            "agent_type": "ot:developer",
            "tool_name": "SubagentHandback",
            "tool_input": { "message": "all done" },
            "tool_use_id": "toolu_2",
        }),
        Hook::PostUse => json!({
            "tool_name": "Bash",
            "tool_input": { "command": "npm test" },
            "tool_response": { "stdout": "", "stderr": "error: cannot find module 'left-pad'", "exit_code": 1 },
            "tool_use_id": "toolu_1",
        }),
        Hook::PostUseFailure => json!({
            "tool_name": "Task",
            "tool_input": delegation,
            "tool_use_id": "toolu_1",
            "error": "agent not found",
            "is_interrupt": false,
        }),
        Hook::OnStop => json!({ "stop_hook_active": false }),
        Hook::AllowOwn => json!({ "tool_name": "Skill", "tool_input": { "skill": "other:thing" } }),
        Hook::PreWrite => json!({
            "tool_name": "Write",
            "tool_input": { "file_path": "notes.md", "content": "x" },
            "agent_id": "agent-1",
            "agent_type": "ot:developer",
        }),
        Hook::PreTool => json!({
            "tool_name": "Read",
            "tool_input": { "file_path": "notes.md" },
            "agent_id": "agent-1",
            "agent_type": "ot:developer",
            "tool_use_id": "toolu_1",
        }),
        Hook::PreCommand => json!({ "tool_name": "Bash", "tool_input": { "command": "npm test" } }),
    }
}

fn snapshot(folder: &Path) -> Snapshot {
    let mut all = Snapshot::new();
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let kind = fs::symlink_metadata(&path).unwrap().file_type();
        let entry = if kind.is_symlink() {
            Entry::Link(fs::read_link(&path).unwrap())
        } else if kind.is_dir() {
            all.extend(snapshot(&path));
            Entry::Folder
        } else {
            Entry::File(fs::read(&path).unwrap())
        };
        all.insert(path, entry);
    }
    all
}
