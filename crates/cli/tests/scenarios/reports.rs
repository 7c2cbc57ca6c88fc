//! Reports that come another way than with the event itself, read by the real binary.

use std::fs::{self, File, OpenOptions};
use std::io::{Seek as _, SeekFrom, Write as _};
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::{Value, json};

use crate::common::Output;
use crate::support::{Answer, Session, assert_has, assert_lacks};

/// Nobody reads a file of this size within the lifetime of a test.
const HUGE: u64 = 1 << 38;

const ID: &str = "agent-of-tester";

fn testing() -> Session {
    Session::new().workflow("quick").at_work("tester", "TEST")
}

fn assistant_text(text: &str) -> Value {
    json!({"type": "assistant", "message": {"content": [{"type": "text", "text": text}]}})
}

fn handed_back(text: &str) -> Value {
    let call = json!({"type": "tool_use", "name": "SubagentHandback", "input": {"message": text}});
    json!({"type": "assistant", "message": {"content": [call]}})
}

fn prompt(text: &str) -> Value {
    json!({"type": "user", "message": {"content": text}})
}

fn result() -> Value {
    json!({"type": "user", "message": {"content": [{"type": "tool_result", "content": "delivered"}]}})
}

fn transcript(session: &Session, entries: &[Value]) -> PathBuf {
    let path = session.context.root().join("agent.jsonl");
    let lines: Vec<_> = entries.iter().map(Value::to_string).collect();
    fs::write(&path, lines.join("\n")).unwrap();
    path
}

/// The tester stops without a message.
fn stops_silently(session: &Session, transcript: &Path, message: &Value) -> Output {
    let fields = json!({
        "agent_id": ID, "agent_type": "ot:tester", "stop_hook_active": false,
        "agent_transcript_path": transcript, "last_assistant_message": message,
    });
    session.hook("on-agent-stop", fields)
}

fn test_stage(session: &Session) -> (Value, Value) {
    let stage = session.state_on_disk()["stages"]["TEST"].clone();
    (stage["status"].clone(), stage["result"].clone())
}

fn completed(result: &str) -> (Value, Value) {
    (json!("completed"), json!(result))
}

const FAIL: &str = "2 failed\n<!-- VERDICT: {\"result\":\"FAIL\"} -->";
const PASS: &str = "12 passed\n<!-- VERDICT: {\"result\":\"PASS\"} -->";

#[test]
fn a_report_that_is_only_in_the_transcript_counts() {
    for (last, message) in [
        (assistant_text(FAIL), Value::Null),
        (handed_back(FAIL), Value::Null),
        (assistant_text(FAIL), json!(" \n")),
    ] {
        let session = testing();
        let path = transcript(&session, &[prompt("test it"), assistant_text("I begin"), last, result()]);
        stops_silently(&session, &path, &message);
        assert_eq!(test_stage(&session), completed("fail"));
        let handoff = fs::read_to_string(session.file("handoffs/01-TEST-tester.md")).unwrap();
        assert_has(&handoff, &["2 failed", "result: fail"]);
    }
}

#[test]
fn only_the_end_of_a_huge_transcript_is_read() {
    let session = testing();
    let path = session.context.root().join("agent.jsonl");
    File::create(&path).unwrap().set_len(HUGE).unwrap();
    let mut file = OpenOptions::new().write(true).open(&path).unwrap();
    file.seek(SeekFrom::End(0)).unwrap();
    writeln!(file, "\n{}\n{}", handed_back(FAIL), result()).unwrap();
    stops_silently(&session, &path, &Value::Null);
    assert_eq!(test_stage(&session), completed("fail"));
}

/// The tester goes on after its first report and then ends without a word: that is no second pass.
#[test]
fn a_report_of_an_earlier_run_does_not_count_again() {
    let session = testing();
    let path = transcript(
        &session,
        &[prompt("test it"), handed_back(PASS), result(), prompt("it was changed: test again")],
    );
    let asked = stops_silently(&session, &path, &Value::Null);
    assert_eq!(asked.answer()["decision"], "block");
    assert_eq!(test_stage(&session).0, "active");
    stops_silently(&session, &path, &Value::Null);
    assert_eq!(test_stage(&session), completed("fail"));
}

