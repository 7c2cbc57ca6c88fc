use serde_json::json;

use crate::world::{World, keys, put, read};

#[test]
fn nothing_to_show_is_no_failure() {
    for world in [
        World::new(),
        World::new().without("OVERTONE_SESSION_ID"),
        World::new().with("OVERTONE_SESSION_ID", ".."),
    ] {
        world.run("status").ok().has(&["No workflow is running.", "/ot:auto"]);
        assert_eq!(world.json("status --json")["workflow"], json!(null));
        assert!(!world.session("s1").exists(), "asking makes nothing");
    }
    World::new().run("status --session unknown").fails(&["no such session: unknown", "overtone sessions"]);
}

#[test]
fn the_whole_state_is_shown() {
    let world = World::new();
    world.run("init standard --feature login").ok();
    for agent in ["planner", "architect", "tester", "developer"] {
        world.agent("s1", agent, Some("PASS"));
    }
    put(
        &world.feature("in-progress/login/tasks.md"),
        "## Tasks\n- [x] one\n- [ ] two \u{1b}[2J\n- [ ] three\n",
    );
    world.agent("s1", "code-reviewer", Some("REJECT"));
    world.agent("s1", "tester", None);
    world.hook("pre-compact", &json!({ "session_id": "s1", "trigger": "auto" }));
    let shown = world.run("status").ok().has(&[
        "standard (an ordinary feature)",
        "✅💻Development → ❌🔍Review → 🔄🧪Test",
        "(4/8)",
        "🧪 Test (TEST:2)",
        "tester (TEST:2) · ",
        "Rejections: 1/3",
        "round 0/100 · running",
        "login (tasks 1/3)",
        "- [ ] three",
        "compactions: 1",
        "→ Waiting for TEST:2.",
    ]);
    assert!(!shown.stdout.contains('\u{1b}'), "no colours in a pipe, and none from a task");
}

#[test]
fn the_object_has_its_shape() {
    let world = World::new();
    world.run("init quick --feature login").ok();
    world.agent("s1", "developer", None);
    let status = world.json("status --json");
    assert_eq!(
        keys(&status),
        ["session", "project", "workflow", "loop", "feature", "compactions", "contextPercent", "next"]
    );
    assert_eq!(keys(&status["loop"]), ["iterations", "limit", "stopped", "stoppedBy", "consecutiveErrors"]);
    let workflow = &status["workflow"];
    assert_eq!(
        keys(workflow),
        [
            "type",
            "createdAt",
            "ending",
            "currentStage",
            "done",
            "total",
            "stages",
            "activeAgents",
            "failures",
            "rejections",
            "retros",
            "featureName",
            "movedTo"
        ]
    );
    assert_eq!((&workflow["currentStage"], &workflow["total"]), (&json!("DEV"), &json!(5)));
    assert_eq!(workflow["stages"][0]["status"], "active");
    let agent = &workflow["activeAgents"][0];
    assert_eq!((&agent["agent"], &agent["stage"]), (&json!("developer"), &json!("DEV")));
    assert!(agent["elapsedMs"].as_i64().unwrap() >= 0);
    assert_eq!(status["feature"]["name"], "login");
}

#[test]
fn two_sessions_do_not_mix() {
    let world = World::new();
    world.run("init quick --session a").ok();
    world.run("init standard --session b").ok();
    world.agent("a", "developer", Some("PASS"));
    world.run("stop --session b").ok();
    let (a, b) = (world.json("status --session a --json"), world.json("status --session b --json"));
    assert_eq!((&a["workflow"]["done"], &a["loop"]["stopped"]), (&json!(1), &json!(false)));
    assert_eq!((&b["workflow"]["done"], &b["loop"]["stopped"]), (&json!(0), &json!(true)));
}

#[test]
fn sources_of_the_session_have_an_order() {
    let world = World::new().without("OVERTONE_SESSION_ID");
    put(&world.state().join(".current-session-id"), "pointed");
    for id in ["pointed", "named"] {
        std::fs::create_dir_all(world.session(id)).unwrap();
    }
    let session = |world: &World, line: &str| world.json(line)["session"].as_str().map(str::to_owned);
    assert_eq!(session(&world, "status --json").as_deref(), Some("pointed"));
    let world = world.with("CLAUDE_CODE_SESSION_ID", "client");
    assert_eq!(session(&world, "status --json").as_deref(), Some("client"));
    let world = world.with("OVERTONE_SESSION_ID", "own");
    assert_eq!(session(&world, "status --json").as_deref(), Some("own"));
    assert_eq!(session(&world, "status --json --session named").as_deref(), Some("named"));
    let world = world.with("OVERTONE_SESSION_ID", "../evil");
    assert_eq!(session(&world, "status --json"), None, "no other session takes its place");
}

#[test]
fn finished_is_not_running_and_complete_has_no_next_step() {
    let world = World::new();
    world.run("init single").ok();
    world.agent("s1", "developer", None);
    world.run("status").ok().has(&["· running", "→ Waiting for DEV."]);
    world.agent("s1", "developer", Some("PASS"));
    let finished = world.run("status").ok().has(&["· finished", "→ Every stage is done"]);
    assert!(!finished.stdout.contains("running") && !finished.stdout.contains('🎉'), "{}", finished.stdout);
    world.run("sessions").ok().has(&["finished"]);
    world.run("top --once").ok().has(&["finished"]);
    world.hook("on-stop", &json!({ "session_id": "s1", "cwd": world.project() }));
    let complete = world.run("status").ok().has(&["completed"]);
    assert!(!complete.stdout.contains('→') && !complete.stdout.contains("running"), "{}", complete.stdout);
    assert_eq!(world.json("status --json")["next"], json!(null));
}

#[test]
fn the_user_is_told_what_to_decide_without_words_for_the_model() {
    let world = World::new();
    world.run("config set limits.failures 1").ok();
    world.run("init quick").ok();
    world.agent("s1", "developer", Some("PASS"));
    world.agent("s1", "code-reviewer", Some("PASS"));
    world.agent("s1", "tester", Some("FAIL"));
    let shown =
        world.run("status").ok().has(&["waits for you", "Test reached its retry limit", "overtone resume"]);
    for word in ["⛔", "NEVER", "MUST"] {
        assert!(!shown.stdout.contains(word), "{}", shown.stdout);
    }
}

#[test]
fn broken_files_are_named_and_left() {
    for (file, content) in [("workflow.json", "{broken"), ("workflow.json", "{}"), ("loop.json", "7")] {
        let world = World::new();
        world.run("init quick").ok();
        let path = world.session("s1").join(file);
        put(&path, content);
        for line in ["status", "status --json", "stop", "resume", "sessions show s1"] {
            world.run(line).fails(&[path.to_str().unwrap(), "left as it is", "--force"]);
        }
        assert_eq!(read(&path), content);
    }
}

#[test]
fn a_workflow_of_another_version_is_shown_as_it_is() {
    let world = World::new();
    put(
        &world.session("s1").join("workflow.json"),
        r#"{"workflowType":"ultra","stages":{"DEV":{"status":"completed","result":"pass"},"WARP":{}},"x":1}"#,
    );
    world.run("status").ok().has(&["ultra", "(1/1)"]);
}
