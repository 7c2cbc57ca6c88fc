//! Document 2: the suggestion to compact when a stage has passed.
//!
//! `shouldSuggestCompact` is seen through `on-agent-stop`, which calls it: a suggestion is a line in `result`
//! and an event, and both must agree. Its options are settings of `config.json`.

use overtone_core::registry::EventKind;
use serde_json::{Value, json};

use crate::common::{Output, put, put_link_loop};
use crate::support::{Answer, Session, agent_stop, assert_has};

const DONE: &str = "All done, everything works.\n<!-- VERDICT: {\"result\":\"PASS\"} -->";

/// A standard workflow whose DEV is about to finish, with a transcript of this size.
fn dev_with_transcript(bytes: u64) -> Session {
    Session::new().workflow("standard").at_work("developer", "DEV").transcript(bytes)
}

/// Finishes a stage and tells whether a compaction was suggested; text and event never disagree.
#[track_caller]
fn suggests(session: &Session, agent: &str) -> bool {
    judge(session, &session.agent_stops(agent, DONE))
}

#[track_caller]
fn judge(session: &Session, output: &Output) -> bool {
    let said = mentions_compaction(&output.result());
    let recorded = !session.events("session:compact-suggestion").is_empty();
    assert_eq!(said, recorded, "text and timeline disagree: {}", output.result());
    said
}

fn mentions_compaction(text: &str) -> bool {
    text.contains("compact") || text.contains("壓縮")
}

/// The stage passed as if nothing had been asked about the transcript.
#[track_caller]
fn assert_passed(session: &Session, output: &Output, stage: &str) {
    assert_has(&output.result(), &["完成"]);
    let stage = &session.state_on_disk()["stages"][stage];
    assert_eq!((&stage["status"], &stage["result"]), (&json!("completed"), &json!("pass")));
}

#[test]
fn s2_01_over_threshold_suggests() {
    let session = dev_with_transcript(6_500_000);
    assert!(suggests(&session, "developer"));
    assert_eq!(session.events("session:compact-suggestion")[0]["transcriptSize"], 6_500_000);
}

#[test]
fn s2_02_under_threshold_stays_silent() {
    let plan = Session::new().workflow("standard").at_work("planner", "PLAN").transcript(2_000_000);
    let output = plan.agent_stops("planner", DONE);
    assert!(!judge(&plan, &output));
    assert_passed(&plan, &output, "PLAN");
}

/// The threshold itself is not over the threshold.
#[test]
fn s2_02_the_threshold_is_exclusive() {
    assert!(!suggests(&dev_with_transcript(5_000_000), "developer"));
    assert!(suggests(&dev_with_transcript(5_000_001), "developer"));
}

#[test]
fn s2_03_the_last_stage_stays_silent() {
    let session = Session::new().workflow("standard").at_work("doc-updater", "DOCS").transcript(8_000_000);
    let output = session.agent_stops("doc-updater", DONE);
    assert!(!judge(&session, &output));
    assert_passed(&session, &output, "DOCS");
}

/// A compaction just before DEV, once as a recorded timeline and once as a hook that really ran.
fn compacted_before_dev() -> [Session; 2] {
    let before = ["stage:complete", "stage:complete", "stage:complete", "session:compact"];
    let recorded = dev_with_transcript(1).past_events(&before);
    let lived = dev_with_transcript(1).past_events(&before[..3]);
    assert!(lived.compact().has_system_message());
    [recorded, lived]
}

#[test]
fn s2_04_one_stage_after_a_compaction_stays_silent() {
    for session in compacted_before_dev() {
        let session = session.transcript(7_000_000);
        assert!(!suggests(&session, "developer"));
        assert_eq!(session.events("stage:complete").len(), 4);
    }
}

#[test]
fn s2_05_enough_stages_after_a_compaction_suggest_again() {
    for session in compacted_before_dev() {
        assert!(!suggests(&session, "developer"));
        session.delegate("code-reviewer", "review it").answer();
        assert!(!suggests(&session, "code-reviewer"));
        session.delegate("tester", "verify it").answer();
        let session = session.transcript(6_000_000);
        assert!(suggests(&session, "tester"));
        assert_eq!(session.events("session:compact-suggestion")[0]["stage"], "TEST:2");
    }
}

#[test]
fn s2_06_never_compacted_may_suggest_at_once() {
    let session = Session::new().workflow("quick").at_work("developer", "DEV").transcript(5_500_000);
    assert!(suggests(&session, "developer"));
}

#[test]
fn s2_07_the_threshold_can_be_set() {
    let arch = || Session::new().workflow("standard").at_work("architect", "ARCH").transcript(4_000_000);
    assert!(!suggests(&arch(), "architect"));

    let session = arch().config(&json!({ "compact": { "thresholdMb": 3 } }));
    assert!(suggests(&session, "architect"));
    assert_eq!(session.events("session:compact-suggestion")[0]["transcriptSize"], 4_000_000);
}

#[test]
fn s2_08_the_cooldown_can_be_set() {
    for session in compacted_before_dev() {
        let session = session.transcript(6_000_000).config(&json!({ "compact": { "cooldownStages": 1 } }));
        assert!(suggests(&session, "developer"));
    }
}

