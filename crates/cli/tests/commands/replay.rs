//! A session is played through the real hooks; what they wrote down is replayed.

mod damage;
mod input;
mod story;

use overtone_core::registry::Workflow;
use serde_json::{Value, json};

use crate::context::{keys, put, read};
use story::Story;

#[test]
fn every_workflow_replays_without_a_difference() {
    for workflow in Workflow::ALL {
        let story = Story::new();
        story.context.run(&format!("init {} --feature some-thing", workflow.name())).ok();
        for key in workflow.stage_keys() {
            story.run(key.stage.agent().name(), "PASS");
        }
        story.complete();
        story.context.run("replay").ok().has(&["no difference", "same as workflow.json"]);
        assert_eq!(story.count("workflow:complete"), 1, "{}", workflow.name());
    }
}

#[test]
fn an_eventful_session_replays_without_a_difference() {
    let story = Story::eventful();
    for kind in [
        "stage:retry",
        "agent:error",
        "tool:failure",
        "parallel:converge",
        "loop:advance",
        "session:compact",
        "session:compact-suggestion",
        "system:warning",
        "session:end",
        "grader:score",
        "error:fatal",
        "specs:archive",
    ] {
        assert!(story.count(kind) > 0, "the story lacks {kind}");
    }
    story.context.run("replay").ok().has(&[
        "no difference",
        "same as workflow.json",
        "tool:failure 2",
        "workflows started: 2",
        "Recorded by",
    ]);
    // By its name, its file and its folder, and through a pipe.
    let file = story.timeline();
    story.context.run("replay s1").ok().has(&["no difference"]);
    story.context.run_args(&["replay".as_ref(), file.as_os_str()]).ok().has(&["same as workflow.json"]);
    story.context.run_args(&["replay".as_ref(), file.parent().unwrap().as_os_str()]).ok();
    let piped = story.context.run_with_stdin("replay -", read(&file)).ok();
    assert!(piped.stdout.contains("no difference") && !piped.stdout.contains("workflow.json"));
}

#[test]
fn a_session_in_the_middle_of_its_work_is_replayed_as_far_as_it_is() {
    let story = Story::new();
    story.context.run("init quick").ok();
    for step in 0..6 {
        story.context.run("replay").ok().has(&["no difference", "same as workflow.json"]);
        match step {
            0 => story.run("developer", "PASS"),
            1 => story.delegate("tester", "call-t"),
            2 => story.delegate("code-reviewer", "call-r"),
            3 => story.report("tester", "agent-t", "FAIL"),
            _ => story.report("code-reviewer", "agent-r", "PASS"),
        }
    }
}

#[test]
fn nothing_is_touched() {
    let story = Story::eventful();
    let before = story.files();
    for line in ["replay", "replay --all", "replay --json", "replay --until 9", "replay --redact"] {
        story.context.run(line).ok();
    }
    assert_eq!(story.files(), before);
}

#[test]
fn changed_limits_are_part_of_the_record() {
    let story = Story::new();
    story.context.run("config set limits.failures 1").ok();
    story.context.run("init quick").ok();
    story.run("developer", "PASS");
    story.run("code-reviewer", "PASS");
    story.run("tester", "FAIL");
    assert_eq!(story.count("error:fatal"), 1);
    story.stop();
    story.context.run("config set limits.failures 9").ok();
    story.context.run("resume").ok();
    story.run("developer", "PASS");
    // The replay must not depend on what is configured now.
    story.context.run("config set limits.failures 2").ok();
    story.context.run("replay").ok().has(&["no difference", "same as workflow.json"]);
}

/// Lines of a version that recorded less.
#[test]
fn an_older_timeline_that_says_less_is_replayed() {
    let story = Story::eventful();
    let lines = story.lines().into_iter().map(|mut line| {
        for later in ["slots", "handoff", "idle", "tasks", "version"] {
            line.as_object_mut().unwrap().remove(later);
        }
        if line["type"] != "agent:delegate" {
            line.as_object_mut().unwrap().remove("slot");
        }
        format!("{line}\n")
    });
    let text: String = lines.collect();
    put(&story.timeline(), &text);
    story.context.run("replay").ok().has(&["no difference", "same as workflow.json"]);
}

