//! Document 3, feature 1e: a tool that failed.

use overtone_core::registry::EventKind;
use serde_json::{Value, json};

use crate::common::{Output, put_folder_for_file};
use crate::plugin_files;
use crate::support::{Answer, Session, assert_has, is_timestamp};

fn running() -> Session {
    Session::new().workflow("standard").at_work("developer", "DEV")
}

fn fails(session: &Session, tool: &str, error: &str) -> Output {
    session.hook("post-use-failure", failure(tool, error, false))
}

fn failure(tool: &str, error: &str, interrupted: bool) -> Value {
    json!({
        "tool_name": tool,
        "tool_input": input(tool),
        "tool_use_id": "toolu_1",
        "error": error,
        "is_interrupt": interrupted,
    })
}

fn input(tool: &str) -> Value {
    match tool {
        "Task" | "Agent" => {
            json!({ "description": "x", "prompt": "x", "subagent_type": "ot:unknown-agent" })
        }
        "Bash" => json!({ "command": "npm test" }),
        "Grep" => json!({ "pattern": "(" }),
        _ => json!({ "file_path": "/restricted/path", "content": "x" }),
    }
}

/// The one failure on the timeline.
#[track_caller]
fn recorded(session: &Session) -> Value {
    let events = session.events("tool:failure");
    assert_eq!(events.len(), 1);
    assert_eq!(events[0]["category"], "tool");
    assert_eq!(events[0]["label"], "工具失敗");
    assert!(is_timestamp(&events[0]["ts"]));
    events[0].clone()
}

/// The text stands in `result`, as the document asks, and where the model reads it.
#[track_caller]
fn injected(output: &Output) -> String {
    let text = output.result();
    assert!(!text.is_empty(), "nothing was injected");
    assert_eq!(output.answer()["hookSpecificOutput"]["hookEventName"], "PostToolUseFailure");
    assert_has(&output.model_context(), &[&text]);
    text
}

fn error_observations(session: &Session) -> usize {
    session.observations().iter().filter(|line| line["type"] == "error_resolutions").count()
}

#[test]
fn s3_1e_1_a_failed_delegation_is_recorded_and_told() {
    let error = "agent not found: ot:unknown-agent";
    let session = running();
    let text = injected(&fails(&session, "Task", error));
    assert_has(&text, &["委派失敗", "重試"]);
    let event = recorded(&session);
    assert_eq!(event["toolName"], "Task");
    assert_eq!(event["error"], error);

    // On the wire the tool is called Agent; that is the same failure.
    let session = running();
    assert_eq!(injected(&fails(&session, "Agent", error)), text);
    recorded(&session);
}

#[test]
fn s3_1e_2_a_failed_write_is_recorded_and_told() {
    let session = running();
    let text = injected(&fails(&session, "Write", "permission denied: /restricted/path"));
    assert_has(&text, &["寫入失敗", "路徑", "權限"]);
    assert_eq!(recorded(&session)["toolName"], "Write");
}

#[test]
fn s3_1e_3_a_failed_edit_is_told_like_a_failed_write() {
    let error = "permission denied: /restricted/path";
    let session = running();
    let text = injected(&fails(&session, "Edit", error));
    assert_eq!(recorded(&session)["toolName"], "Edit");
    let of_write = injected(&fails(&running(), "Write", error));
    assert_eq!(text.replace("Edit", "Write"), of_write);
}

#[test]
fn s3_1e_4_a_failed_bash_is_recorded_but_not_told() {
    let session = running();
    let output = fails(&session, "Bash", "Exit code 127\nnpm: command not found");
    assert_eq!(output.result(), "");
    assert!(!output.has_system_message());
    // The main agent of a workflow is kept from working around it.
    assert_has(&output.model_context(), &["[Overtone 錯誤守衛]", "npm", "MUST NOT"]);
    assert_eq!(recorded(&session)["toolName"], "Bash");
    assert_eq!(error_observations(&session), 1);
}

#[test]
fn s3_1e_5_other_tools_are_only_observed() {
    let session = running();
    let output = fails(&session, "Grep", "regex parse error: unclosed group");
    assert_eq!(output.result(), "");
    assert_eq!(error_observations(&session), 1);
    assert!(session.events("tool:failure").is_empty());
}

