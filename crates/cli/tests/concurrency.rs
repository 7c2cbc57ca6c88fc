//! Many hooks of one session at once: every update is there afterwards, and every line is whole. And several sessions
//! in one project: none takes what another works on.

#![allow(clippy::unwrap_used, reason = "a panic is the failure report of a test")]

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use serde_json::{Value, json};

const AT_ONCE: usize = 64;

struct Place {
    dir: tempfile::TempDir,
}

impl Place {
    fn new() -> Self {
        let place = Self { dir: tempfile::tempdir().unwrap() };
        fs::create_dir_all(place.session()).unwrap();
        fs::create_dir_all(place.project()).unwrap();
        place
    }

    fn session(&self) -> PathBuf {
        self.dir.path().join("home/sessions/s1")
    }

    fn project(&self) -> PathBuf {
        self.dir.path().join("project")
    }

    fn put_workflow(&self, workflow: &Value) {
        let mut file = fs::File::create(self.session().join("workflow.json")).unwrap();
        file.write_all(workflow.to_string().as_bytes()).unwrap();
    }

    fn workflow(&self) -> Value {
        serde_json::from_slice(&fs::read(self.session().join("workflow.json")).unwrap()).unwrap()
    }

    fn start(&self, hook: &str, payload: &Value) -> Child {
        let mut child = Command::new(env!("CARGO_BIN_EXE_overtone"))
            .args(["hook", hook])
            .env_clear()
            .env("OVERTONE_NO_DASHBOARD", "1")
            .env("OVERTONE_TEST_PATIENCE", "600")
            .env("OVERTONE_HOME", self.dir.path().join("home"))
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
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
    let place = Place::new();
    place.put_workflow(&quick_workflow());
    let project = place.project();
    let calls = (0..AT_ONCE).map(|n| delegation(&project, "tester", &format!("call-{n}")));
    let answers = place.all_at_once("pre-task", calls);
    assert!(answers.iter().all(|answer| answer["hookSpecificOutput"]["permissionDecision"] == "allow"));
    let workflow = place.workflow();
    let agents = workflow["activeAgents"].as_object().unwrap();
    let mut seen: Vec<_> =
        agents.values().map(|agent| agent["toolUseId"].as_str().unwrap().to_owned()).collect();
    seen.sort();
    seen.dedup();
    assert_eq!(seen.len(), AT_ONCE);
    assert_eq!(workflow["stages"]["TEST"]["attempts"], AT_ONCE);
    let delegated = place.lines("timeline.jsonl").iter().filter(|e| e["type"] == "agent:delegate").count();
    assert_eq!(delegated, AT_ONCE);
}

#[test]
fn review_and_test_launched_together_are_both_let_through() {
    for _ in 0..20 {
        let place = Place::new();
        place.put_workflow(&quick_workflow());
        let project = place.project();
        let calls = ["code-reviewer", "tester"].into_iter().map(|agent| delegation(&project, agent, agent));
        let answers = place.all_at_once("pre-task", calls);
        assert!(
            answers.iter().all(|answer| answer["hookSpecificOutput"]["permissionDecision"] == "allow"),
            "{answers:?}"
        );
        let reports = ["code-reviewer", "tester"].into_iter().map(|agent| {
            json!({"session_id": "s1", "cwd": project, "agent_id": agent, "agent_type": format!("ot:{agent}"),
                   "last_assistant_message": "<!-- VERDICT: {\"result\":\"PASS\"} -->"})
        });
        place.all_at_once("on-agent-stop", reports);
        let workflow = place.workflow();
        assert_eq!(workflow["stages"]["REVIEW"]["result"], "pass");
        assert_eq!(workflow["stages"]["TEST"]["result"], "pass");
        assert_eq!(workflow["activeAgents"], json!({}));
        let converged =
            place.lines("timeline.jsonl").iter().filter(|e| e["type"] == "parallel:converge").count();
        assert_eq!(converged, 1);
    }
}

#[test]
fn no_event_and_no_observation_is_lost() {
    let place = Place::new();
    let project = place.project();
    let failures = (0..AT_ONCE).map(|n| {
        json!({"session_id": "s1", "cwd": project, "tool_name": "Bash", "tool_input": {"command": "npm test"},
               "error": format!("Exit code 1\nround {n}"), "is_interrupt": false})
    });
    place.all_at_once("post-use-failure", failures);
    assert_eq!(place.lines("timeline.jsonl").len(), AT_ONCE);
    assert_eq!(place.lines("observations.jsonl").len(), AT_ONCE);
    let projects = place.dir.path().join("home/projects");
    let memory = fs::read_dir(projects).unwrap().next().unwrap().unwrap().path().join("instincts");
    let lesson =
        fs::read_dir(memory).unwrap().map(|e| e.unwrap().path()).find(|p| p.extension().is_some()).unwrap();
    let lesson: Value = serde_json::from_slice(&fs::read(lesson).unwrap()).unwrap();
    assert_eq!(lesson["count"], AT_ONCE);
}

/// Runs `overtone …` in a session of the place.
fn command(place: &Place, session: &str, arguments: &[&str]) {
    let status = Command::new(env!("CARGO_BIN_EXE_overtone"))
        .args(arguments)
        .current_dir(place.project())
        .env_clear()
        .env("OVERTONE_HOME", place.dir.path().join("home"))
        .env("OVERTONE_SESSION_ID", session)
        .env("OVERTONE_TEST_PATIENCE", "600")
        .stdout(Stdio::null())
        .status();
    assert!(status.unwrap().success(), "{arguments:?}");
}

fn hook(place: &Place, session: &str, name: &str, fields: &Value) {
    let mut payload = json!({"session_id": session, "cwd": place.project()});
    payload.as_object_mut().unwrap().extend(fields.as_object().unwrap().clone());
    place.all_at_once(name, [payload].into_iter());
}

fn feature_of(place: &Place, session: &str) -> Value {
    let path = place.session().with_file_name(session).join("workflow.json");
    let workflow: Value = serde_json::from_slice(&fs::read(path).unwrap()).unwrap();
    workflow["featureName"].clone()
}

#[test]
fn a_resumed_session_takes_no_feature_that_another_session_works_on() {
    let place = Place::new();
    for session in ["owner", "guest"] {
        hook(&place, session, "on-start", &json!({"source": "startup"}));
    }
    command(&place, "owner", &["init", "quick", "--feature", "login"]);
    command(&place, "guest", &["init", "single"]);
    hook(&place, "guest", "on-start", &json!({"source": "resume"}));
    assert_eq!((feature_of(&place, "guest"), feature_of(&place, "owner")), (Value::Null, json!("login")));

    // Left behind by a session that has ended, it is there for the taking.
    hook(&place, "owner", "on-session-end", &json!({"reason": "other"}));
    hook(&place, "guest", "on-start", &json!({"source": "resume"}));
    assert_eq!(feature_of(&place, "guest"), json!("login"));
}
