use std::fs;

use serde_json::json;

use crate::context::{TestContext, keys, put, read};

#[test]
fn a_workflow_is_started_and_its_next_step_shown() {
    let context = TestContext::for_commands();
    context.run("init quick --brief").ok().has(&[
        "quick (a small feature, fast but reviewed)",
        "🔍 Review + 🧪 Test",
        "→ Next, delegate DEVELOPER (ot:developer).",
    ]);
    let state: serde_json::Value =
        serde_json::from_str(&read(&context.session_dir("s1").join("workflow.json"))).unwrap();
    assert_eq!(
        (&state["workflowType"], &state["sessionId"], &state["featureName"]),
        (&json!("quick"), &json!("s1"), &json!(null))
    );
}

#[test]
fn the_object_has_its_shape() {
    let context = TestContext::for_commands();
    let started = context.json("init standard --feature user-login --json");
    assert_eq!(
        keys(&started),
        [
            "session",
            "workflow",
            "stages",
            "feature",
            "featureCreated",
            "setAside",
            "checks",
            "checksTrusted",
            "checksError",
            "guard",
            "retro",
            "docs",
            "budget",
            "stageBudget",
            "next"
        ]
    );
    assert_eq!(started["stages"].as_array().unwrap().len(), 8);
    assert_eq!((&started["feature"], &started["featureCreated"]), (&json!("user-login"), &json!(true)));
}

#[test]
fn without_a_session_there_is_nothing_to_start() {
    TestContext::for_commands()
        .without_env("OVERTONE_SESSION_ID")
        .run("init quick")
        .fails(&["no session", "--session"]);
    TestContext::for_commands()
        .with_env("OVERTONE_SESSION_ID", "../x")
        .run("init quick")
        .fails(&["no session"]);
    TestContext::for_commands().run("init quick --session ../../x").fails(&["not a session id: ../../x"]);
    let context = TestContext::for_commands()
        .without_env("OVERTONE_SESSION_ID")
        .with_env("CLAUDE_CODE_SESSION_ID", "c1");
    context.run("init quick").ok();
    assert!(context.session_dir("c1").join("workflow.json").exists());
}

#[test]
fn an_unknown_workflow_is_refused_with_the_nearest_name_and_the_list() {
    let context = TestContext::for_commands();
    context.run("init standrad").fails(&[
        "unknown workflow: standrad",
        "did you mean standard?",
        "product-full",
    ]);
    context.run("init constructor").fails(&["unknown workflow: constructor", "available: single, quick"]);
    assert!(!context.session_dir("s1").exists());
    context.run("init").refused_by_parser();
}

#[test]
fn a_running_workflow_is_not_destroyed() {
    let context = TestContext::for_commands();
    context.run("init standard").ok();
    context.agent("s1", "planner", Some("PASS"));
    let before = read(&context.session_dir("s1").join("workflow.json"));
    context.run("init quick --feature other").fails(&["standard (1/8 stages done)", "--force"]);
    assert_eq!(read(&context.session_dir("s1").join("workflow.json")), before);
    assert!(!context.feature("in-progress/other").exists(), "a refused start makes no folder");
    context.run("init quick --force").ok();
    assert_eq!(context.json("status --json")["workflow"]["type"], "quick");
    context.run("timeline --type workflow:abort").ok().has(&["standard", "reason=replaced"]);
}

#[test]
fn features_are_made_joined_and_taken_up() {
    let context = TestContext::for_commands();
    context.run("init standard --feature login").ok().has(&["login (new: "]);
    assert!(
        context.feature("in-progress/login/tasks.md").exists()
            && context.feature("in-progress/login/bdd.md").exists()
    );
    context.run("init quick --feature login --session s2 --anyway").ok().has(&["login (already in progress"]);
    context.run("stop").ok();
    context.run("stop --session s2").ok();
    context.run("specs pause login").ok();
    context.run("init quick --feature login --session s3").ok().has(&["login (moved back from paused)"]);
    assert!(context.feature("in-progress/login").exists() && !context.feature("paused/login").exists());
    context.run("init single --feature small --session s4").ok().has(&["keeps no documents"]);
    assert!(!context.feature("in-progress/small").exists());
    assert_eq!(context.json("status --session s4 --json")["workflow"]["featureName"], json!(null));
    context
        .run_args(&["init", "quick", "--session", "s5", "--feature", "My Login"])
        .fails(&["My Login", "my-login"]);
    context
        .run_args(&["init", "quick", "--session", "s5", "--feature", "../x"])
        .fails(&["not a feature name"]);
    assert!(!context.session_dir("s5").join("workflow.json").exists());
}

