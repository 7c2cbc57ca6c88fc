//! What lies on the disk, read on its own terms: a reader shared with the product would be blind to its errors.

use std::fs;
use std::io::ErrorKind;
use std::path::Path;

use overtone_core::registry::{Agent, EventKind, StageKey, Workflow};
use serde_json::Value;

use crate::sandbox::Sandbox;

/// Everything that one session has on disk.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct Disk {
    pub(crate) flow: Option<Flow>,
    pub(crate) looping: Looping,
    pub(crate) timeline: String,
    /// The tasks of the workflow's own feature, while it is in progress.
    pub(crate) tasks: Option<Tasks>,
    pub(crate) litter: Vec<String>,
}

/// `workflow.json`.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Flow {
    pub(crate) workflow: Workflow,
    pub(crate) created_at: String,
    pub(crate) current: Option<StageKey>,
    pub(crate) stages: Vec<StageOnDisk>,
    pub(crate) agents: Vec<AgentOnDisk>,
    pub(crate) failures: u64,
    pub(crate) rejections: u64,
    pub(crate) retros: u64,
    pub(crate) forgiven_failures: u64,
    pub(crate) forgiven_rejections: u64,
    pub(crate) handoffs: u64,
    pub(crate) completed_stages: u64,
    pub(crate) feature: Option<String>,
    pub(crate) waiting_texts: usize,
    /// The user has written something since the last delegation.
    pub(crate) user_wrote: bool,
    /// How many tasks were open when the developer was last sent for them at the end.
    pub(crate) tasks_tried: Option<u64>,
    /// Agents that have reported; they can be continued under their id.
    pub(crate) finished: Vec<(String, Option<Agent>)>,
    pub(crate) ending: Option<String>,
}

#[derive(Debug, Clone, PartialEq)]
pub(crate) struct StageOnDisk {
    pub(crate) key: StageKey,
    pub(crate) status: Status,
    pub(crate) result: Option<String>,
    pub(crate) attempts: u64,
    pub(crate) handoff: Option<String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Status {
    Pending,
    Active,
    Completed,
}

#[derive(Debug, Clone, PartialEq)]
pub(crate) struct AgentOnDisk {
    pub(crate) agent: Agent,
    pub(crate) stage: Option<StageKey>,
    pub(crate) call: Option<String>,
    pub(crate) id: Option<String>,
    pub(crate) background: bool,
    /// It is continued and has not started again yet.
    pub(crate) awaits_start: bool,
    pub(crate) sent_back_for: Vec<String>,
    /// The report that was sent back.
    pub(crate) handoff: Option<String>,
}

/// `loop.json`.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct Looping {
    pub(crate) iterations: u64,
    pub(crate) stopped_by: Option<String>,
    pub(crate) stopped: bool,
    pub(crate) errors: u64,
    pub(crate) announced: bool,
    pub(crate) paused: Option<String>,
    pub(crate) turn: Option<String>,
}

/// The checkboxes of a feature.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Tasks {
    pub(crate) ticked: usize,
    pub(crate) open: Vec<String>,
    /// How many of the open ones are work, not boxes of stages.
    pub(crate) open_work: usize,
}

/// One line of the timeline.
#[derive(Debug, Clone)]
pub(crate) struct Line {
    pub(crate) kind: EventKind,
    pub(crate) fields: Value,
}

impl Line {
    pub(crate) fn parse(text: &str) -> Result<Self, String> {
        let fields: Value = serde_json::from_str(text).map_err(|e| format!("{text:?} is no JSON: {e}"))?;
        let name = fields["type"].as_str().unwrap_or_default();
        let kind = EventKind::from_name(name).map_err(|_| format!("{text:?} has no known type"))?;
        let own = [("category", kind.category()), ("label", kind.label())];
        match own.into_iter().find(|(field, value)| fields[*field] != *value) {
            Some((field, _)) => Err(format!("{text:?} has another {field}")),
            None if fields["ts"].as_str().is_none_or(|ts| ts.parse::<jiff::Timestamp>().is_err()) => {
                Err(format!("{text:?} has no time"))
            }
            None => Ok(Self { kind, fields }),
        }
    }

