//! What real clients wrote to our hooks (`tests/golden`, one folder per version), given to the hooks again.
//!
//! The answers are snapshots: a decision about a real payload does not change unnoticed.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::disallowed_methods,
    reason = "a panic is the failure report of a test, and its files need no atomic writes"
)]

mod common;

use std::fs;
use std::path::{Path, PathBuf};

use common::TestContext;
use overtone_core::registry::Hook;
use overtone_store::clock;
use serde_json::{Value, json};

/// What the context of the recording is called in the files.
const ROOT: &str = "/context";
const SESSION: &str = "00000000-0000-4000-8000-000000000001";

fn corpus() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/golden")
}

fn sorted(folder: &Path) -> Vec<PathBuf> {
    let mut paths: Vec<_> = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    paths.sort();
    paths
}

/// The recordings of a folder that belong to one of our hooks. Others are named by their event, such as `07-PreToolUse`:
/// the plugin is not registered for them, they only show what the client would write.
fn recordings(folder: &Path) -> Vec<PathBuf> {
    let is_hook =
        |file: &PathBuf| name(file).split_once('-').is_some_and(|(_, hook)| Hook::from_name(hook).is_some());
    sorted(folder).into_iter().filter(is_hook).collect()
}

fn name(path: &Path) -> String {
    path.file_stem().unwrap().to_string_lossy().into_owned()
}

/// A session in the middle of its work: the developer is on, and nothing is written down twice by another case.
fn in_the_middle() -> TestContext {
    let context = TestContext::for_hooks();
    let now = clock::to_iso(clock::now());
    let pending = json!({"status": "pending", "result": null});
    let workflow = json!({
        "sessionId": SESSION, "workflowType": "quick", "createdAt": now, "currentStage": "DEV",
        "stages": {
            "DEV": {"status": "active", "result": null, "attempts": 1}, "REVIEW": pending, "TEST": pending,
            "RETRO": pending, "DOCS": pending,
        },
        "activeAgents": {"developer": {"stage": "DEV", "startedAt": now}}, "failCount": 0, "rejectCount": 0,
    });
    common::put(&context.session_dir(SESSION).join("workflow.json"), workflow.to_string());
    context
}

/// The answer to one payload, with the folder of this run called as in the files.
fn answer(file: &Path, context: &TestContext) -> Value {
    let payload = fs::read_to_string(file).unwrap().replace(ROOT, context.root().to_str().unwrap());
    let name = name(file);
    let hook = name.split_once('-').unwrap().1;
    let output = context.hook_call(hook).env("CLAUDE_PROJECT_DIR", context.project()).run(payload);
    assert_eq!((output.code, output.stderr.as_str()), (Some(0), ""), "{name}");
    serde_json::from_str(&context.filter_paths(&output.stdout, ROOT)).unwrap()
}

#[test]
fn every_recorded_payload_is_answered_as_before() {
    for version in sorted(&corpus()) {
        let mut answers = serde_json::Map::new();
        for file in recordings(&version) {
            answers.insert(name(&file), answer(&file, &in_the_middle()));
        }
        let version = version.file_name().unwrap().to_string_lossy().into_owned();
        insta::assert_snapshot!(version, format!("{:#}", Value::Object(answers)));
    }
}

#[test]
fn every_pinned_client_was_recorded_with_every_hook() {
    let pinned = include_str!("../../testkit/clients.txt");
    for version in pinned.lines().filter(|line| !line.is_empty() && !line.starts_with('#')) {
        for hook in Hook::ALL.into_iter().filter(|hook| *hook != Hook::OnHandback) {
            assert!(is_recorded(version, hook), "{version} lacks {}", hook.name());
        }
    }
    // Only newer clients have agents hand their reports back, and only in a terminal.
    assert!(is_recorded("2.1.325-interactive", Hook::OnHandback));
}

fn is_recorded(folder: &str, hook: Hook) -> bool {
    let files = sorted(&corpus().join(folder));
    files.iter().any(|file| name(file).split_once('-').is_some_and(|(_, recorded)| recorded == hook.name()))
}

/// A session that has no workflow is not ours: it hears nothing, whatever happens in it.
#[test]
fn a_session_without_a_workflow_hears_nothing_of_the_loop() {
    for file in sorted(&corpus()).iter().flat_map(|version| recordings(version)) {
        let answer = answer(&file, &TestContext::for_hooks());
        assert!(answer["decision"].is_null(), "{}: {answer}", file.display());
        assert_ne!(answer["hookSpecificOutput"]["permissionDecision"], "deny", "{}", file.display());
    }
}
