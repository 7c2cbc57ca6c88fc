//! Live updates: nothing missed, nothing twice.

use std::fs;

use serde_json::json;

use crate::context::TestContext;

#[test]
fn events_are_sent_as_they_happen() {
    let context = TestContext::for_dashboard();
    let server = context.serve();
    let mut listener = server.listen("");
    context.start_workflow("one", "quick");
    let started = listener.next_of("timeline");
    assert_eq!((&started.data["session"], &started.data["type"]), (&json!("one"), &json!("session:start")));
    context.run_agent("one", "developer", "built <!-- VERDICT: {\"result\":\"PASS\"} -->");
    let mut kinds = Vec::new();
    while kinds.last().is_none_or(|kind| kind != "stage:complete") {
        kinds.push(listener.next_of("timeline").data["type"].as_str().unwrap().to_owned());
    }
    for kind in ["workflow:start", "stage:start", "agent:delegate", "agent:complete"] {
        assert_eq!(kinds.iter().filter(|other| *other == kind).count(), 1, "{kinds:?}");
    }
    loop {
        let state = listener.next_of("session").data;
        if state["stages"][0]["result"] == "pass" {
            break;
        }
    }
}

#[test]
fn who_comes_back_misses_nothing_and_hears_nothing_twice() {
    let context = TestContext::for_dashboard();
    context.events("one", 0, 1);
    let server = context.serve();
    for query in ["", "?session=one"] {
        let start =
            fs::read_to_string(context.path("overtone/sessions/one/timeline.jsonl")).unwrap().lines().count();
        let mut listener = server.listen(query);
        context.events("one", start, 20);
        let mut seen = Vec::new();
        let mut last = String::new();
        while seen.len() < 7 {
            let event = listener.next_of("timeline");
            seen.push(event.data["n"].as_u64().unwrap());
            last = event.id;
        }
        drop(listener);
        context.events("one", start + 20, 30);
        let mut listener = server.listen_from(query, Some(&last));
        context.events("one", start + 50, 10);
        while seen.len() < 60 {
            seen.push(listener.next_of("timeline").data["n"].as_u64().unwrap());
        }
        let start = start as u64;
        assert_eq!(seen, (start..start + 60).collect::<Vec<_>>(), "{query}");
    }
}

#[test]
fn a_session_is_followed_over_a_restart_of_the_server() {
    let context = TestContext::for_dashboard();
    context.events("one", 0, 5);
    let server = context.serve();
    let mut listener = server.listen("?session=one");
    context.events("one", 5, 1);
    let event = listener.next_of("timeline");
    drop(server);
    context.events("one", 6, 10);
    let server = context.serve();
    let mut listener = server.listen_from("?session=one", Some(&event.id));
    let seen: Vec<_> = (0..10).map(|_| listener.next_of("timeline").data["n"].as_u64().unwrap()).collect();
    assert_eq!(seen, (6..16).collect::<Vec<_>>());
    // A listener to everything has to start again: this server does not have the events that it missed.
    let mut listener = server.listen_from("", Some(&event.id));
    assert_eq!(listener.next().kind, "resync");
}

#[test]
fn a_page_and_what_follows_it_join_without_a_gap() {
    let context = TestContext::for_dashboard();
    context.events("one", 0, 10);
    let server = context.serve();
    let page = server.get("/api/sessions/one/timeline").ok();
    context.events("one", 10, 5);
    let mut listener = server.listen(&format!("?session=one&from={}", page["newer"]));
    let seen: Vec<_> = (0..5).map(|_| listener.next_of("timeline").data["n"].as_u64().unwrap()).collect();
    assert_eq!(seen, (10..15).collect::<Vec<_>>());
}

#[test]
fn a_client_that_missed_too_much_starts_over() {
    let context = TestContext::for_dashboard();
    context.events("one", 0, 100_000);
    let server = context.serve();
    let mut listener = server.listen("?session=one&from=0");
    assert_eq!(listener.next().kind, "resync");
    context.events("one", 100_000, 1);
    assert_eq!(listener.next_of("timeline").data["n"], 100_000);
}

#[test]
fn torn_foreign_and_vanishing_files_do_no_harm() {
    let context = TestContext::for_dashboard();
    context.start_workflow("one", "quick");
    let server = context.serve();
    let mut listener = server.listen("");
    context.write("overtone/sessions/torn/workflow.json", "{\"stages\":");
    context.write(
        "overtone/sessions/torn/timeline.jsonl",
        "not json\n\u{0}\n{\"type\":\"tool:failure\",\"n\":1}\n{\"type\":",
    );
    context.write("overtone/sessions/foreign/workflow.json", "[1,2,3]");
    context.write("overtone/sessions/.hidden", "x");
    context.write("overtone/sessions/folder/timeline.jsonl/inside", "x");
    assert_eq!(listener.next_of("timeline").data["n"], 1);
    let names = |answer: &serde_json::Value| {
        let all = answer["skipped"].as_array().unwrap().iter();
        all.map(|skipped| skipped["session"].as_str().unwrap().to_owned()).collect::<Vec<_>>()
    };
    overtone_testkit::wait_for(|| {
        let mut skipped = names(&server.get("/api/status").ok());
        skipped.sort();
        (skipped == ["foreign", "torn"]).then_some(())
    });
    fs::remove_dir_all(context.path("overtone/sessions/one")).unwrap();
    assert_eq!(listener.next_of("removed").data["id"], "one");
    server.get("/api/sessions/one").refused(404);
    for session in ["torn", "foreign", "folder"] {
        assert_eq!(server.get(&format!("/api/sessions/{session}")).status, 200, "{session}");
    }
    assert_eq!(server.get("/api/sessions/folder/timeline").status, 500, "and the server goes on");
    assert_eq!(server.get("/api/health").status, 200);
}

#[test]
fn many_listeners_hear_everything_once() {
    let context = TestContext::for_dashboard();
    context.events("one", 0, 1);
    let server = context.serve();
    let mut listeners: Vec<_> = (0..100).map(|_| server.listen("")).collect();
    for round in 0..20 {
        context.events("one", 1 + round * 50, 50);
    }
    for listener in &mut listeners {
        let seen: Vec<_> =
            (0..1000).map(|_| listener.next_of("timeline").data["n"].as_u64().unwrap()).collect();
        assert_eq!(seen, (1..=1000).collect::<Vec<_>>());
    }
}
