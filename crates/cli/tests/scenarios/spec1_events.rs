//! Document 1, features 5 and 6: the timeline event, and what happens when anything fails.

use std::fs;

use overtone_core::registry::EventKind;

use crate::common::{put, put_folder_for_file, put_link_loop};
use crate::support::{Answer, Session, is_timestamp};

fn quick() -> Session {
    Session::new().workflow("quick").completed(&["DEV"]).current("REVIEW")
}

#[test]
fn s1_5_1_a_compaction_is_recorded() {
    let session = quick().past_events(&["workflow:start"]);
    assert!(session.compact().has_system_message());

    let events = session.events("session:compact");
    assert_eq!(events.len(), 1);
    assert_eq!(events[0]["workflowType"], "quick");
    assert_eq!(events[0]["currentStage"], "REVIEW");
    assert_eq!(events[0]["category"], "session");
    assert!(is_timestamp(&events[0]["ts"]), "{}", events[0]["ts"]);
    assert_eq!(session.events("workflow:start").len(), 1, "an earlier line is gone");
}

#[test]
fn s1_5_2_the_event_is_in_the_registry() {
    let event = EventKind::from_name("session:compact").expect("未知的 timeline 事件類型");
    assert_eq!((event.label(), event.category()), ("Context 壓縮", "session"));
}

#[test]
fn s1_5_3_without_a_workflow_nothing_is_recorded() {
    for session in [Session::new(), Session::new().past_events(&["session:start"])] {
        session.compact().assert_says_nothing();
        assert!(session.events("session:compact").is_empty());
    }
}

#[test]
fn s1_6_1_a_broken_state_is_no_obstacle() {
    let session = quick();
    put(&session.file("workflow.json"), "{broken");
    session.compact().assert_says_nothing();
    assert_eq!(fs::read(session.file("workflow.json")).unwrap(), b"{broken", "the evidence was overwritten");
}

#[test]
fn s1_6_2_a_failing_timeline_falls_back() {
    let session = quick();
    put_folder_for_file(&session.file("timeline.jsonl"));
    let output = session.compact();
    output.assert_says_nothing();
    output.assert_logged("safeRun]");
}

#[test]
fn s1_6_3_any_failure_falls_back_and_is_logged() {
    let folder = quick();
    put_folder_for_file(&folder.file("workflow.json"));
    let looping = quick();
    fs::remove_file(looping.file("workflow.json")).unwrap();
    put_link_loop(&looping.file("workflow.json"));

    for session in [folder, looping] {
        let output = session.compact();
        output.assert_says_nothing();
        output.assert_logged("safeRun]");
    }
}
