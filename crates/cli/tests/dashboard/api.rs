//! What can be asked, held against the `OpenAPI` document.

use serde_json::{Value, json};

use crate::context::{Server, TestContext};

/// Checks an answer against what the document promises for the path.
pub(crate) fn check(server: &Server, path: &str, documented: &str) -> Value {
    let document = server.get("/api/openapi.json").ok();
    let answer = server.get(path).ok();
    let content = &document["paths"][documented]["get"]["responses"]["200"]["content"]["application/json"];
    let name = content["schema"]["$ref"].as_str().unwrap_or_else(|| panic!("{documented} is not documented"));
    let mut schema = json!({"$schema": "https://json-schema.org/draft/2020-12/schema", "$ref": name});
    schema["components"] = document["components"].clone();
    let validator = jsonschema::validator_for(&schema).unwrap();
    let faults: Vec<_> = validator
        .iter_errors(&answer)
        .map(|fault| format!("{} at {}", fault, fault.instance_path()))
        .collect();
    assert!(faults.is_empty(), "{path}: {faults:?}\n{answer}");
    answer
}

fn with_busy_session() -> TestContext {
    let context = TestContext::for_dashboard();
    context.start_workflow("one", "quick");
    context.run_agent("one", "developer", "built <!-- VERDICT: {\"result\":\"PASS\"} -->");
    context.start_workflow("two", "standard");
    context.write("overtone/sessions/broken/workflow.json", "{ torn");
    context
}

#[test]
fn every_answer_is_as_documented() {
    let context = with_busy_session();
    let usage = json!({"message": {"id": "m", "model": "claude-sonnet-4-5", "usage": {"input_tokens": 1000, "output_tokens": 500}}});
    context.write("transcripts/one/subagents/agent-id-developer.jsonl", usage.to_string());
    context.write(
        "project/specs/features/backlog/later/tasks.md",
        "---\ncreated: 2026-01-01T00:00:00Z\n---\n- [x] a\n- [ ] b\n",
    );
    let server = context.serve();
    check(&server, "/api/health", "/api/health");
    check(&server, "/api/status", "/api/status");
    check(&server, "/api/registry?lang=en", "/api/registry");
    for lang in ["zh-TW", "zh-CN", "en"] {
        let text = check(&server, &format!("/api/text?lang={lang}"), "/api/text");
        assert_eq!(text["lang"], lang);
    }
    let all = check(&server, "/api/sessions", "/api/sessions");
    assert_eq!((&all["total"], &all["running"]), (&json!(3), &json!(2)));
    assert_eq!(all["skipped"][0]["session"], "broken");
    let one = check(&server, "/api/sessions/one", "/api/sessions/{id}");
    assert_eq!(one["spans"][1]["agent"], "developer");
    assert_eq!(one["usage"]["agents"][0]["inputTokens"], 1000);
    assert!(one["usage"]["total"]["costUsd"].as_f64().unwrap() > 0.0);
    let stats = check(&server, "/api/stats", "/api/stats");
    assert_eq!((&stats["started"], &stats["stages"][0]["tokens"]), (&json!(2), &json!(1500)));
    check(&server, "/api/sessions/one/timeline", "/api/sessions/{id}/timeline");
    let specs = check(&server, "/api/specs", "/api/specs");
    assert_eq!(specs["projects"][0]["shelves"]["backlog"][0]["checked"], 1);
    check(&server, "/api/instinct", "/api/instinct");
}

#[test]
fn every_documented_path_is_there() {
    let context = TestContext::for_dashboard();
    context.start_workflow("one", "quick");
    let server = context.serve();
    let document = server.get("/api/openapi.json").ok();
    for (path, methods) in document["paths"].as_object().unwrap() {
        let path = path.replace("{id}", "one").replace("{file}", "x");
        for method in methods.as_object().unwrap().keys() {
            if method == "get" && !path.ends_with("/events") {
                let status = server.get(&path).status;
                let may_be_missing = path.ends_with("/handoffs/x") || path == "/api/fleet";
                assert!(status == 200 || may_be_missing, "{path}: {status}");
            } else if method != "get" {
                let status =
                    crate::http::request(&server.address, &method.to_uppercase(), &path, &[], "{}").status;
                assert_eq!(status, 401, "{method} {path} needs the token");
            }
        }
    }
}

#[test]
fn sessions_are_filtered_and_paged() {
    let context = with_busy_session();
    let server = context.serve();
    let ids = |query: &str| {
        let answer = server.get(&format!("/api/sessions{query}")).ok();
        let ids: Vec<_> = answer["sessions"]
            .as_array()
            .unwrap()
            .iter()
            .map(|s| s["id"].as_str().unwrap().to_owned())
            .collect();
        (ids, answer["next"].as_str().map(str::to_owned))
    };
    assert_eq!(ids("?state=broken").0, ["broken"]);
    assert_eq!(ids("?workflow=quick").0, ["one"]);
    assert_eq!(ids("?q=STANDARD").0, ["two"]);
    assert_eq!(ids("?state=open").0.len(), 2);
    let (first, next) = ids("?limit=2");
    let (rest, end) = ids(&format!("?limit=2&cursor={}", next.unwrap()));
    let mut all = [first, rest].concat();
    all.sort();
    assert_eq!((all, end), (vec!["broken".to_owned(), "one".to_owned(), "two".to_owned()], None));
}

#[test]
fn a_timeline_is_read_in_pages() {
    let context = TestContext::for_dashboard();
    context.events("long", 0, 2_500);
    let server = context.serve();
    let (mut seen, mut cursor) = (Vec::new(), String::new());
    loop {
        let page = server.get(&format!("/api/sessions/long/timeline?limit=1000{cursor}")).ok();
        let numbers = page["events"].as_array().unwrap().iter().map(|event| event["n"].as_u64().unwrap());
        seen.splice(0..0, numbers);
        match page["older"].as_u64() {
            Some(older) => cursor = format!("&cursor={older}"),
            None => break,
        }
    }
    assert_eq!(seen, (0..2_500).collect::<Vec<_>>());
    let found = server.get("/api/sessions/long/timeline?q=%22n%22:1234&type=tool:failure&category=tool").ok();
    assert_eq!(found["events"][0]["n"], 1234);
    assert_eq!(server.get("/api/sessions/long/timeline?category=stage").ok()["events"], json!([]));
}

#[test]
fn handoffs_are_given_as_text() {
    let context = with_busy_session();
    let server = context.serve();
    let one = server.get("/api/sessions/one").ok();
    let file = one["handoffs"][0]["file"].as_str().unwrap();
    let handoff = server.get(&format!("/api/sessions/one/handoffs/{file}"));
    assert!(handoff.head.contains("text/plain") && handoff.body.contains("built"), "{handoff:?}");
    server.get("/api/sessions/one/handoffs/workflow.json").refused(404);
}

#[test]
fn what_is_not_there_is_said_kindly() {
    let server_world = TestContext::for_dashboard();
    let server = server_world.serve();
    for path in
        ["/api/sessions/nobody", "/api/nothing", "/api/sessions/nobody/timeline", "/api/events?session=x"]
    {
        server.get(path).refused(404);
    }
    assert_eq!(server.get("/assets/nothing.js").status, 404);
    assert_eq!(server.get("/api/sessions").ok()["total"], 0);
    assert_eq!(server.get("/api/sessions?limit=many").status, 400);
}
