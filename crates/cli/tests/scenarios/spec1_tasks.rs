//! Document 1, features 3, 4, 7 and 8: unfinished tasks, the limit of length, and the start of a session.
//!
//! `buildPendingTasksMessage` (feature 7) is seen through the two hooks that use it: `pre-compact` shows its
//! text under the plain header, `on-start` under the one of an interrupted session.

use std::fs;

use serde_json::{Value, json};

use crate::common::{put, put_folder_for_file, put_link_loop};
use crate::support::{Answer, Session, assert_has, assert_keeps, assert_lacks, units};

const REBUILD: &str = "→ 請使用 TaskCreate 重建以上任務的 TaskList，然後繼續執行。";
const SECTION: &str = "未完成任務";
const PLAIN_HEADER: &str = "📋 **未完成任務**";
const INTERRUPTED_HEADER: &str = "📋 **未完成任務（上次 session 中斷）**";
const CUT: &str = "... (已截斷，完整狀態請查看 workflow.json)";
const MIXED: &str = "\
# Tasks

- [x] read the code
- [ ] write the parser
- [x] draw the plan
- [ ] test the parser
- [ ] tell the user
";
const ALL_DONE: &str = "- [x] one\n- [x] two\n";

fn running() -> Session {
    Session::new().workflow("standard").completed(&["PLAN", "ARCH", "TEST"]).current("DEV")
}

fn listed(message: &str) -> Vec<&str> {
    message.lines().map(str::trim).filter(|line| line.starts_with("- [ ] ")).collect()
}

fn unchecked(count: usize) -> String {
    (1..=count).fold(String::new(), |list, n| format!("{list}- [ ] task {n}\n"))
}

/// Every way in which reading the specs can fail with something other than "there is nothing".
fn broken_specs() -> [Session; 3] {
    let [looping, not_a_folder, not_a_file] = [running(), running(), running()];
    for session in [&looping, &not_a_folder, &not_a_file] {
        session.begin_feature("my-feature");
    }
    fs::remove_dir_all(looping.context.project().join("specs")).unwrap();
    put_link_loop(&looping.context.project().join("specs"));
    fs::remove_dir_all(not_a_folder.in_progress()).unwrap();
    put(&not_a_folder.in_progress(), "a file, not a folder");
    put_folder_for_file(&not_a_file.in_progress().join("my-feature/tasks.md"));
    [looping, not_a_folder, not_a_file]
}

#[test]
fn s1_3_1_unfinished_tasks_are_listed() {
    let message = running().task_file("my-feature", MIXED).compact().system_message();
    assert_has(&message, &[SECTION, "Feature：my-feature（2/5 完成）", REBUILD]);
    assert_eq!(listed(&message), ["- [ ] write the parser", "- [ ] test the parser", "- [ ] tell the user"]);
}

#[test]
fn s1_3_2_more_than_five_tasks_are_counted() {
    let message = running().task_file("my-feature", &unchecked(8)).compact().system_message();
    assert_eq!(listed(&message), unchecked(5).lines().collect::<Vec<_>>());
    assert_has(&message, &["... 還有 3 個", "（0/8 完成）"]);

    let exactly_five = running().task_file("my-feature", &unchecked(5)).compact().system_message();
    assert_eq!(listed(&exactly_five).len(), 5);
    assert_lacks(&exactly_five, &["還有"]);
}

#[test]
fn s1_3_3_finished_tasks_are_not_listed() {
    let message = running().task_file("my-feature", ALL_DONE).compact().system_message();
    assert_has(&message, &["工作流：standard"]);
    assert_lacks(&message, &[SECTION]);
}

#[test]
fn s1_3_4_no_feature_no_list() {
    let session = running();
    fs::create_dir_all(session.in_progress()).unwrap();
    let message = session.compact().system_message();
    assert_has(&message, &["工作流：standard"]);
    assert_lacks(&message, &[SECTION]);
}

#[test]
fn s1_3_5_unreadable_specs_are_skipped() {
    for session in broken_specs() {
        let message = session.compact().system_message();
        assert_has(&message, &["工作流：standard"]);
        assert_lacks(&message, &[SECTION]);
    }
}

fn message_with_task(task: &str) -> String {
    running().task_file("my-feature", &format!("- [ ] {task}\n")).compact().system_message()
}

