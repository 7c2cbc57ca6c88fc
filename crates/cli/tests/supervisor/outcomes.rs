//! The reviewer, what it says, and the three outcomes.

use std::fs;
use std::path::Path;
use std::process::Command;
use std::time::Duration;

use serde_json::{Value, json};

use crate::context::{TestContext, stop_event};

#[test]
fn s5_05_a_fork_of_the_session_decides() {
    let context = TestContext::for_supervisor();
    context.reviewer_says(false, "write the tests");
    context.stop().assert_block("write the tests");
    context.reviewer_says(true, "");
    assert_eq!(context.stop().stdout, "{}\n");
    let folder = fs::read_to_string(context.path("fake/folder")).unwrap();
    assert_eq!(fs::canonicalize(folder.trim()).unwrap(), fs::canonicalize(context.path("project")).unwrap());
}

#[test]
fn s5_06_the_verdict_is_read_from_the_result() {
    let context = TestContext::for_supervisor();
    for (text, stops) in [
        (r#"{"allow_stop":true,"feedback":""}"#, true),
        ("Done.\n```json\n{\"completed\":true,\"feedback\":\"\"}\n```", true),
        ("{'completed': True, 'feedback': 'fine',}", true),
        (r#"{"allow_stop":false,"feedback":"no"}"#, false),
    ] {
        context.reviewer_writes(text);
        let output = context.stop();
        if stops { assert_eq!(output.stdout, "{}\n") } else { output.assert_block("no") }
    }
}

#[test]
fn s5_16_the_reviewers_command() {
    let context = TestContext::for_supervisor();
    context.write("home/.claude/SUPERVISOR.md", "你是严格的审查者...");
    context.reviewer_says(true, "");
    context.stop();
    let arguments = context.arguments();
    for (name, value) in [
        ("--resume", "abc123"),
        ("--output-format", "stream-json"),
        ("--settings", r#"{"disableAllHooks":true}"#),
    ] {
        let at = arguments.iter().position(|argument| argument == name).unwrap();
        assert_eq!(arguments[at + 1], value);
    }
    for flag in ["-p", "--fork-session", "--verbose"] {
        assert!(arguments.iter().any(|argument| argument == flag), "{flag}");
    }
    assert!(!arguments.iter().any(|argument| argument.contains("system-prompt")));
    // Every user of the machine can read arguments.
    assert!(!arguments.iter().any(|argument| argument.contains("审查者")));
    let prompt = context.prompt();
    assert!(prompt.starts_with("你是严格的审查者...\n\n") && prompt.contains("completed"), "{prompt}");
}

#[test]
fn s5_16_without_a_file_there_is_a_built_in_prompt() {
    let context = TestContext::for_supervisor();
    context.reviewer_says(true, "");
    context.stop();
    assert!(context.prompt().starts_with("你是严格的审查者"));
}

#[test]
fn s5_17_the_stream_is_shown() {
    let context = TestContext::for_supervisor();
    context.reviewer_says(false, "go on");
    context.stop().assert_stderr_has(&["looking at it", "任务未完成"]);
    assert!(context.supervisor_file("supervisor-abc123-output.jsonl").is_file());
}

#[test]
fn s5_18_the_schema_of_the_result() {
    let context = TestContext::for_supervisor();
    context.reviewer_says(true, "");
    context.stop();
    let arguments = context.arguments();
    let at = arguments.iter().position(|argument| argument == "--json-schema").unwrap();
    let schema: Value = serde_json::from_str(&arguments[at + 1]).unwrap();
    let properties = json!({"completed":{"type":"boolean"},"feedback":{"type":"string"}});
    assert_eq!(schema, json!({"type":"object","properties":properties,"required":["completed","feedback"]}));
}

#[test]
fn s5_22_the_beginning_of_a_round_is_told() {
    let context = TestContext::for_supervisor();
    context.reviewer_says(false, "补上测试");
    context.stop().assert_stderr_has(&["[SUPERVISOR HOOK] 开始执行", "session_id: abc123", "1/10"]);
    context.stop().assert_stderr_has(&["2/10"]);
}

#[test]
fn s5_23_the_review_is_told() {
    let context = TestContext::for_supervisor();
    context.reviewer_says(false, "补上测试");
    context.stop().assert_stderr_has(&["[SUPERVISOR] 正在审查工作...", "请在新窗口查看日志文件了解详情"]);
}

#[test]
fn s5_24_unfinished_work_is_told() {
    let context = TestContext::for_supervisor();
    context.reviewer_says(false, "补上测试");
    context.stop().assert_stderr_has(&["[SUPERVISOR] 任务未完成", "补上测试", "Agent 将根据反馈继续工作"]);
}

#[test]
fn s5_25_completion_is_told() {
    let context = TestContext::for_supervisor();
    context.reviewer_says(true, "");
    context.stop().assert_stderr_has(&["[SUPERVISOR] 任务已完成", "允许停止"]);
}

#[test]
fn s5_28_prose_is_feedback() {
    let context = TestContext::for_supervisor();
    for text in ["The tests are missing.", r#"{"completed": true, "feedb"#] {
        context.reviewer_writes(text);
        context.stop().assert_block(text);
    }
}

#[test]
fn s5_29_an_empty_result_has_the_default_feedback() {
    let context = TestContext::for_supervisor();
    context.reviewer_writes("");
    context.stop().assert_block("请继续完成任务");
}

#[test]
fn the_language_may_be_chosen() {
    let mut context = TestContext::for_supervisor();
    context.reviewer_says(true, "");
    context.write("overtone/config.json", r#"{"language":"zh-TW"}"#);
    context.stop().assert_stderr_has(&["任務已完成"]);
    context.set_env("OVERTONE_LANG", "en");
    context.stop().assert_stderr_has(&["the task is complete", "allowed to stop"]);
}

#[test]
fn an_api_error_lets_go() {
    let context = TestContext::for_supervisor();
    let error = "API Error: 401 invalid x-api-key";
    context.reviewer_ends(&json!({"type":"result","subtype":"success","is_error":true,"result":error}));
    context.write("fake/code", "1");
    context.stop().assert_not_reviewed(error);
}

#[test]
fn a_reviewer_that_dies_lets_go() {
    let context = TestContext::for_supervisor();
    context.write("fake/lines.jsonl", "{\"type\":\"system\",\"subtype\":\"init\"}\n{\"type\":\"resu");
    context.write("fake/stderr", "No conversation found with session ID\n\n");
    context.write("fake/code", "3");
    context
        .stop()
        .assert_not_reviewed("没有给出结果（exit status: 3: No conversation found with session ID）");
}

#[test]
fn a_reviewer_that_hangs_is_ended() {
    let mut context = TestContext::for_supervisor();
    context.write("fake/hang", "");
    context.set_env("CCC_SUPERVISOR_TIMEOUT", "1");
    // It would not end by itself.
    context.stop().assert_not_reviewed("1 秒");
}

#[test]
fn a_result_counts_though_the_reviewer_does_not_end() {
    let context = TestContext::for_supervisor();
    context.reviewer_says(false, "go on");
    context.write("fake/hang", "");
    context.stop().assert_block("go on");
}

#[test]
fn without_claude_it_lets_go() {
    let mut context = TestContext::for_supervisor();
    let empty = context.path("project");
    context.set_env("PATH", empty);
    context.stop().assert_not_reviewed("claude");
    let log = fs::read_to_string(context.supervisor_file("hook-invocation.log")).unwrap();
    assert!(log.contains("not_reviewed=no-claude"), "{log}");
}

#[test]
fn an_interrupted_review_takes_its_reviewer_with_it() {
    let context = TestContext::for_supervisor();
    context.write("fake/hang", "");
    context.write("fake/note_pid", "");
    let mut command = Command::new(env!("CARGO_BIN_EXE_overtone"));
    command.args(["ccc", "supervisor-hook"]);
    let output = std::thread::scope(|scope| {
        let hook = scope.spawn(|| context.run_as(command, stop_event().to_string().as_bytes()));
        let parent = loop {
            let noted = fs::read_to_string(context.path("fake/parent")).unwrap_or_default();
            if let Ok(parent) = noted.trim().parse::<u32>() {
                break parent;
            }
            std::thread::sleep(Duration::from_millis(10));
        };
        assert!(Command::new("kill").arg(parent.to_string()).status().unwrap().success());
        hook.join().unwrap()
    });
    output.assert_not_reviewed("审查被中断");
    let reviewer = fs::read_to_string(context.path("fake/pid")).unwrap();
    assert!(!Path::new("/proc").join(reviewer.trim()).exists(), "it would continue at the user's expense");
}
