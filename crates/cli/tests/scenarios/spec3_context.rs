//! Document 3, features 1c and 1f: the workflow context put before a sub-agent's prompt.
//!
//! `buildWorkflowContext` is seen through `pre-task`, which calls it: the context is what stands before the
//! separator in the new prompt.

use std::fs;

use overtone_core::engine::Facts;
use overtone_core::engine::context::workflow_context;
use overtone_core::engine::state::{Millis, StageResult, Status, WorkflowState};
use overtone_core::registry::Workflow;
use serde_json::{Value, json};

use crate::common::{put, put_link_loop};
use crate::support::{Answer, Session, assert_has, assert_lacks, units};

const HEADER: &str = "[Overtone Workflow Context]";
const SEPARATOR: &str = "\n\n---\n\n";
const PROMPT: &str = "「請執行 DEV 階段任務」";
const CUT: &str = "... (已截斷)";

/// DEV is next and its developer may be delegated.
fn before_dev() -> Session {
    Session::new().workflow("standard").completed(&["PLAN", "ARCH", "TEST"]).current("DEV")
}

/// The context that the developer gets.
#[track_caller]
fn stage_context(session: &Session) -> String {
    let prompt = session.delegate("developer", PROMPT).updated_prompt();
    let (context, rest) = prompt.split_once(SEPARATOR).expect("no separator");
    assert_eq!(rest, PROMPT);
    context.to_owned()
}

/// The part of the context that sums up the earlier stages.
fn earlier_stages(context: &str) -> &str {
    &context[context.find("前階段摘要").expect("no summary of earlier stages")..]
}

#[test]
fn s3_1c_1_the_context_precedes_the_prompt() {
    for tool in ["Task", "Agent"] {
        let input = json!({
            "description": "implement it",
            "prompt": PROMPT,
            "subagent_type": "ot:developer",
            "model": "opus",
            "isolation": "worktree",
        });
        let output = before_dev().hook("pre-task", json!({ "tool_name": tool, "tool_input": input }));
        let prompt = output.updated_prompt();
        assert!(prompt.starts_with(HEADER), "{prompt}");
        assert_has(&prompt, &["工作流：standard"]);
        assert!(prompt.ends_with(&format!("{SEPARATOR}{PROMPT}")), "{prompt}");

        // The client replaces the whole input, so every field must come back; a stage is waited for.
        let mut expected = input;
        expected["prompt"] = json!(prompt);
        expected["run_in_background"] = json!(false);
        assert_eq!(output.answer()["hookSpecificOutput"]["updatedInput"], expected);
    }
}

/// The document has TEST still pending; the gate (1c-8) would refuse DEV then, so here TEST is done.
#[test]
fn s3_1c_2_progress_current_stage_and_earlier_results() {
    let context = stage_context(&before_dev());
    let bar = context.lines().find(|line| line.contains('✅')).expect("no progress bar");
    assert_eq!(bar.matches('✅').count(), 3, "{bar}");
    assert_has(&context, &["目前階段：💻 開發"]);
    let earlier = earlier_stages(&context);
    for names in [["PLAN", "規劃"], ["ARCH", "架構"]] {
        assert!(names.iter().any(|name| earlier.contains(name)), "{names:?} is missing in {earlier}");
    }
}

#[test]
fn s3_1c_3_the_feature_and_its_specs_are_named() {
    let session = before_dev().set("featureName", &json!("my-feature")).task_file("my-feature", "- [ ] a\n");
    let context = stage_context(&session);
    assert_has(&context, &["Feature：my-feature", "Specs：specs/features/in-progress/my-feature/"]);
}

#[test]
fn s3_1c_4_no_feature_no_specs() {
    for name in [Value::Null, json!("")] {
        let context = stage_context(&before_dev().set("featureName", &name));
        assert_has(&context, &["工作流：standard"]);
        assert_lacks(&context, &["Feature：", "Specs："]);
    }
}

#[test]
fn s3_1c_5_context_truncated() {
    let long = "決定採用方案甲，".repeat(80);
    let session = ["PLAN", "ARCH", "TEST"]
        .into_iter()
        .fold(before_dev(), |session, stage| session.stage_result(stage, &long));
    let context = stage_context(&session);
    assert!(units(&context) <= 1500, "{} units", units(&context));
    assert!(context.ends_with(CUT), "{context}");
    assert!(context.starts_with(HEADER), "{context}");
}

#[test]
fn s3_1c_6_without_a_workflow_the_call_goes_through_unchanged() {
    let output = Session::new().delegate("developer", PROMPT);
    output.assert_says_nothing();
    assert_ne!(output.decision().as_deref(), Some("deny"));
}

