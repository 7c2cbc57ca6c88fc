//! Many hooks of one session at once: every update is there afterwards, and every line is whole. And several sessions
//! in one project: none takes what another works on.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::disallowed_methods,
    reason = "a panic is the failure report of a test, and it prepares its files without the store it is testing"
)]

mod common;

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Child, Stdio};

use common::TestContext;
use serde_json::{Value, json};

const AT_ONCE: usize = 64;

/// A session `s1` and a project for it.
struct Fixture {
    context: TestContext,
}

impl Fixture {
    fn new() -> Self {
        let fixture = Self { context: TestContext::for_hooks() };
        fs::create_dir_all(fixture.session()).unwrap();
        fixture
    }

    fn session(&self) -> PathBuf {
        self.context.session_dir("s1")
    }

    fn project(&self) -> PathBuf {
        self.context.project()
    }

    fn put_workflow(&self, workflow: &Value) {
        let mut file = fs::File::create(self.session().join("workflow.json")).unwrap();
        file.write_all(workflow.to_string().as_bytes()).unwrap();
    }

    fn workflow(&self) -> Value {
        serde_json::from_slice(&fs::read(self.session().join("workflow.json")).unwrap()).unwrap()
    }

    fn start(&self, hook: &str, payload: &Value) -> Child {
        let mut child = self.context.command(&["hook", hook]).stdin(Stdio::piped()).spawn().unwrap();
        child.stdin.take().unwrap().write_all(payload.to_string().as_bytes()).unwrap();
        child
    }

    /// Starts one hook per payload, all before the first is waited for.
    fn all_at_once(&self, hook: &str, payloads: impl Iterator<Item = Value>) -> Vec<Value> {
        let children: Vec<_> = payloads.map(|payload| self.start(hook, &payload)).collect();
        let finished = children.into_iter().map(|child| child.wait_with_output().unwrap());
        finished
            .map(|output| {
                assert!(output.status.success());
                assert_eq!(String::from_utf8_lossy(&output.stderr), "");
                serde_json::from_slice(&output.stdout).unwrap()
            })
            .collect()
    }

    fn lines(&self, file: &str) -> Vec<Value> {
        let text = fs::read_to_string(self.session().join(file)).unwrap();
        text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
    }
}

fn quick_workflow() -> Value {
    json!({
        "sessionId": "s1", "workflowType": "quick", "currentStage": "REVIEW",
        "stages": {
            "DEV": {"status": "completed", "result": "pass"}, "REVIEW": {"status": "pending", "result": null},
            "TEST": {"status": "pending", "result": null}, "RETRO": {"status": "pending", "result": null},
            "DOCS": {"status": "pending", "result": null},
        },
        "activeAgents": {}, "failCount": 0, "rejectCount": 0,
    })
}

fn delegation(project: &Path, agent: &str, call: &str) -> Value {
    json!({
        "session_id": "s1", "cwd": project, "hook_event_name": "PreToolUse", "tool_name": "Agent", "tool_use_id": call,
        "tool_input": {"subagent_type": format!("ot:{agent}"), "description": "d", "prompt": "p"},
    })
}

#[test]
fn no_delegation_is_lost() {
    let fixture = Fixture::new();
    fixture.put_workflow(&quick_workflow());
    let project = fixture.project();
    let calls = (0..AT_ONCE).map(|n| delegation(&project, "tester", &format!("call-{n}")));
    let answers = fixture.all_at_once("pre-task", calls);
    assert!(answers.iter().all(|answer| answer["hookSpecificOutput"]["permissionDecision"] == "allow"));
    let workflow = fixture.workflow();
    let agents = workflow["activeAgents"].as_object().unwrap();
    let mut seen: Vec<_> =
        agents.values().map(|agent| agent["toolUseId"].as_str().unwrap().to_owned()).collect();
    seen.sort();
    seen.dedup();
    assert_eq!(seen.len(), AT_ONCE);
    assert_eq!(workflow["stages"]["TEST"]["attempts"], AT_ONCE);
    let delegated = fixture.lines("timeline.jsonl").iter().filter(|e| e["type"] == "agent:delegate").count();
    assert_eq!(delegated, AT_ONCE);
}

