//! The summary of one session.

use std::fs;
use std::path::Path;
use std::time::UNIX_EPOCH;

use overtone_core::economy::TokenUsage;
use overtone_core::engine::settings::Settings;
use overtone_core::engine::state::{
    ActiveAgent, Ending, LoopState, Millis, StageResult, StageState, StoppedBy, WorkflowState,
};
use overtone_store::specs::Specs;
use overtone_store::{Compactions, Origin, Session, StoreError, Usage, clock};
use serde::Serialize;
use serde_json::Value;

/// The state of a session's workflow.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SessionState {
    /// The session has no workflow.
    None,
    Running,
    Stopped,
    Completed,
    Aborted,
    /// A state file cannot be read.
    Broken,
}

impl SessionState {
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

    /// Whether the workflow has work left.
    pub const fn is_open(self) -> bool {
        matches!(self, Self::Running | Self::Stopped)
    }
}

/// A file that could not be read and is left out of the summary.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct SkippedFile {
    pub session: String,
    pub file: String,
    #[serde(rename = "problem")]
    pub error: String,
}

impl SkippedFile {
    pub fn to_json(&self) -> Value {
        to_value(self)
    }
}

/// How many tasks of a feature are done.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Tasks {
    #[serde(rename = "name")]
    pub feature: String,
    pub checked: usize,
    pub total: usize,
    #[serde(skip)]
    pub pending: Vec<String>,
}

/// Everything about a session that is cheap to read.
#[derive(Debug, Clone)]
pub struct Summary {
    pub session: Session,
    pub state: SessionState,
    pub workflow: Option<WorkflowState>,
    pub looping: Option<LoopState>,
    pub origin: Origin,
    pub usage: Usage,
    /// What the workflow has used, as far as it was counted.
    pub workflow_usage: TokenUsage,
    pub compactions: Compactions,
    pub tasks: Option<Tasks>,
    pub last_activity: Millis,
    /// The length of the timeline.
    pub timeline_bytes: u64,
    pub skipped: Vec<SkippedFile>,
}

impl Summary {
    /// Reads the summary. A file that cannot be read counts as missing and is listed in `skipped`.
    pub fn load(session: &Session) -> Self {
        let mut summary = Self::load_without_project(session);
        if summary.state.is_open() {
            summary.tasks = tasks(&summary.origin, summary.workflow.as_ref());
        }
        summary
    }

