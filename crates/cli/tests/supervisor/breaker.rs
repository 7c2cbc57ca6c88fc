//! Rounds without progress end, and the user sees why.

use serde_json::json;

use crate::context::TestContext;

#[test]
fn the_same_feedback_again_and_again_lets_go() {
    let context = TestContext::for_supervisor();
    context.reviewer_says(false, "write the tests");
    context.stop().assert_block("write the tests");
    context.stop().assert_block("write the tests");
    let answer = context.stop().json();
    let message = answer["systemMessage"].as_str().unwrap();
    assert!(message.contains("没有进展") && message.contains("write the tests"), "{message}");
    assert!(answer.get("decision").is_none());
    assert_eq!(context.trail()[2]["reason"], "stuck");
}

#[test]
fn no_change_in_the_tree_lets_go_whatever_the_words() {
    let context = TestContext::for_supervisor();
    context.repository();
    for (feedback, goes_on) in [("a", true), ("b", true), ("c", false)] {
        context.reviewer_says(false, feedback);
        assert_eq!(context.stop().json()["decision"] == "block", goes_on, "{feedback}");
    }
}

#[test]
fn work_between_the_rounds_keeps_them_going() {
    let context = TestContext::for_supervisor();
    context.repository();
    for round in 0..6 {
        context.write("project/file", format!("work {round}"));
        context.reviewer_says(false, &format!("next {round}"));
        context.stop().assert_block(&format!("next {round}"));
    }
}

#[test]
fn the_rounds_can_be_limited() {
    let context = TestContext::for_supervisor();
    context.config(&json!({"supervisor": {"max_iterations": 2}}));
    for round in 0..2 {
        context.reviewer_says(false, &format!("{round}"));
        context.stop().assert_block(&format!("{round}"));
    }
    let output = context.stop();
    assert_eq!(output.stdout, "");
    output.assert_stderr_has(&["2 次迭代上限"]);
    // That it was let go is in the trail, once.
    assert_eq!(context.stop().stdout, "");
    let reasons: Vec<_> = context.trail().iter().map(|round| round["reason"].clone()).collect();
    assert_eq!(reasons, [json!(null), json!(null), json!("limit")]);
}

#[test]
fn an_approval_ends_the_count_for_the_next_request_only() {
    let context = TestContext::for_supervisor();
    context.config(&json!({"supervisor": {"max_iterations": 2}}));
    context.reviewer_says(false, "a");
    context.stop().assert_block("a");
    context.reviewer_says(true, "");
    assert_eq!(context.stop().stdout, "{}\n");
    assert_eq!(context.record()["count"], 2);
    // Still the same turn: the limit holds.
    assert_eq!(context.stop_with("stop_hook_active", json!(true)).stdout, "");
    assert_eq!(context.trail().len(), 2);
    context.reviewer_says(false, "b");
    context.stop().assert_block("b");
    assert_eq!(context.record()["count"], 1);
}
