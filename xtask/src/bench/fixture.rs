//! The home, session and project that a measured program finds.

use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};

use overtone_core::registry::{EventKind, Stage, TestMode, Workflow};
use serde_json::{Map, Value, json};

use crate::error::{Error, Result};
use crate::sealed::seal_workflow;
use crate::shell::write_file;

pub(crate) const SESSION: &str = "5f0c7a52-3f0e-4b5e-9a51-2f6d1c0e7b11";
pub(crate) const OVERTONE_HOME: &str = "home/.overtone";

/// The feature of the workflow.
const FEATURE: &str = "demo";
/// The number of events after the last completed stage of a long timeline.
const LAST_STAGE_EVENTS: usize = 1_000;

/// Where the workflow stands: its first three stages are done.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Phase {
    /// The developer is to be delegated next.
    Ready,
    /// The developer is at work.
    Active,
}

/// How much has happened in the session.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum State {
    /// No workflow: the cost of a plugin that is installed but not used.
    None,
    /// A workflow with a handful of events.
    Empty,
    /// The same workflow after some hours of work.
    Typical,
    /// The same workflow after a very long session. It must not cost more than the empty one.
    Huge,
}

/// How much the main agent's conversation grows in one turn.
const UNREAD_BYTES: u64 = 10_000;

/// How much of everything there is.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Size {
    pub events: usize,
    pub observations: usize,
    pub features: usize,
    pub transcript_bytes: usize,
}

impl State {
    pub(crate) const ALL: [Self; 4] = [Self::None, Self::Empty, Self::Typical, Self::Huge];

    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::None => "none",
            Self::Empty => "empty",
            Self::Typical => "typical",
            Self::Huge => "huge",
        }
    }

    pub(crate) const fn size(self) -> Size {
        let (events, observations, features, transcript_bytes) = match self {
            Self::None => (0, 0, 1, 10_000),
            Self::Empty => (8, 8, 1, 10_000),
            Self::Typical => (300, 150, 6, 3_000_000),
            Self::Huge => (1_000_000, 100_000, 500, 200_000_000),
        };
        Size { events, observations, features, transcript_bytes }
    }

    pub(crate) const fn has_workflow(self) -> bool {
        !matches!(self, Self::None)
    }
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
        // Shared by all fixtures of a state: it is large, and hooks do not write to it.
        let transcript = scratch.join("transcripts").join(format!("{}.jsonl", state.name()));
        Self { live: folder.join("live"), folder, transcript, state }
    }

    /// A file below the folder that programs change.
    pub(crate) fn path(&self, relative: &str) -> PathBuf {
        self.live.join(relative)
    }

    /// A path beside that folder.
    pub(crate) fn beside(&self, name: &str) -> PathBuf {
        self.folder.join(name)
    }

    pub(crate) fn transcript(&self) -> &Path {
        &self.transcript
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
    write_json(&place.session_file("context.json"), &json!({ "usedPercentage": 42, "costUsd": 2.5 }))?;
    create_project(place)?;
    if !place.transcript.exists() {
        write_file(&place.transcript, transcript(place.state.size().transcript_bytes).as_bytes())?;
    }
    if place.state.has_workflow() { create_session(place, phase) } else { Ok(()) }
}

/// The conversation was read at the last Stop, up to a few turns ago.
fn usage_offsets(place: &Place, now: &str) -> Result<Value> {
    let length =
        fs::metadata(&place.transcript).map_err(|e| Error::io("cannot read", &place.transcript, &e))?.len();
    let file = place.transcript.file_name().unwrap_or_default().to_string_lossy().into_owned();
    let spent = json!([{ "model": "claude-sonnet-4-5", "messages": 42, "input": 1200, "output": 51_000,
                         "cacheRead": 2_400_000, "cacheWrite": 150_000 }]);
    Ok(json!({
        "ledger": 0, "files": { file: length.saturating_sub(UNREAD_BYTES) }, "last": {}, "workflow": now, "spent": spent,
    }))
}