    pub(crate) fn text(&self, field: &str) -> &str {
        self.fields[field].as_str().unwrap_or_default()
    }
}

impl StageOnDisk {
    pub(crate) fn is_failed(&self) -> bool {
        self.status == Status::Completed && !self.is_resolved()
    }

    pub(crate) fn is_blocked(&self) -> bool {
        self.status == Status::Completed && self.result.as_deref() == Some("blocked")
    }

    /// Completed with a good verdict: whatever else is written there lets nobody start behind it.
    pub(crate) fn is_resolved(&self) -> bool {
        self.status == Status::Completed && matches!(self.result.as_deref(), Some("pass" | "issues"))
    }

    pub(crate) fn reopen(&mut self) {
        self.status = Status::Pending;
        self.result = None;
    }

    fn read(key: &str, value: &Value) -> Result<Self, String> {
        let status = match value["status"].as_str() {
            Some("pending") => Status::Pending,
            Some("active") => Status::Active,
            Some("completed") => Status::Completed,
            other => return Err(format!("stage {key} has the status {other:?}")),
        };
        Ok(Self {
            key: key.parse().map_err(|()| format!("{key} is no stage"))?,
            status,
            result: text(value, "result"),
            attempts: number(value, "attempts"),
            handoff: text(value, "handoff"),
        })
    }
}

impl AgentOnDisk {
    fn read(slot: &str, value: &Value) -> Result<Self, String> {
        let name = slot.split('#').next().unwrap_or_default();
        Ok(Self {
            agent: Agent::from_name(name).ok_or_else(|| format!("{slot} is no agent"))?,
            stage: text(value, "stage").and_then(|key| key.parse().ok()),
            call: text(value, "toolUseId"),
            id: text(value, "agentId"),
            background: value["background"] == true,
            awaits_start: value["awaitsStart"] == true,
            sent_back_for: texts(value, "sentBackFor"),
            handoff: text(value, "handoff"),
        })
    }
}

impl Flow {
    pub(crate) fn stage(&self, key: StageKey) -> Option<&StageOnDisk> {
        self.stages.iter().find(|stage| stage.key == key)
    }

    /// The stages that run with this one, itself among them.
    pub(crate) fn group(&self, key: StageKey) -> Vec<StageKey> {
        self.workflow.group_of(key).map_or_else(|| vec![key], |(_, keys)| keys)
    }

    pub(crate) fn is_open(&self) -> bool {
        self.ending.is_none()
    }

    pub(crate) fn has_finished(&self, id: &str) -> bool {
        self.finished.iter().any(|(finished, _)| finished == id)
    }

    fn parse(content: &str) -> Result<Self, String> {
        let all: Value = serde_json::from_str(content).map_err(|e| format!("workflow.json: {e}"))?;
        let workflow = text(&all, "workflowType").and_then(|name| Workflow::from_name(&name));
        let entries = |name: &str| all[name].as_object().cloned().unwrap_or_default();
        Ok(Self {
            workflow: workflow.ok_or("workflow.json names no workflow")?,
            created_at: text(&all, "createdAt").unwrap_or_default(),
            current: text(&all, "currentStage").and_then(|key| key.parse().ok()),
            stages: entries("stages")
                .iter()
                .map(|(k, v)| StageOnDisk::read(k, v))
                .collect::<Result<_, _>>()?,
            agents: entries("activeAgents")
                .iter()
                .map(|(k, v)| AgentOnDisk::read(k, v))
                .collect::<Result<_, _>>()?,
            failures: number(&all, "failCount"),
            rejections: number(&all, "rejectCount"),
            retros: number(&all, "retroCount"),
            forgiven_failures: number(&all, "forgivenFailures"),
            forgiven_rejections: number(&all, "forgivenRejections"),
            handoffs: number(&all, "handoffCount"),
            completed_stages: number(&all, "completedStages"),
            feature: text(&all, "featureName"),
            waiting_texts: all["notices"].as_array().map_or(0, Vec::len),
            user_wrote: all["userWrote"] == true,
            tasks_tried: all["tasksTried"].as_u64(),
            finished: all["finishedAgents"].as_array().into_iter().flatten().map(read_finished).collect(),
            ending: text(&all, "ending"),
        })
    }
}

