use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::process::Stdio;
use std::time::Duration;

use tempfile::TempDir;

use crate::context::{TestContext, put};

/// A context whose temporary folder can be looked at.
fn with_temporary_folder() -> (TestContext, TempDir) {
    let temporary = TempDir::with_prefix("overtone-demo-test-").unwrap();
    let context = TestContext::for_commands().with_env("TMPDIR", temporary.path().display().to_string());
    (context, temporary)
}

fn entries(folder: &TempDir) -> Vec<String> {
    let names = fs::read_dir(folder.path()).unwrap().map(|entry| entry.unwrap().file_name());
    names.map(|name| name.into_string().unwrap()).collect()
}

#[test]
fn the_whole_demo_runs_and_leaves_nothing_behind() {
    let (context, temporary) = with_temporary_folder();
    let output = context.run("demo").ok();
    let output = output.has(&[
        "(0/8)",
        "🔄📋Plan",
        "🔄🏗️Architecture",
        "🔄🧪Test",
        "🔄💻Development",
        "🔄🔍Review → 🔄🧪Test",
    ]);
    let output =
        output.has(&["🔄🔁Retrospective", "🔄📝Docs", "(8/8)", "PLAN, ARCH must finish first", "❌ 🧪 Test"]);
    let output = output.has(&[
        "DEBUGGER",
        "[Overtone loop 1/",
        "state recovery",
        "_login-page",
        "median",
        "/ot:auto <",
    ]);
    assert!(!output.stdout.contains(['\u{1b}', '\r']), "{}", output.stdout);
    for words in ["⛔", "MUST", "NEVER", "(ot:"] {
        assert!(!output.stdout.contains(words), "{words} in {}", output.stdout);
    }
    assert_eq!(entries(&temporary), [""; 0]);
    assert!(!context.state().exists(), "the user's own state is not touched");
}

#[test]
fn every_language_and_a_foreign_session_do_not_matter() {
    let (context, _temporary) = with_temporary_folder();
    let context =
        context.with_env("CLAUDE_CODE_SESSION_ID", "another").with_env("CLAUDE_PROJECT_DIR", "/nonexistent");
    context.run("demo --fast --lang zh-TW").ok().has(&["示範", "✅📋規劃", "接下來"]);
    context.run("demo --fast --lang zh-CN").ok().has(&["演示", "接下来"]);
    context.run("demo --lang klingon").refused_by_parser();
    assert!(!context.state().exists());
}

#[test]
fn what_is_kept_is_named() {
    let (context, temporary) = with_temporary_folder();
    let output = context.run("demo --keep").ok();
    let kept = output.stdout.lines().find_map(|line| line.strip_prefix("kept: ")).unwrap().to_owned();
    let archive = fs::read_dir(format!("{kept}/login-page/specs/features/archive")).unwrap();
    assert_eq!((archive.count(), entries(&temporary).len()), (1, 1));
}

#[test]
fn nowhere_to_play_is_said() {
    let (context, temporary) = with_temporary_folder();
    let missing = temporary.path().join("missing").display().to_string();
    context.with_env("TMPDIR", &missing).run("demo").fails(&[&missing]);
}

#[test]
fn a_reader_that_leaves_is_no_failure_and_leaves_nothing() {
    let (context, temporary) = with_temporary_folder();
    let mut child = context.command(&["demo"]).spawn().unwrap();
    drop(child.stdout.take());
    assert!(child.wait().unwrap().success());
    assert_eq!(entries(&temporary), [""; 0]);
}

#[test]
fn an_interruption_leaves_nothing() {
    let (context, temporary) = with_temporary_folder();
    let mut child = context.command(&["demo"]).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    while entries(&temporary).is_empty() && child.try_wait().unwrap().is_none() {
        std::thread::sleep(Duration::from_millis(1));
    }
    let sent = std::process::Command::new("kill").args(["-INT", &child.id().to_string()]).status().unwrap();
    let status = child.wait().unwrap();
    // It may have been over before the signal came.
    assert!(!sent.success() || status.success() || status.code().is_none(), "{status}");
    assert_eq!(entries(&temporary), [""; 0]);
}

#[test]
fn the_next_steps_say_that_the_client_is_missing_only_where_it_is() {
    let (context, _temporary) = with_temporary_folder();
    context.create_folders(&["bin"]);
    let folder = context.path("bin");
    let context = context.with_env("PATH", &folder);
    context.run("demo --fast").ok().has(&["claude  — start it in your project (not installed yet: "]);
    let client = folder.join("claude");
    put(&client, "#!/bin/sh\n");
    fs::set_permissions(&client, fs::Permissions::from_mode(0o755)).unwrap();
    context.run("demo --fast").ok().has(&["claude  — start it in your project\n"]);
}
