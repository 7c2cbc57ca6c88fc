//! Rounds that lead nowhere end, and the person is told.

use serde_json::json;

use crate::world::World;

#[test]
fn the_same_feedback_again_and_again_lets_go() {
    let world = World::new();
    world.reviewer_says(false, "write the tests");
    world.stop().assert_block("write the tests");
    world.stop().assert_block("write the tests");
    let answer = world.stop().json();
    let message = answer["systemMessage"].as_str().unwrap();
    assert!(message.contains("没有进展") && message.contains("write the tests"), "{message}");
    assert!(answer.get("decision").is_none());
    assert_eq!(world.trail()[2]["reason"], "stuck");
}

#[test]
fn no_change_in_the_tree_lets_go_whatever_the_words() {
    let world = World::new();
    world.repository();
    for (feedback, goes_on) in [("a", true), ("b", true), ("c", false)] {
        world.reviewer_says(false, feedback);
        assert_eq!(world.stop().json()["decision"] == "block", goes_on, "{feedback}");
    }
}

#[test]
fn work_between_the_rounds_keeps_them_going() {
    let world = World::new();
    world.repository();
    for round in 0..6 {
        world.put("project/file", format!("work {round}"));
        world.reviewer_says(false, &format!("next {round}"));
        world.stop().assert_block(&format!("next {round}"));
    }
}

#[test]
fn the_rounds_can_be_limited() {
    let world = World::new();
    world.config(&json!({"supervisor": {"max_iterations": 2}}));
    for round in 0..2 {
        world.reviewer_says(false, &format!("{round}"));
        world.stop().assert_block(&format!("{round}"));
    }
    let output = world.stop();
    assert_eq!(output.stdout, "");
    output.assert_told(&["2 次迭代上限"]);
    // That it was let go is in the trail, once.
    assert_eq!(world.stop().stdout, "");
    let reasons: Vec<_> = world.trail().iter().map(|round| round["reason"].clone()).collect();
    assert_eq!(reasons, [json!(null), json!(null), json!("limit")]);
}

#[test]
fn an_approval_ends_the_count_for_the_next_request_only() {
    let world = World::new();
    world.config(&json!({"supervisor": {"max_iterations": 2}}));
    world.reviewer_says(false, "a");
    world.stop().assert_block("a");
    world.reviewer_says(true, "");
    assert_eq!(world.stop().stdout, "{}\n");
    assert_eq!(world.record()["count"], 2);
    // Still the same turn: the limit holds.
    assert_eq!(world.stop_with("stop_hook_active", json!(true)).stdout, "");
    assert_eq!(world.trail().len(), 2);
    world.reviewer_says(false, "b");
    world.stop().assert_block("b");
    assert_eq!(world.record()["count"], 1);
}