#[test]
fn review_and_test_launched_together_are_both_let_through() {
    for _ in 0..20 {
        let fixture = Fixture::new();
        fixture.put_workflow(&quick_workflow());
        let project = fixture.project();
        let calls = ["code-reviewer", "tester"].into_iter().map(|agent| delegation(&project, agent, agent));
        let answers = fixture.all_at_once("pre-task", calls);
        assert!(
            answers.iter().all(|answer| answer["hookSpecificOutput"]["permissionDecision"] == "allow"),
            "{answers:?}"
        );
        let reports = ["code-reviewer", "tester"].into_iter().map(|agent| {
            json!({"session_id": "s1", "cwd": project, "agent_id": agent, "agent_type": format!("ot:{agent}"),
                   "last_assistant_message": "<!-- VERDICT: {\"result\":\"PASS\"} -->"})
        });
        fixture.all_at_once("on-agent-stop", reports);
        let workflow = fixture.workflow();
        assert_eq!(workflow["stages"]["REVIEW"]["result"], "pass");
        assert_eq!(workflow["stages"]["TEST"]["result"], "pass");
        assert_eq!(workflow["activeAgents"], json!({}));
        let converged =
            fixture.lines("timeline.jsonl").iter().filter(|e| e["type"] == "parallel:converge").count();
        assert_eq!(converged, 1);
    }
}

#[test]
fn no_event_and_no_observation_is_lost() {
    let fixture = Fixture::new();
    let project = fixture.project();
    let failures = (0..AT_ONCE).map(|n| {
        json!({"session_id": "s1", "cwd": project, "tool_name": "Bash", "tool_input": {"command": "npm test"},
               "error": format!("Exit code 1\nround {n}"), "is_interrupt": false})
    });
    fixture.all_at_once("post-use-failure", failures);
    assert_eq!(fixture.lines("timeline.jsonl").len(), AT_ONCE);
    assert_eq!(fixture.lines("observations.jsonl").len(), AT_ONCE);
    let list = fixture.context.command(&["instinct", "list", "--json"]).output();
    let list: Value = serde_json::from_slice(&list.unwrap().stdout).unwrap();
    assert_eq!(list["lessons"][0]["count"], AT_ONCE);
}

/// Runs an `overtone` command in a session.
fn run_in_session(fixture: &Fixture, session: &str, arguments: &[&str]) {
    let mut command = fixture.context.command(arguments);
    let output = command.env("OVERTONE_SESSION_ID", session).output().unwrap();
    assert!(output.status.success(), "{arguments:?}: {output:?}");
}

fn hook(fixture: &Fixture, session: &str, name: &str, fields: &Value) {
    let mut payload = json!({"session_id": session, "cwd": fixture.project()});
    payload.as_object_mut().unwrap().extend(fields.as_object().unwrap().clone());
    fixture.all_at_once(name, [payload].into_iter());
}

fn feature_of(fixture: &Fixture, session: &str) -> Value {
    let path = fixture.session().with_file_name(session).join("workflow.json");
    let workflow: Value = serde_json::from_slice(&fs::read(path).unwrap()).unwrap();
    workflow["featureName"].clone()
}

#[test]
fn a_resumed_session_takes_no_feature_that_another_session_works_on() {
    let fixture = Fixture::new();
    for session in ["owner", "guest"] {
        hook(&fixture, session, "on-start", &json!({"source": "startup"}));
    }
    run_in_session(&fixture, "owner", &["init", "quick", "--feature", "login"]);
    run_in_session(&fixture, "guest", &["init", "single"]);
    hook(&fixture, "guest", "on-start", &json!({"source": "resume"}));
    assert_eq!((feature_of(&fixture, "guest"), feature_of(&fixture, "owner")), (Value::Null, json!("login")));

    // A feature of a session that has ended is free.
    hook(&fixture, "owner", "on-session-end", &json!({"reason": "other"}));
    hook(&fixture, "guest", "on-start", &json!({"source": "resume"}));
    assert_eq!(feature_of(&fixture, "guest"), json!("login"));
}
