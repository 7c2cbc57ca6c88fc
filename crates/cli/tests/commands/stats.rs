use serde_json::json;

use crate::context::{TestContext, keys, put};

#[test]
fn nothing_to_count_is_an_answer() {
    let context = TestContext::for_commands();
    context.run("stats").ok().has(&["No stage has a result"]);
    context.run("stats --all").ok();
    assert_eq!(context.json("stats --json")["passAt1"], json!(null));
    context.run("stats --session nope").fails(&["no such session"]);
    context.run("stats --all --session s1").refused_by_parser();
    context.without_env("OVERTONE_SESSION_ID").run("stats").fails(&["no session"]);
}

#[test]
fn passes_are_counted_from_what_really_happened() {
    let context = TestContext::for_commands();
    context.run("init quick").ok();
    context.agent("s1", "developer", Some("PASS"));
    context.agent("s1", "code-reviewer", Some("REJECT"));
    context.agent("s1", "tester", Some("PASS"));
    context.agent("s1", "developer", Some("PASS"));
    context.agent("s1", "code-reviewer", Some("PASS"));
    let stats = context.json("stats --json");
    assert_eq!(
        keys(&stats),
        ["session", "project", "sessions", "workflows", "passAt1", "passAt3", "failures", "stages"]
    );
    let review = stats["stages"].as_array().unwrap().iter().find(|s| s["stage"] == "REVIEW").unwrap();
    assert_eq!(
        keys(review),
        [
            "stage",
            "runs",
            "passAt1",
            "passAt3",
            "failures",
            "repairs",
            "medianMs",
            "p90Ms",
            "tokens",
            "costUsd",
            "costUsdEach"
        ]
    );
    assert_eq!(
        (&review["passAt1"], &review["passAt3"], &review["failures"], &review["repairs"]),
        (&json!(0.0), &json!(1.0), &json!(1), &json!(1))
    );
    assert_eq!((&stats["passAt3"], &stats["workflows"]["started"]), (&json!(1.0), &json!(1)));
    context.run("stats").ok().has(&["pass@1", "67%", "REVIEW"]);
}

#[test]
fn sessions_are_counted_apart_or_together() {
    let context = TestContext::for_commands();
    for (id, verdict) in [("a", "PASS"), ("b", "FAIL")] {
        context.run(&format!("init e2e-only --session {id}")).ok();
        context.agent(id, "e2e-runner", Some(verdict));
    }
    assert_eq!(context.json("stats --session a --json")["passAt1"], json!(1.0));
    assert_eq!(context.json("stats --session b --json")["passAt1"], json!(0.0));
    let all = context.json("stats --all --json");
    assert_eq!((&all["sessions"], &all["passAt1"]), (&json!(2), &json!(0.5)));
}

#[test]
fn broken_lines_are_skipped_and_reported() {
    let context = TestContext::for_commands();
    put(
        &context.session_dir("s1").join("timeline.jsonl"),
        "{torn\n{\"type\":\"stage:complete\",\"stage\":\"DEV\"}\n",
    );
    let shown = context.run("stats --json");
    assert_eq!(shown.json()["stages"][0]["runs"], json!(1));
    shown.stderr_has(&["warning: skipped 1 unreadable line:"]);
}
