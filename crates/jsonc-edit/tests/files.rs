//! Replacing the file: links, mode, locks, many editors at once, editors that are killed.

#![allow(clippy::unwrap_used, reason = "a panic is the failure report of a test")]
#![allow(clippy::disallowed_methods, reason = "fixtures need no atomic writes")]

use std::fs;
use std::os::unix::fs::{MetadataExt, PermissionsExt, symlink};
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

use jsonc_edit::{Changed, SettingsError, SettingsErrorKind, SettingsFile};
use serde_json::{Value, json};

fn put(path: &Path, text: &str) {
    fs::write(path, text).unwrap();
}

fn set(path: &Path, key: &str, value: impl Into<Value>) -> Result<Changed, SettingsError> {
    let value = value.into();
    SettingsFile::at(path).edit(|doc| doc.set(&[key], value.clone())).map(|(changed, ())| changed)
}

/// Repeats an edit while it fails because another one is under way. How often that happens depends on the disk.
fn until_not_busy<T>(edit: impl Fn() -> Result<T, SettingsError>) -> T {
    loop {
        match edit() {
            Err(error) if matches!(error.kind, SettingsErrorKind::Busy) => {}
            result => return result.unwrap(),
        }
    }
}

fn names(folder: &Path) -> Vec<String> {
    let mut names: Vec<_> =
        fs::read_dir(folder).unwrap().map(|e| e.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    names
}

fn mode(path: &Path) -> u32 {
    fs::metadata(path).unwrap().mode() & 0o7777
}

#[test]
fn a_missing_file_is_created_private_in_a_private_folder() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join(".claude/settings.json");
    assert_eq!(SettingsFile::at(&path).read().unwrap().get(&[]), Some(json!({})));
    let (changed, found) = SettingsFile::at(&path).edit(|doc| doc.remove(&["a"])).unwrap();
    assert_eq!((changed, found), (Changed::No, false));
    assert!(names(dir.path()).is_empty(), "nothing to write makes no folder");
    assert_eq!(set(&path, "a", 1).unwrap(), Changed::Yes);
    assert_eq!(fs::read_to_string(&path).unwrap(), "{\n  \"a\": 1\n}\n");
    assert_eq!((mode(&path), mode(path.parent().unwrap())), (0o600, 0o700));
    assert_eq!(names(path.parent().unwrap()), ["settings.json"]);
}

#[test]
fn mode_and_owner_are_kept() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("s.json");
    put(&path, "{}");
    // Only the superuser can give a file away; for others this changes nothing.
    let _ = std::os::unix::fs::chown(&path, Some(4242), Some(4243));
    let owner = |path| fs::metadata(path).map(|about| (about.uid(), about.gid())).unwrap();
    let before = owner(&path);
    for bits in [0o640, 0o666, 0o600] {
        fs::set_permissions(&path, PermissionsExt::from_mode(bits)).unwrap();
        assert_eq!(set(&path, "a", bits).unwrap(), Changed::Yes);
        assert_eq!((mode(&path), owner(&path)), (bits, before));
    }
}

#[test]
fn links_stay_links() {
    let dir = tempfile::tempdir().unwrap();
    let (home, dotfiles) = (dir.path().join("home"), dir.path().join("dotfiles"));
    fs::create_dir(&home).unwrap();
    fs::create_dir(&dotfiles).unwrap();
    put(&dotfiles.join("claude.json"), "{}\n");
    symlink("../dotfiles/second", home.join("settings.json")).unwrap();
    symlink(dotfiles.join("claude.json"), dotfiles.join("second")).unwrap();
    assert_eq!(set(&home.join("settings.json"), "a", 1).unwrap(), Changed::Yes);
    assert_eq!(fs::read_to_string(dotfiles.join("claude.json")).unwrap(), "{\n  \"a\": 1\n}\n");
    assert!(home.join("settings.json").is_symlink() && dotfiles.join("second").is_symlink());
    assert_eq!((names(&home), names(&dotfiles).len()), (vec!["settings.json".to_owned()], 2));

    symlink("../dotfiles/new.json", home.join("dangling.json")).unwrap();
    assert_eq!(set(&home.join("dangling.json"), "a", 1).unwrap(), Changed::Yes);
    assert!(home.join("dangling.json").is_symlink() && dotfiles.join("new.json").is_file());
}

