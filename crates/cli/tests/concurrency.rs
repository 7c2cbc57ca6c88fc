//! Many hooks of one session at once: every update is there afterwards, and every line is whole. Several sessions in one
//! project: none takes what another works on. Locks whose holder is killed or stopped: nobody waits for them for ever.
//! `cargo xtask proof crowd` does the same with many more processes.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::disallowed_methods,
    reason = "a panic is the failure report of a test, and it prepares its files without the store it is testing"
)]

mod common;

use std::fs::{self, File, TryLockError};
use std::io::{ErrorKind, PipeReader, Read, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, Stdio};
use std::thread;
use std::time::Duration;

use common::TestContext;
use rustix::fs::{OFlags, fcntl_setfl};
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

    /// The workflow has a seal, the copy is the same, and nobody took one of the hooks for another program.
    fn assert_sealed(&self) {
        let text = fs::read_to_string(self.session().join("workflow.json")).unwrap();
        assert!(text.contains("\"seal\": \""), "{text}");
        assert_eq!(fs::read_to_string(self.session().join("workflow.sealed.json")).unwrap(), text);
        let timeline = self.lines("timeline.jsonl");
        assert!(!timeline.iter().any(|event| event["reason"] == "state-edited"), "{timeline:?}");
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
    fixture.assert_sealed();
}

