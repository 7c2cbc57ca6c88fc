//! Document 1, features 1 and 2: no session, and the summary of the state.

use serde_json::json;

use crate::common::Output;
use crate::support::{Answer, ID, Session, assert_has, assert_lacks};

const HEADER: &str = "[Overtone 狀態恢復（compact 後）]";
const GUIDE: &str = "⛔ 禁止詢問使用者";

fn standard() -> Session {
    Session::new().workflow("standard").completed(&["PLAN", "ARCH"]).current("TEST")
}

/// There is a workflow to report, so silence can only come from the input.
fn compact_with(stdin: &str) -> (Session, Output) {
    let session = standard();
    let output = session.hook_raw("pre-compact", stdin);
    (session, output)
}

#[test]
fn s1_1_1_without_a_session_id_nothing_is_said() {
    let (session, output) = compact_with(r#"{"hook_event_name":"PreCompact","trigger":"auto"}"#);
    output.assert_says_nothing();
    assert!(!output.has_system_message());
    assert!(session.events("session:compact").is_empty());
}

/// The other half of 1.1: each variable of the environment is a source of the id.
#[test]
fn s1_1_1_the_environment_can_name_the_session() {
    for variable in ["CLAUDE_SESSION_ID", "CLAUDE_CODE_SESSION_ID"] {
        let session = standard();
        let event = json!({ "hook_event_name": "PreCompact", "cwd": session.context.project() });
        let output = session.context.hook_call("pre-compact").env(variable, ID).run(event.to_string());
        assert_has(&output.system_message(), &["工作流：standard"]);
    }
}

#[test]
fn s1_1_2_empty_stdin_is_harmless() {
    for stdin in ["", " \n"] {
        let (session, output) = compact_with(stdin);
        output.assert_says_nothing();
        assert!(session.events("session:compact").is_empty());
    }
}

#[test]
fn s1_1_3_malformed_json_is_harmless() {
    let (session, output) = compact_with("{broken");
    output.assert_says_nothing();
    assert!(session.events("session:compact").is_empty());
}

#[test]
fn s1_2_1_a_running_workflow_is_summed_up() {
    let message = standard().compact().system_message();
    assert_eq!(message.lines().next(), Some(HEADER));
    assert_has(&message, &["工作流：standard", "目前階段：🧪 測試"]);
    assert_lacks(&message, &["失敗次數", "拒絕次數"]);

    let bar = message.lines().find(|line| line.contains('⬜')).expect("no progress bar");
    assert_eq!((bar.matches('✅').count(), bar.matches('⬜').count()), (2, 6), "{bar}");
    assert!(bar.rfind('✅') < bar.find('⬜'), "stages out of order: {bar}");

    let end: Vec<_> = message.lines().rev().filter(|line| !line.trim().is_empty()).take(2).collect();
    assert!(end.iter().any(|line| line.contains(GUIDE)), "the guide is not at the end:\n{message}");
}

#[test]
fn s1_2_2_failures_are_counted() {
    let message = standard().set("failCount", &json!(2)).compact().system_message();
    assert_has(&message, &["失敗次數：2/3"]);
    assert_lacks(&message, &["拒絕次數"]);
}

#[test]
fn s1_2_3_rejections_are_counted() {
    let message = standard().set("rejectCount", &json!(1)).compact().system_message();
    assert_lacks(&message, &["失敗次數"]);
    assert_has(&message, &["拒絕次數：1/3"]);
}

#[test]
fn s1_2_4_active_agents_shown() {
    let message = Session::new().workflow("standard").at_work("developer", "DEV").compact().system_message();
    assert_has(&message, &["活躍 Agents：developer（DEV）"]);
}

#[test]
fn s1_2_5_no_active_agent_no_line() {
    let message = standard().set("activeAgents", &json!({})).compact().system_message();
    assert_has(&message, &["工作流：standard"]);
    assert_lacks(&message, &["活躍 Agents"]);
}

#[test]
fn s1_2_6_without_a_workflow_nothing_is_said() {
    let output = Session::new().compact();
    output.assert_says_nothing();
    assert!(!output.has_system_message());
}
