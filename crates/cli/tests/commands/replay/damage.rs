//! One line is changed, removed, doubled or swapped: the replay names the place.

use serde_json::{Value, json};

use super::story::Story;

/// The first difference as `(line, kind)`.
fn first(story: &Story) -> (u64, String) {
    let run = story.context.run("replay --json");
    assert_eq!(run.code, Some(1), "{}", run.stdout);
    let difference = &run.json()["differences"][0];
    (difference["line"].as_u64().unwrap(), difference["kind"].as_str().unwrap().to_owned())
}

#[track_caller]
fn found_at(story: &Story, line: usize, kind: &str) {
    assert_eq!(first(story), (line as u64, kind.to_owned()));
}

#[test]
fn a_changed_line_is_found() {
    let story = Story::eventful();
    let original = story.lines();
    for (kind, name, value) in [
        ("stage:start", "attempt", json!(9)),
        ("stage:complete", "result", json!("issues")),
        ("stage:complete", "stage", json!("DOCS")),
        ("stage:retry", "count", json!(2)),
        ("agent:delegate", "slot", json!("tester#2")),
        ("agent:complete", "slot", json!("tester")),
        ("agent:complete", "handoff", json!(99)),
        ("parallel:start", "stages", json!(["TEST:2"])),
        ("parallel:converge", "group", json!("verify")),
        ("loop:advance", "iteration", json!(4)),
        ("loop:complete", "iterations", json!(0)),
        ("workflow:start", "stages", json!(["DEV"])),
        ("workflow:complete", "failCount", json!(0)),
        ("workflow:abort", "reason", json!("needs-person")),
        ("error:fatal", "failCount", json!(1)),
        ("session:compact", "currentStage", json!("PLAN")),
    ] {
        story.put_lines(&original);
        let at = story.line_of(kind, 1);
        story.change(at, |line| line[name] = value.clone());
        assert_eq!(first(&story), (at as u64, "changed".to_owned()), "{kind} {name}");
    }
}

#[test]
fn a_verdict_that_does_not_lead_to_what_follows_is_found_there() {
    let story = Story::eventful();
    let at = story.line_of("agent:complete", 1);
    story.change(at, |line| line["result"] = json!("fail"));
    let run = story.context.run("replay");
    assert_eq!(run.code, Some(1));
    run.has(&[
        &format!("Line {}: a line the engine would write is missing here", at + 1),
        "\"stage:retry\"",
        "\"stage:complete\"",
        "agent complete",
        "Failures: 1/3",
        "completed · fail · 1×",
    ]);
}

#[test]
fn a_removed_line_is_found() {
    let story = Story::eventful();
    let original = story.lines();
    for kind in [
        "stage:start",
        "stage:complete",
        "stage:retry",
        "agent:delegate",
        "agent:complete",
        "parallel:start",
        "parallel:converge",
        "loop:start",
        "workflow:complete",
        "loop:complete",
        "error:fatal",
    ] {
        story.put_lines(&original);
        let at = story.line_of(kind, 1);
        let mut lines = original.clone();
        lines.remove(at - 1);
        story.put_lines(&lines);
        assert_eq!(first(&story), (at as u64, "missing".to_owned()), "{kind}");
    }
    // A round less shows when the next one is counted.
    story.put_lines(&original);
    let (at, next) = (story.line_of("loop:advance", 1), story.line_of("loop:advance", 2));
    let mut lines = original.clone();
    lines.remove(at - 1);
    story.put_lines(&lines);
    found_at(&story, next - 1, "changed");
}

#[test]
fn a_missing_beginning_is_named_as_such() {
    let story = Story::eventful();
    let at = story.line_of("workflow:start", 1);
    story.put_lines(&story.lines()[at..]);
    let run = story.context.run("replay");
    assert_eq!(run.code, Some(1));
    run.has(&["Line 1: ", "is the beginning missing?"]);
}

#[test]
fn doubled_and_swapped_lines_are_found() {
    let story = Story::eventful();
    let original = story.lines();
    let at = story.line_of("agent:delegate", 1);
    let mut lines = original.clone();
    lines.swap(at - 2, at - 1);
    story.put_lines(&lines);
    found_at(&story, at - 1, "unexpected");
    let mut lines = original.clone();
    lines.insert(at, original[at - 1].clone());
    story.put_lines(&lines);
    assert_eq!(first(&story).0, at as u64 + 1);
    let at = story.line_of("stage:complete", 2);
    let mut lines = original.clone();
    lines.insert(at, original[at - 1].clone());
    story.put_lines(&lines);
    assert_eq!(first(&story).0, at as u64 + 1);
    // A stage before its time.
    let mut lines = original.clone();
    lines.swap(4, 12);
    story.put_lines(&lines);
    assert!(first(&story).0 <= 5);
}

#[test]
fn all_differences_are_shown_when_asked_for() {
    let story = Story::eventful();
    let places =
        [story.line_of("stage:retry", 1), story.line_of("loop:advance", 2), story.line_of("error:fatal", 1)];
    story.change(places[0], |line| line["count"] = json!(7));
    story.change(places[1], |line| line["stage"] = json!("PM"));
    story.change(places[2], |line| line["failCount"] = json!(7));
    let run = story.context.run("replay --all --json");
    assert_eq!(run.code, Some(1));
    let object = run.json();
    let found: Vec<_> = object["differences"].as_array().unwrap().iter().map(|d| d["line"].clone()).collect();
    assert_eq!(Value::from(found), json!(places));
    assert_eq!(object["differenceCount"], 3);
    assert_eq!(object["lines"], story.lines().len());
    story.context.run("replay --all").has(&["differences: 3"]);
    assert_eq!(story.context.run("replay --json").json()["differenceCount"], 1);
}