#[test]
fn the_state_after_a_line_is_shown() {
    let story = Story::eventful();
    let at = story.line_of("stage:retry", 1);
    let object = story.context.json(&format!("replay --json --until {at}"));
    assert_eq!((&object["until"], &object["lines"]), (&json!(at), &json!(at)));
    assert_eq!(object["stored"], "not-whole");
    let workflow = &object["state"]["workflow"];
    assert_eq!((&workflow["failCount"], &workflow["rejectCount"]), (&json!(1), &json!(0)));
    story.context.run(&format!("replay --until {at}")).ok().has(&["Failures: 1/3", "up to line"]);
    assert_eq!(story.context.json("replay --json --until 0")["state"]["workflow"], Value::Null);
}

#[test]
fn a_stored_state_that_the_timeline_does_not_lead_to_is_a_difference() {
    let story = Story::eventful();
    let file = story.context.session_dir("s1").join("workflow.json");
    let mut state: Value = serde_json::from_str(&read(&file)).unwrap();
    state["failCount"] = json!(7);
    state["stages"]["DEV"]["status"] = json!("pending");
    put(&file, state.to_string());
    let run = story.context.run("replay");
    assert_eq!(run.code, Some(1));
    run.has(&["failCount: ", "7 in workflow.json", "stages.DEV.status", "differences: 2"]);
    let object: Value = story.context.run("replay --json").json();
    assert_eq!(object["stored"], "different");
    assert_eq!(keys(&object["storedDifferences"][0]), ["name", "replayed", "stored"]);
    put(&file, "{broken");
    story.context.run("replay").ok().has(&["not compared", "workflow.json"]);
}

#[test]
fn the_object_has_its_shape() {
    let story = Story::eventful();
    let object = story.context.json("replay --json");
    let names = [
        "differences",
        "session",
        "project",
        "timeline",
        "lines",
        "until",
        "workflows",
        "given",
        "skipped",
        "skippedCount",
        "recordedBy",
        "differenceCount",
        "state",
        "stored",
        "storedDifferences",
    ];
    assert_eq!(keys(&object), names);
    assert_eq!((&object["stored"], &object["differences"]), (&json!("same"), &json!([])));
    assert_eq!(object["lines"], story.lines().len());
    assert_eq!(object["recordedBy"], env!("CARGO_PKG_VERSION"));
    assert_eq!(keys(&object["state"]), ["workflow", "loop"]);
    story.change(story.line_of("stage:retry", 1), |line| line["count"] = json!(5));
    let run = story.context.run("replay --json");
    assert_eq!(run.code, Some(1));
    let difference = &run.json()["differences"][0];
    assert_eq!(keys(difference), ["line", "kind", "fields", "expected", "found", "before", "state"]);
    assert_eq!((&difference["kind"], &difference["fields"]), (&json!("changed"), &json!(["count"])));
    assert_eq!(
        (&difference["expected"]["count"], &difference["found"]["event"]["count"]),
        (&json!(1), &json!(5))
    );
    assert_eq!(difference["before"].as_array().unwrap().len(), 5);
}

#[test]
fn a_redacted_copy_replays_like_the_original_and_tells_nothing() {
    let story = Story::eventful();
    let secrets = ["top-secret", "hush-hush", "/home/", "agent-of-"];
    let original = read(&story.timeline());
    assert!(secrets.iter().all(|secret| original.contains(secret)), "the story has something to hide");
    let copy = story.context.run("replay --redact").ok().stdout;
    for secret in secrets {
        assert!(!copy.contains(secret), "{secret} in {copy}");
    }
    assert_eq!(copy.lines().count(), original.lines().count());
    let object = |text: &str| {
        let mut object = story.context.run_with_stdin("replay - --json --all", text).json();
        // What was found is quoted, and the copy says less.
        for difference in object["differences"].as_array_mut().unwrap() {
            difference
                .as_object_mut()
                .unwrap()
                .retain(|name, _| ["line", "kind", "fields"].contains(&&**name));
        }
        object
    };
    assert_eq!(object(&copy), object(&original));
    let damaged = original.replacen("\"pass\"", "\"fail\"", 3);
    put(&story.timeline(), &damaged);
    let copy = story.context.run("replay --redact").ok().stdout;
    assert_ne!(object(&copy)["differences"], json!([]));
    assert_eq!(object(&copy), object(&damaged));
}
