use std::fs;

use serde_json::json;

use crate::context::{TestContext, keys, put, read};

#[test]
fn no_features_is_an_answer() {
    let context = TestContext::for_commands();
    context.run("specs list").ok().has(&["no features yet"]);
    assert_eq!(context.json("specs list --json"), json!({ "features": [] }));
    assert!(!context.project().join("specs").exists(), "asking makes nothing");
}

#[test]
fn a_feature_moves_between_the_shelves() {
    let context = TestContext::for_commands();
    context.run("specs new login --workflow standard").ok().has(&["Created login", "in-progress/login"]);
    assert!(read(&context.feature("in-progress/login/tasks.md")).contains("- [ ] PLAN"));
    context.run("specs pause login").ok().has(&["login: in-progress → paused"]);
    context.run("specs pause login").ok().has(&["login is already in paused"]);
    context.run("specs backlog login").ok().has(&["paused → backlog"]);
    context.run("specs resume login").ok().has(&["backlog → in-progress"]);
    context.run("specs archive login").ok().has(&["Archived login with 8 open tasks", "_login"]);
    assert!(!context.feature("in-progress/login").exists());
    let list = context.json("specs list --json");
    assert_eq!(list["features"][0]["shelf"], "archive");
    let folder = list["features"][0]["name"].as_str().unwrap().to_owned();
    context.run(&format!("specs show {folder}")).ok().has(&["archive", "standard", "- [ ] DEV"]);
}

#[test]
fn the_objects_have_their_shape() {
    let context = TestContext::for_commands();
    let made = context.json("specs new dark-mode --backlog --json");
    assert_eq!(keys(&made), ["name", "shelf", "workflow", "created", "dir", "tasks"]);
    assert_eq!(made["shelf"], "backlog");
    put(&context.feature("backlog/dark-mode/tasks.md"), "## Tasks\n- [x] a\n- [ ] b\n");
    assert_eq!(
        context.json("specs show dark-mode --json")["tasks"],
        json!({ "checked": 1, "total": 2, "pending": ["b"] })
    );
    assert_eq!(context.json("specs resume dark-mode --json")["shelf"], "in-progress");
    assert_eq!(keys(&context.json("specs archive dark-mode --json")), ["name", "shelf", "folder", "dir"]);
}

#[test]
fn wrong_names_are_refused_with_a_better_one() {
    let context = TestContext::for_commands();
    context.run("specs new login").ok();
    context.run("specs new login").fails(&["exists", "in-progress/login"]);
    context.run_args(&["specs", "new", "My Login"]).fails(&["\"My Login\"", "my-login"]);
    context.run("specs new ../evil").fails(&["not a feature name"]);
    context.run("specs new x --workflow standrad").fails(&["did you mean standard?"]);
    for action in ["show", "pause", "resume", "backlog", "archive"] {
        context.run(&format!("specs {action} lgoin")).fails(&["no feature lgoin", "did you mean login?"]);
        context.run(&format!("specs {action} ../../etc")).fails(&["no feature", "specs list"]);
        context.run(&format!("specs {action}")).refused_by_parser();
    }
    assert!(!context.project().join("evil").exists());
}

#[test]
fn the_project_can_be_named() {
    let context = TestContext::for_commands();
    let (named, client) = (context.project().join("named"), context.project().join("client"));
    fs::create_dir(&named).unwrap();
    fs::create_dir(&client).unwrap();
    context.run(&format!("specs new a --project {}", named.display())).ok();
    assert!(named.join("specs/features/in-progress/a").exists());
    context.run("specs list --project /nonexistent").fails(&["/nonexistent"]);
    let context = context.with_env("CLAUDE_PROJECT_DIR", client.to_str().unwrap());
    context.run("specs new b").ok();
    assert!(client.join("specs/features/in-progress/b").exists());
}

#[test]
fn a_link_is_not_followed() {
    let context = TestContext::for_commands();
    let outside = context.state();
    fs::create_dir_all(&outside).unwrap();
    std::os::unix::fs::symlink(&outside, context.project().join("specs")).unwrap();
    context.run("specs list").fails(&["specs", "symbolic links"]);
    context.run("specs new x").fails(&["specs"]);
    assert_eq!(fs::read_dir(&outside).unwrap().count(), 0);
}

#[test]
fn a_feature_that_a_session_works_on_is_archived_only_when_forced() {
    let context = TestContext::for_commands();
    context.run("init quick --feature login --session aaaa1111-first").ok();
    let refused = context.run("specs archive login");
    refused.fails(&["session aaaa1111 is working on login", "overtone stop --session aaaa1111", "--force"]);
    assert!(context.feature("in-progress/login").exists());
    // The session itself may, and so may anybody when it has stopped.
    let own = context.with_env("OVERTONE_SESSION_ID", "aaaa1111-first");
    own.run("specs archive login").ok();
    own.run("init quick --feature login --force").ok();
    let context = own.without_env("OVERTONE_SESSION_ID");
    context.run("specs archive login --force").ok();
    context.run("init quick --feature search --session bbbb2222-second").ok();
    context.run("stop --session bbbb2222").ok();
    context.run("specs archive search").ok();
}

#[test]
fn an_archive_that_was_ended_half_way_is_finished_by_the_next_run() {
    let context = TestContext::for_commands();
    context.run("specs new login").ok();
    std::fs::create_dir_all(context.feature("archive")).unwrap();
    std::fs::rename(context.feature("in-progress/login"), context.feature("archive/2026-01-02_login"))
        .unwrap();
    context.run("specs archive login").ok().has(&["Archived login", "2026-01-02_login"]);
    context.run("specs archive login").fails(&["login", "hint: "]);
}
