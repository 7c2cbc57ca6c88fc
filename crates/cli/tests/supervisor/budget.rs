//! Reviews cost money; there is a limit to it.

use serde_json::json;

use crate::world::World;

#[test]
fn a_spent_budget_is_no_review() {
    let world = World::new();
    world.config(&json!({"supervisor": {"max_budget_usd": 0.5}}));
    world.reviewer_says_for(false, "one", 0.2);
    world.stop().assert_block("one");
    assert_eq!(world.option("--max-budget-usd").as_deref(), Some("0.5000"));
    world.reviewer_says_for(false, "two", 0.4);
    world.stop().assert_block("two");
    assert_eq!(world.option("--max-budget-usd").as_deref(), Some("0.3000"));
    world.stop().assert_not_reviewed("$0.50");
    assert_eq!(world.reviews(), 2);
    let costs: Vec<_> = world.trail().iter().map(|round| round["cost_usd"].clone()).collect();
    assert_eq!(costs, [json!(0.2), json!(0.4), json!(0.0)]);
}

#[test]
fn a_review_that_the_client_ends_for_its_price_is_none() {
    let world = World::new();
    world.config(&json!({"supervisor": {"max_budget_usd": 0.5}}));
    world.reviewer_ends(&json!({"type": "result", "subtype": "error_max_budget_usd", "total_cost_usd": 0.6}));
    world.stop().assert_not_reviewed("$0.50");
    assert_eq!(world.record()["cost_usd"], 0.6, "it was spent all the same");
}

#[test]
fn without_a_limit_none_is_given() {
    let world = World::new();
    world.reviewer_says(true, "");
    world.stop();
    assert_eq!(world.option("--max-budget-usd"), None);
    assert_eq!(world.option("--model"), None);
}
