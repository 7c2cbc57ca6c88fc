//! Creating, moving, archiving and ticking on a real file system.
#![allow(clippy::unwrap_used, reason = "a panic in a test is the failure report")]
#![allow(clippy::disallowed_methods, reason = "fixtures need no atomic writes")]

use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;
use std::thread;

use overtone_core::registry::{SpecsDocs, Workflow};
use overtone_store::specs::{Feature, FeatureName, Shelf, Specs, SpecsError};
use tempfile::TempDir;

const NOW: &str = "2026-02-23T14:00:00.000Z";

fn project() -> (TempDir, Specs) {
    let dir = TempDir::new().unwrap();
    let specs = Specs::new(dir.path());
    (dir, specs)
}

fn create(specs: &Specs, name: &str, docs: SpecsDocs, on: Shelf) -> Result<Feature, SpecsError> {
    let name = FeatureName::try_from(name)?;
    specs.create(&name, docs, Some(Workflow::Tdd), NOW, on)
}

/// Every path below a directory, to see what has been left behind.
fn tree(dir: &Path) -> Vec<String> {
    let mut paths = Vec::new();
    let mut open = vec![dir.to_owned()];
    while let Some(folder) = open.pop() {
        for entry in fs::read_dir(&folder).unwrap().map(Result::unwrap) {
            paths.push(entry.path().strip_prefix(dir).unwrap().display().to_string());
            if entry.file_type().unwrap().is_dir() {
                open.push(entry.path());
            }
        }
    }
    paths.sort();
    paths
}

#[test]
fn a_new_feature_has_its_documents() {
    let (dir, specs) = project();
    let made = create(&specs, "user-login", SpecsDocs::TasksAndBdd, Shelf::InProgress).unwrap();
    assert_eq!(made.dir, dir.path().join("specs/features/in-progress/user-login"));
    assert_eq!((made.workflow.as_deref(), made.created.as_deref()), (Some("tdd"), Some(NOW)));
    assert_eq!(made.tasks.as_ref().unwrap().pending, ["TEST", "DEV", "TEST:2"]);
    let expected = "---\nfeature: user-login\nstatus: in-progress\nworkflow: tdd\ncreated: 2026-02-23T14:00:00.000Z\n\
                    ---\n\n# user-login\n\n## Stages\n\n- [ ] TEST\n- [ ] DEV\n- [ ] TEST:2\n\n## Tasks\n";
    assert_eq!(fs::read_to_string(made.dir.join("tasks.md")).unwrap(), expected);
    assert!(fs::read_to_string(made.dir.join("bdd.md")).unwrap().contains("## Feature: user-login"));
    assert_eq!(specs.active(None).unwrap(), Some(made.clone()));
    assert_eq!(specs.find("user-login").unwrap(), Some(made));
}

#[test]
fn fewer_documents_without_workflow_or_docs() {
    let (_dir, specs) = project();
    let name = FeatureName::try_from("plain").unwrap();
    let made = specs.create(&name, SpecsDocs::Tasks, None, NOW, Shelf::Backlog).unwrap();
    let text = fs::read_to_string(made.dir.join("tasks.md")).unwrap();
    assert_eq!(
        text,
        format!("---\nfeature: plain\nstatus: backlog\ncreated: {NOW}\n---\n\n# plain\n\n## Tasks\n")
    );
    assert_eq!(tree(&made.dir), ["tasks.md"]);
    let made = create(&specs, "bare", SpecsDocs::None, Shelf::InProgress).unwrap();
    assert_eq!((tree(&made.dir).len(), made.tasks), (0, None));
}

