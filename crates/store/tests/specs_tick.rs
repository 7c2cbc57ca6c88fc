//! Ticking the boxes of stages on a real file system.
#![allow(clippy::unwrap_used, reason = "a panic in a test is the failure report")]
#![allow(clippy::disallowed_methods, reason = "fixtures need no atomic writes")]

use std::fs::{self, Permissions};
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::thread;

use overtone_core::registry::{StageKey, Workflow};
use overtone_store::specs::Specs;
use tempfile::TempDir;

fn project() -> (TempDir, Specs) {
    let dir = TempDir::new().unwrap();
    let specs = Specs::new(dir.path());
    (dir, specs)
}

fn key(text: &str) -> StageKey {
    text.parse().unwrap()
}

fn files(dir: &Path) -> Vec<String> {
    let entries = fs::read_dir(dir).unwrap();
    entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect()
}

/// The `tasks.md` of a feature `a` in progress.
fn tasks_file(dir: &TempDir, text: &[u8]) -> PathBuf {
    let folder = dir.path().join("specs/features/in-progress/a");
    fs::create_dir_all(&folder).unwrap();
    let path = folder.join("tasks.md");
    fs::write(&path, text).unwrap();
    path
}

#[test]
fn a_tick_keeps_bytes_and_mode_and_leaves_no_litter() {
    let (dir, specs) = project();
    let path = tasks_file(&dir, b"\xEF\xBB\xBF## Stages\r\n- [ ] TEST \r\n- [ ] TEST\r\n* [-] DEV: \xFF");
    for mode in [0o640, 0o600] {
        fs::set_permissions(&path, Permissions::from_mode(mode)).unwrap();
        let stage = if mode == 0o640 { "TEST:2" } else { "DEV" };
        assert!(specs.tick_stage("a", key(stage)).unwrap());
        assert!(!specs.tick_stage("a", key(stage)).unwrap(), "only once");
        assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o7777, mode);
    }
    let expected = b"\xEF\xBB\xBF## Stages\r\n- [ ] TEST \r\n- [x] TEST\r\n* [x] DEV: \xFF";
    assert_eq!(fs::read(&path).unwrap(), expected);
    assert_eq!(files(path.parent().unwrap()), ["tasks.md"]);
    assert!(!specs.tick_stage("a", key("DOCS")).unwrap());
}

#[test]
fn ticks_touch_no_other_file() {
    let (dir, specs) = project();
    let text = "## Stages\n- [ ] DEV\n";
    let outside = dir.path().join("outside.md");
    fs::write(&outside, text).unwrap();
    let path = tasks_file(&dir, b"");
    fs::remove_file(&path).unwrap();
    assert!(!specs.tick_stage("a", key("DEV")).unwrap(), "no document");
    symlink(&outside, &path).unwrap();
    assert!(!specs.tick_stage("a", key("DEV")).unwrap(), "a linked document");
    fs::create_dir(dir.path().join("b")).unwrap();
    fs::rename(&outside, dir.path().join("b/tasks.md")).unwrap();
    symlink(dir.path().join("b"), dir.path().join("specs/features/in-progress/b")).unwrap();
    for name in ["b", "../../../b", "gone", ""] {
        assert!(!specs.tick_stage(name, key("DEV")).unwrap(), "{name:?}");
    }
    assert_eq!(fs::read_to_string(dir.path().join("b/tasks.md")).unwrap(), text);
}

#[test]
fn ticks_at_the_same_time_are_all_kept() {
    let (dir, specs) = project();
    let keys: Vec<StageKey> = Workflow::ProductFull.stage_keys().collect();
    let boxes: Vec<_> = keys.iter().map(|key| format!("- [ ] {key}")).collect();
    let text = format!("## Stages\n{}", boxes.join("\n"));
    let path = tasks_file(&dir, text.as_bytes());
    thread::scope(|scope| {
        for key in &keys {
            scope.spawn(|| assert!(specs.tick_stage("a", *key).unwrap()));
        }
    });
    assert_eq!(fs::read_to_string(&path).unwrap(), text.replace("[ ]", "[x]"));
    assert!(specs.active(None).unwrap().unwrap().tasks.unwrap().all_checked());
}

/// How often this process has a folder open.
fn opened(folder: &Path) -> usize {
    let handles = fs::read_dir("/proc/self/fd").unwrap().flatten();
    handles.filter(|handle| fs::read_link(handle.path()).is_ok_and(|path| path == folder)).count()
}

#[test]
fn a_tick_waits_for_another_session_and_an_archived_feature_is_left_alone() {
    let (dir, specs) = project();
    let path = tasks_file(&dir, b"## Stages\n- [ ] DEV\n- [ ] DOCS\n");
    let folder = path.parent().unwrap();
    let other = fs::File::open(folder).unwrap();
    other.lock().unwrap();
    let moved = dir.path().join("specs/features/elsewhere");
    thread::scope(|scope| {
        let tick = scope.spawn(|| specs.tick_stage("a", key("DEV")).unwrap());
        // It has opened the folder and waits for its lock.
        while opened(folder) < 2 {
            assert!(!tick.is_finished());
            thread::yield_now();
        }
        fs::rename(folder, &moved).unwrap();
        tasks_file(&dir, b"## Stages\n- [ ] DEV\n");
        other.unlock().unwrap();
        assert!(!tick.join().unwrap());
    });
    assert!(!fs::read_to_string(moved.join("tasks.md")).unwrap().contains("[x]"));
    assert!(!fs::read_to_string(&path).unwrap().contains("[x]"));
    assert!(specs.tick_stage("a", key("DEV")).unwrap());
}