/// Hooks that are killed at any moment leave a state that is ours: the next ones find no change by another program.
#[test]
fn killed_hooks_leave_a_state_of_ours() {
    let fixture = Fixture::new();
    fixture.put_workflow(&quick_workflow());
    let project = fixture.project();
    for round in 0..20 {
        let start =
            |n: usize| fixture.start("pre-task", &delegation(&project, "tester", &format!("{round}-{n}")));
        let mut children: Vec<_> = (0..8).map(start).collect();
        // The later a hook was started, the sooner it is killed: they are at every point of their work.
        for child in children.iter_mut().rev().step_by(2) {
            child.kill().unwrap();
        }
        for child in &mut children {
            child.wait().unwrap();
        }
    }
    hook(&fixture, "s1", "pre-task", &delegation(&project, "tester", "last"));
    fixture.assert_sealed();
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

fn report(agent: &str, id: &str, verdict: &str) -> Value {
    let message = format!("done\n<!-- VERDICT: {{\"result\":\"{verdict}\"}} -->");
    json!({"agent_id": id, "agent_type": format!("ot:{agent}"), "last_assistant_message": message})
}

/// A session whose tests have failed once and run again: its next events take every lock that there is.
fn with_running_tester() -> Fixture {
    let fixture = Fixture::new();
    hook(&fixture, "s1", "on-start", &json!({"source": "startup"}));
    run_in_session(&fixture, "s1", &["init", "quick", "--feature", "slow-thing"]);
    for (agent, id, verdict) in
        [("developer", "d1", "PASS"), ("tester", "t1", "FAIL"), ("developer", "d2", "PASS")]
    {
        hook(&fixture, "s1", "pre-task", &delegation(&fixture.project(), agent, id));
        if agent == "developer" {
            fixture.context.change_project();
        }
        hook(&fixture, "s1", "on-agent-stop", &report(agent, id, verdict));
    }
    hook(&fixture, "s1", "pre-task", &delegation(&fixture.project(), "tester", "t2"));
    fixture
}

/// Starts a hook that counts a compaction and cannot go on, because nobody reads its answer. It holds the session's lock.
fn start_blocked_hook(fixture: &Fixture) -> (Child, PipeReader) {
    let (answer, mut full) = std::io::pipe().unwrap();
    fcntl_setfl(&full, OFlags::NONBLOCK).unwrap();
    while full.write(&[b' '; 4096]).map_err(|error| error.kind()) != Err(ErrorKind::WouldBlock) {}
    fcntl_setfl(&full, OFlags::empty()).unwrap();
    let mut command = fixture.context.command(&["hook", "pre-compact"]);
    let mut child = command.stdin(Stdio::piped()).stdout(full).spawn().unwrap();
    let payload = json!({"session_id": "s1", "cwd": fixture.project(), "trigger": "auto"});
    child.stdin.take().unwrap().write_all(payload.to_string().as_bytes()).unwrap();
    let lock = fixture.session().join(".lock");
    while !matches!(File::open(&lock).unwrap().try_lock(), Err(TryLockError::WouldBlock)) {
        assert!(child.try_wait().unwrap().is_none(), "the hook has ended without its answer");
        thread::sleep(Duration::from_millis(5));
    }
    (child, answer)
}

fn compactions(fixture: &Fixture) -> Value {
    let text = fs::read(fixture.session().join("compact-count.json")).unwrap_or(b"{\"count\":0}".to_vec());
    serde_json::from_slice::<Value>(&text).unwrap()["count"].clone()
}

/// Runs hooks at the same time, with the limits that users have. Each must give its answer, whatever it could not do.
fn answer_within_limits(fixture: &Fixture, hooks: &[(&str, Value)]) {
    thread::scope(|scope| {
        for (name, fields) in hooks {
            scope.spawn(move || {
                let mut payload = json!({"session_id": "s1", "cwd": fixture.project()});
                payload.as_object_mut().unwrap().extend(fields.as_object().unwrap().clone());
                let call = fixture.context.hook_call(name).with_real_limits();
                let output = call.run(payload.to_string());
                assert_eq!(output.code, Some(0), "{name}");
                assert!(serde_json::from_str::<Value>(&output.stdout).is_ok(), "{name}: {}", output.stdout);
            });
        }
    });
}

#[test]
fn the_lock_of_a_killed_hook_is_free() {
    let fixture = with_running_tester();
    let (mut holder, _answer) = start_blocked_hook(&fixture);
    holder.kill().unwrap();
    holder.wait().unwrap();
    assert_eq!(compactions(&fixture), 0);
    hook(&fixture, "s1", "pre-compact", &json!({"trigger": "auto"}));
    assert_eq!(compactions(&fixture), 1);
}

/// The order of events decides, not the time: hooks come to their end while the lock is still held.
#[test]
fn no_hook_waits_for_ever_for_a_hook_that_does_not_go_on() {
    let fixture = with_running_tester();
    let (mut holder, mut answer) = start_blocked_hook(&fixture);
    let mut not_launched = delegation(&fixture.project(), "tester", "t2");
    not_launched["error"] = json!("the agent could not be launched");
    let failed = json!({"tool_name": "Bash", "tool_input": {"command": "make"}, "error": "Exit code 1\nno"});
    let hooks = [
        ("on-start", json!({"source": "resume", "transcript_path": "/nonexistent/elsewhere.jsonl"})),
        ("on-submit", json!({"prompt": "[workflow:quick] go"})),
        ("pre-compact", json!({"trigger": "manual"})),
        ("pre-task", delegation(&fixture.project(), "tester", "t3")),
        ("on-agent-start", json!({"agent_id": "x", "agent_type": "ot:tester"})),
        ("on-agent-stop", report("tester", "t2", "PASS")),
        ("post-use-failure", not_launched),
        ("post-use-failure", failed),
        ("on-stop", json!({"stop_hook_active": false, "background_tasks": []})),
        ("on-session-end", json!({"reason": "other"})),
    ];
    answer_within_limits(&fixture, &hooks);
    assert!(holder.try_wait().unwrap().is_none());

    // It goes on in the end, and only its own update was made.
    let mut text = String::new();
    answer.read_to_string(&mut text).unwrap();
    assert!(holder.wait().unwrap().success());
    assert_eq!(compactions(&fixture), 1);
    hook(&fixture, "s1", "pre-compact", &json!({"trigger": "auto"}));
    assert_eq!(compactions(&fixture), 2);
}

#[test]
fn no_hook_waits_for_ever_for_the_locks_of_the_home_the_project_and_the_feature() {
    let fixture = with_running_tester();
    let home = fixture.context.state();
    let mut locks = vec![home.join(".lock"), fixture.project().join("specs/features/in-progress/slow-thing")];
    locks.extend(
        fs::read_dir(home.join("projects")).unwrap().map(|entry| entry.unwrap().path().join(".lock")),
    );
    let held: Vec<File> = locks.iter().map(|path| File::open(path).unwrap()).collect();
    assert!(held.len() > 2 && held.iter().all(|file| file.try_lock().is_ok()), "{locks:?}");
    // The report ticks a box of the feature and contradicts a lesson. The session that starts replaces the current one.
    let hooks = [
        ("on-agent-stop", report("tester", "t2", "PASS")),
        ("on-start", json!({"session_id": "another", "source": "startup"})),
        ("on-session-end", json!({"reason": "other"})),
    ];
    answer_within_limits(&fixture, &hooks);
    drop(held);
    let workflow = fixture.workflow();
    assert_eq!(workflow["stages"]["TEST"]["result"], "pass");
}