#[test]
fn s3_1c_7_foreign_agents_get_no_context() {
    for kind in ["general-purpose", "Explore", "other:developer", "ot:nobody"] {
        let session = before_dev();
        let before = fs::read(session.file("workflow.json")).unwrap();
        // The prompt names an agent: it must not be taken for one.
        let input =
            json!({ "description": "look around", "prompt": "ask the developer", "subagent_type": kind });
        session.hook("pre-task", json!({ "tool_name": "Task", "tool_input": input })).assert_says_nothing();
        assert_eq!(fs::read(session.file("workflow.json")).unwrap(), before, "{kind}");
    }
}

#[test]
fn s3_1c_8_a_skipped_stage_is_refused_without_injection() {
    let session = Session::new().workflow("standard").completed(&["PLAN"]).current("ARCH");
    let before = session.state_on_disk();
    let output = session.delegate("developer", PROMPT);
    assert_eq!(output.decision().as_deref(), Some("deny"));

    let answer = &output.answer()["hookSpecificOutput"];
    assert_eq!(answer.get("updatedInput"), None);
    let reason = answer["permissionDecisionReason"].as_str().expect("no reason");
    for names in [["ARCH", "架構"], ["TEST", "測試"]] {
        assert!(names.iter().any(|name| reason.contains(name)), "{names:?} is missing in {reason}");
    }
    assert_eq!(session.state_on_disk(), before);
}

#[test]
fn s3_1c_9_the_answer_has_the_form_the_client_wants() {
    let answer = before_dev().delegate("developer", PROMPT).answer()["hookSpecificOutput"].clone();
    assert_eq!(answer["hookEventName"], "PreToolUse");
    assert_eq!(answer["permissionDecision"], "allow");
    assert!(answer["updatedInput"]["prompt"].as_str().is_some_and(|prompt| !prompt.is_empty()));
}

#[test]
fn s3_1f_1_a_whole_context() {
    let context = stage_context(&before_dev());
    assert_eq!(context.lines().next(), Some(HEADER));
    assert_has(&context, &["工作流：standard", "目前階段：💻 開發"]);
    assert!(context.lines().any(|line| line.contains('✅') && line.contains('⬜')), "{context}");
}

#[test]
fn s3_1f_2_no_workflow_no_context() {
    let output = Session::new().delegate("developer", PROMPT);
    output.assert_says_nothing();
    assert_eq!(output.stderr, "");
}

/// The context with a result of PLAN that makes it `length` units long, as it is before any cutting.
fn context_of(length: usize) -> (Session, String) {
    let shortest = stage_context(&before_dev().stage_result("PLAN", "x"));
    let result = "x".repeat(length - units(&shortest) + 1);
    let line =
        earlier_stages(&shortest).lines().find(|line| line.ends_with('x')).expect("the result of PLAN");
    let whole = shortest.replacen(line, &format!("{line}{}", &result[1..]), 1);
    assert_eq!(units(&whole), length);
    (before_dev().stage_result("PLAN", &result), whole)
}

/// No hook asks for another limit than the default, so here the function itself is asked.
#[test]
fn s3_1f_3_the_limit_can_be_set() {
    let mut workflow = WorkflowState::new("id", Workflow::Standard, None, Millis(0));
    for stage in workflow.stages.iter_mut().take(3) {
        stage.status = Status::Completed;
        stage.result = Some(StageResult::Other("決定採用方案甲，".repeat(40)));
    }
    let facts = Facts::default();
    assert!(units(&workflow_context(&workflow, None, &facts, usize::MAX)) > 900);
    for limit in [500, 900] {
        let context = workflow_context(&workflow, None, &facts, limit);
        assert!((limit - 100..=limit).contains(&units(&context)), "{} units", units(&context));
        assert!(context.starts_with(HEADER) && context.ends_with(CUT), "{context}");
    }
}

#[test]
fn s3_1f_4_the_limit_is_1500_by_default() {
    let (session, whole) = context_of(1500);
    assert_eq!(stage_context(&session), whole);

    let (session, whole) = context_of(1501);
    let cut = stage_context(&session);
    assert!(units(&cut) <= 1500, "{} units", units(&cut));
    let kept = cut.strip_suffix(CUT).expect("no note at the end").trim_end();
    assert!(whole.starts_with(kept) && units(kept) > 1400, "{cut}");
}

#[test]
fn s3_1f_5_an_unreadable_state_or_specs_gives_no_error() {
    let broken = before_dev();
    put(&broken.file("workflow.json"), "{broken");
    broken.delegate("developer", PROMPT).assert_says_nothing();

    let specs = before_dev().set("featureName", &json!("my-feature"));
    put_link_loop(&specs.context.project().join("specs"));
    assert_ne!(specs.delegate("developer", PROMPT).decision().as_deref(), Some("deny"));
}

#[test]
fn s3_1f_6_earlier_results_come_from_the_state() {
    let session = before_dev().stage_result("PLAN", "三個步驟").stage_result("ARCH", "兩個模組");
    let context = stage_context(&session);
    let earlier = earlier_stages(&context);
    assert_has(earlier, &["三個步驟", "兩個模組"]);
    assert!(earlier.find("三個步驟") < earlier.find("兩個模組"), "not in the order of the stages: {earlier}");
}