#[test]
fn an_unchanged_file_is_not_written() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("s.json");
    put(&path, "{ \"a\":1.0 }");
    let stamp =
        |path| fs::metadata(path).map(|about| (about.ino(), about.mtime_nsec(), about.ctime_nsec())).unwrap();
    let before = stamp(&path);
    assert_eq!(set(&path, "a", 1.0).unwrap(), Changed::No);
    let there_and_back: Result<_, SettingsError> = SettingsFile::at(&path).edit(|doc| {
        doc.set(&["b"], 1)?;
        doc.remove(&["b"])
    });
    assert_eq!(there_and_back.unwrap(), (Changed::No, true));
    assert_eq!(stamp(&path), before);
}

#[test]
fn an_error_of_the_caller_leaves_the_file_unchanged() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("s.json");
    put(&path, "{}");
    let result: Result<(Changed, ()), Box<dyn std::error::Error>> = SettingsFile::at(&path).edit(|doc| {
        doc.set(&["a"], 1)?;
        Err("changed my mind".into())
    });
    assert_eq!(result.unwrap_err().to_string(), "changed my mind");
    assert_eq!(fs::read_to_string(&path).unwrap(), "{}");
    assert_eq!(names(dir.path()), ["s.json"]);
}

#[test]
fn a_leftover_temporary_file_is_removed_by_the_next_edit_and_never_followed() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("s.json");
    put(&path, "{}");
    put(&dir.path().join("precious"), "precious");
    let left_over = dir.path().join(".s.json.overtone-tmp");
    put(&left_over, "{\"half");
    assert_eq!(SettingsFile::at(&path).edit(|doc| doc.remove(&["a"])).unwrap().0, Changed::No);
    assert_eq!(names(dir.path()), ["precious", "s.json"]);
    symlink(dir.path().join("precious"), &left_over).unwrap();
    assert_eq!(set(&path, "a", 1).unwrap(), Changed::Yes);
    assert_eq!(names(dir.path()), ["precious", "s.json"]);
    assert_eq!(fs::read_to_string(dir.path().join("precious")).unwrap(), "precious");
}

#[test]
fn the_original_is_copied_once() {
    let dir = tempfile::tempdir().unwrap();
    let (path, backup) = (dir.path().join("s.json"), dir.path().join("state/backup.json"));
    let file = SettingsFile::at(&path);
    assert!(!file.backup_once(&backup).unwrap(), "there is nothing to copy");
    let original = "\u{feff}{ not even JSON\r\n";
    put(&path, original);
    fs::set_permissions(&path, PermissionsExt::from_mode(0o644)).unwrap();
    assert!(file.backup_once(&backup).unwrap());
    put(&path, "{}");
    assert!(!file.backup_once(&backup).unwrap());
    assert_eq!(fs::read_to_string(&backup).unwrap(), original);
    assert_eq!((mode(&backup), mode(backup.parent().unwrap())), (0o600, 0o700));
    assert_eq!(names(backup.parent().unwrap()), ["backup.json"]);
    put(&dir.path().join("f"), "");
    let error = file.backup_once(&dir.path().join("f/backup.json")).unwrap_err();
    assert!(matches!(error.kind, SettingsErrorKind::Write(_)) && error.to_string().contains("f/backup.json"));
}

#[test]
fn a_write_that_ignores_the_lock_is_not_overwritten() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("s.json");
    put(&path, "{}");
    let mut calls = 0;
    let edit: Result<_, SettingsError> = SettingsFile::at(&path).edit(|doc| {
        calls += 1;
        if calls == 1 {
            put(&path, "{\"theirs\": 1}");
        }
        doc.set(&["ours"], 2)
    });
    assert_eq!((edit.unwrap().0, calls), (Changed::Yes, 2));
    assert_eq!(fs::read_to_string(&path).unwrap(), "{\"theirs\": 1, \"ours\": 2}");

    let unsteady: Result<_, SettingsError> = SettingsFile::at(&path).edit(|doc| {
        calls += 1;
        put(&path, &format!("{{\"n\": {calls}}}"));
        doc.set(&["ours"], 3)
    });
    assert!(matches!(unsteady.unwrap_err().kind, SettingsErrorKind::KeepsChanging));
    assert_eq!(names(dir.path()), ["s.json"]);
}

