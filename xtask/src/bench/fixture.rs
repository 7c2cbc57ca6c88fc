//! The home, session and project that a measured program finds.

use std::fs;
use std::path::{Path, PathBuf};

use overtone_core::registry::{Stage, TestMode, Workflow};
use serde_json::{Map, Value, json};

use super::bulk;
use super::state::State;
use crate::error::{Error, Result};
use crate::shell::write_file;

pub(crate) const SESSION: &str = "5f0c7a52-3f0e-4b5e-9a51-2f6d1c0e7b11";
pub(crate) const OVERTONE_HOME: &str = "home/.overtone";
/// The developer at work, as the client will call it.
pub(crate) const DEVELOPER: &str = "a1b2c3d4";
/// Another agent at work, whose name the client has told already.
pub(crate) const GRADER: &str = "e5f60718";
/// What the status line has noted down already.
pub(crate) const COST: f64 = 2.5;
pub(crate) const CONTEXT_PERCENT: u32 = 42;

/// Where the workflow stands: its first three stages are done.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Phase {
    /// The developer is to be delegated next.
    Ready,
    /// The developer is at work.
    Active,
}

/// Where one fixture is.
#[derive(Debug, Clone)]
pub(crate) struct Place {
    live: PathBuf,
    folder: PathBuf,
    transcript: PathBuf,
    pub state: State,
}

impl Place {
    pub(crate) fn new(scratch: &Path, state: State, phase: Phase) -> Self {
        let folder = scratch.join(format!("{}-{phase:?}", state.name()).to_lowercase());
        // Shared by all fixtures of a state: nobody writes to it, and it is large.
        let transcript = scratch.join("transcripts").join(format!("{}.jsonl", state.name()));
        Self { live: folder.join("live"), folder, transcript, state }
    }

    /// A file below the folder that programs change.
    pub(crate) fn path(&self, relative: &str) -> PathBuf {
        self.live.join(relative)
    }

    /// A file beside it.
    pub(crate) fn beside(&self, name: &str) -> PathBuf {
        self.folder.join(name)
    }

    pub(crate) fn transcript(&self) -> &Path {
        &self.transcript
    }

    pub(crate) fn session_file(&self, name: &str) -> PathBuf {
        self.path(OVERTONE_HOME).join("sessions").join(SESSION).join(name)
    }
}

/// Writes all files of a state.
pub(crate) fn create(place: &Place, phase: Phase) -> Result<()> {
    let handoffs = place.session_file("handoffs");
    fs::create_dir_all(&handoffs).map_err(|e| Error::io("cannot create folder", &handoffs, &e))?;
    write_file(&place.path(OVERTONE_HOME).join(".current-session-id"), SESSION.as_bytes())?;
    let usage = json!({ "usedPercentage": CONTEXT_PERCENT, "costUsd": COST });
    write_file(&place.session_file("context.json"), usage.to_string().as_bytes())?;
    create_project(place)?;
    if !place.transcript.exists() {
        write_file(&place.transcript, bulk::transcript(place.state.size().transcript_bytes).as_bytes())?;
    }
    if place.state.has_workflow() { create_session(place, phase) } else { Ok(()) }
}

fn create_project(place: &Place) -> Result<()> {
    write_file(&place.path("project/src/login.rs"), b"fn main() {}\n")?;
    for feature in bulk::features(place.state.size().features) {
        let folder = place.path("project/specs/features").join(feature.shelf).join(&feature.name);
        write_file(&folder.join("tasks.md"), feature.tasks().as_bytes())?;
    }
    Ok(())
}

fn create_session(place: &Place, phase: Phase) -> Result<()> {
    let size = place.state.size();
    let now = jiff::Timestamp::now().strftime("%Y-%m-%dT%H:%M:%S%.3fZ").to_string();
    let workflow = format!("{:#}\n", workflow(phase, &now));
    write_file(&place.session_file("workflow.json"), workflow.as_bytes())?;
    write_file(&place.session_file("loop.json"), b"{\"iterations\":0,\"stopped\":false}\n")?;
    write_file(&place.session_file("timeline.jsonl"), bulk::timeline(size.events, &now).as_bytes())?;
    let observations = bulk::observations(size.observations, &now);
    write_file(&place.session_file("observations.jsonl"), observations.as_bytes())
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
        Phase::Active => json!({
            "developer": { "stage": "DEV", "startedAt": now },
            "grader": { "startedAt": now, "agentId": GRADER },
        }),
    };
    json!({
        "sessionId": SESSION, "workflowType": "standard", "createdAt": now, "currentStage": "DEV",
        "stages": stages, "activeAgents": agents, "failCount": 0, "completedStages": 3, "rejectCount": 0,
        "featureName": bulk::OWN_FEATURE, "retroCount": 0,
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
}