    /// Like [`load`](Self::load), but does not read the project's folder.
    pub(crate) fn load_without_project(session: &Session) -> Self {
        let mut skipped = Vec::new();
        let workflow = read_or_skip(session, session.workflow(), &mut skipped).map(|document| document.state);
        let looping = read_or_skip(session, session.looping(), &mut skipped).map(|document| document.state);
        let state = session_state(workflow.as_ref(), looping.as_ref(), !skipped.is_empty());
        let (last_activity, timeline_bytes) = activity(session);
        let workflow_usage = match &workflow {
            Some(workflow) => session.spent_since(workflow.created_at).total,
            None => TokenUsage::default(),
        };
        Self {
            session: session.clone(),
            state,
            workflow,
            looping,
            origin: session.origin(),
            usage: session.usage(),
            workflow_usage,
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

    /// Whether the workflow waits for the user: it was aborted, is broken, has reached a limit, was stopped by something
    /// other than the user with work left, or an agent needs an answer.
    pub fn needs_user(&self) -> bool {
        match self.state {
            SessionState::Aborted | SessionState::Broken => true,
            SessionState::Stopped => match &self.looping {
                Some(LoopState { stopped: true, stopped_by: Some(by), .. }) => {
                    !matches!(by, StoppedBy::User | StoppedBy::Moved)
                }
                _ => false,
            },
            SessionState::Running => matches!(&self.workflow, Some(workflow) if waits_for_answer(workflow)),
            SessionState::None | SessionState::Completed => false,
        }
    }

    pub fn to_json(&self, settings: &Settings) -> Value {
        let workflow = self.workflow.as_ref();
        to_value(&SummaryJson {
            id: self.id(),
            project: self.project(),
            project_name: self.project_name(),
            workflow: self.workflow_name(),
            state: self.state.key(),
            created_at: workflow.and_then(|workflow| workflow.created_at).map(clock::to_iso),
            last_activity: clock::to_iso(self.last_activity),
            done: workflow.map(WorkflowState::resolved_count).unwrap_or_default(),
            total: workflow.map(|workflow| workflow.stages.len()).unwrap_or_default(),
            stages: workflow.map(stages_json).unwrap_or_default(),
            active_agents: workflow.map(agents_json).unwrap_or_default(),
            looping: self.looping.as_ref().map(|looping| LoopJson::new(looping, settings)),
            moved_to: workflow.and_then(|workflow| workflow.moved_to.as_deref()),
            tasks: self.tasks.as_ref(),
            context_percent: self.usage.context_percent,
            cost_usd: self.usage.cost_usd,
            compactions: CompactionsJson {
                auto: self.compactions.automatic,
                manual: self.compactions.manual,
            },
            failures: workflow.map(|workflow| workflow.fail_count).unwrap_or_default(),
            rejections: workflow.map(|workflow| workflow.reject_count).unwrap_or_default(),
            needs_person: self.needs_user(),
            bytes: self.timeline_bytes,
        })
    }
}

/// A summary as the API and `--json` print it. The order of the fields is the order in the output.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct SummaryJson<'a> {
    id: &'a str,
    project: Option<&'a Path>,
    project_name: Option<String>,
    workflow: Option<&'a str>,
    state: &'static str,
    created_at: Option<String>,
    last_activity: String,
    done: usize,
    total: usize,
    stages: Vec<StageJson<'a>>,
    active_agents: Vec<AgentJson<'a>>,
    #[serde(rename = "loop")]
    looping: Option<LoopJson>,
    moved_to: Option<&'a str>,
    tasks: Option<&'a Tasks>,
    context_percent: Option<u32>,
    cost_usd: Option<f64>,
    compactions: CompactionsJson,
    failures: u32,
    rejections: u32,
    needs_person: bool,
    bytes: u64,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct StageJson<'a> {
    key: String,
    stage: &'static str,
    status: &'static str,
    result: Option<&'a str>,
    attempts: u32,
    started_at: Option<String>,
    completed_at: Option<String>,
    group: Option<&'static str>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct AgentJson<'a> {
    agent: &'a str,
    slot: &'a str,
    stage: Option<String>,
    started_at: Option<String>,
    background: bool,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct LoopJson {
    iterations: u32,
    limit: u32,
    stopped: bool,
    stopped_by: Option<&'static str>,
}

impl LoopJson {
    fn new(looping: &LoopState, settings: &Settings) -> Self {
        Self {
            iterations: looping.iterations,
            limit: settings.max_iterations,
            stopped: looping.stopped,
            stopped_by: looping.stopped_by.map(StoppedBy::key),
        }
    }
}

#[derive(Serialize)]
struct CompactionsJson {
    auto: u32,
    manual: u32,
}

fn stages_json<'a>(workflow: &'a WorkflowState) -> Vec<StageJson<'a>> {
    let template = workflow.template();
    let group_name = |stage: &StageState| Some(template?.group_of(stage.key)?.0.name);
    let stage_json = |stage: &'a StageState| StageJson {
        key: stage.key.to_string(),
        stage: stage.key.stage.key(),
        status: stage.status.key(),
        result: stage.result.as_ref().map(StageResult::as_str),
        attempts: stage.attempts,
        started_at: stage.started_at.map(clock::to_iso),
        completed_at: stage.completed_at.map(clock::to_iso),
        group: group_name(stage),
    };
    workflow.stages.iter().map(stage_json).collect()
}

fn agents_json<'a>(workflow: &'a WorkflowState) -> Vec<AgentJson<'a>> {
    let agent_json = |agent: &'a ActiveAgent| AgentJson {
        agent: agent.name(),
        slot: &agent.slot,
        stage: agent.stage.map(|key| key.to_string()),
        started_at: agent.started_at.map(clock::to_iso),
        background: agent.background,
    };
    workflow.active_agents.iter().map(agent_json).collect()
}

/// Converts a type with a fixed shape to JSON. This cannot fail for the types of this module: they have no maps, and
/// their paths were read from JSON, so they are valid UTF-8.
pub(crate) fn to_value(value: &impl Serialize) -> Value {
    serde_json::to_value(value).unwrap_or_default()
}

fn read_or_skip<T>(
    session: &Session,
    result: Result<Option<T>, StoreError>,
    skipped: &mut Vec<SkippedFile>,
) -> Option<T> {
    match result {
        Ok(document) => document,
        Err(error) => {
            let file = error.path.file_name().unwrap_or_default().to_string_lossy().into_owned();
            let error = error.to_string();
            skipped.push(SkippedFile { session: session.id().to_string(), file, error });
            None
        }
    }
}