/// A task that makes the whole message `length` units long, and that message before any cutting.
fn message_of(length: usize) -> (String, String) {
    let shortest = message_with_task("x");
    let task = "x".repeat(length - units(&shortest) + 1);
    let whole = shortest.replacen("- [ ] x", &format!("- [ ] {task}"), 1);
    assert_eq!(units(&whole), length);
    (task, whole)
}

#[test]
fn s1_4_1_a_message_within_the_limit_is_whole() {
    for length in [500, 1999, 2000] {
        let (task, whole) = message_of(length);
        let message = message_with_task(&task);
        assert_eq!(message, whole);
        assert_lacks(&message, &["已截斷"]);
    }
}

/// What is kept is the beginning; the guide, which makes the model go on, may be saved from the cut.
#[test]
fn s1_4_2_a_longer_message_is_cut_with_a_note() {
    for length in [2001, 60_000] {
        let (task, whole) = message_of(length);
        let message = message_with_task(&task);
        assert!((1900..=2000).contains(&units(&message)), "{} units", units(&message));
        let kept = message.strip_suffix(CUT).expect("no note at the end").trim_end();
        let guide = whole.lines().next_back().unwrap();
        let kept = kept.strip_suffix(guide).unwrap_or(kept).trim_end();
        assert!(whole.starts_with(kept), "what is kept is not the beginning of the message");
    }
}

/// A character of two UTF-16 units is never halved, wherever the limit falls.
#[test]
fn s1_4_2_a_cut_keeps_characters_whole() {
    for shift in ["", "x"] {
        let tasks = format!("- [ ] {shift}{}\n", "🎵".repeat(300)).repeat(8);
        let message = running().task_file("my-feature", &tasks).compact().system_message();
        assert!(units(&message) <= 2000);
        assert!(message.ends_with(CUT));
        assert_lacks(&message, &["\u{fffd}"]);
    }
}

#[test]
fn s1_7_1_the_shared_text_is_formatted() {
    let message = running().task_file("my-feature", MIXED).compact().system_message();
    assert_has(&message, &[PLAIN_HEADER, "Feature：my-feature（2/5 完成）"]);
    assert_eq!(listed(&message).len(), 3);
}

#[test]
fn s1_7_2_no_feature_gives_no_text() {
    assert_lacks(&running().compact().system_message(), &[SECTION]);
    assert_eq!(Session::new().start().model_context(), "");
}

#[test]
fn s1_7_3_finished_tasks_give_no_text() {
    let done = || Session::new().task_file("my-feature", ALL_DONE);
    assert_eq!(done().start().model_context(), "");
    let message = done().workflow("quick").compact().system_message();
    assert_lacks(&message, &[SECTION]);
}

#[test]
fn s1_7_4_unreadable_specs_give_no_text() {
    for session in broken_specs() {
        let output = session.start();
        assert_lacks(&output.model_context(), &[SECTION]);
    }
}

/// The text of the specification goes to the model, which is who can act on it; the user sees one line.
#[test]
fn s1_8_1_a_session_starts_with_the_unfinished_tasks() {
    let output = Session::new().task_file("my-feature", &unchecked(3)).start();
    let shown = output.system_message();
    assert_has(&shown, &["my-feature", "0/3", "/ot:auto"]);
    assert_eq!(shown.lines().count(), 1, "{shown}");
    let message = output.model_context();
    let lines: Vec<_> = message.lines().filter(|line| !line.trim().is_empty()).collect();
    let expected = [
        INTERRUPTED_HEADER,
        "Feature：my-feature（0/3 完成）",
        "- [ ] task 1",
        "- [ ] task 2",
        "- [ ] task 3",
        REBUILD,
    ];
    assert_eq!(lines[..expected.len()], expected);
    // A question in a new session is not a reason to take up old work.
    assert_has(lines[expected.len()], &["只有使用者要求"]);
}

#[test]
fn s1_8_2_a_session_without_a_feature_has_no_message() {
    let session = Session::new();
    fs::create_dir_all(session.in_progress()).unwrap();
    let output = session.start();
    assert_lacks(&output.system_message(), &[SECTION]);
    assert_eq!(output.model_context(), "");
}

#[test]
fn s1_8_3_the_feature_name_is_still_synchronised() {
    let session = running().set("featureName", &Value::Null).task_file("my-feature", MIXED);
    let before = session.state_on_disk();
    session.start().answer();
    let mut expected = before;
    expected["featureName"] = json!("my-feature");
    assert_keeps(&session.state_on_disk(), &expected);
}
