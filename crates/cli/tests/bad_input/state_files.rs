//! Files of the session that are broken, in the way, or from another version.

use std::fs;
use std::os::unix::fs::symlink;

use overtone_core::registry::Hook;
use serde_json::Value;

use crate::common::{TestContext, put, put_folder_for_file};
use crate::fixture::{Fixture, ID, assert_clean_log, each_hook};

/// Hooks that have nothing to say without the workflow.
const NEED_THE_WORKFLOW: [Hook; 4] = [Hook::PreCompact, Hook::PreTask, Hook::OnAgentStop, Hook::OnStop];

/// Hooks that fall back when an event cannot be recorded, as the behaviour documents say.
const FALL_BACK: [Hook; 3] = [Hook::PreCompact, Hook::OnSessionEnd, Hook::PostUseFailure];

fn in_session(context: &TestContext, name: &str) -> std::path::PathBuf {
    context.session_dir(ID).join(name)
}

#[track_caller]
fn assert_survives_workflow(hook: Hook, fixture: &Fixture) {
    let output = fixture.run(hook);
    output.answer();
    assert_clean_log(&output);
    if NEED_THE_WORKFLOW.contains(&hook) {
        output.assert_says_nothing();
        output.assert_logged("");
    }
    fixture.assert_nothing_lost();
    fixture.assert_same(&fixture.file("workflow.json"));
}

#[test]
fn a_workflow_that_is_broken() {
    let contents: [&[u8]; 4] = [b"{\"sessionId\":\"session-in-the-mid", b"", b"[]", b"\xff\xfe\x00"];
    for content in contents {
        each_hook(|hook| {
            let fixture = Fixture::changed(|context| put(&in_session(context, "workflow.json"), content));
            assert_survives_workflow(hook, &fixture);
        });
    }
}

#[test]
fn a_folder_in_place_of_the_workflow() {
    each_hook(|hook| {
        let fixture = Fixture::changed(|context| put_folder_for_file(&in_session(context, "workflow.json")));
        assert_survives_workflow(hook, &fixture);
    });
}

/// In an order of its own, with fields, a stage and a kind of number that this version does not know.
const FROM_ANOTHER_VERSION: &str = r#"{
  "zeta": { "b": 1, "a": [1, 2.5, null, "ü"] },
  "rejectCount": 0,
  "stages": {
    "DEV": { "note": "keep me", "result": null, "status": "active", "budget": { "z": 1, "a": 2 } },
    "LAUNCH": { "status": "pending", "crew": ["Ada", "Grace"] },
    "REVIEW": { "status": "pending", "result": null }
  },
  "schemaVersion": 99,
  "workflowType": "quick",
  "serial": 18446744073709551615,
  "activeAgents": { "developer": { "seat": 7, "stage": "DEV", "startedAt": "2026-02-23T14:00:00.000Z" } },
  "currentStage": "DEV",
  "sessionId": "session-in-the-middle",
  "featureName": null,
  "failCount": 0,
  "alpha": false
}"#;

#[test]
fn unknown_fields_and_the_order_of_keys_survive() {
    for hook in [Hook::OnStart, Hook::PreTask, Hook::OnAgentStop] {
        let fixture =
            Fixture::changed(|context| put(&in_session(context, "workflow.json"), FROM_ANOTHER_VERSION));
        fixture.run(hook).answer();
        let before: Value = serde_json::from_str(FROM_ANOTHER_VERSION).unwrap();
        let after: Value = serde_json::from_slice(&fs::read(fixture.file("workflow.json")).unwrap()).unwrap();
        assert_ne!(after, before, "{} was expected to write", hook.name());

        for path in ["", "/stages", "/stages/DEV"] {
            assert_same_order(before.pointer(path).unwrap(), after.pointer(path).unwrap());
        }
        let unknown = [
            "/zeta",
            "/serial",
            "/schemaVersion",
            "/alpha",
            "/stages/LAUNCH",
            "/stages/DEV/note",
            "/stages/DEV/budget",
        ];
        for path in unknown {
            // As text, so that the order inside counts too.
            let text = |value: &Value| value.pointer(path).map(Value::to_string);
            assert_eq!(text(&after), text(&before), "{path} after {}", hook.name());
        }
    }
}

#[track_caller]
fn assert_same_order(before: &Value, after: &Value) {
    let (before, after) = (before.as_object().unwrap(), after.as_object().unwrap());
    let kept: Vec<_> = after.keys().filter(|key| before.contains_key(*key)).collect();
    assert_eq!(kept, before.keys().collect::<Vec<_>>());
}

#[test]
fn a_timeline_that_cannot_be_written() {
    each_hook(|hook| {
        let fixture = Fixture::changed(|context| put_folder_for_file(&in_session(context, "timeline.jsonl")));
        let output = fixture.run(hook);
        output.answer();
        assert_clean_log(&output);
        if FALL_BACK.contains(&hook) {
            output.assert_says_nothing();
        }
        if FALL_BACK.contains(&hook) || matches!(hook, Hook::PreTask | Hook::OnAgentStop) {
            output.assert_logged("");
        }
        fixture.assert_nothing_lost();
    });
}

#[test]
fn observations_that_cannot_be_written() {
    each_hook(|hook| {
        let fixture =
            Fixture::changed(|context| put_folder_for_file(&in_session(context, "observations.jsonl")));
        let output = fixture.run(hook);
        output.answer();
        assert_clean_log(&output);
        if hook == Hook::PostUse {
            output.assert_logged("");
        }
        fixture.assert_nothing_lost();
    });
}

#[test]
fn other_files_that_are_folders_or_folders_that_are_files() {
    let changes: [fn(&TestContext); 5] = [
        |context| put_folder_for_file(&in_session(context, "loop.json")),
        |context| put_folder_for_file(&context.state().join("config.json")),
        |context| put_folder_for_file(&context.state().join(".current-session-id")),
        |context| replace_by_file(&context.state().join("sessions")),
        |context| replace_by_file(&context.state()),
    ];
    for change in changes {
        each_hook(|hook| {
            let fixture = Fixture::changed(change);
            let output = fixture.run(hook);
            output.answer();
            assert_clean_log(&output);
            fixture.assert_nothing_lost();
        });
    }
}

fn replace_by_file(folder: &std::path::Path) {
    fs::remove_dir_all(folder).unwrap();
    put(folder, "a file, not a folder");
}

#[test]
fn a_configuration_that_is_broken() {
    for content in ["{broken", "[]", r#"{"compact":7,"limits":{"failures":"many"},"language":{}}"#] {
        each_hook(|hook| {
            let fixture = Fixture::changed(|context| put(&context.state().join("config.json"), content));
            let output = fixture.run(hook);
            output.answer();
            assert_clean_log(&output);
            if hook == Hook::PreCompact {
                assert!(output.stdout.contains("工作流：quick"), "the defaults should hold");
            }
            fixture.assert_nothing_lost();
            fixture.assert_same(&fixture.context.state().join("config.json"));
        });
    }
}

/// Somebody else's file behind a link is not ours to write in.
#[test]
fn records_that_are_links_to_elsewhere() {
    each_hook(|hook| {
        let fixture = Fixture::changed(|context| {
            put(&context.root().join("victim"), "not yours\n");
            for name in ["timeline.jsonl", "observations.jsonl"] {
                fs::remove_file(in_session(context, name)).unwrap();
                symlink(context.root().join("victim"), in_session(context, name)).unwrap();
            }
        });
        let output = fixture.run(hook);
        output.answer();
        assert_clean_log(&output);
        fixture.assert_outside_untouched();
    });
}
