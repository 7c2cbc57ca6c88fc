use std::fs;

use serde_json::json;

use crate::world::{World, keys, put, read};

#[test]
fn no_features_is_an_answer() {
    let world = World::new();
    world.run("specs list").ok().has(&["no features yet"]);
    assert_eq!(world.json("specs list --json"), json!({ "features": [] }));
    assert!(!world.project().join("specs").exists(), "asking makes nothing");
}

#[test]
fn a_feature_moves_between_the_shelves() {
    let world = World::new();
    world.run("specs new login --workflow standard").ok().has(&["Made login", "in-progress/login"]);
    assert!(read(&world.feature("in-progress/login/tasks.md")).contains("- [ ] PLAN"));
    world.run("specs pause login").ok().has(&["login: in-progress → paused"]);
    world.run("specs pause login").ok().has(&["login is in paused already"]);
    world.run("specs backlog login").ok().has(&["paused → backlog"]);
    world.run("specs resume login").ok().has(&["backlog → in-progress"]);
    world.run("specs archive login").ok().has(&["Archived login with 8 open tasks", "_login"]);
    assert!(!world.feature("in-progress/login").exists());
    let list = world.json("specs list --json");
    assert_eq!(list["features"][0]["shelf"], "archive");
    let folder = list["features"][0]["name"].as_str().unwrap().to_owned();
    world.run(&format!("specs show {folder}")).ok().has(&["archive", "standard", "- [ ] DEV"]);
}

#[test]
fn the_objects_have_their_shape() {
    let world = World::new();
    let made = world.json("specs new dark-mode --backlog --json");
    assert_eq!(keys(&made), ["name", "shelf", "workflow", "created", "dir", "tasks"]);
    assert_eq!(made["shelf"], "backlog");
    put(&world.feature("backlog/dark-mode/tasks.md"), "## Tasks\n- [x] a\n- [ ] b\n");
    assert_eq!(
        world.json("specs show dark-mode --json")["tasks"],
        json!({ "checked": 1, "total": 2, "pending": ["b"] })
    );
    assert_eq!(world.json("specs resume dark-mode --json")["shelf"], "in-progress");
    assert_eq!(keys(&world.json("specs archive dark-mode --json")), ["name", "shelf", "folder", "dir"]);
}

#[test]
fn wrong_names_are_refused_with_a_better_one() {
    let world = World::new();
    world.run("specs new login").ok();
    world.run("specs new login").fails(&["exists", "in-progress/login"]);
    world.run_words(&["specs", "new", "My Login"]).fails(&["\"My Login\"", "my-login"]);
    world.run("specs new ../evil").fails(&["not a feature name"]);
    world.run("specs new x --workflow standrad").fails(&["did you mean standard?"]);
    for action in ["show", "pause", "resume", "backlog", "archive"] {
        world.run(&format!("specs {action} lgoin")).fails(&["no feature lgoin", "did you mean login?"]);
        world.run(&format!("specs {action} ../../etc")).fails(&["no feature", "specs list"]);
        world.run(&format!("specs {action}")).refused_by_parser();
    }
    assert!(!world.project().join("evil").exists());
}

#[test]
fn the_project_can_be_named() {
    let world = World::new();
    let (named, client) = (world.project().join("named"), world.project().join("client"));
    fs::create_dir(&named).unwrap();
    fs::create_dir(&client).unwrap();
    world.run(&format!("specs new a --project {}", named.display())).ok();
    assert!(named.join("specs/features/in-progress/a").exists());
    world.run("specs list --project /nonexistent").fails(&["/nonexistent"]);
    let world = world.with("CLAUDE_PROJECT_DIR", client.to_str().unwrap());
    world.run("specs new b").ok();
    assert!(client.join("specs/features/in-progress/b").exists());
}

#[test]
fn a_link_is_not_followed() {
    let world = World::new();
    let outside = world.state();
    fs::create_dir_all(&outside).unwrap();
    std::os::unix::fs::symlink(&outside, world.project().join("specs")).unwrap();
    world.run("specs list").fails(&["specs", "symbolic links"]);
    world.run("specs new x").fails(&["specs"]);
    assert_eq!(fs::read_dir(&outside).unwrap().count(), 0);
}

#[test]
fn a_feature_that_a_session_works_on_is_archived_only_when_forced() {
    let world = World::new();
    world.run("init quick --feature login --session aaaa1111-first").ok();
    let refused = world.run("specs archive login");
    refused.fails(&["session aaaa1111 is working on login", "overtone stop --session aaaa1111", "--force"]);
    assert!(world.feature("in-progress/login").exists());
    // The session itself may, and so may anybody when it has stopped.
    let own = world.with("OVERTONE_SESSION_ID", "aaaa1111-first");
    own.run("specs archive login").ok();
    own.run("init quick --feature login --force").ok();
    let world = own.without("OVERTONE_SESSION_ID");
    world.run("specs archive login --force").ok();
    world.run("init quick --feature search --session bbbb2222-second").ok();
    world.run("stop --session bbbb2222").ok();
    world.run("specs archive search").ok();
}

#[test]
fn an_archive_that_was_ended_half_way_is_finished_by_the_next_run() {
    let world = World::new();
    world.run("specs new login").ok();
    std::fs::create_dir_all(world.feature("archive")).unwrap();
    std::fs::rename(world.feature("in-progress/login"), world.feature("archive/2026-01-02_login")).unwrap();
    world.run("specs archive login").ok().has(&["Archived login", "2026-01-02_login"]);
    world.run("specs archive login").fails(&["login", "hint: "]);
}
