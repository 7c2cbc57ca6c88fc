//! The home, session and project that a measured hook finds.

use std::fmt::Write as _;
use std::fs::{self, File};
use std::path::PathBuf;

use overtone_registry::{EventKind, Stage, TestMode, Workflow};
use serde_json::{Map, Value, json};

use super::cases::State;
use crate::error::{Error, Result};
use crate::shell::write_file;

pub(crate) const SESSION: &str = "5f0c7a52-3f0e-4b5e-9a51-2f6d1c0e7b11";
pub(crate) const OVERTONE_HOME: &str = "home/.overtone";

const HUGE_EVENTS: usize = 100_000;
const HUGE_OBSERVATIONS: usize = 20_000;
const LITTLE: usize = 8;
/// How many of the events belong to the stage that is still running.
const LAST_STAGE_EVENTS: usize = 1_000;
/// Above the size from which a compaction is suggested, so that the look for earlier ones is paid for.
const TRANSCRIPT_BYTES: u64 = 6_500_000;

/// Where the workflow stands: its first three stages are done.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Phase {
    /// The developer is to be delegated next.
    Ready,
    /// The developer is at work.
    Active,
}

/// The root folder of one fixture.
#[derive(Debug, Clone)]
pub(crate) struct Place {
    root: PathBuf,
    pub state: State,
}

impl Place {
    pub(crate) const fn new(root: PathBuf, state: State) -> Self {
        Self { root, state }
    }

    pub(crate) fn path(&self, relative: &str) -> PathBuf {
        self.root.join(relative)
    }

    fn session_file(&self, name: &str) -> PathBuf {
        self.path(OVERTONE_HOME).join("sessions").join(SESSION).join(name)
    }
}

/// Writes all files of a state.
pub(crate) fn create(place: &Place, phase: Phase) -> Result<()> {
    let handoffs = place.session_file("handoffs");
    fs::create_dir_all(&handoffs).map_err(|e| Error::io("cannot create folder", &handoffs, &e))?;
    write_file(&place.path(OVERTONE_HOME).join(".current-session-id"), SESSION.as_bytes())?;
    create_project(place)?;
    // Sparse: hooks look at its size, never at its contents.
    let transcript = place.path("transcript.jsonl");
    File::create(&transcript)
        .and_then(|file| file.set_len(TRANSCRIPT_BYTES))
        .map_err(|e| Error::io("cannot write", &transcript, &e))?;
    match place.state {
        State::None => Ok(()),
        State::Empty => create_session(place, phase, LITTLE, LITTLE),
        State::Huge => create_session(place, phase, HUGE_EVENTS, HUGE_OBSERVATIONS),
    }
}

fn create_project(place: &Place) -> Result<()> {
    let tasks = "---\nfeature: demo\nstatus: in-progress\nworkflow: standard\n---\n\n## Tasks\n\n- [x] plan\n- [x] \
                 architecture\n- [ ] implement the login messages\n- [ ] review\n";
    let feature = place.path("project/specs/features/in-progress/demo");
    write_file(&feature.join("tasks.md"), tasks.as_bytes())?;
    write_file(&place.path("project/src/login.rs"), b"fn main() {}\n")
}

fn create_session(place: &Place, phase: Phase, events: usize, observations: usize) -> Result<()> {
    let now = jiff::Timestamp::now().strftime("%Y-%m-%dT%H:%M:%S%.3fZ").to_string();
    let workflow = format!("{:#}\n", workflow(phase, &now));
    write_file(&place.session_file("workflow.json"), workflow.as_bytes())?;
    write_file(&place.session_file("loop.json"), b"{\"iterations\":0,\"stopped\":false}\n")?;
    write_file(&place.session_file("timeline.jsonl"), timeline(events, &now).as_bytes())?;
    write_file(&place.session_file("observations.jsonl"), observed(observations, &now).as_bytes())
}

/// The time is that of the run: an agent that began long ago would be given up by the hooks.
fn workflow(phase: Phase, now: &str) -> Value {
    let stages: Map<_, _> = Workflow::Standard
        .stage_keys()
        .enumerate()
        .map(|(index, key)| {
            let mut stage = stage(index, key.stage, phase);
            if let Some(mode) = Workflow::Standard.test_mode(key) {
                stage["mode"] = json!(if mode == TestMode::Spec { "spec" } else { "verify" });
            }
            (key.to_string(), stage)
        })
        .collect();
    let agents = match phase {
        Phase::Ready => json!({}),
        Phase::Active => json!({ "developer": { "stage": "DEV", "startedAt": now } }),
    };
    json!({
        "sessionId": SESSION, "workflowType": "standard", "createdAt": now, "currentStage": "DEV",
        "stages": stages, "activeAgents": agents, "failCount": 0, "completedStages": 3, "rejectCount": 0,
        "featureName": "demo", "retroCount": 0,
    })
}

fn stage(index: usize, stage: Stage, phase: Phase) -> Value {
    let dev = Workflow::Standard.stages().iter().position(|s| *s == Stage::Dev);
    if Some(index) < dev {
        return json!({ "status": "completed", "result": "pass" });
    }
    let active = stage == Stage::Dev && phase == Phase::Active;
    json!({ "status": if active { "active" } else { "pending" }, "result": null })
}

/// A long session: one compaction at its very beginning, much work, and a last stage in which nothing succeeds.
/// Whoever looks back line by line for a completed stage or a compaction has a long way to go.
fn timeline(events: usize, now: &str) -> String {
    const WORK: [EventKind; 5] = [
        EventKind::StageStart,
        EventKind::AgentDelegate,
        EventKind::ToolFailure,
        EventKind::AgentComplete,
        EventKind::StageComplete,
    ];
    let first = [EventKind::SessionStart, EventKind::WorkflowStart, EventKind::SessionCompact];
    let kinds = first.into_iter().chain(WORK.into_iter().cycle());
    let last_stage = (events / 2).min(LAST_STAGE_EVENTS);
    let failures = std::iter::repeat_n(EventKind::ToolFailure, last_stage);
    kinds.take(events - last_stage).chain(failures).fold(String::new(), |text, kind| text + &event(kind, now))
}

fn event(kind: EventKind, now: &str) -> String {
    let (name, category, label) = (kind.name(), kind.category(), kind.label());
    format!(r#"{{"ts":"{now}","type":"{name}","category":"{category}","label":"{label}","stage":"DEV"}}"#)
        + "\n"
}

fn observed(count: usize, now: &str) -> String {
    (0..count).fold(String::new(), |mut text, index| {
        // Writing to a string cannot fail.
        let _ = writeln!(
            text,
            r#"{{"ts":"{now}","type":"tool_preference","trigger":"search {index}","action":"use rg","confidence":0.5}}"#
        );
        text
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_workflow_has_the_shape_of_the_specification() {
        let value = workflow(Phase::Active, "2026-02-23T14:00:00.000Z");
        assert_eq!(value["stages"]["TEST"]["mode"], "spec");
        assert_eq!(value["stages"]["TEST:2"]["status"], "pending");
        assert_eq!(value["stages"]["DEV"]["status"], "active");
        assert_eq!(value["activeAgents"]["developer"]["stage"], "DEV");
    }

    #[test]
    fn lines_are_json() {
        let text = timeline(20, "x") + &observed(3, "x");
        assert_eq!(text.lines().count(), 23);
        for line in text.lines() {
            assert!(serde_json::from_str::<Value>(line).unwrap()["type"].is_string());
        }
    }
}
