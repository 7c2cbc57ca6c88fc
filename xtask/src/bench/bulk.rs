//! The long files of a session, each written as one string: a few true lines, repeated.

use std::fmt::Write as _;

use overtone_core::registry::EventKind;
use serde_json::json;

/// The feature that the workflow is about.
pub(crate) const OWN_FEATURE: &str = "demo";

/// How many of the events belong to the stage that is still running.
const LAST_STAGE_EVENTS: usize = 1_000;

/// A long session: one compaction at its very beginning, much work, and a last stage in which nothing succeeds.
/// Whoever looks back line by line for a completed stage or a compaction has a long way to go.
pub(crate) fn timeline(events: usize, now: &str) -> String {
    const FIRST: [EventKind; 3] =
        [EventKind::SessionStart, EventKind::WorkflowStart, EventKind::SessionCompact];
    const WORK: [EventKind; 5] = [
        EventKind::StageStart,
        EventKind::AgentDelegate,
        EventKind::ToolFailure,
        EventKind::AgentComplete,
        EventKind::StageComplete,
    ];
    let line = |kind: EventKind| event(kind, now);
    let last = (events / 2).min(LAST_STAGE_EVENTS);
    let work = (events - last).saturating_sub(FIRST.len());
    let first: String = FIRST.into_iter().take(events - last).map(line).collect();
    first + &repeated(&WORK.map(line), work) + &repeated(&[line(EventKind::ToolFailure)], last)
}

fn event(kind: EventKind, now: &str) -> String {
    let (name, category, label) = (kind.name(), kind.category(), kind.label());
    format!(r#"{{"ts":"{now}","type":"{name}","category":"{category}","label":"{label}","stage":"DEV"}}"#)
        + "\n"
}

pub(crate) fn observations(count: usize, now: &str) -> String {
    let line = |index: usize| {
        format!(
            r#"{{"ts":"{now}","type":"tool_preference","trigger":"search {index}","action":"use rg","confidence":0.5}}"#
        ) + "\n"
    };
    repeated(&(0..100).map(line).collect::<Vec<_>>(), count)
}

/// What the client keeps of a conversation: the request first, then turns of a tool's use and its result.
pub(crate) fn transcript(bytes: usize) -> String {
    let entry = |kind: &str, content: serde_json::Value| {
        let message = json!({ "role": kind, "content": content });
        json!({ "type": kind, "isSidechain": false, "timestamp": "2026-02-23T14:00:00.000Z", "message": message })
            .to_string()
            + "\n"
    };
    let used = json!([{ "type": "tool_use", "id": "toolu_01", "name": "Bash", "input": { "command": "cargo test" } }]);
    let result = "running 42 tests\n".to_owned() + &"test login::message_is_translated ... ok\n".repeat(42);
    let result = json!([{ "type": "tool_result", "tool_use_id": "toolu_01", "content": result }]);
    let request = entry("user", json!("Make the messages of the login page translatable."));
    let turn = entry("assistant", used) + &entry("user", result);
    let turns = bytes.saturating_sub(request.len()).div_ceil(turn.len());
    request + &turn.repeat(turns)
}

/// So many lines, over and over in the same order.
fn repeated(lines: &[String], count: usize) -> String {
    let rest: String = lines.iter().take(count % lines.len()).map(String::as_str).collect();
    lines.concat().repeat(count / lines.len()) + &rest
}

/// A feature of the project.
#[derive(Debug)]
pub(crate) struct Feature {
    pub shelf: &'static str,
    pub name: String,
    created: String,
}

impl Feature {
    pub(crate) fn tasks(&self) -> String {
        let Self { shelf, name, created } = self;
        let mut text = format!(
            "---\nfeature: {name}\nstatus: {shelf}\nworkflow: standard\ncreated: {created}\n---\n\n## Tasks\n\n"
        );
        for (mark, task) in
            [("x", "plan"), ("x", "architecture"), (" ", "implement the login messages"), (" ", "review")]
        {
            // Writing to a string cannot fail.
            let _ = writeln!(text, "- [{mark}] {task}");
        }
        text
    }
}

/// The workflow's own feature first; of the others few are being worked on and most are done.
pub(crate) fn features(count: usize) -> impl Iterator<Item = Feature> {
    (0..count).map(|index| Feature {
        shelf: match index % 25 {
            0 => "in-progress",
            1..=2 => "paused",
            3..=9 => "backlog",
            _ => "archive",
        },
        name: if index == 0 { OWN_FEATURE.to_owned() } else { format!("feature-{index:03}") },
        created: format!("2026-01-{:02}T{:02}:00:00.000Z", index % 28 + 1, index % 24),
    })
}

#[cfg(test)]
mod tests {
    use serde_json::Value;

    use super::super::state::State;
    use super::*;

    fn types(text: &str) -> Vec<String> {
        let line =
            |line: &str| serde_json::from_str::<Value>(line).unwrap()["type"].as_str().unwrap().to_owned();
        text.lines().map(line).collect()
    }

    #[test]
    fn a_timeline_has_so_many_lines_and_its_compaction_is_long_ago() {
        for events in [0, 1, 8, 300, 5_001] {
            let types = types(&timeline(events, "2026-02-23T14:00:00.000Z"));
            assert_eq!(types.len(), events);
            let last = types.iter().rposition(|kind| kind == "session:compact");
            assert!(last.is_none_or(|at| at == 2), "{events}: {last:?}");
        }
    }

    #[test]
    fn every_line_is_json() {
        assert_eq!(types(&observations(250, "x")).len(), 250);
        let conversation = transcript(20_000);
        assert!((20_000..30_000).contains(&conversation.len()));
        assert_eq!(types(&conversation)[..3], ["user", "assistant", "user"]);
    }

    #[test]
    fn features_are_spread_over_the_shelves_under_names_of_their_own() {
        let all: Vec<_> = features(State::Huge.size().features).collect();
        let on = |shelf: &str| all.iter().filter(|feature| feature.shelf == shelf).count();
        assert_eq!([on("in-progress"), on("paused"), on("backlog"), on("archive")], [20, 40, 140, 300]);
        let mut names: Vec<_> = all.iter().map(|feature| &feature.name).collect();
        names.dedup();
        assert_eq!((names.len(), names[0].as_str()), (500, OWN_FEATURE));
    }
}
