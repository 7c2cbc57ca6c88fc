//! Statistics over all sessions: right, whatever happens to the files, and computed once for all who ask.

use std::fs;
use std::io::Write;
use std::thread;

use serde_json::{Value, json};

use crate::context::{Server, TestContext};

fn path(context: &TestContext, session: &str) -> std::path::PathBuf {
    context.path(format!("overtone/sessions/{session}/timeline.jsonl"))
}

fn verdicts(count: usize) -> String {
    let event =
        json!({"ts": "2026-01-01T00:00:00.000Z", "type": "stage:retry", "category": "stage", "stage": "DEV"});
    format!("{event}\n").repeat(count)
}

fn failures(server: &Server, query: &str) -> Value {
    server.get(&format!("/api/stats{query}")).ok()["failures"].clone()
}

fn computed(server: &Server) -> u64 {
    server.get("/api/status").ok()["statisticsComputed"].as_u64().unwrap()
}

#[test]
fn they_follow_every_change_of_a_timeline() {
    let context = TestContext::for_dashboard();
    context.write("overtone/sessions/one/timeline.jsonl", verdicts(10));
    context.write("overtone/sessions/two/timeline.jsonl", verdicts(5));
    let server = context.serve();
    assert_eq!(failures(&server, ""), 15);
    let append = |text: &str| {
        fs::File::options()
            .append(true)
            .open(path(&context, "one"))
            .unwrap()
            .write_all(text.as_bytes())
            .unwrap();
    };
    append(&verdicts(3));
    assert_eq!(failures(&server, ""), 18);
    // Half a line counts when it is whole.
    let line = verdicts(1);
    append(&line[..20]);
    assert_eq!(failures(&server, ""), 18);
    append(&line[20..]);
    assert_eq!(failures(&server, ""), 19);
    fs::write(path(&context, "one"), verdicts(2)).unwrap();
    assert_eq!(failures(&server, ""), 7);
    // Another file in its place, and longer.
    fs::write(context.path("other"), verdicts(100)).unwrap();
    fs::rename(context.path("other"), path(&context, "one")).unwrap();
    assert_eq!(failures(&server, ""), 105);
}

#[test]
fn they_are_computed_once_for_all_who_ask() {
    let context = TestContext::for_dashboard();
    for session in 0..20 {
        context.write(format!("overtone/sessions/s{session}/timeline.jsonl"), verdicts(500));
    }
    let server = context.serve();
    let answers: Vec<Value> = thread::scope(|scope| {
        let all: Vec<_> = (0..20).map(|_| scope.spawn(|| server.get("/api/stats").ok())).collect();
        all.into_iter().map(|one| one.join().unwrap()).collect()
    });
    assert!(answers.iter().all(|answer| answer["failures"] == 10_000), "{:?}", answers[0]);
    // A minute may have passed in between, on a machine with much to do.
    assert!(computed(&server) <= 3, "{}", computed(&server));
    let before = computed(&server);
    assert_eq!(failures(&server, "?workflow=quick"), 0);
    assert_eq!(computed(&server), before + 1);
}

#[test]
fn an_agents_conversation_counts_when_it_grows() {
    let context = TestContext::for_dashboard();
    context.start_workflow("one", "quick");
    context.run_agent("one", "developer", "built <!-- VERDICT: {\"result\":\"PASS\"} -->");
    let usage = |id: &str| {
        json!({"message": {"id": id, "model": "claude-sonnet-4-5", "usage": {"input_tokens": 1000}}})
            .to_string()
            + "\n"
    };
    let conversation = "transcripts/one/subagents/agent-id-developer.jsonl";
    context.write(conversation, usage("a"));
    let server = context.serve();
    let tokens = || server.get("/api/stats").ok()["stages"][0]["tokens"].clone();
    assert_eq!(tokens(), 1000);
    context.write(conversation, usage("a") + &usage("b"));
    assert_eq!(tokens(), 2000);
}
