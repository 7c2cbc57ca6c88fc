use std::fs;

use serde_json::json;

use crate::world::{World, keys, put, read};

#[test]
fn a_workflow_is_started_and_its_next_step_told() {
    let world = World::new();
    world.run("init quick").ok().has(&[
        "quick (a small feature, fast but reviewed)",
        "🔍 Review + 🧪 Test",
        "→ Next, delegate DEVELOPER (ot:developer).",
    ]);
    let state: serde_json::Value =
        serde_json::from_str(&read(&world.session("s1").join("workflow.json"))).unwrap();
    assert_eq!(
        (&state["workflowType"], &state["sessionId"], &state["featureName"]),
        (&json!("quick"), &json!("s1"), &json!(null))
    );
}

#[test]
fn the_object_has_its_shape() {
    let world = World::new();
    let started = world.json("init standard --feature user-login --json");
    assert_eq!(
        keys(&started),
        ["session", "workflow", "stages", "feature", "featureCreated", "setAside", "next"]
    );
    assert_eq!(started["stages"].as_array().unwrap().len(), 8);
    assert_eq!((&started["feature"], &started["featureCreated"]), (&json!("user-login"), &json!(true)));
}

#[test]
fn without_a_session_there_is_nothing_to_start() {
    World::new().without("OVERTONE_SESSION_ID").run("init quick").fails(&["no session", "--session"]);
    World::new().with("OVERTONE_SESSION_ID", "../x").run("init quick").fails(&["no session"]);
    World::new().run("init quick --session ../../x").fails(&["not a session id: ../../x"]);
    let world = World::new().without("OVERTONE_SESSION_ID").with("CLAUDE_CODE_SESSION_ID", "c1");
    world.run("init quick").ok();
    assert!(world.session("c1").join("workflow.json").exists());
}

#[test]
fn an_unknown_workflow_is_refused_with_the_nearest_name_and_the_list() {
    let world = World::new();
    world.run("init standrad").fails(&[
        "unknown workflow: standrad",
        "did you mean standard?",
        "product-full",
    ]);
    world.run("init constructor").fails(&["unknown workflow: constructor", "there are: single, quick"]);
    assert!(!world.session("s1").exists());
    world.run("init").refused_by_parser();
}

#[test]
fn a_running_workflow_is_not_destroyed() {
    let world = World::new();
    world.run("init standard").ok();
    world.agent("s1", "planner", Some("PASS"));
    let before = read(&world.session("s1").join("workflow.json"));
    world.run("init quick --feature other").fails(&["standard (1/8 stages done)", "--force"]);
    assert_eq!(read(&world.session("s1").join("workflow.json")), before);
    assert!(!world.feature("in-progress/other").exists(), "a refused start makes no folder");
    world.run("init quick --force").ok();
    assert_eq!(world.json("status --json")["workflow"]["type"], "quick");
    world.run("timeline --type workflow:abort").ok().has(&["standard", "reason=replaced"]);
}

#[test]
fn features_are_made_joined_and_taken_up() {
    let world = World::new();
    world.run("init standard --feature login").ok().has(&["login (new: "]);
    assert!(
        world.feature("in-progress/login/tasks.md").exists()
            && world.feature("in-progress/login/bdd.md").exists()
    );
    world.run("init quick --feature login --session s2").ok().has(&["login (already in progress"]);
    world.run("specs pause login").ok();
    world.run("init quick --feature login --session s3").ok().has(&["login (taken up from paused)"]);
    assert!(world.feature("in-progress/login").exists() && !world.feature("paused/login").exists());
    world.run("init single --feature small --session s4").ok().has(&["keeps no documents"]);
    assert!(!world.feature("in-progress/small").exists());
    assert_eq!(world.json("status --session s4 --json")["workflow"]["featureName"], json!(null));
    world
        .run_words(&["init", "quick", "--session", "s5", "--feature", "My Login"])
        .fails(&["My Login", "my-login"]);
    world
        .run_words(&["init", "quick", "--session", "s5", "--feature", "../x"])
        .fails(&["not a feature name"]);
    assert!(!world.session("s5").join("workflow.json").exists());
}

#[test]
fn a_broken_state_is_kept_whatever_happens() {
    let world = World::new();
    let file = world.session("s1").join("workflow.json");
    put(&file, "{broken");
    put(&world.session("s1").join("loop.json"), "[]");
    world.run("init quick").fails(&["workflow.json", "left as it is", "--force"]);
    assert_eq!(read(&file), "{broken");
    world.run("init quick --force --feature ../x").fails(&["not a feature name"]);
    assert_eq!(read(&file), "{broken", "nothing is moved for a start that cannot succeed");
    let started = world.json("init quick --force --json");
    let aside = started["setAside"].as_array().unwrap();
    assert_eq!(aside.len(), 2);
    let name = aside[0].as_str().unwrap();
    assert!(name.contains("workflow.json.broken-"), "{name}");
    assert_eq!(fs::read_to_string(name).unwrap(), "{broken");
    assert_eq!(world.json("status --json")["workflow"]["type"], "quick");
}

#[test]
fn a_link_to_elsewhere_is_not_written_through() {
    let world = World::new();
    let outside = world.project().join("precious.json");
    put(&outside, "{}");
    fs::create_dir_all(world.session("s1")).unwrap();
    std::os::unix::fs::symlink(&outside, world.session("s1").join("workflow.json")).unwrap();
    world.run("init quick").fails(&["workflow.json"]);
    world.run("init quick --force").ok();
    assert_eq!(read(&outside), "{}");
}

#[test]
fn a_new_workflow_does_not_inherit_a_stopped_loop() {
    let world = World::new();
    world.run("init single").ok();
    world.run("stop").ok();
    world.run("init single --force").ok();
    assert_eq!(world.json("status --json")["loop"]["stopped"], json!(false));
}
