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
    world.run("init quick --feature login --session s2 --anyway").ok().has(&["login (already in progress"]);
    world.run("stop").ok();
    world.run("stop --session s2").ok();
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

fn open(world: &World, id: &str) {
    world.hook("on-start", &json!({ "session_id": id, "source": "startup", "cwd": world.project() }));
}

#[test]
fn a_feature_that_another_session_works_on_is_refused() {
    let world = World::new();
    for id in ["aaaa1111-first", "bbbb2222-second"] {
        open(&world, id);
    }
    world.run("init quick --feature login --session aaaa1111-first").ok();
    let refused = world.run("init quick --feature login --session bbbb2222-second");
    refused.fails(&[
        "session aaaa1111 is working on login (last active",
        "another feature name",
        "overtone stop --session aaaa1111",
        "--anyway",
    ]);
    assert!(!world.session("bbbb2222-second").join("workflow.json").exists());
    world.run("init quick --feature search --session bbbb2222-second").ok();
    world.run("init quick --feature login --session bbbb2222-second --force").fails(&["aaaa1111"]);
    // A session may start anew on its own feature, and a workflow without documents holds none.
    world.run("init quick --feature login --session aaaa1111-first --force").ok();
    world.run("init single --feature login --session bbbb2222-second --force").ok();
    world.run("init quick --feature login --session bbbb2222-second --force --anyway").ok();
}

#[test]
fn a_session_that_stopped_ended_or_went_silent_leaves_its_feature() {
    let silence = |world: &World| {
        let long_ago = std::time::SystemTime::now() - std::time::Duration::from_hours(3);
        for path in [world.session("first").join("timeline.jsonl"), world.session("first")] {
            fs::File::open(path).unwrap().set_modified(long_ago).unwrap();
        }
    };
    let stop = |world: &World| drop(world.run("stop --session first").ok());
    let end =
        |world: &World| world.hook("on-session-end", &json!({ "session_id": "first", "reason": "other" }));
    let leave: [&dyn Fn(&World); 3] = [&silence, &stop, &end];
    for (number, leave) in leave.iter().enumerate() {
        let world = World::new();
        open(&world, "first");
        world.run("init quick --feature login --session first").ok();
        open(&world, "second");
        world
            .run("init quick --feature login --session second")
            .fails(&["session first is working on login"]);
        leave(&world);
        let started = world.run("init quick --feature login --session second");
        assert_eq!(started.code, Some(0), "{number}: {started:?}");
    }
}

#[test]
fn the_same_feature_of_another_project_is_another_feature() {
    let world = World::new();
    let other = world.project().join("other");
    fs::create_dir(&other).unwrap();
    world.run("init quick --feature login --session first").ok();
    world.run(&format!("init quick --feature login --session second --project {}", other.display())).ok();
}

#[test]
fn of_sessions_that_start_together_one_gets_the_feature() {
    let world = World::new();
    let ids = ["a", "b", "c", "d", "e", "f"];
    let started = std::thread::scope(|scope| {
        let world = &world;
        let runs = ids.map(|id| {
            scope.spawn(move || world.run(&format!("init quick --feature login --session {id}")).code)
        });
        runs.into_iter().map(|run| run.join().unwrap()).filter(|code| *code == Some(0)).count()
    });
    assert_eq!(started, 1);
}