impl Looping {
    fn parse(content: &str) -> Result<Self, String> {
        let all: Value = serde_json::from_str(content).map_err(|e| format!("loop.json: {e}"))?;
        Ok(Self {
            iterations: number(&all, "iterations"),
            stopped_by: text(&all, "stoppedBy"),
            stopped: all["stopped"] == true,
            errors: number(&all, "consecutiveErrors"),
            announced: all["announced"] == true,
            paused: text(&all, "paused"),
            turn: text(&all, "turn"),
        })
    }
}

impl Tasks {
    pub(crate) fn parse(content: &str) -> Self {
        let mut tasks = Self::default();
        let mut is_work = true;
        for line in content.lines().map(str::trim_start) {
            if line.starts_with("## ") {
                is_work = line != "## Stages";
            } else if let Some(open) = line.strip_prefix("- [ ] ") {
                tasks.open.push(open.to_owned());
                tasks.open_work += usize::from(is_work);
            } else if line.starts_with("- [x] ") {
                tasks.ticked += 1;
            }
        }
        tasks
    }
}

/// The files that a session may have; a killed hook leaves at most one temporary file of each.
const KNOWN: [&str; 8] = [
    "workflow.json",
    "loop.json",
    "timeline.jsonl",
    "observations.jsonl",
    "compact-count.json",
    "session.json",
    "context.json",
    "handoffs",
];

impl Disk {
    /// Reads a session's files. What cannot be read is told in words: it breaks a promise.
    pub(crate) fn read(sandbox: &Sandbox, session: &str) -> Result<Self, String> {
        let folder = sandbox.session(session);
        let flow = content(&folder.join("workflow.json"))?.map(|text| Flow::parse(&text)).transpose()?;
        let looping = content(&folder.join("loop.json"))?.map(|text| Looping::parse(&text)).transpose()?;
        let tasks = match flow.as_ref().and_then(|flow| flow.feature.as_deref()) {
            Some(feature) => content(&tasks_file(sandbox, feature))?.map(|text| Tasks::parse(&text)),
            None => None,
        };
        Ok(Self {
            flow,
            looping: looping.unwrap_or_default(),
            timeline: content(&folder.join("timeline.jsonl"))?.unwrap_or_default(),
            tasks,
            litter: litter(&folder),
        })
    }

    pub(crate) fn lines(&self) -> Result<Vec<Line>, String> {
        self.timeline.lines().map(Line::parse).collect()
    }
}

pub(crate) fn tasks_file(sandbox: &Sandbox, feature: &str) -> std::path::PathBuf {
    sandbox.project().join("specs/features/in-progress").join(feature).join("tasks.md")
}

fn litter(folder: &Path) -> Vec<String> {
    let names = fs::read_dir(folder).into_iter().flatten().flatten();
    let names = names.map(|entry| entry.file_name().to_string_lossy().into_owned());
    let ours = |name: &str| {
        let plain = name.strip_prefix('.').and_then(|rest| rest.strip_suffix(".tmp")).unwrap_or(name);
        KNOWN.contains(&plain) || name == ".lock"
    };
    names.filter(|name| !ours(name)).collect()
}

fn content(path: &Path) -> Result<Option<String>, String> {
    match fs::read_to_string(path) {
        Ok(text) => Ok(Some(text)),
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
        Err(error) => Err(format!("{}: {error}", path.display())),
    }
}

fn text(object: &Value, name: &str) -> Option<String> {
    object[name].as_str().map(str::to_owned)
}

fn texts(object: &Value, name: &str) -> Vec<String> {
    let all = object[name].as_array().into_iter().flatten();
    all.filter_map(Value::as_str).map(str::to_owned).collect()
}

fn read_finished(value: &Value) -> (String, Option<Agent>) {
    (text(value, "id").unwrap_or_default(), text(value, "agent").and_then(|name| Agent::from_name(&name)))
}

fn number(object: &Value, name: &str) -> u64 {
    object[name].as_u64().unwrap_or(0)
}
