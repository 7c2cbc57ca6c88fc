//! Checks are run first; a failing one needs no opinion.

use serde_json::json;

use crate::context::TestContext;

#[test]
fn a_failing_check_decides_on_its_own() {
    let context = TestContext::for_supervisor();
    context.reviewer_says(true, "");
    let failing = json!({"name": "tests", "command": "echo 3 tests failed; exit 7"});
    context.config(&json!({"supervisor": {"checks": ["true", failing]}}));
    let answer = context.stop().json();
    let reason = answer["reason"].as_str().unwrap();
    assert_eq!(answer["decision"], "block");
    for part in ["✘ tests", "7", "3 tests failed"] {
        assert!(reason.contains(part), "{reason}");
    }
    assert!(!reason.contains("✔"), "what passes needs no mending: {reason}");
    assert_eq!(context.reviews(), 0, "nobody had to be asked");
}

#[test]
fn passing_checks_are_shown_to_the_reviewer() {
    let context = TestContext::for_supervisor();
    context.reviewer_says(true, "");
    context.config(&json!({"supervisor": {"checks": ["echo 12 passed"]}}));
    assert_eq!(context.stop().stdout, "{}\n");
    let prompt = context.prompt();
    assert!(prompt.contains("✔ echo 12 passed") && prompt.contains("\n12 passed"), "{prompt}");
}

#[test]
fn checks_run_in_the_project_and_are_bounded() {
    let context = TestContext::for_supervisor();
    context.reviewer_says(true, "");
    context.write("project/marker", "");
    let slow = json!({"name": "slow", "command": "sleep 3600", "timeout_seconds": 1});
    context.config(&json!({"supervisor": {"checks": ["test -f marker", slow, "no-such-program-here"]}}));
    let answer = context.stop().json();
    let reason = answer["reason"].as_str().unwrap();
    assert!(reason.contains("✘ slow（1 秒内没有完成）"), "{reason}");
    assert!(reason.contains("127"), "{reason}");
    assert!(!reason.contains("marker"), "{reason}");
    let evidence = &context.trail()[0]["evidence"];
    assert_eq!(evidence[0]["result"], "passed");
    assert_eq!(evidence[1]["result"], "timeout");
    assert_eq!((&evidence[2]["result"], &evidence[2]["exit_code"]), (&json!("failed"), &json!(127)));
}

#[test]
fn work_that_changed_nothing_is_not_done() {
    let context = TestContext::for_supervisor();
    context.repository();
    context.reviewer_says(true, "");
    context.config(&json!({"supervisor": {"checks": [{"changes": true}]}}));
    let line = json!({"type": "user", "timestamp": "2999-01-01T00:00:00Z", "message": {"content": "fix it"}});
    context.write("transcript.jsonl", line.to_string());
    let transcript = json!(context.path("transcript.jsonl"));
    let answer = context.stop_with("transcript_path", transcript.clone()).json();
    assert!(answer["reason"].as_str().unwrap().contains("没有任何变更"), "{answer}");
    context.write("project/new", "work");
    assert_eq!(context.stop_with("transcript_path", transcript.clone()).stdout, "{}\n");
    // After the approval the tree is as it was then.
    let answer = context.stop_with("transcript_path", transcript.clone()).json();
    assert!(answer["reason"].as_str().unwrap().contains("没有任何变更"), "{answer}");
    context.write("project/new", "more work");
    assert_eq!(context.stop_with("transcript_path", transcript).stdout, "{}\n");
}

#[test]
fn secrets_in_the_output_stay_here() {
    let mut context = TestContext::for_supervisor();
    context.set_env("MY_TOKEN", "correct-horse-battery");
    context.reviewer_says(true, "");
    context.config(&json!({"supervisor": {"checks": ["echo $MY_TOKEN sk-ant-api03-abcdefgh; exit 1"]}}));
    let answer = context.stop().stdout;
    let trail = context.trail()[0].to_string();
    for text in [answer, trail] {
        // The command itself is in the configuration; what it wrote is not shown.
        assert!(!text.contains("correct-horse"), "{text}");
        assert!(text.contains("***"), "{text}");
    }
}

#[test]
fn invalid_settings_are_reported_and_ignored() {
    let context = TestContext::for_supervisor();
    context.reviewer_says(false, "go on");
    context.config(&json!({"supervisor": {"checks": [3], "max_iterations": "many"}}));
    let output = context.stop();
    output.assert_block("go on");
    output.assert_stderr_has(&["supervisor.checks", "supervisor.max_iterations", "1/10"]);
    context.write("home/.claude/ccc.json", "{ broken");
    let output = context.stop();
    output.assert_block("go on");
    output.assert_stderr_has(&["ccc.json"]);
}
