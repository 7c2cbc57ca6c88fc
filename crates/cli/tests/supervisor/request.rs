//! The request is pinned at the first stop and survives a compaction.

use serde_json::{Value, json};

use crate::world::{Output, World};

fn prompt(text: &str) -> Value {
    json!({"type": "user", "timestamp": "2026-01-01T00:00:00Z", "message": {"role": "user", "content": text}})
}

fn stop(world: &World, lines: &[Value]) -> Output {
    let lines: Vec<_> = lines.iter().map(Value::to_string).collect();
    world.put("transcript.jsonl", lines.join("\n") + "\n");
    world.stop_with("transcript_path", json!(world.path("transcript.jsonl")))
}

#[test]
fn the_reviewer_is_told_what_was_asked_for() {
    let world = World::new();
    world.reviewer_says(false, "one");
    stop(&world, &[prompt("mend the door")]).assert_block("one");
    assert!(world.prompt().contains("mend the door"), "{}", world.prompt());
    // All that is left after a compaction is a summary.
    let mut summary = prompt("the door was mended, they say");
    summary["isCompactSummary"] = json!(true);
    world.reviewer_says(false, "two");
    stop(&world, &[summary]).assert_block("two");
    assert!(world.prompt().contains("mend the door"), "{}", world.prompt());
    assert!(!world.prompt().contains("they say"));
}

#[test]
fn after_an_approval_the_next_request_counts() {
    let world = World::new();
    world.reviewer_says(true, "");
    let first = prompt("mend the door");
    stop(&world, std::slice::from_ref(&first));
    world.reviewer_says(false, "x");
    stop(&world, &[first, prompt("now paint it")]).assert_block("x");
    assert!(world.prompt().contains("now paint it"), "{}", world.prompt());
    assert!(!world.prompt().contains("mend the door"));
}

#[test]
fn odd_transcripts_are_no_obstacle() {
    let world = World::new();
    world.reviewer_says(true, "");
    for path in [json!("/no/such/file"), json!(world.path("project")), json!(3), json!("")] {
        assert_eq!(world.stop_with("transcript_path", path).stdout, "{}\n");
    }
    assert!(world.record().get("request").is_none());
}