#[test]
fn a_name_is_used_once_except_in_the_archive() {
    let (dir, specs) = project();
    for on in Shelf::LIVE {
        let name = format!("on-{on}");
        create(&specs, &name, SpecsDocs::Tasks, on).unwrap();
        for again in Shelf::LIVE {
            let error = create(&specs, &name, SpecsDocs::Tasks, again).unwrap_err();
            assert!(matches!(&error, SpecsError::Exists { path } if path.ends_with(&name)), "{error}");
            assert!(error.to_string().ends_with("already exists") && error.hint().is_some());
        }
        specs.archive(&name, "2026-02-23").unwrap();
        create(&specs, &name, SpecsDocs::Tasks, on).unwrap();
    }
    let error = create(&specs, "x", SpecsDocs::Tasks, Shelf::Archive).unwrap_err();
    assert!(matches!(error, SpecsError::IntoArchive { .. }));
    assert!(matches!(create(&specs, "../x", SpecsDocs::Tasks, Shelf::Paused), Err(SpecsError::Name(_))));
    fs::write(dir.path().join("specs/features/paused/file"), "mine").unwrap();
    assert!(matches!(
        create(&specs, "file", SpecsDocs::Tasks, Shelf::Backlog),
        Err(SpecsError::Exists { .. })
    ));
}

#[test]
fn nothing_is_made_behind_a_symlink() {
    for level in ["specs", "specs/features", "specs/features/in-progress", "specs/features/in-progress/a"] {
        let (dir, specs) = project();
        let outside = TempDir::new().unwrap();
        let path = dir.path().join(level);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        symlink(outside.path(), &path).unwrap();
        let error = create(&specs, "a", SpecsDocs::Tasks, Shelf::InProgress).unwrap_err();
        assert!(error.to_string().contains(path.to_str().unwrap()) && error.hint().is_some(), "{error}");
        assert_eq!(tree(outside.path()), Vec::<String>::new());
    }
}

#[test]
fn features_move_between_the_live_shelves() {
    let (dir, specs) = project();
    create(&specs, "a", SpecsDocs::TasksAndBdd, Shelf::Backlog).unwrap();
    for to in
        [Shelf::InProgress, Shelf::Paused, Shelf::Paused, Shelf::InProgress, Shelf::Backlog, Shelf::Paused]
    {
        let moved = specs.shift("a", to).unwrap();
        assert_eq!((moved.shelf, &moved), (to, &specs.find("a").unwrap().unwrap()));
        let text = fs::read_to_string(moved.dir.join("tasks.md")).unwrap();
        assert!(text.contains(&format!("\nstatus: {to}\n")), "{text}");
        assert!(moved.dir.join("bdd.md").exists());
    }
    assert_eq!(specs.list().unwrap().len(), 1);
    assert!(!tree(dir.path()).iter().any(|path| path.contains(".tmp")));
}

#[test]
fn a_move_replaces_nothing() {
    let (dir, specs) = project();
    create(&specs, "a", SpecsDocs::None, Shelf::InProgress).unwrap();
    let taken = dir.path().join("specs/features/paused/a");
    fs::create_dir_all(&taken).unwrap();
    let error = specs.shift("a", Shelf::Paused).unwrap_err();
    assert!(matches!(error, SpecsError::Exists { path } if path == taken));
    assert!(dir.path().join("specs/features/in-progress/a").is_dir());
    assert!(matches!(specs.shift("a", Shelf::Archive), Err(SpecsError::IntoArchive { .. })));
    for name in ["b", "../in-progress/a", "", "..", "/"] {
        let error = specs.shift(name, Shelf::Backlog).unwrap_err();
        assert!(matches!(error, SpecsError::NotFound { .. }), "{name:?}: {error}");
        assert!(error.to_string().contains("specs/features"), "{error}");
    }
}

#[test]
fn archives_get_a_number_when_the_name_is_taken() {
    let (dir, specs) = project();
    let archive = dir.path().join("specs/features/archive");
    for expected in ["2026-02-23_a", "2026-02-23_a_2", "2026-02-23_a_3"] {
        create(&specs, "a", SpecsDocs::None, Shelf::InProgress).unwrap();
        assert_eq!(specs.archive("a", "2026-02-23").unwrap(), archive.join(expected));
    }
    fs::write(archive.join("2026-02-24_a"), "a file").unwrap();
    symlink("nowhere", archive.join("2026-02-24_a_2")).unwrap();
    create(&specs, "a", SpecsDocs::Tasks, Shelf::Paused).unwrap();
    let target = specs.archive("a", "2026-02-24").unwrap();
    assert_eq!(target, archive.join("2026-02-24_a_3"));
    assert!(fs::read_to_string(target.join("tasks.md")).unwrap().contains("\nstatus: archived\n"));
    assert!(matches!(specs.archive("a", "2026-02-24"), Err(SpecsError::NotFound { .. })));
    assert_eq!(specs.active(None).unwrap(), None);
}

