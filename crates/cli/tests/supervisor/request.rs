//! The request is pinned at the first stop and survives a compaction.

use serde_json::{Value, json};

use crate::context::{Output, TestContext};

fn prompt(text: &str) -> Value {
    json!({"type": "user", "timestamp": "2026-01-01T00:00:00Z", "message": {"role": "user", "content": text}})
}

fn stop(context: &TestContext, lines: &[Value]) -> Output {
    let lines: Vec<_> = lines.iter().map(Value::to_string).collect();
    context.write("transcript.jsonl", lines.join("\n") + "\n");
    context.stop_with("transcript_path", json!(context.path("transcript.jsonl")))
}

#[test]
fn the_reviewer_is_told_what_was_asked_for() {
    let context = TestContext::for_supervisor();
    context.reviewer_says(false, "one");
    stop(&context, &[prompt("fix the door")]).assert_block("one");
    assert!(context.prompt().contains("fix the door"), "{}", context.prompt());
    // All that is left after a compaction is a summary.
    let mut summary = prompt("the door was fixed, they say");
    summary["isCompactSummary"] = json!(true);
    context.reviewer_says(false, "two");
    stop(&context, &[summary]).assert_block("two");
    assert!(context.prompt().contains("fix the door"), "{}", context.prompt());
    assert!(!context.prompt().contains("they say"));
}

#[test]
fn after_an_approval_the_next_request_counts() {
    let context = TestContext::for_supervisor();
    context.reviewer_says(true, "");
    let first = prompt("fix the door");
    stop(&context, std::slice::from_ref(&first));
    context.reviewer_says(false, "x");
    stop(&context, &[first, prompt("now paint it")]).assert_block("x");
    assert!(context.prompt().contains("now paint it"), "{}", context.prompt());
    assert!(!context.prompt().contains("fix the door"));
}

#[test]
fn odd_transcripts_are_no_obstacle() {
    let context = TestContext::for_supervisor();
    context.reviewer_says(true, "");
    for path in [json!("/no/such/file"), json!(context.path("project")), json!(3), json!("")] {
        assert_eq!(context.stop_with("transcript_path", path).stdout, "{}\n");
    }
    assert!(context.record().get("request").is_none());
}