fn session_state(
    workflow: Option<&WorkflowState>,
    looping: Option<&LoopState>,
    is_broken: bool,
) -> SessionState {
    if is_broken {
        return SessionState::Broken;
    }
    let Some(workflow) = workflow else { return SessionState::None };
    let is_stopped = workflow.moved_to.is_some() || matches!(looping, Some(looping) if looping.stopped);
    match workflow.ending {
        Some(Ending::Completed) => SessionState::Completed,
        Some(Ending::Aborted) => SessionState::Aborted,
        None if is_stopped => SessionState::Stopped,
        None => SessionState::Running,
    }
}

/// The tasks of the workflow's own feature. `None` also if the specs cannot be read: the rest of the summary is useful
/// without them.
fn tasks(origin: &Origin, workflow: Option<&WorkflowState>) -> Option<Tasks> {
    let own = workflow?.feature_name.as_deref()?;
    let feature = Specs::new(origin.project.as_deref()?).active(Some(own)).ok()??;
    if feature.name != own {
        return None;
    }
    let tasks = feature.tasks?;
    Some(Tasks { feature: feature.name, checked: tasks.checked, total: tasks.total, pending: tasks.pending })
}

/// When the session last changed, and the length of its timeline.
fn activity(session: &Session) -> (Millis, u64) {
    let metadata = |path: &Path| fs::symlink_metadata(path).ok();
    let timeline = metadata(&session.timeline_file());
    let workflow = metadata(&session.workflow_file());
    let newest = [&timeline, &workflow].into_iter().flatten().map(modified_at).max();
    let newest = newest.or_else(|| metadata(session.dir()).as_ref().map(modified_at));
    let length = match timeline {
        Some(metadata) => metadata.len(),
        None => 0,
    };
    (newest.unwrap_or_default(), length)
}

fn modified_at(metadata: &fs::Metadata) -> Millis {
    let modified = metadata.modified().unwrap_or(UNIX_EPOCH);
    let since_epoch = modified.duration_since(UNIX_EPOCH).unwrap_or_default();
    Millis(i64::try_from(since_epoch.as_millis()).unwrap_or(i64::MAX))
}

/// Whether a stage is blocked until the user answers, and no agent is at work.
fn waits_for_answer(workflow: &WorkflowState) -> bool {
    workflow.active_agents.is_empty() && workflow.stages.iter().any(StageState::is_blocked)
}

#[cfg(test)]
mod tests {
    use overtone_store::{Home, SessionId, files};

    use super::*;

    #[test]
    fn the_json_has_the_keys_of_the_api_in_their_order() {
        let dir = tempfile::tempdir().unwrap();
        let session = Home::at(dir.path().to_owned()).session(&SessionId::parse("s").unwrap());
        session.create().unwrap();
        let write = |name: &str, text: &str| {
            files::write_atomic(&session.dir().join(name), text.as_bytes(), files::PRIVATE).unwrap();
        };
        write(
            "workflow.json",
            r#"{"sessionId":"s","workflowType":"single","stages":{"DEV":{"status":"pending"}},"activeAgents":{}}"#,
        );
        write("loop.json", r#"{"iterations":2,"stopped":true,"stoppedBy":"user"}"#);
        let settings = Settings { max_iterations: 7, ..Settings::default() };
        let json = Summary::load(&session).to_json(&settings);
        let keys: Vec<_> = json.as_object().unwrap().keys().map(String::as_str).collect();
        let expected = "id project projectName workflow state createdAt lastActivity done total stages activeAgents \
                        loop movedTo tasks contextPercent costUsd compactions failures rejections needsPerson bytes";
        assert_eq!(keys.join(" "), expected);
        assert_eq!(
            json["stages"].to_string(),
            r#"[{"key":"DEV","stage":"DEV","status":"pending","result":null,"attempts":0,"startedAt":null,"completedAt":null,"group":null}]"#
        );
        assert_eq!(
            json["loop"].to_string(),
            r#"{"iterations":2,"limit":7,"stopped":true,"stoppedBy":"user"}"#
        );
        assert_eq!(json["compactions"].to_string(), r#"{"auto":0,"manual":0}"#);
        assert_eq!(
            (&json["project"], &json["createdAt"], &json["tasks"]),
            (&Value::Null, &Value::Null, &Value::Null)
        );
    }
}