fn create_session(place: &Place, phase: Phase) -> Result<()> {
    let size = place.state.size();
    let now = jiff::Timestamp::now().strftime("%Y-%m-%dT%H:%M:%S%.3fZ").to_string();
    write_json(&place.session_file("workflow.json"), &workflow(phase, &now))?;
    seal_workflow(&place.path(OVERTONE_HOME), SESSION)?;
    write_json(&place.session_file("usage-offsets.json"), &usage_offsets(place, &now)?)?;
    write_file(&place.session_file("loop.json"), b"{\"iterations\":0,\"stopped\":false}\n")?;
    write_file(&place.session_file("timeline.jsonl"), timeline(size.events, &now).as_bytes())?;
    let observation = json!({
        "ts": now, "type": "tool_preference", "trigger": "search", "action": "use rg", "confidence": 0.5,
    });
    let observations = format!("{observation}\n").repeat(size.observations);
    write_file(&place.session_file("observations.jsonl"), observations.as_bytes())
}

/// The time is that of the run, since hooks give up agents that started long ago.
fn workflow(phase: Phase, now: &str) -> Value {
    let mut stages = Map::new();
    let dev = Workflow::Standard.stages().iter().position(|stage| *stage == Stage::Dev);
    for (index, key) in Workflow::Standard.stage_keys().enumerate() {
        let is_active = key.stage == Stage::Dev && phase == Phase::Active;
        let mut stage = if Some(index) < dev {
            json!({ "status": "completed", "result": "pass" })
        } else {
            json!({ "status": if is_active { "active" } else { "pending" }, "result": null })
        };
        if let Some(mode) = Workflow::Standard.test_mode(key) {
            stage["mode"] = json!(if mode == TestMode::Spec { "spec" } else { "verify" });
        }
        stages.insert(key.to_string(), stage);
    }
    let agents = match phase {
        Phase::Ready => json!({}),
        Phase::Active => json!({
            "developer": { "stage": "DEV", "startedAt": now },
            "grader": { "startedAt": now, "agentId": "e5f60718" },
        }),
    };
    json!({
        "sessionId": SESSION, "workflowType": "standard", "createdAt": now, "currentStage": "DEV",
        "stages": stages, "activeAgents": agents, "failCount": 0, "completedStages": 3, "rejectCount": 0,
        "featureName": FEATURE, "retroCount": 0,
    })
}

/// A compaction at the very beginning, much work, and a last stage in which nothing succeeds: a hook that searches
/// backwards for a completed stage or a compaction has a long way to go.
fn timeline(events: usize, now: &str) -> String {
    const FIRST: [EventKind; 3] =
        [EventKind::SessionStart, EventKind::WorkflowStart, EventKind::SessionCompact];
    const WORK: [EventKind; 5] = [
        EventKind::StageStart,
        EventKind::AgentDelegate,
        EventKind::ToolFailure,
        EventKind::AgentComplete,
        EventKind::StageComplete,
    ];
    let last_stage = (events / 2).min(LAST_STAGE_EVENTS);
    let work = FIRST.into_iter().chain(WORK.into_iter().cycle()).take(events - last_stage);
    let mut text = String::new();
    for kind in work.chain(std::iter::repeat_n(EventKind::ToolFailure, last_stage)) {
        let (name, category, label) = (kind.name(), kind.category(), kind.label());
        // Writing to a string cannot fail.
        let _ = writeln!(
            text,
            r#"{{"ts":"{now}","type":"{name}","category":"{category}","label":"{label}","stage":"DEV"}}"#
        );
    }
    text
}