#[test]
fn s3_1e_6_an_interruption_teaches_nothing() {
    for tool in ["Task", "Write", "Edit", "Bash", "Grep"] {
        let session = running();
        session
            .hook("post-use-failure", failure(tool, "interrupted by the user", true))
            .assert_says_nothing();
        assert!(session.observations().is_empty(), "{tool}");
    }
}

#[test]
fn s3_1e_7_the_event_is_in_the_registry() {
    let event = EventKind::from_name("tool:failure").expect("未知的 timeline 事件類型");
    assert_eq!((event.label(), event.category()), ("工具失敗", "tool"));
}

/// A workflow is there and the tool is a grave one, so that only the input can be the reason for silence.
#[track_caller]
fn assert_does_nothing(stdin: &str) -> Output {
    let session = running();
    let output = session.hook_raw("post-use-failure", stdin);
    output.assert_says_nothing();
    assert!(session.events("tool:failure").is_empty());
    assert!(session.observations().is_empty());
    output
}

#[test]
fn s3_1e_8_without_a_session_id_nothing_happens() {
    let output = assert_does_nothing(&failure("Task", "agent not found", false).to_string());
    assert_eq!(output.stderr, "");
}

#[test]
fn s3_1e_9_malformed_json_is_harmless() {
    assert_does_nothing("{broken");
}

#[test]
fn s3_1e_10_the_hook_is_bound() {
    plugin_files::assert_bound("PostToolUseFailure", "post-use-failure");
}

/// A command that ended badly although the tool itself worked is the other hook's business.
#[test]
fn s3_1e_11_a_bad_exit_code_is_no_tool_failure() {
    let session = running();
    let response = json!({
        "stdout": "",
        "stderr": "error: cannot find module 'left-pad' required by src/index.js",
        "exit_code": 1,
        "interrupted": false,
    });
    let fields = json!({ "tool_name": "Bash", "tool_input": input("Bash"), "tool_response": response });
    session.hook("post-use", fields).answer();
    assert_eq!(error_observations(&session), 1);
    assert!(session.events("tool:failure").is_empty());

    let starts_the_failure_hook =
        |event| plugin_files::commands(event).iter().any(|command| command["args"][1] == "post-use-failure");
    assert!(!starts_the_failure_hook("PostToolUse"));
    assert!(starts_the_failure_hook("PostToolUseFailure"));
}

#[test]
fn s3_1e_12_any_failure_falls_back_and_is_logged() {
    let session = running();
    put_folder_for_file(&session.file("timeline.jsonl"));
    let output = fails(&session, "Task", "agent not found");
    output.assert_says_nothing();
    output.assert_logged("safeRun]");
}

/// The agent at work is known by its id only: which call was its own, another one's result has left open.
fn with_an_unknown_call() -> Session {
    let developer = json!({ "stage": "DEV", "startedAt": "2026-01-02T03:04:05.000Z", "agentId": "a1" });
    running().set("activeAgents", &json!({ "developer": developer }))
}

#[test]
fn s3_1e_1_only_a_failed_delegation_to_its_kind_ends_the_wait_for_an_agent_whose_call_is_unknown() {
    let call = |kind: &str, description: &str| {
        let mut fields = failure("Agent", "agent not found", false);
        fields["tool_input"] = json!({ "description": description, "prompt": "x", "subagent_type": kind });
        fields
    };
    let mut nested = call("ot:developer", "x");
    nested["agent_id"] = json!("a1");
    for other in [call("ot:planner", "x"), call("Explore", "developer"), nested] {
        let session = with_an_unknown_call();
        session.hook("post-use-failure", other).answer();
        assert_eq!(session.state_on_disk()["activeAgents"]["developer"]["agentId"], "a1");
    }
    for own in [call("ot:developer", "x"), call("general-purpose", "developer: add login")] {
        let session = with_an_unknown_call();
        session.hook("post-use-failure", own).answer();
        assert_eq!(session.state_on_disk()["activeAgents"], json!({}));
    }
}
