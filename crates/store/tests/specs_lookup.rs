//! Finding features and their tasks on a real file system.
#![allow(clippy::unwrap_used, reason = "a panic in a test is the failure report")]
#![allow(clippy::disallowed_methods, reason = "fixtures need no atomic writes")]

use std::fs;
use std::io::ErrorKind;
use std::os::unix::fs::symlink;
use std::path::PathBuf;
use std::time::{Duration, SystemTime};

use overtone_store::specs::{Shelf, Specs};
use tempfile::TempDir;

fn project() -> (TempDir, Specs) {
    let dir = TempDir::new().unwrap();
    let specs = Specs::new(dir.path());
    (dir, specs)
}

fn shelf(dir: &TempDir, shelf: Shelf) -> PathBuf {
    let path = dir.path().join("specs/features").join(shelf.folder());
    fs::create_dir_all(&path).unwrap();
    path
}

fn feature(dir: &TempDir, on: Shelf, name: &str, tasks: &str) -> PathBuf {
    let path = shelf(dir, on).join(name);
    fs::create_dir_all(&path).unwrap();
    fs::write(path.join("tasks.md"), tasks).unwrap();
    path
}

fn active(specs: &Specs, preferred: Option<&str>) -> Option<String> {
    specs.active(preferred).unwrap().map(|feature| feature.name)
}

#[test]
fn no_specs_is_no_feature_and_no_error() {
    let (dir, specs) = project();
    assert_eq!(specs.active(None).unwrap(), None);
    assert_eq!(specs.active(Some("x")).unwrap(), None);
    assert_eq!(specs.list().unwrap(), []);
    assert_eq!(specs.find("x").unwrap(), None);
    shelf(&dir, Shelf::InProgress);
    assert_eq!(specs.active(None).unwrap(), None);
    assert_eq!(Specs::new("/nowhere/at/all").active(None).unwrap(), None);
}

#[test]
fn the_simple_list_of_spec_1_is_read() {
    let (dir, specs) = project();
    let tasks = "# Tasks\n\n- [x] a\n- [x] b\n- [ ] c\n- [ ] d\n- [ ] e\n";
    let path = feature(&dir, Shelf::InProgress, "my-feature", tasks);
    let found = specs.active(None).unwrap().unwrap();
    assert_eq!((found.name.as_str(), found.shelf, found.dir), ("my-feature", Shelf::InProgress, path));
    let tasks = found.tasks.unwrap();
    assert_eq!((tasks.checked, tasks.total), (2, 5));
    assert_eq!(tasks.pending, ["c", "d", "e"]);
    assert_eq!((found.workflow, found.created), (None, None));
}

#[test]
fn the_preferred_feature_wins_then_the_one_created_last() {
    let (dir, specs) = project();
    let created = |time: &str| format!("---\nworkflow: quick\ncreated: {time}\n---\n- [ ] a\n");
    feature(&dir, Shelf::InProgress, "a", &created("2030-01-01T00:00:00.000Z"));
    feature(&dir, Shelf::InProgress, "b", &created("2030-01-01T08:00:00.001+08:00"));
    feature(&dir, Shelf::InProgress, "c", &created("2030-01-01T00:00:00.001Z"));
    feature(&dir, Shelf::Paused, "p", &created("2040-01-01"));
    assert_eq!(active(&specs, None).as_deref(), Some("b"), "a tie goes to the first name");
    assert_eq!(active(&specs, Some("a")).as_deref(), Some("a"));
    for elsewhere in ["p", "gone", "../paused/p", "/etc", "", ".", ".."] {
        assert_eq!(active(&specs, Some(elsewhere)).as_deref(), Some("b"), "{elsewhere:?}");
    }
    let found = specs.active(Some("c")).unwrap().unwrap();
    assert_eq!(found.workflow.as_deref(), Some("quick"));
    assert_eq!(found.created.as_deref(), Some("2030-01-01T00:00:00.001Z"));
}

#[test]
fn without_a_date_the_folder_s_time_counts() {
    let (dir, specs) = project();
    let touch = |path: PathBuf, seconds| {
        let time = SystemTime::UNIX_EPOCH + Duration::from_secs(seconds);
        fs::File::open(path).unwrap().set_modified(time).unwrap();
    };
    touch(feature(&dir, Shelf::InProgress, "a", "- [ ] a\n"), 1_000);
    touch(feature(&dir, Shelf::InProgress, "b", "---\ncreated: soon\n---\n"), 3_000);
    feature(&dir, Shelf::InProgress, "c", "---\ncreated: 1970-01-01T00:33:20Z\n---\n");
    assert_eq!(active(&specs, None).as_deref(), Some("b"));
    touch(shelf(&dir, Shelf::InProgress).join("a"), 4_000);
    assert_eq!(active(&specs, None).as_deref(), Some("a"));
}

