//! One session at a glance.

use std::fs;
use std::path::Path;
use std::time::UNIX_EPOCH;

use overtone_engine::settings::Settings;
use overtone_engine::state::{ActiveAgent, Ending, LoopState, Millis, StageState, StoppedBy, WorkflowState};
use overtone_store::specs::Specs;
use overtone_store::{Compactions, Origin, Session, Usage, clock};
use serde_json::{Value, json};

/// What became of a session's workflow.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum State {
    None,
    Running,
    Stopped,
    Completed,
    Aborted,
    Broken,
}

impl State {
    pub const fn key(self) -> &'static str {
        match self {
            Self::None => "none",
            Self::Running => "running",
            Self::Stopped => "stopped",
            Self::Completed => "completed",
            Self::Aborted => "aborted",
            Self::Broken => "broken",
        }
    }

    /// Whether a person has work waiting there.
    pub const fn is_open(self) -> bool {
        matches!(self, Self::Running | Self::Stopped)
    }
}

/// A file that could not be used.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Skipped {
    pub session: String,
    pub file: String,
    pub problem: String,
}

impl Skipped {
    pub fn to_json(&self) -> Value {
        json!({ "session": self.session, "file": self.file, "problem": self.problem })
    }
}

/// How many tasks of a feature are ticked.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Tasks {
    pub feature: String,
    pub checked: usize,
    pub total: usize,
    pub pending: Vec<String>,
}

/// Everything that is cheap to know about a session.
#[derive(Debug, Clone)]
pub struct Summary {
    pub session: Session,
    pub state: State,
    pub workflow: Option<WorkflowState>,
    pub looping: Option<LoopState>,
    pub origin: Origin,
    pub usage: Usage,
    pub compactions: Compactions,
    pub tasks: Option<Tasks>,
    pub last_activity: Millis,
    /// The length of the timeline.
    pub timeline_bytes: u64,
    pub skipped: Vec<Skipped>,
}

impl Summary {
    /// A file that cannot be read is named and counts as missing.
    pub fn load(session: &Session) -> Self {
        let mut summary = Self::load_without_project(session);
        if summary.state.is_open() {
            summary.tasks = tasks(&summary.origin, summary.workflow.as_ref());
        }
        summary
    }

    /// Everything but what is in the project's folder.
    pub(crate) fn load_without_project(session: &Session) -> Self {
        let mut skipped = Vec::new();
        let workflow = noted(session, &mut skipped, session.workflow()).map(|document| document.state);
        let looping = noted(session, &mut skipped, session.looping()).map(|document| document.state);
        let state = state(workflow.as_ref(), looping.as_ref(), !skipped.is_empty());
        let (last_activity, timeline_bytes) = activity(session);
        Self {
            session: session.clone(),
            state,
            workflow,
            looping,
            origin: session.origin(),
            usage: session.usage(),
            compactions: session.compactions(),
            tasks: None,
            last_activity,
            timeline_bytes,
            skipped,
        }
    }

    pub fn id(&self) -> &str {
        self.session.id().as_str()
    }

    pub fn project(&self) -> Option<&Path> {
        self.origin.project.as_deref()
    }

    pub fn project_name(&self) -> Option<String> {
        self.project()?.file_name().map(|name| name.to_string_lossy().into_owned())
    }

    pub fn workflow_name(&self) -> Option<&str> {
        self.workflow.as_ref().map(|workflow| workflow.workflow_type.as_str())
    }

    /// Whether nothing goes on without a person: at a limit, or let go with work left.
    pub fn needs_person(&self) -> bool {
        let stopped_by = self.looping.as_ref().filter(|looping| looping.stopped).and_then(|l| l.stopped_by);
        match self.state {
            State::Aborted | State::Broken => true,
            State::Stopped => stopped_by.is_some_and(|by| !matches!(by, StoppedBy::User | StoppedBy::Moved)),
            State::Running => self.workflow.as_ref().is_some_and(waits_for_answer),
            _ => false,
        }
    }