#[test]
fn a_transcript_that_cannot_be_read_is_no_report() {
    let session = testing();
    let folder = session.context.root().join("folder");
    fs::create_dir(&folder).unwrap();
    let pipe = session.context.root().join("pipe");
    assert!(Command::new("mkfifo").arg(&pipe).status().unwrap().success());
    for path in [&folder, &pipe, Path::new("/nowhere/agent.jsonl"), Path::new("agent.jsonl")] {
        let session = testing();
        let asked = stops_silently(&session, path, &Value::Null);
        assert_eq!(asked.answer()["decision"], "block", "{}", path.display());
        assert_eq!(test_stage(&session).0, "active");
    }
}

#[test]
fn a_tester_that_is_refused_twice_has_failed_and_keeps_its_first_text() {
    let session = testing();
    let hand_back = |text: &str| {
        let fields = json!({
            "agent_id": ID, "agent_type": "ot:tester", "permission_mode": "auto", "tool_name": "SubagentHandback",
            "tool_input": {"message": text},
        });
        session.hook("on-handback", fields)
    };
    assert_eq!(hand_back("全部都看過了").decision().as_deref(), Some("deny"));
    assert_eq!(hand_back("如前所述").decision(), None);
    assert_eq!(test_stage(&session), completed("fail"));
    let handoff = fs::read_to_string(session.file("handoffs/01-TEST-tester.md")).unwrap();
    assert_has(&handoff, &["全部都看過了", "如前所述", "result: fail"]);
    assert_eq!(session.events("agent:complete")[0]["reason"], "no verdict");
}

/// The developer's report comes as the result of the Agent tool, so the developer cannot be asked again; the tasks are
/// noticed nevertheless.
#[test]
fn open_tasks_are_seen_with_a_report_that_comes_as_a_result() {
    let returned = |session: &Session, hook: &str, fields: Value| {
        let output = session.hook(hook, fields);
        assert_lacks(&output.model_context(), &["🎉"]);
        assert_has(&output.model_context(), &["oil the hinge", "ot:developer"]);
    };
    let open = || {
        Session::new()
            .workflow("single")
            .at_work("developer", "DEV")
            .set("featureName", &json!("lock"))
            .set("activeAgents", &json!({"developer": {"stage": "DEV", "toolUseId": "t1", "agentId": "d1"}}))
            .task_file("lock", "## Tasks\n- [ ] oil the hinge\n")
    };
    let session = open();
    returned(
        &session,
        "post-use",
        json!({
            "tool_name": "Agent", "tool_use_id": "t1", "tool_input": {"subagent_type": "ot:developer"},
            "tool_response": {"status": "completed", "agentId": "d1", "content": [{"type": "text", "text": PASS}]},
        }),
    );
    let session = open();
    let notification = format!(
        "<task-notification>\n<task-id>d1</task-id>\n<tool-use-id>t1</tool-use-id>\n<status>completed</status>\n\
         <result>{}</result>\n</task-notification>",
        PASS.replace('<', "&lt;").replace('>', "&gt;")
    );
    returned(&session, "on-submit", json!({ "prompt": notification }));
}

/// The hook on the hand-back itself was not there, or was killed: the Agent tool's result has the report, too.
#[test]
fn a_report_beside_the_agent_tool_s_result_counts_and_its_delivery_is_recorded() {
    let returned = |handback: &str, report: Value| {
        let session = testing();
        let response = json!({
            "status": "completed", "agentId": ID, "handback": handback, "handbackReport": report,
            "content": [{"type": "text", "text": "This agent's report was delivered to you as a message."}],
        });
        let call = json!({
            "tool_name": "Agent", "tool_use_id": "t1", "tool_input": {"subagent_type": "ot:tester"},
            "tool_response": response,
        });
        let context_text = session.hook("post-use", call).model_context();
        (session, context_text)
    };
    let (session, context_text) =
        returned("flagged", json!({"text": PASS, "warning": "SECURITY WARNING: odd"}));
    assert_eq!(test_stage(&session), completed("pass"));
    assert_eq!(session.events("system:warning")[0]["handback"], "flagged");
    assert_has(&context_text, &["安全警告", "ot:retrospective"]);

    // Nothing was delivered, so there is no verdict.
    let (session, context_text) = returned("withheld", Value::Null);
    assert_eq!(test_stage(&session), completed("fail"));
    let noted = session.events("system:warning");
    assert_eq!((&noted[0]["agent"], &noted[0]["handback"]), (&json!("tester"), &json!("withheld")));
    assert_has(&context_text, &["沒有送達", "ot:debugger"]);
}
