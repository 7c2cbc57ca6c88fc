use serde_json::json;

use crate::context::{TestContext, keys, put, read};

#[test]
fn nothing_to_show_is_no_failure() {
    for context in [
        TestContext::for_commands(),
        TestContext::for_commands().without_env("OVERTONE_SESSION_ID"),
        TestContext::for_commands().with_env("OVERTONE_SESSION_ID", ".."),
    ] {
        context.run("status").ok().has(&["No workflow is running.", "/ot:auto"]);
        assert_eq!(context.json("status --json")["workflow"], json!(null));
        assert!(!context.session_dir("s1").exists(), "asking makes nothing");
    }
    TestContext::for_commands()
        .run("status --session unknown")
        .fails(&["no such session: unknown", "overtone sessions"]);
}

#[test]
fn the_whole_state_is_shown() {
    let context = TestContext::for_commands();
    context.run("init standard --feature login").ok();
    for agent in ["planner", "architect", "tester", "developer"] {
        context.agent("s1", agent, Some("PASS"));
    }
    put(
        &context.feature("in-progress/login/tasks.md"),
        "## Tasks\n- [x] one\n- [ ] two \u{1b}[2J\n- [ ] three\n",
    );
    context.agent("s1", "code-reviewer", Some("REJECT"));
    context.agent("s1", "tester", None);
    context.hook("pre-compact", &json!({ "session_id": "s1", "trigger": "auto" }));
    let shown = context.run("status").ok().has(&[
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
    let context = TestContext::for_commands();
    context.run("init quick --feature login").ok();
    context.agent("s1", "developer", None);
    let status = context.json("status --json");
    assert_eq!(
        keys(&status),
        [
            "session",
            "project",
            "workflow",
            "loop",
            "feature",
            "compactions",
            "contextPercent",
            "checks",
            "runningCheck",
            "next"
        ]
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
    let context = TestContext::for_commands();
    context.run("init quick --session a").ok();
    context.run("init standard --session b").ok();
    context.agent("a", "developer", Some("PASS"));
    context.run("stop --session b").ok();
    let (a, b) = (context.json("status --session a --json"), context.json("status --session b --json"));
    assert_eq!((&a["workflow"]["done"], &a["loop"]["stopped"]), (&json!(1), &json!(false)));
    assert_eq!((&b["workflow"]["done"], &b["loop"]["stopped"]), (&json!(0), &json!(true)));
}

#[test]
fn sources_of_the_session_have_an_order() {
    let context = TestContext::for_commands().without_env("OVERTONE_SESSION_ID");
    put(&context.state().join(".current-session-id"), "pointed");
    for id in ["pointed", "named"] {
        std::fs::create_dir_all(context.session_dir(id)).unwrap();
    }
    let session =
        |context: &TestContext, line: &str| context.json(line)["session"].as_str().map(str::to_owned);
    assert_eq!(session(&context, "status --json").as_deref(), Some("pointed"));
    let context = context.with_env("CLAUDE_CODE_SESSION_ID", "client");
    assert_eq!(session(&context, "status --json").as_deref(), Some("client"));
    let context = context.with_env("OVERTONE_SESSION_ID", "own");
    assert_eq!(session(&context, "status --json").as_deref(), Some("own"));
    assert_eq!(session(&context, "status --json --session named").as_deref(), Some("named"));
    let context = context.with_env("OVERTONE_SESSION_ID", "../evil");
    assert_eq!(session(&context, "status --json"), None, "no other session takes its place");
}

#[test]
fn finished_is_not_running_and_complete_has_no_next_step() {
    let context = TestContext::for_commands();
    context.run("init single").ok();
    context.agent("s1", "developer", None);
    context.run("status").ok().has(&["· running", "→ Waiting for DEV."]);
    context.agent("s1", "developer", Some("PASS"));
    let finished = context.run("status").ok().has(&["· finished", "→ Every stage is done"]);
    assert!(!finished.stdout.contains("running") && !finished.stdout.contains('🎉'), "{}", finished.stdout);
    context.run("sessions").ok().has(&["finished"]);
    context.run("top --once").ok().has(&["finished"]);
    context.hook("on-stop", &json!({ "session_id": "s1", "cwd": context.project() }));
    let complete = context.run("status").ok().has(&["completed"]);
    assert!(!complete.stdout.contains('→') && !complete.stdout.contains("running"), "{}", complete.stdout);
    assert_eq!(context.json("status --json")["next"], json!(null));
}

#[test]
fn the_user_is_told_what_to_decide_without_words_for_the_model() {
    let context = TestContext::for_commands();
    context.run("config set limits.failures 1").ok();
    context.run("init quick").ok();
    context.agent("s1", "developer", Some("PASS"));
    context.agent("s1", "code-reviewer", Some("PASS"));
    context.agent("s1", "tester", Some("FAIL"));
    let shown = context.run("status").ok().has(&[
        "waiting for you",
        "Test reached its retry limit",
        "overtone resume",
    ]);
    for word in ["⛔", "NEVER", "MUST"] {
        assert!(!shown.stdout.contains(word), "{}", shown.stdout);
    }
}

#[test]
fn broken_files_are_named_and_left() {
    for (file, content) in [("workflow.json", "{broken"), ("workflow.json", "{}"), ("loop.json", "7")] {
        let context = TestContext::for_commands();
        context.run("init quick").ok();
        let path = context.session_dir("s1").join(file);
        context.forget_seal("s1");
        put(&path, content);
        for line in ["status", "status --json", "stop", "resume", "sessions show s1"] {
            context.run(line).fails(&[path.to_str().unwrap(), "left as it is", "--force"]);
        }
        assert_eq!(read(&path), content);
    }
}

#[test]
fn a_workflow_of_another_version_is_shown_as_it_is() {
    let context = TestContext::for_commands();
    put(
        &context.session_dir("s1").join("workflow.json"),
        r#"{"workflowType":"ultra","stages":{"DEV":{"status":"completed","result":"pass"},"WARP":{}},"x":1}"#,
    );
    context.run("status").ok().has(&["ultra", "(1/1)"]);
}