    pub fn to_json(&self, settings: &Settings) -> Value {
        let workflow = self.workflow.as_ref();
        json!({
            "id": self.id(),
            "project": self.project(),
            "projectName": self.project_name(),
            "workflow": self.workflow_name(),
            "state": self.state.key(),
            "createdAt": iso(workflow.and_then(|workflow| workflow.created_at)),
            "lastActivity": clock::to_iso(self.last_activity),
            "done": workflow.map_or(0, WorkflowState::resolved_count),
            "total": workflow.map_or(0, |workflow| workflow.stages.len()),
            "stages": workflow.map(stages).unwrap_or_default(),
            "activeAgents": workflow.map(agents).unwrap_or_default(),
            "loop": self.looping.as_ref().map(|looping| of_loop(looping, settings)),
            "movedTo": workflow.and_then(|workflow| workflow.moved_to.as_deref()),
            "tasks": self.tasks.as_ref().map(|tasks| {
                json!({ "name": tasks.feature, "checked": tasks.checked, "total": tasks.total })
            }),
            "contextPercent": self.usage.context_percent,
            "costUsd": self.usage.cost_usd,
            "compactions": { "auto": self.compactions.automatic, "manual": self.compactions.manual },
            "failures": workflow.map_or(0, |workflow| workflow.fail_count),
            "rejections": workflow.map_or(0, |workflow| workflow.reject_count),
            "needsPerson": self.needs_person(),
            "bytes": self.timeline_bytes,
        })
    }
}

fn noted<T>(
    session: &Session,
    skipped: &mut Vec<Skipped>,
    read: Result<Option<T>, overtone_store::StoreError>,
) -> Option<T> {
    read.unwrap_or_else(|error| {
        let file = error.path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let problem = error.to_string();
        skipped.push(Skipped { session: session.id().to_string(), file, problem });
        None
    })
}

fn state(workflow: Option<&WorkflowState>, looping: Option<&LoopState>, broken: bool) -> State {
    match workflow {
        _ if broken => State::Broken,
        None => State::None,
        Some(workflow) => match workflow.ending {
            Some(Ending::Completed) => State::Completed,
            Some(Ending::Aborted) => State::Aborted,
            None if workflow.moved_to.is_some() || looping.is_some_and(|looping| looping.stopped) => {
                State::Stopped
            }
            None => State::Running,
        },
    }
}

/// Specs that cannot be read are passed over: the rest is still worth seeing.
fn tasks(origin: &Origin, workflow: Option<&WorkflowState>) -> Option<Tasks> {
    let own = workflow?.feature_name.as_deref()?;
    let feature = Specs::new(origin.project.as_deref()?).active(Some(own)).ok()??;
    let tasks = feature.tasks.filter(|_| feature.name == own)?;
    Some(Tasks { feature: feature.name, checked: tasks.checked, total: tasks.total, pending: tasks.pending })
}

/// When something last happened, and how long the timeline is.
fn activity(session: &Session) -> (Millis, u64) {
    let about = |path: &Path| fs::symlink_metadata(path).ok();
    let timeline = about(&session.timeline_file());
    let workflow = about(&session.workflow_file());
    let newest = [&timeline, &workflow].into_iter().flatten().map(changed).max();
    let newest = newest.or_else(|| about(session.dir()).as_ref().map(changed));
    (newest.unwrap_or_default(), timeline.map_or(0, |about| about.len()))
}

fn changed(about: &fs::Metadata) -> Millis {
    let since = about.modified().ok().and_then(|at| at.duration_since(UNIX_EPOCH).ok()).unwrap_or_default();
    Millis(i64::try_from(since.as_millis()).unwrap_or(i64::MAX))
}

fn stages(workflow: &WorkflowState) -> Vec<Value> {
    let template = workflow.template();
    let group = |stage: &StageState| {
        template.and_then(|template| template.group_of(stage.key)).map(|(group, _)| group.name)
    };
    let object = |stage: &StageState| {
        json!({
            "key": stage.key.to_string(), "stage": stage.key.stage.key(), "status": stage.status.key(),
            "result": stage.result.as_ref().map(overtone_engine::state::StageResult::text),
            "attempts": stage.attempts, "startedAt": iso(stage.started_at), "completedAt": iso(stage.completed_at),
            "group": group(stage),
        })
    };
    workflow.stages.iter().map(object).collect()
}

fn agents(workflow: &WorkflowState) -> Vec<Value> {
    let object = |agent: &ActiveAgent| {
        json!({
            "agent": agent.name(), "slot": agent.slot, "stage": agent.stage.map(|key| key.to_string()),
            "startedAt": iso(agent.started_at), "background": agent.background,
        })
    };
    workflow.active_agents.iter().map(object).collect()
}

fn of_loop(looping: &LoopState, settings: &Settings) -> Value {
    json!({
        "iterations": looping.iterations, "limit": settings.max_iterations, "stopped": looping.stopped,
        "stoppedBy": looping.stopped_by.map(StoppedBy::key),
    })
}

fn iso(at: Option<Millis>) -> Value {
    json!(at.map(clock::to_iso))
}
/// An agent has said that it needs the user, and nobody works on.
fn waits_for_answer(workflow: &WorkflowState) -> bool {
    workflow.active_agents.is_empty() && workflow.stages.iter().any(StageState::is_blocked)
}