#[test]
fn the_list_is_sorted_and_leaves_out_what_is_not_a_feature() {
    let (dir, specs) = project();
    feature(&dir, Shelf::Archive, "2026-01-02_z", "- [x] a\n");
    feature(&dir, Shelf::Backlog, "b", "");
    feature(&dir, Shelf::InProgress, "z", "");
    feature(&dir, Shelf::InProgress, "My Feature", "");
    let folder = shelf(&dir, Shelf::InProgress);
    fs::create_dir(folder.join("empty")).unwrap();
    fs::create_dir(folder.join(".hidden")).unwrap();
    fs::create_dir(folder.join("two\nlines")).unwrap();
    fs::write(folder.join("README.md"), "").unwrap();
    symlink(folder.join("z"), folder.join("linked")).unwrap();
    let names: Vec<_> =
        specs.list().unwrap().into_iter().map(|f| (f.shelf, f.name, f.tasks.is_some())).collect();
    let expected = [
        (Shelf::InProgress, "My Feature", true),
        (Shelf::InProgress, "empty", false),
        (Shelf::InProgress, "z", true),
        (Shelf::Backlog, "b", true),
        (Shelf::Archive, "2026-01-02_z", true),
    ];
    assert_eq!(names, expected.map(|(shelf, name, tasks)| (shelf, name.to_owned(), tasks)));
}

#[test]
fn features_are_found_on_every_shelf_by_the_name_of_their_folder() {
    let (dir, specs) = project();
    feature(&dir, Shelf::Backlog, "b", "");
    feature(&dir, Shelf::Archive, "2026-01-02_z", "");
    feature(&dir, Shelf::InProgress, "登入", "");
    assert_eq!(specs.find("b").unwrap().unwrap().shelf, Shelf::Backlog);
    assert_eq!(specs.find("2026-01-02_z").unwrap().unwrap().shelf, Shelf::Archive);
    assert_eq!(specs.find("登入").unwrap().unwrap().shelf, Shelf::InProgress);
    for name in ["z", "../backlog/b", "b/", "./b", "b\0", &"long".repeat(200)] {
        assert_eq!(specs.find(name).unwrap(), None, "{name:?}");
    }
}

#[test]
fn linked_large_and_special_documents_are_no_tasks() {
    let (dir, specs) = project();
    let path = feature(&dir, Shelf::InProgress, "a", "").join("tasks.md");
    let has_tasks = || specs.active(None).unwrap().unwrap().tasks.is_some();
    fs::write(&path, vec![b'\n'; 1_000_000]).unwrap();
    assert!(has_tasks());
    fs::write(&path, vec![b'\n'; 1_000_001]).unwrap();
    assert!(!has_tasks());
    fs::remove_file(&path).unwrap();
    fs::write(dir.path().join("outside.md"), "- [ ] a\n").unwrap();
    symlink(dir.path().join("outside.md"), &path).unwrap();
    assert!(!has_tasks());
    fs::remove_file(&path).unwrap();
    fs::create_dir(&path).unwrap();
    assert!(!has_tasks());
    fs::remove_dir(&path).unwrap();
    let made = std::process::Command::new("mkfifo").arg(&path).status().unwrap();
    assert!(made.success() && !has_tasks(), "a pipe must not block");
}

#[test]
fn trouble_is_an_error_with_the_path() {
    for level in ["specs", "specs/features", "specs/features/in-progress"] {
        let (dir, specs) = project();
        let path = dir.path().join(level);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, "").unwrap();
        for error in [specs.active(None), specs.active(Some("a")), specs.find("a")].map(Result::unwrap_err) {
            assert_eq!(error.kind(), ErrorKind::NotADirectory);
            assert!(error.to_string().contains(path.to_str().unwrap()), "{error}");
        }
        assert!(specs.list().is_err());
    }
}

#[test]
fn linked_folders_are_not_followed_and_loops_end() {
    for level in ["specs", "specs/features", "specs/features/in-progress"] {
        for target in ["outside", level] {
            let (dir, specs) = project();
            let path = dir.path().join(level);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::create_dir_all(dir.path().join("outside/a")).unwrap();
            symlink(dir.path().join(target), &path).unwrap();
            assert!(specs.active(None).is_err(), "{level} -> {target}");
            assert!(specs.active(Some("a")).is_err(), "{level} -> {target}");
            assert!(specs.list().is_err(), "{level} -> {target}");
        }
    }
}

#[test]
fn a_linked_feature_is_passed_over() {
    let (dir, specs) = project();
    let folder = shelf(&dir, Shelf::InProgress);
    fs::create_dir(dir.path().join("outside")).unwrap();
    symlink(dir.path().join("outside"), folder.join("a")).unwrap();
    symlink("loop", folder.join("loop")).unwrap();
    for preferred in [None, Some("a"), Some("loop")] {
        assert_eq!(specs.active(preferred).unwrap(), None);
    }
    assert_eq!(specs.find("a").unwrap(), None);
    assert_eq!(specs.list().unwrap(), []);
}