#[test]
fn a_broken_state_is_kept_whatever_happens() {
    let context = TestContext::for_commands();
    let file = context.session_dir("s1").join("workflow.json");
    put(&file, "{broken");
    put(&context.session_dir("s1").join("loop.json"), "[]");
    context.run("init quick").fails(&["workflow.json", "left as it is", "--force"]);
    assert_eq!(read(&file), "{broken");
    context.run("init quick --force --feature ../x").fails(&["not a feature name"]);
    assert_eq!(read(&file), "{broken", "nothing is moved for a start that cannot succeed");
    let started = context.json("init quick --force --json");
    let aside = started["setAside"].as_array().unwrap();
    assert_eq!(aside.len(), 2);
    let name = aside[0].as_str().unwrap();
    assert!(name.contains("workflow.json.broken-"), "{name}");
    assert_eq!(fs::read_to_string(name).unwrap(), "{broken");
    assert_eq!(context.json("status --json")["workflow"]["type"], "quick");
}

#[test]
fn a_link_to_elsewhere_is_not_written_through() {
    let context = TestContext::for_commands();
    let outside = context.project().join("precious.json");
    put(&outside, "{}");
    fs::create_dir_all(context.session_dir("s1")).unwrap();
    std::os::unix::fs::symlink(&outside, context.session_dir("s1").join("workflow.json")).unwrap();
    context.run("init quick").fails(&["workflow.json"]);
    context.run("init quick --force").ok();
    assert_eq!(read(&outside), "{}");
}

#[test]
fn a_new_workflow_does_not_inherit_a_stopped_loop() {
    let context = TestContext::for_commands();
    context.run("init single").ok();
    context.run("stop").ok();
    context.run("init single --force").ok();
    assert_eq!(context.json("status --json")["loop"]["stopped"], json!(false));
}

fn open(context: &TestContext, id: &str) {
    context.hook("on-start", &json!({ "session_id": id, "source": "startup", "cwd": context.project() }));
}

#[test]
fn a_feature_that_another_session_works_on_is_refused() {
    let context = TestContext::for_commands();
    for id in ["aaaa1111-first", "bbbb2222-second"] {
        open(&context, id);
    }
    context.run("init quick --feature login --session aaaa1111-first").ok();
    let refused = context.run("init quick --feature login --session bbbb2222-second");
    refused.fails(&[
        "session aaaa1111 is working on login (last active",
        "another feature name",
        "overtone stop --session aaaa1111",
        "--anyway",
    ]);
    assert!(!context.session_dir("bbbb2222-second").join("workflow.json").exists());
    context.run("init quick --feature search --session bbbb2222-second").ok();
    context.run("init quick --feature login --session bbbb2222-second --force").fails(&["aaaa1111"]);
    // A session may start again on its own feature, and a workflow without documents holds none.
    context.run("init quick --feature login --session aaaa1111-first --force").ok();
    context.run("init single --feature login --session bbbb2222-second --force").ok();
    context.run("init quick --feature login --session bbbb2222-second --force --anyway").ok();
}

#[test]
fn a_session_that_stopped_ended_or_went_silent_leaves_its_feature() {
    let silence = |context: &TestContext| {
        let long_ago = std::time::SystemTime::now() - std::time::Duration::from_hours(3);
        for path in [context.session_dir("first").join("timeline.jsonl"), context.session_dir("first")] {
            fs::File::open(path).unwrap().set_modified(long_ago).unwrap();
        }
    };
    let stop = |context: &TestContext| drop(context.run("stop --session first").ok());
    let end = |context: &TestContext| {
        context.hook("on-session-end", &json!({ "session_id": "first", "reason": "other" }));
    };
    let leave: [&dyn Fn(&TestContext); 3] = [&silence, &stop, &end];
    for (number, leave) in leave.iter().enumerate() {
        let context = TestContext::for_commands();
        open(&context, "first");
        context.run("init quick --feature login --session first").ok();
        open(&context, "second");
        context
            .run("init quick --feature login --session second")
            .fails(&["session first is working on login"]);
        leave(&context);
        let started = context.run("init quick --feature login --session second");
        assert_eq!(started.code, Some(0), "{number}: {started:?}");
    }
}

#[test]
fn the_same_feature_of_another_project_is_another_feature() {
    let context = TestContext::for_commands();
    let other = context.project().join("other");
    fs::create_dir(&other).unwrap();
    context.run("init quick --feature login --session first").ok();
    context.run(&format!("init quick --feature login --session second --project {}", other.display())).ok();
}

#[test]
fn of_sessions_that_start_together_one_gets_the_feature() {
    let context = TestContext::for_commands();
    let ids = ["a", "b", "c", "d", "e", "f"];
    let started = std::thread::scope(|scope| {
        let context = &context;
        let runs = ids.map(|id| {
            scope.spawn(move || context.run(&format!("init quick --feature login --session {id}")).code)
        });
        runs.into_iter().map(|run| run.join().unwrap()).filter(|code| *code == Some(0)).count()
    });
    assert_eq!(started, 1);
}
