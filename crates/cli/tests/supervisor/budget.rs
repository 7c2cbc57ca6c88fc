//! Reviews cost money; there is a limit to it.

use serde_json::json;

use crate::context::TestContext;

#[test]
fn a_spent_budget_is_no_review() {
    let context = TestContext::for_supervisor();
    context.config(&json!({"supervisor": {"max_budget_usd": 0.5}}));
    context.reviewer_says_for(false, "one", 0.2);
    context.stop().assert_block("one");
    assert_eq!(context.option("--max-budget-usd").as_deref(), Some("0.5000"));
    context.reviewer_says_for(false, "two", 0.4);
    context.stop().assert_block("two");
    assert_eq!(context.option("--max-budget-usd").as_deref(), Some("0.3000"));
    context.stop().assert_not_reviewed("$0.50");
    assert_eq!(context.reviews(), 2);
    let costs: Vec<_> = context.trail().iter().map(|round| round["cost_usd"].clone()).collect();
    assert_eq!(costs, [json!(0.2), json!(0.4), json!(0.0)]);
}

#[test]
fn a_review_that_the_client_ends_for_its_price_is_none() {
    let context = TestContext::for_supervisor();
    context.config(&json!({"supervisor": {"max_budget_usd": 0.5}}));
    context
        .reviewer_ends(&json!({"type": "result", "subtype": "error_max_budget_usd", "total_cost_usd": 0.6}));
    context.stop().assert_not_reviewed("$0.50");
    assert_eq!(context.record()["cost_usd"], 0.6, "it was spent all the same");
}

#[test]
fn without_a_limit_none_is_given() {
    let context = TestContext::for_supervisor();
    context.reviewer_says(true, "");
    context.stop();
    assert_eq!(context.option("--max-budget-usd"), None);
    assert_eq!(context.option("--model"), None);
}
