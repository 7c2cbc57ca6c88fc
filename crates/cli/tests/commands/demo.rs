use std::fs;
use std::process::Stdio;
use std::time::Duration;

use tempfile::TempDir;

use crate::world::World;

/// A world whose temporary folder can be looked at.
fn world() -> (World, TempDir) {
    let temporary = TempDir::with_prefix("overtone-demo-test-").unwrap();
    let world = World::new().with("TMPDIR", &temporary.path().display().to_string());
    (world, temporary)
}

fn entries(folder: &TempDir) -> Vec<String> {
    let names = fs::read_dir(folder.path()).unwrap().map(|entry| entry.unwrap().file_name());
    names.map(|name| name.into_string().unwrap()).collect()
}

#[test]
fn the_whole_story_is_told_and_leaves_nothing_behind() {
    let (world, temporary) = world();
    let told = world.run("demo").ok();
    let told = told.has(&[
        "(0/8)",
        "🔄📋Plan",
        "🔄🏗️Architecture",
        "🔄🧪Test",
        "🔄💻Development",
        "🔄🔍Review → 🔄🧪Test",
    ]);
    let told =
        told.has(&["🔄🔁Retrospective", "🔄📝Docs", "(8/8)", "PLAN, ARCH must finish first", "❌ 🧪 Test"]);
    let told =
        told.has(&["DEBUGGER", "[Overtone loop 1/", "state recovery", "_login-page", "median", "/ot:auto <"]);
    assert!(!told.stdout.contains(['\u{1b}', '\r']), "{}", told.stdout);
    for words in ["⛔", "MUST", "NEVER", "(ot:"] {
        assert!(!told.stdout.contains(words), "{words} in {}", told.stdout);
    }
    assert_eq!(entries(&temporary), [""; 0]);
    assert!(!world.state().exists(), "the person's own state is not touched");
}

#[test]
fn every_language_and_a_foreign_session_do_not_matter() {
    let (world, _temporary) = world();
    let world = world.with("CLAUDE_CODE_SESSION_ID", "another").with("CLAUDE_PROJECT_DIR", "/nonexistent");
    world.run("demo --fast --lang zh-TW").ok().has(&["示範", "✅📋規劃", "接下來"]);
    world.run("demo --fast --lang zh-CN").ok().has(&["演示", "接下来"]);
    world.run("demo --lang klingon").refused_by_parser();
    assert!(!world.state().exists());
}

#[test]
fn what_is_kept_is_named() {
    let (world, temporary) = world();
    let told = world.run("demo --keep").ok();
    let kept = told.stdout.lines().find_map(|line| line.strip_prefix("kept: ")).unwrap().to_owned();
    let archive = fs::read_dir(format!("{kept}/login-page/specs/features/archive")).unwrap();
    assert_eq!((archive.count(), entries(&temporary).len()), (1, 1));
}

#[test]
fn nowhere_to_play_is_said() {
    let (world, temporary) = world();
    let missing = temporary.path().join("missing").display().to_string();
    world.with("TMPDIR", &missing).run("demo").fails(&[&missing]);
}

#[test]
fn a_reader_that_leaves_is_no_failure_and_leaves_nothing() {
    let (world, temporary) = world();
    let mut child = world.command(&["demo"]).spawn().unwrap();
    drop(child.stdout.take());
    assert!(child.wait().unwrap().success());
    assert_eq!(entries(&temporary), [""; 0]);
}

#[test]
fn an_interruption_leaves_nothing() {
    let (world, temporary) = world();
    let mut child = world.command(&["demo"]).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    while entries(&temporary).is_empty() && child.try_wait().unwrap().is_none() {
        std::thread::sleep(Duration::from_millis(1));
    }
    let sent = std::process::Command::new("kill").args(["-INT", &child.id().to_string()]).status().unwrap();
    let status = child.wait().unwrap();
    // It may have been over before the signal came.
    assert!(!sent.success() || status.success() || status.code().is_none(), "{status}");
    assert_eq!(entries(&temporary), [""; 0]);
}
