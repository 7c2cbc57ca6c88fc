//! Document 3, feature 1d: the end of a session.

use std::fs;

use serde_json::{Value, json};

use crate::common::{Output, put_folder_for_file};
use crate::plugin_files;
use crate::support::{ID, Session, assert_keeps, is_timestamp};

fn looping() -> Session {
    Session::new().loop_state(&running_loop()).pointer(ID)
}

fn running_loop() -> Value {
    json!({
        "iterations": 3,
        "stopped": false,
        "consecutiveErrors": 1,
        "startedAt": "2026-02-23T14:00:00.000Z",
        "fromNewerVersion": { "kept": true },
    })
}

fn end(session: &Session, reason: &str) -> Output {
    session.hook("on-session-end", json!({ "reason": reason }))
}

fn loop_on_disk(session: &Session) -> Value {
    serde_json::from_slice(&fs::read(session.file("loop.json")).unwrap()).unwrap()
}

fn pointer_is_clear(session: &Session) -> bool {
    fs::read_to_string(session.pointer_file()).map_or(true, |text| text.trim().is_empty())
}

/// The whole clean-up: one event with the reason, the loop let go, the pointer gone.
#[track_caller]
fn assert_cleans_up(reason: &str) {
    let session = looping();
    end(&session, reason).answer();
    let events = session.events("session:end");
    assert_eq!(events.len(), 1);
    assert_eq!(events[0]["reason"], reason);
    assert!(is_timestamp(&events[0]["ts"]), "{}", events[0]["ts"]);
    assert_eq!(loop_on_disk(&session)["stopped"], true);
    assert!(pointer_is_clear(&session));
}

#[test]
fn s3_1d_1_the_end_is_recorded() {
    assert_cleans_up("prompt_input_exit");
}

#[test]
fn s3_1d_2_the_loop_is_stopped_and_otherwise_kept() {
    let session = looping();
    end(&session, "prompt_input_exit").answer();
    let mut expected = running_loop();
    expected["stopped"] = json!(true);
    assert_keeps(&loop_on_disk(&session), &expected);
}

#[test]
fn s3_1d_3_a_stopped_loop_is_not_ended_twice() {
    let mut stopped = running_loop();
    stopped["stopped"] = json!(true);
    let session = Session::new().loop_state(&stopped).past_events(&["session:end"]);
    let before = fs::read(session.file("loop.json")).unwrap();
    end(&session, "prompt_input_exit").answer();
    assert_eq!(session.events("session:end").len(), 1);
    assert_eq!(fs::read(session.file("loop.json")).unwrap(), before);
}

#[test]
fn s3_1d_4_the_pointer_is_cleared() {
    for content in [ID.to_owned(), format!("{ID}\n")] {
        let session = Session::new().loop_state(&running_loop()).pointer(&content);
        end(&session, "prompt_input_exit").answer();
        assert!(pointer_is_clear(&session), "{content:?}");
    }
}

/// The other half of 1d-4: it holds "the present session's id", so a second terminal's pointer is left alone.
#[test]
fn s3_1d_4_another_sessions_pointer_stays() {
    let session = Session::new().loop_state(&running_loop()).pointer("another-session");
    end(&session, "prompt_input_exit").answer();
    assert_eq!(session.events("session:end").len(), 1);
    assert_eq!(fs::read_to_string(session.pointer_file()).unwrap(), "another-session");
}

#[test]
fn s3_1d_5_clear_cleans_up() {
    assert_cleans_up("clear");
}

#[test]
fn s3_1d_6_logout_cleans_up() {
    assert_cleans_up("logout");
}

/// A session is there to be ended, so that only the input can be the reason for doing nothing.
#[track_caller]
fn assert_does_nothing(stdin: &str) -> Output {
    let session = looping();
    let output = session.hook_raw("on-session-end", stdin);
    output.assert_says_nothing();
    assert!(session.events("session:end").is_empty());
    assert_eq!(loop_on_disk(&session), running_loop());
    assert!(!pointer_is_clear(&session));
    output
}

#[test]
fn s3_1d_7_without_a_session_id_nothing_happens() {
    let output = assert_does_nothing(r#"{"hook_event_name":"SessionEnd","reason":"clear"}"#);
    assert_eq!(output.stderr, "");
}

#[test]
fn s3_1d_8_malformed_json_is_harmless() {
    assert_does_nothing("{broken");
}

#[test]
fn s3_1d_9_without_a_loop_the_rest_is_done() {
    let session = Session::new().workflow("quick").pointer(ID);
    end(&session, "prompt_input_exit").answer();
    assert_eq!(session.events("session:end").len(), 1);
    assert!(!session.file("loop.json").exists());
    assert!(pointer_is_clear(&session));
}

#[test]
fn s3_1d_10_the_hook_is_bound() {
    plugin_files::assert_bound("SessionEnd", "on-session-end");
}

#[test]
fn s3_1d_11_any_failure_falls_back_and_is_logged() {
    for file in ["timeline.jsonl", "loop.json"] {
        let session = looping();
        put_folder_for_file(&session.file(file));
        let output = end(&session, "prompt_input_exit");
        output.assert_says_nothing();
        output.assert_logged("safeRun]");
    }
}