/// The client's record of a conversation: the request, then turns of a tool call and its result.
fn transcript(bytes: usize) -> String {
    let entry = |kind: &str, content: Value| {
        let message = json!({ "role": kind, "content": content });
        let ts = "2026-02-23T14:00:00.000Z";
        format!("{}\n", json!({ "type": kind, "isSidechain": false, "timestamp": ts, "message": message }))
    };
    let call = json!([{ "type": "tool_use", "id": "toolu_01", "name": "Bash", "input": { "command": "cargo test" } }]);
    let output = "test login::message_is_translated ... ok\n".repeat(42);
    let result = json!([{ "type": "tool_result", "tool_use_id": "toolu_01", "content": output }]);
    let request = entry("user", json!("Make the messages of the login page translatable."));
    let usage = json!({ "input_tokens": 4, "output_tokens": 312, "cache_read_input_tokens": 84_000,
                        "cache_creation_input_tokens": 1_900, "service_tier": "standard" });
    let answer = json!({ "role": "assistant", "content": call, "id": "msg_01", "model": "claude-sonnet-4-5",
                         "usage": usage });
    let answer = json!({ "type": "assistant", "isSidechain": false, "timestamp": "2026-02-23T14:00:00.000Z",
                         "message": answer });
    let turn = format!("{answer}\n{}", entry("user", result));
    request + &turn.repeat(bytes.div_ceil(turn.len()))
}

/// The workflow's own feature comes first. Of the others, few are in progress and most are done.
fn create_project(place: &Place) -> Result<()> {
    write_file(&place.path("project/src/login.rs"), b"fn main() {}\n")?;
    for index in 0..place.state.size().features {
        let shelf = match index % 25 {
            0 => "in-progress",
            1..=2 => "paused",
            3..=9 => "backlog",
            _ => "archive",
        };
        let name = if index == 0 { FEATURE.to_owned() } else { format!("feature-{index:03}") };
        let created = format!("2026-01-{:02}T{:02}:00:00.000Z", index % 28 + 1, index % 24);
        let tasks = format!(
            "---\nfeature: {name}\nstatus: {shelf}\nworkflow: standard\ncreated: {created}\n---\n\n## Tasks\n\n\
             - [x] plan\n- [x] architecture\n- [ ] implement the login messages\n- [ ] review\n"
        );
        let folder = place.path("project/specs/features").join(shelf).join(&name);
        write_file(&folder.join("tasks.md"), tasks.as_bytes())?;
    }
    Ok(())
}

/// Homes for `ccc`: with the supervisor off, on but off for the session, and on. The current provider is `a`.
pub(crate) fn create_ccc_homes(place: &Place) -> Result<()> {
    let provider = |name: &str| {
        json!({ "env": {
            "ANTHROPIC_BASE_URL": format!("https://{name}.example/anthropic"),
            "ANTHROPIC_AUTH_TOKEN": format!("sk-{name}-0123456789abcdef0123456789abcdef"),
            "ANTHROPIC_MODEL": format!("{name}-large"),
            "ANTHROPIC_SMALL_FAST_MODEL": format!("{name}-small"),
        } })
    };
    let settings = json!({
        "model": "opus", "permissions": { "allow": ["Bash(ls)", "Bash(git status)"] },
        "env": { "HTTP_PROXY": "", "CLAUDE_CODE_MAX_OUTPUT_TOKENS": "32000" },
    });
    for home in ["home-off", "home-session-off", "home-on"] {
        let folder = place.path(home).join(".claude");
        let config = json!({
            "settings": { "permissions": { "allow": ["Read"] } },
            "providers": { "a": provider("a"), "b": provider("b") },
            "current_provider": "a", "supervisor": { "enabled": home != "home-off" },
        });
        write_json(&folder.join("ccc.json"), &config)?;
        write_json(&folder.join("settings.json"), &settings)?;
    }
    let record = place.path("home-session-off/.claude/ccc").join(format!("supervisor-{SESSION}.json"));
    write_json(&record, &json!({ "session_id": SESSION, "count": 1, "enabled": false }))
}

fn write_json(path: &Path, value: &Value) -> Result<()> {
    write_file(path, format!("{value:#}\n").as_bytes())
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
    fn a_timeline_has_as_many_lines_as_events_and_only_one_early_compaction() {
        for events in [0, 1, 8, 300, 5_001] {
            let text = timeline(events, "2026-02-23T14:00:00.000Z");
            let lines: Vec<Value> = text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
            assert_eq!(lines.len(), events);
            let last = lines.iter().rposition(|line| line["type"] == "session:compact");
            assert!(last.is_none_or(|at| at == 2), "{events}: {last:?}");
        }
    }
}
