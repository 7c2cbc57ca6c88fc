use serde_json::json;

use crate::world::{World, keys, put};

#[test]
fn nothing_to_count_is_an_answer() {
    let world = World::new();
    world.run("stats").ok().has(&["No stage has a result"]);
    world.run("stats --all").ok();
    assert_eq!(world.json("stats --json")["passAt1"], json!(null));
    world.run("stats --session nope").fails(&["no such session"]);
    world.run("stats --all --session s1").refused_by_parser();
    world.without("OVERTONE_SESSION_ID").run("stats").fails(&["no session"]);
}

#[test]
fn passes_are_counted_from_what_really_happened() {
    let world = World::new();
    world.run("init quick").ok();
    world.agent("s1", "developer", Some("PASS"));
    world.agent("s1", "code-reviewer", Some("REJECT"));
    world.agent("s1", "tester", Some("PASS"));
    world.agent("s1", "developer", Some("PASS"));
    world.agent("s1", "code-reviewer", Some("PASS"));
    let stats = world.json("stats --json");
    assert_eq!(
        keys(&stats),
        ["session", "project", "sessions", "workflows", "passAt1", "passAt3", "failures", "stages"]
    );
    let review = stats["stages"].as_array().unwrap().iter().find(|s| s["stage"] == "REVIEW").unwrap();
    assert_eq!(keys(review), ["stage", "runs", "passAt1", "passAt3", "failures", "medianMs", "p90Ms"]);
    assert_eq!(
        (&review["passAt1"], &review["passAt3"], &review["failures"]),
        (&json!(0.0), &json!(1.0), &json!(1))
    );
    assert_eq!((&stats["passAt3"], &stats["workflows"]["started"]), (&json!(1.0), &json!(1)));
    world.run("stats").ok().has(&["pass@1", "67%", "REVIEW"]);
}

#[test]
fn sessions_are_counted_apart_or_together() {
    let world = World::new();
    for (id, verdict) in [("a", "PASS"), ("b", "FAIL")] {
        world.run(&format!("init e2e-only --session {id}")).ok();
        world.agent(id, "e2e-runner", Some(verdict));
    }
    assert_eq!(world.json("stats --session a --json")["passAt1"], json!(1.0));
    assert_eq!(world.json("stats --session b --json")["passAt1"], json!(0.0));
    let all = world.json("stats --all --json");
    assert_eq!((&all["sessions"], &all["passAt1"]), (&json!(2), &json!(0.5)));
}

#[test]
fn broken_lines_are_passed_over_and_told() {
    let world = World::new();
    put(
        &world.session("s1").join("timeline.jsonl"),
        "{torn\n{\"type\":\"stage:complete\",\"stage\":\"DEV\"}\n",
    );
    let shown = world.run("stats --json");
    assert_eq!(shown.json()["stages"][0]["runs"], json!(1));
    shown.stderr_has(&["warning: skipped 1 unreadable line:"]);
}