#[test]
fn archiving_takes_no_odd_names_or_dates() {
    let (dir, specs) = project();
    create(&specs, "a", SpecsDocs::Tasks, Shelf::InProgress).unwrap();
    let before = tree(dir.path());
    for date in ["", "today", "../../../x", "2026-02-23/", "2026-2-3"] {
        assert!(matches!(specs.archive("a", date), Err(SpecsError::Date { .. })), "{date:?}");
    }
    for name in ["../in-progress/a", "a/../a", "a/", ".", ""] {
        assert!(matches!(specs.archive(name, "2026-02-23"), Err(SpecsError::NotFound { .. })), "{name:?}");
    }
    assert_eq!(tree(dir.path()), before);
}

#[test]
fn one_of_many_archives_at_once_wins_and_nothing_is_left_behind() {
    for _ in 0..20 {
        let (dir, specs) = project();
        create(&specs, "a", SpecsDocs::Tasks, Shelf::InProgress).unwrap();
        let wins = thread::scope(|scope| {
            let run = || scope.spawn(|| specs.archive("a", "2026-02-23").is_ok());
            let threads: Vec<_> = (0..8).map(|_| run()).collect();
            threads.into_iter().map(|t| t.join().unwrap()).filter(|won| *won).count()
        });
        assert_eq!(wins, 1);
        assert_eq!(
            tree(&dir.path().join("specs/features/archive")),
            ["2026-02-23_a", "2026-02-23_a/tasks.md"]
        );
    }
}

#[test]
fn a_draft_that_a_killed_process_left_is_cleared_away() {
    let (dir, specs) = project();
    let shelf = dir.path().join("specs/features/in-progress");
    fs::create_dir_all(shelf.join(".new.tmp")).unwrap();
    fs::write(shelf.join(".new.tmp/tasks.md"), "half of i").unwrap();
    assert!(specs.list().unwrap().is_empty());
    create(&specs, "a", SpecsDocs::Tasks, Shelf::InProgress).unwrap();
    assert_eq!(tree(&shelf), ["a", "a/tasks.md"]);
}

#[test]
fn a_move_that_was_killed_half_way_can_be_done_again() {
    let (dir, specs) = project();
    let made = create(&specs, "a", SpecsDocs::Tasks, Shelf::InProgress).unwrap();
    let tasks = made.dir.join("tasks.md");
    let text = fs::read_to_string(&tasks).unwrap();
    // The document says so already, but the folder has not been moved.
    fs::write(&tasks, text.replace("status: in-progress", "status: paused")).unwrap();
    let paused = specs.shift("a", Shelf::Paused).unwrap();
    assert_eq!(paused.dir, dir.path().join("specs/features/paused/a"));
    // And the other way round.
    fs::write(paused.dir.join("tasks.md"), &text).unwrap();
    specs.shift("a", Shelf::Paused).unwrap();
    assert!(fs::read_to_string(paused.dir.join("tasks.md")).unwrap().contains("\nstatus: paused\n"));
}

#[test]
fn a_move_that_is_refused_changes_nothing() {
    let (dir, specs) = project();
    let made = create(&specs, "a", SpecsDocs::Tasks, Shelf::InProgress).unwrap();
    let text = fs::read_to_string(made.dir.join("tasks.md")).unwrap();
    fs::create_dir_all(dir.path().join("specs/features/paused/a")).unwrap();
    assert!(matches!(specs.shift("a", Shelf::Paused), Err(SpecsError::Exists { .. })));
    assert_eq!(fs::read_to_string(made.dir.join("tasks.md")).unwrap(), text);
}
