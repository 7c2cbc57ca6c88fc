use std::fs::{self, File};
use std::time::{Duration, SystemTime};

use serde_json::{Value, json};

use crate::context::{TestContext, keys, put};

/// Makes everything in a session look that old.
fn age(context: &TestContext, id: &str, days: u64) {
    fn walk(dir: &std::path::Path, to: SystemTime) {
        for entry in fs::read_dir(dir).unwrap().flatten() {
            if entry.path().is_dir() {
                walk(&entry.path(), to);
            }
            File::open(entry.path()).unwrap().set_modified(to).unwrap();
        }
        File::open(dir).unwrap().set_modified(to).unwrap();
    }
    walk(&context.session_dir(id), SystemTime::now() - Duration::from_secs(days * 86_400));
}

fn ids(context: &TestContext) -> Vec<String> {
    let list = context.json("sessions list --json");
    list["sessions"].as_array().unwrap().iter().map(|s| s["id"].as_str().unwrap().to_owned()).collect()
}

#[test]
fn no_sessions_is_an_answer() {
    let context = TestContext::for_commands();
    context.run("sessions list").ok().has(&["no sessions yet"]);
    assert_eq!(context.json("sessions list --json"), json!({ "sessions": [] }));
    context.run("sessions gc").ok().has(&["Nothing to clean up"]);
    context.run("sessions").ok().has(&["no sessions yet"]);
    context.run("sessions lsit").refused_by_parser();
}

#[test]
fn sessions_are_listed_with_the_last_active_first() {
    let context = TestContext::for_commands();
    for (id, days) in [("old", 3), ("new", 1)] {
        context.run(&format!("init quick --session {id}")).ok();
        age(&context, id, days);
    }
    context.run("init single").ok();
    context.run("stop --session old").ok();
    age(&context, "old", 3);
    put(&context.session_dir("broken").join("workflow.json"), "{");
    fs::create_dir_all(context.session_dir("empty")).unwrap();
    put(&context.state().join("sessions/stray-file"), "x");
    fs::create_dir_all(context.state().join("sessions/.removed-x-1")).unwrap();
    let listed = ids(&context);
    assert_eq!(listed.len(), 5);
    assert_eq!(listed[3..], ["new", "old"]);
    let list = context.json("sessions list --json");
    let of = |id: &str| -> Value {
        list["sessions"].as_array().unwrap().iter().find(|s| s["id"] == id).unwrap().clone()
    };
    assert_eq!(
        keys(&of("s1")),
        ["id", "current", "project", "workflow", "done", "total", "status", "lastActivity", "bytes"]
    );
    let statuses = ["s1", "old", "broken", "empty"].map(|id| of(id)["status"].clone());
    assert_eq!(statuses, ["running", "stopped", "broken", "none"]);
    assert_eq!((&of("s1")["current"], &of("old")["current"]), (&json!(true), &json!(false)));
    assert!(of("s1")["bytes"].as_u64().unwrap() > 100);
    context.run("sessions list").ok().has(&["*  s1", "stopped", "broken", "3d ago"]);
}

#[test]
fn one_session_is_shown_with_its_folder() {
    let context = TestContext::for_commands();
    context.run("init quick --session other-one").ok();
    context.run("sessions show other-one").ok().has(&["quick", "Folder", "sessions/other-one", "Size"]);
    let shown = context.json("sessions show other-one --json");
    assert_eq!((&shown["session"], &shown["current"]), (&json!("other-one"), &json!(false)));
    assert!(shown["dir"].as_str().unwrap().ends_with("sessions/other-one"));
    context.run("sessions show other-oen").fails(&["no such session", "did you mean other-one?"]);
    context.run("sessions show ../../etc").fails(&["not a session id"]);
    context.run("sessions show").refused_by_parser();
}

#[test]
fn removing_needs_a_yes() {
    let context = TestContext::for_commands();
    context.run("init quick --session a").ok();
    context.run("init quick --session b").ok();
    context.run("sessions rm a").fails(&["--yes"]);
    context.run("sessions rm a nope --yes").fails(&["no such session: nope"]);
    context.run("sessions rm .. --yes").fails(&["not a session id"]);
    context.run("sessions rm --yes").refused_by_parser();
    assert_eq!(ids(&context).len(), 2, "nothing is removed when one name is wrong");
    context.run("sessions rm a a --yes").ok().has(&["Removed 1: a"]);
    assert_eq!(ids(&context), ["b"]);
    assert_eq!(context.json("sessions rm b --yes --json"), json!({ "removed": ["b"] }));
    assert_eq!(fs::read_dir(context.state().join("sessions")).unwrap().count(), 0, "nothing is left behind");
}

#[test]
fn removing_the_current_session_forgets_it() {
    let context = TestContext::for_commands().without_env("OVERTONE_SESSION_ID");
    context.run("init quick --session gone").ok();
    put(&context.state().join(".current-session-id"), "gone");
    context.run("sessions rm gone --yes").ok();
    assert!(!context.state().join(".current-session-id").exists());
}

#[test]
fn old_sessions_are_cleaned_up_and_open_or_current_ones_kept() {
    let context = TestContext::for_commands();
    for id in ["s1", "open", "forgotten", "done", "young"] {
        context.run(&format!("init single --session {id}")).ok();
    }
    for id in ["done", "young"] {
        context.agent(id, "developer", Some("PASS"));
        context.hook("on-stop", &json!({ "session_id": id, "cwd": context.project() }));
    }
    for (id, days) in [("s1", 90), ("open", 20), ("forgotten", 40), ("done", 40), ("young", 2)] {
        age(&context, id, days);
    }
    fs::create_dir_all(context.state().join("sessions/.removed-x-1")).unwrap();
    let dry = context.json("sessions gc --dry-run --json");
    assert_eq!(keys(&dry), ["removed", "bytes", "kept", "dryRun"]);
    assert_eq!((&dry["removed"], &dry["kept"]), (&json!(["done", "forgotten"]), &json!(3)));
    context.run("sessions gc --dry-run").ok().has(&["forgotten", "nothing was removed"]);
    assert_eq!(ids(&context).len(), 5);
    context.run("sessions gc").ok().has(&["Removed 2 sessions"]);
    assert_eq!(ids(&context), ["young", "open", "s1"]);
    assert!(!context.state().join("sessions/.removed-x-1").exists(), "left-overs of a kill go, too");
    context.run("config set retention.sessions 1").ok();
    assert_eq!(
        context.json("sessions gc --json")["removed"],
        json!([]),
        "the newest is one; the others are protected"
    );
    context.run("sessions gc --days 1").ok();
    assert_eq!(ids(&context), ["s1"], "this very session stays, however old");
    context.run("sessions gc --days 0").refused_by_parser();
}