/// Stops the reader of `watch` at the end of the scope, also after a panic.
struct Raise<'a>(&'a AtomicBool);

impl Drop for Raise<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

/// Checks that a reader always sees a complete file while `busy` runs. Returns how often it read.
fn watch(path: &Path, busy: impl FnOnce()) -> usize {
    let done = AtomicBool::new(false);
    thread::scope(|scope| {
        let reader = scope.spawn(|| {
            let mut looks = 0;
            while !done.load(Ordering::Relaxed) {
                let text = fs::read_to_string(path).unwrap();
                let value: Value = serde_json::from_str(&text).unwrap();
                assert_eq!(value["mine"], json!("kept"));
                looks += 1;
            }
            looks
        });
        let end = Raise(&done);
        busy();
        drop(end);
        reader.join().unwrap()
    })
}

#[test]
fn fifty_editors_at_once_lose_nothing() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("s.json");
    put(&path, "{\n    \"mine\": \"kept\"\n}\n");
    let looks = watch(&path, || {
        thread::scope(|scope| {
            for number in 0..50 {
                let path = &path;
                scope.spawn(move || until_not_busy(|| set(path, &format!("key{number}"), number)));
            }
        });
    });
    assert!(looks > 0);
    let document = SettingsFile::at(&path).read().unwrap();
    for number in 0..50 {
        assert_eq!(document.get(&[&format!("key{number}")]), Some(json!(number)));
    }
    assert_eq!(names(dir.path()), ["s.json"]);
}

#[test]
fn fifty_editors_of_a_missing_file_lose_nothing() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("new/s.json");
    thread::scope(|scope| {
        for number in 0..50 {
            let path = &path;
            scope.spawn(move || {
                // Every second editor has nothing to write.
                let key = format!("key{number}");
                if number % 2 == 0 {
                    assert_eq!(until_not_busy(|| set(path, &key, 1)), Changed::Yes);
                } else {
                    let edit = || SettingsFile::at(path).edit(|doc| doc.remove(&[&key]));
                    assert_eq!(until_not_busy(edit), (Changed::No, false));
                }
            });
        }
    });
    let value = SettingsFile::at(&path).read().unwrap().get(&[]).unwrap();
    assert_eq!(value.as_object().unwrap().len(), 25);
}

const EDITED: &str = "OVERTONE_SETTINGS_TEST_FILE";

/// Not a test: the process that `killed_editors_leave_a_complete_file` starts and kills.
#[test]
fn endless_editor() {
    let Ok(path) = std::env::var(EDITED) else { return };
    for number in 0.. {
        set(Path::new(&path), "number", number).unwrap();
    }
}

#[test]
fn killed_editors_leave_a_complete_file() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("s.json");
    put(&path, "{\"mine\": \"kept\"}");
    watch(&path, || {
        for round in 0..25_u64 {
            let before = fs::read(&path).unwrap();
            let mut editor = Command::new(std::env::current_exe().unwrap())
                .args(["--exact", "endless_editor"])
                .env(EDITED, &path)
                .stdout(Stdio::null())
                .spawn()
                .unwrap();
            // The editor has started; the moment of the kill differs each time.
            while fs::read(&path).unwrap() == before {
                thread::yield_now();
            }
            thread::sleep(Duration::from_micros(round * 397));
            editor.kill().unwrap();
            editor.wait().unwrap();
            assert!(names(dir.path()).len() <= 2, "at most one left-over");
        }
    });
    set(&path, "last", true).unwrap();
    assert_eq!(names(dir.path()), ["s.json"], "the lock of the killed is gone, and so is what they left");
    assert!(SettingsFile::at(&path).read().unwrap().get(&["number"]).is_some());
}