/// Finishes DEV with another `transcript_path`; whatever is wrong with it, the stage passes without a word.
#[track_caller]
fn assert_degrades_silently(path: impl Fn(&Session) -> Value) {
    let session = dev_with_transcript(9_000_000);
    let mut event = agent_stop("developer", DONE);
    event["transcript_path"] = path(&session);
    let output = session.hook("on-agent-stop", event);
    assert!(!judge(&session, &output));
    assert_passed(&session, &output, "DEV");
    assert_eq!(output.stderr, "");
}

#[test]
fn s2_09_a_missing_transcript_degrades_silently() {
    assert_degrades_silently(|session| json!(session.context.root().join("nowhere.jsonl")));
}

#[test]
fn s2_10_an_empty_or_absent_path_degrades_silently() {
    assert_degrades_silently(|_| json!(""));
    assert_degrades_silently(|_| Value::Null);
}

#[test]
fn s2_11_an_unreadable_transcript_degrades_silently() {
    assert_degrades_silently(|session| {
        let path = session.context.root().join("loop.jsonl");
        put_link_loop(&path);
        json!(path)
    });
}

/// Nobody can tell from a damaged timeline whether there was a compaction, so none is suggested; the stage
/// itself is recorded as ever.
#[test]
fn s2_12_a_damaged_timeline_degrades_silently() {
    let damage: [&[u8]; 2] = [b"\x00\xff\xfe{{{\n\x00\x00\n", b"{\"type\":\"stage:comp"];
    for damage in damage {
        let session = dev_with_transcript(6_000_000);
        put(&session.file("timeline.jsonl"), damage);
        let output = session.agent_stops("developer", DONE);
        assert!(!mentions_compaction(&output.result()), "{}", output.result());
        assert_passed(&session, &output, "DEV");

        let timeline = std::fs::read(session.file("timeline.jsonl")).unwrap();
        assert!(timeline.starts_with(damage), "what was there is gone");
        let added = String::from_utf8(timeline[damage.len()..].to_vec()).unwrap();
        let events: Vec<Value> = added
            .lines()
            .filter(|line| !line.is_empty())
            .map(|line| serde_json::from_str(line).unwrap())
            .collect();
        assert!(events.iter().any(|event| event["type"] == "stage:complete"), "{added}");
        assert!(!events.iter().any(|event| event["type"] == "session:compact-suggestion"), "{added}");
    }
}

#[test]
fn s2_13_a_suggestion_is_recorded() {
    let session = dev_with_transcript(7_654_321);
    assert!(suggests(&session, "developer"));
    let events = session.events("session:compact-suggestion");
    assert_eq!(events.len(), 1);
    let event = &events[0];
    assert_eq!(event["category"], "session");
    assert_eq!(event["label"], "Compact 建議");
    assert_eq!(event["transcriptSize"], 7_654_321);
    assert_eq!(event["stage"], "DEV");
    assert_eq!(event["agent"], "developer");
}

#[test]
fn s2_14_the_text_follows_the_pass_message() {
    let session = dev_with_transcript(6_500_000);
    let output = session.agent_stops("developer", DONE);
    assert!(judge(&session, &output));
    assert_passed(&session, &output, "DEV");
    let result = output.result();
    let size = result.find("6.5MB").expect("no size in the suggestion");
    assert!(result.find("完成").unwrap() < size, "the suggestion comes first: {result}");
}

#[test]
fn s2_15_no_suggestion_unless_passed() {
    let cases = [
        ("tester", "TEST", "FAIL", 8_000_000, ("failCount", 1)),
        ("code-reviewer", "REVIEW", "REJECT", 7_000_000, ("rejectCount", 1)),
        ("retrospective", "RETRO", "ISSUES", 7_000_000, ("retroCount", 1)),
    ];
    for (agent, stage, verdict, size, (counter, count)) in cases {
        let session = Session::new().workflow("standard").at_work(agent, stage).transcript(size);
        let message = format!("Here is what I found.\n<!-- VERDICT: {{\"result\":\"{verdict}\"}} -->");
        let output = session.agent_stops(agent, &message);
        assert!(!judge(&session, &output), "{verdict}");
        assert_eq!(session.state_on_disk()[counter], count, "{verdict} was not counted");

        let passing = Session::new().workflow("standard").at_work(agent, stage).transcript(size);
        assert!(suggests(&passing, agent), "only the verdict makes the difference for {stage}");
    }
}

#[test]
fn s2_16_a_single_stage_stays_silent() {
    let session = Session::new().workflow("single").at_work("developer", "DEV").transcript(6_000_000);
    let output = session.agent_stops("developer", DONE);
    assert!(!judge(&session, &output));
    assert_passed(&session, &output, "DEV");
}

#[test]
fn s2_17_sizes_are_readable() {
    let cases = [(6_500_000, 5.0, "6.5MB"), (800_000, 0.5, "800KB"), (500, 0.0001, "500B")];
    for (size, threshold, text) in cases {
        let session = dev_with_transcript(size).config(&json!({ "compact": { "thresholdMb": threshold } }));
        let output = session.agent_stops("developer", DONE);
        assert!(judge(&session, &output));
        assert_has(&output.result(), &[text]);
    }
}

#[test]
fn s2_18_the_event_is_in_the_registry() {
    let event = EventKind::from_name("session:compact-suggestion").expect("未知的 timeline 事件類型");
    assert_eq!((event.label(), event.category()), ("Compact 建議", "session"));
    let error = EventKind::from_name("session:compact-suggestions").unwrap_err();
    assert_has(&error.to_string(), &["未知的 timeline 事件類型"]);
}
