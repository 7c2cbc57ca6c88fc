//! A session that is taken from one home to another.

#![allow(
    clippy::unwrap_used,
    clippy::disallowed_methods,
    reason = "a test may panic, and it prepares its files without the store it is testing"
)]

use std::fs;
use std::os::unix::fs::{MetadataExt, PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

use overtone_core::engine::state::{Millis, WorkflowState};
use overtone_core::registry::Workflow;
use overtone_store::{AdoptError, Home, Session, SessionId, StoreErrorKind, WorkflowDoc};
use tempfile::TempDir;

struct World {
    dir: TempDir,
}

impl World {
    fn new() -> Self {
        Self { dir: tempfile::tempdir().unwrap() }
    }

    fn home(&self, name: &str) -> Home {
        Home::at(self.dir.path().join(name))
    }
}

fn id() -> SessionId {
    SessionId::parse("s1").unwrap()
}

fn workflow(moved_to: Option<&str>) -> Vec<u8> {
    let mut state = WorkflowState::new("s1", Workflow::Quick, None, Millis(1));
    state.moved_to = moved_to.map(str::to_owned);
    WorkflowDoc::new(state).to_json().unwrap()
}

fn file(name: &str, content: impl AsRef<[u8]>) -> (String, Vec<u8>) {
    (name.to_owned(), content.as_ref().to_vec())
}

/// Every file that a session has.
fn whole() -> Vec<(String, Vec<u8>)> {
    vec![
        file("workflow.json", workflow(None)),
        file("loop.json", r#"{"iterations":3,"future":1}"#),
        file("timeline.jsonl", "{\"type\":\"x\"}\n{\"torn"),
        file("observations.jsonl", "{}\n"),
        file("compact-count.json", r#"{"auto":2}"#),
        file("context.json", r#"{"usedPercentage":4}"#),
        file("session.json", r#"{"project":"/p"}"#),
        file("handoffs/01-DEV-developer.md", [0xff, 0x00]),
        file("handoffs/02-TEST-2-tester.md", "done"),
    ]
}

/// Whatever lies in the folder of all sessions.
fn entries(home: &Home) -> Vec<String> {
    let names = fs::read_dir(home.sessions_dir()).into_iter().flatten().flatten();
    let mut names: Vec<_> = names.map(|entry| entry.file_name().into_string().unwrap()).collect();
    names.sort();
    names
}

fn put(path: &Path, content: &str) {
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, content).unwrap();
}

fn present(home: &Home, moved_to: Option<&str>) -> Session {
    let session = home.session(&id());
    put(&session.workflow_file(), &String::from_utf8(workflow(moved_to)).unwrap());
    put(&session.dir().join("handoffs/09-DEV-developer.md"), "old");
    session
}

#[test]
fn a_bundle_is_adopted_as_it_was() {
    let world = World::new();
    let (here, there) = (world.home("here"), world.home("there"));
    here.adopt(&id(), &whole()).unwrap();
    let session = here.session(&id());
    for noise in
        [".workflow.json.tmp", "notes.txt", "handoffs/.hidden.md", "handoffs/x.txt", "workflow.json.broken-1"]
    {
        put(&session.dir().join(noise), "not to be taken along");
    }
    let bundle = session.bundle().unwrap();
    assert_eq!(bundle, whole());
    there.adopt(&id(), &bundle).unwrap();
    let session = there.session(&id());
    assert_eq!(session.bundle().unwrap(), whole());
    assert_eq!(session.compactions().automatic, 2);
    assert_eq!(entries(&there), [".incoming.lock", "s1"]);
    for path in
        [PathBuf::new(), "handoffs".into(), "workflow.json".into(), "handoffs/02-TEST-2-tester.md".into()]
    {
        let mode = fs::metadata(session.dir().join(&path)).unwrap().permissions().mode();
        assert_eq!(mode & 0o077, 0, "{} is private", path.display());
    }
}

#[test]
fn files_that_a_session_does_not_have_are_left_out() {
    let world = World::new();
    let home = world.home("h");
    home.adopt(&id(), &[file("workflow.json", workflow(None))]).unwrap();
    let names: Vec<_> = home.session(&id()).bundle().unwrap().into_iter().map(|(name, _)| name).collect();
    assert_eq!(names, ["workflow.json"]);
    let missing = home.session(&SessionId::parse("other").unwrap());
    assert!(missing.bundle().is_err() && !missing.exists());
}

#[test]
fn other_names_are_refused_and_nothing_is_made() {
    let world = World::new();
    let home = world.home("h");
    for bad in [
        "",
        ".",
        "..",
        "../s2/workflow.json",
        "/etc/passwd",
        "./workflow.json",
        "workflow.json/",
        "Workflow.json",
        ".lock",
        ".workflow.json.tmp",
        "config.json",
        "handoffs",
        "handoffs/",
        "handoffs/.md",
        "handoffs/x",
        "handoffs/.x.md",
        "handoffs/../x.md",
        "handoffs/a/b.md",
        "handoffs//x.md",
        "handoffs/a\0.md",
        "handoffs/a\n.md",
        "handoffs/é.md",
        "handoffsx.md",
        &format!("handoffs/{}.md", "a".repeat(129)),
    ] {
        let refused = home.adopt(&id(), &[file("workflow.json", workflow(None)), file(bad, "x")]);
        assert!(matches!(refused, Err(AdoptError::Name(name)) if name == bad), "{bad:?}");
    }
    assert!(!home.root().exists());
}

#[test]
fn doubles_large_files_and_broken_state_are_refused() {
    let world = World::new();
    let home = world.home("h");
    let twice = [file("loop.json", "{}"), file("loop.json", "{}")];
    assert!(matches!(home.adopt(&id(), &twice), Err(AdoptError::Twice(name)) if name == "loop.json"));
    let large = [("session.json".to_owned(), vec![b' '; 1024 * 1024 + 1])];
    assert!(matches!(home.adopt(&id(), &large), Err(AdoptError::TooLarge(name)) if name == "session.json"));
    let many: Vec<_> = (0..10_100).map(|number| file(&format!("handoffs/{number}.md"), "")).collect();
    assert!(matches!(home.adopt(&id(), &many), Err(AdoptError::TooLarge(_))));
    for broken in [file("workflow.json", "{}"), file("workflow.json", [0xff]), file("loop.json", "[]")] {
        let refused = home.adopt(&id(), &[broken]).unwrap_err();
        assert!(
            matches!(&refused, AdoptError::Store(error) if matches!(error.kind, StoreErrorKind::Broken(_)))
        );
    }
    assert!(!home.root().exists());
}

#[test]
fn a_bundle_follows_no_links_and_has_its_bounds() {
    let world = World::new();
    let home = world.home("h");
    let secret = world.dir.path().join("secret");
    put(&secret.join("x.md"), "secret");
    let session = present(&home, None);
    let lay = |name: &str, target: &Path| {
        let path = session.dir().join(name);
        symlink(target, &path).unwrap();
        assert!(session.bundle().is_err(), "{name}");
        fs::remove_file(path).unwrap();
    };
    lay("timeline.jsonl", &secret.join("x.md"));
    lay("handoffs/x.md", &secret.join("x.md"));
    fs::remove_dir_all(session.dir().join("handoffs")).unwrap();
    lay("handoffs", &secret);
    fs::create_dir(session.dir().join("context.json")).unwrap();
    assert!(session.bundle().unwrap_err().to_string().contains("context.json"));
    fs::remove_dir(session.dir().join("context.json")).unwrap();
    put(&session.dir().join("session.json"), &" ".repeat(1024 * 1024 + 1));
    assert_eq!(session.bundle().unwrap_err().kind(), std::io::ErrorKind::FileTooLarge);
}

#[test]
fn a_session_that_is_here_stays_unless_it_was_moved() {
    let world = World::new();
    let home = world.home("h");
    let session = present(&home, None);
    let refused = home.adopt(&id(), &whole()).unwrap_err();
    assert!(
        matches!(&refused, AdoptError::Exists(found) if *found == id()) && refused.to_string().contains("s1")
    );
    assert_eq!(fs::read_to_string(session.dir().join("handoffs/09-DEV-developer.md")).unwrap(), "old");
    // A session without a workflow was not moved either.
    fs::remove_file(session.workflow_file()).unwrap();
    assert!(matches!(home.adopt(&id(), &whole()), Err(AdoptError::Exists(_))));
    assert_eq!(entries(&home), [".incoming.lock", "s1"]);
}

#[test]
fn a_moved_session_gives_its_place_up_as_a_whole() {
    let world = World::new();
    let home = world.home("h");
    let session = present(&home, Some("workshop"));
    drop(session.lock().unwrap());
    let lock = || fs::metadata(session.dir().join(".lock")).unwrap().ino();
    let before = lock();
    let old = session.bundle().unwrap();
    let kept = home.adopt(&id(), &whole()).unwrap().unwrap();
    assert_eq!(session.bundle().unwrap(), whole(), "nothing of the old one is left in its place");
    assert_eq!(lock(), before, "who waits for the session waits for the same lock");
    assert_eq!(entries(&home), [".incoming.lock", "s1"]);
    for (name, bytes) in &old {
        assert_eq!(fs::read(kept.join(name)).unwrap(), *bytes, "{name} is kept as it was");
    }
    // The next one takes nothing of it away.
    let moved = [file("workflow.json", workflow(Some("attic")))];
    put(&session.workflow_file(), &String::from_utf8_lossy(&moved[0].1));
    let next = home.adopt(&id(), &whole()).unwrap().unwrap();
    assert!(next != kept && kept.join("handoffs/09-DEV-developer.md").exists());
}

#[test]
fn a_busy_session_is_not_replaced() {
    let world = World::new();
    let home = world.home("h");
    let session = present(&home, Some("workshop"));
    let held = session.lock().unwrap();
    let refused = home.adopt(&id(), &whole()).unwrap_err();
    assert!(
        matches!(&refused, AdoptError::Store(error) if matches!(error.kind, StoreErrorKind::Locked)),
        "{refused}"
    );
    assert_eq!(entries(&home), [".incoming.lock", "s1"]);
    drop(held);
    home.adopt(&id(), &whole()).unwrap();
}

#[test]
fn a_link_or_a_file_in_the_place_of_a_session_is_left_alone() {
    let world = World::new();
    let home = world.home("h");
    let elsewhere = world.home("e");
    present(&elsewhere, Some("workshop"));
    fs::create_dir_all(home.sessions_dir()).unwrap();
    let place = home.session(&id()).dir().to_owned();
    symlink(elsewhere.session(&id()).dir(), &place).unwrap();
    assert!(matches!(home.adopt(&id(), &whole()), Err(AdoptError::Exists(_))));
    assert!(fs::symlink_metadata(&place).unwrap().is_symlink());
    fs::remove_file(&place).unwrap();
    put(&place, "a file");
    assert!(matches!(home.adopt(&id(), &whole()), Err(AdoptError::Exists(_))));
    assert_eq!(fs::read_to_string(&place).unwrap(), "a file");
}

/// Two sessions of one id that may take each other's place for ever.
fn turns() -> [Vec<(String, Vec<u8>)>; 2] {
    ["workshop", "attic"].map(|machine| {
        let mut files = whole();
        files[0].1 = workflow(Some(machine));
        let handoff = |number| file(&format!("handoffs/{number}-{machine}.md"), machine.repeat(1000));
        files.truncate(7);
        files.extend((10..40).map(handoff));
        files
    })
}

/// Where the process that is to be killed does its work.
const KILLED_IN: &str = "OVERTONE_TEST_ADOPTS_IN";

#[test]
#[ignore = "never ends; the next test starts and kills it"]
fn adopts_for_ever() {
    let Some(root) = std::env::var_os(KILLED_IN) else { return };
    let home = Home::at(root.into());
    for files in turns().iter().cycle() {
        home.adopt(&id(), files).unwrap();
    }
}

#[test]
fn a_kill_leaves_one_whole_session() {
    let world = World::new();
    let home = world.home("h");
    home.adopt(&id(), &turns()[0]).unwrap();
    for round in 0..25 {
        let mut child = Command::new(std::env::current_exe().unwrap())
            .args(["--exact", "adopts_for_ever", "--ignored"])
            .env(KILLED_IN, home.root())
            .stdout(Stdio::null())
            .spawn()
            .unwrap();
        std::thread::sleep(Duration::from_micros(5_000 + 1_700 * round));
        child.kill().unwrap();
        child.wait().unwrap();
        let found = home.session(&id()).bundle().unwrap();
        assert!(turns().contains(&found), "torn in round {round}");
        for kept in fs::read_dir(home.root().join("replaced")).into_iter().flatten() {
            let handoffs = fs::read_dir(kept.unwrap().path().join("handoffs")).unwrap().count();
            assert_eq!(handoffs, 30, "what was replaced is kept whole in round {round}");
        }
        home.adopt(&id(), &turns()[1]).unwrap();
        assert_eq!(home.session(&id()).bundle().unwrap(), turns()[1]);
        assert_eq!(entries(&home), [".incoming.lock", "s1"]);
    }
}

#[test]
fn what_a_killed_one_left_is_swept_and_does_not_come_along() {
    let world = World::new();
    let home = world.home("h");
    for litter in [".incoming-s1", ".incoming-other", ".removed-s1-7"] {
        put(&home.sessions_dir().join(litter).join("handoffs/07-DEV-developer.md"), "half");
    }
    assert!(home.sessions().unwrap().is_empty(), "a half session is none");
    home.adopt(&id(), &whole()).unwrap();
    assert_eq!(home.session(&id()).bundle().unwrap(), whole());
    assert_eq!(entries(&home), [".incoming.lock", "s1"]);
}
