//! The bodies of the responses.
//!
//! `openapi.json` documents these types. A test compares the fields of each type with its schema in both directions, so
//! a change here has to be made there, too. What other crates already provide as JSON is passed through: summaries,
//! timeline events, spans, supervisor rounds, the registry and the state of the fleet.

mod evidence;

use std::path::PathBuf;

use overtone_core::engine::settings::Settings;
use overtone_core::engine::state::WorkflowState;
use overtone_session::view::{
    AgentStatistics, DayStatistics, StageStatistics, Statistics, WorkflowStatistics,
};
use overtone_store::clock;
use overtone_store::instincts::Lesson;
use overtone_store::specs::{Feature, Shelf};
use serde::Serialize;
use serde_json::{Map, Value};

use super::usage_response::SessionUsage;
pub(crate) use evidence::EvidenceResponse;

#[derive(Debug, Serialize)]
pub(crate) struct ErrorResponse {
    pub(crate) error: String,
    pub(crate) hint: Option<String>,
}

/// A change that was carried out and has no result.
#[derive(Debug, Serialize)]
pub(crate) struct DoneResponse {
    ok: bool,
}

impl DoneResponse {
    pub(crate) const OK: Self = Self { ok: true };
}

#[derive(Debug, Serialize)]
pub(crate) struct HealthResponse {
    pub(crate) ok: bool,
    pub(crate) version: &'static str,
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct StatusResponse {
    pub(crate) version: &'static str,
    pub(crate) pid: u32,
    pub(crate) started_at: String,
    pub(crate) sessions: usize,
    /// How many pages listen to events.
    pub(crate) clients: usize,
    /// How many updates were published.
    pub(crate) events: u64,
    pub(crate) watching: bool,
    pub(crate) statistics_computed: u64,
    pub(crate) skipped: Vec<Value>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) fleet: Option<Value>,
}

#[derive(Debug, Serialize)]
pub(crate) struct TextResponse {
    pub(crate) lang: &'static str,
    pub(crate) text: Map<String, Value>,
}

#[derive(Debug, Serialize)]
pub(crate) struct LoginResponse {
    pub(crate) key: String,
}

#[derive(Debug, Serialize)]
pub(crate) struct SessionListResponse {
    pub(crate) sessions: Vec<Value>,
    /// The cursor of the next page.
    pub(crate) next: Option<String>,
    pub(crate) total: usize,
    pub(crate) running: usize,
    pub(crate) skipped: Vec<Value>,
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct SessionResponse {
    /// The summary, with [`CountWithLimit`] for `failures` and `rejections`.
    #[serde(flatten)]
    pub(crate) summary: Value,
    pub(crate) retros: CountWithLimit,
    pub(crate) next: Option<String>,
    pub(crate) feature: Option<FeatureTasks>,
    pub(crate) handoffs: Vec<Handoff>,
    pub(crate) supervisor: Option<SupervisorRounds>,
    /// The session's machine, if the sessions of all machines are shown.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) machine: Option<Value>,
    /// `None` without a workflow.
    pub(crate) evidence: Option<EvidenceResponse>,
    pub(crate) usage: SessionUsage,
    pub(crate) spans: Vec<Value>,
    pub(crate) compactions_at: Vec<Value>,
}

#[derive(Debug, Serialize)]
pub(crate) struct CountWithLimit {
    count: u32,
    limit: u32,
}

impl CountWithLimit {
    pub(crate) fn failures(workflow: Option<&WorkflowState>, settings: &Settings) -> Self {
        Self::new(workflow.map(|workflow| workflow.fail_count), settings.max_failures)
    }

    pub(crate) fn rejections(workflow: Option<&WorkflowState>, settings: &Settings) -> Self {
        Self::new(workflow.map(|workflow| workflow.reject_count), settings.max_rejections)
    }

    pub(crate) fn retros(workflow: Option<&WorkflowState>, settings: &Settings) -> Self {
        Self::new(workflow.map(|workflow| workflow.retro_count), settings.max_retros)
    }

    /// Without a workflow, the count is 0.
    fn new(count: Option<u32>, limit: u32) -> Self {
        Self { count: count.unwrap_or(0), limit }
    }

    pub(crate) fn to_json(&self) -> Value {
        // Numbers cannot fail to serialize.
        serde_json::to_value(self).unwrap_or_default()
    }
}

#[derive(Debug, Serialize)]
pub(crate) struct FeatureTasks {
    pub(crate) name: String,
    pub(crate) checked: usize,
    pub(crate) total: usize,
    pub(crate) pending: Vec<String>,
}

#[derive(Debug, Serialize)]
pub(crate) struct Handoff {
    pub(crate) file: String,
    pub(crate) stage: Option<String>,
    pub(crate) agent: Option<&'static str>,
    pub(crate) bytes: u64,
}

#[derive(Debug, Serialize)]
pub(crate) struct SupervisorRounds {
    /// Whether the supervisor was switched on or off for this session.
    pub(crate) enabled: Option<bool>,
    pub(crate) rounds: Vec<Value>,
}

#[derive(Debug, Serialize)]
pub(crate) struct TimelineResponse {
    pub(crate) events: Vec<Value>,
    pub(crate) older: Option<u64>,
    pub(crate) newer: u64,
    pub(crate) scanned: u64,
    pub(crate) skipped: usize,
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct StatsResponse {
    sessions: usize,
    started: usize,
    completed: usize,
    aborted: usize,
    pass_at_1: Option<f64>,
    pass_at_3: Option<f64>,
    failures: usize,
    stages: Vec<StageStats>,
    agents: Vec<AgentStats>,
    workflows: Vec<WorkflowStats>,
    days: Vec<DayStats>,
    unread_conversations: usize,
}

impl StatsResponse {
    pub(crate) fn new(figures: &Statistics, unread_conversations: usize) -> Self {
        Self {
            sessions: figures.sessions,
            started: figures.started,
            completed: figures.completed,
            aborted: figures.aborted,
            pass_at_1: figures.pass_at_1,
            pass_at_3: figures.pass_at_3,
            failures: figures.failures,
            stages: figures.stages.iter().map(StageStats::from).collect(),
            agents: figures.agents.iter().map(AgentStats::from).collect(),
            workflows: figures.workflows.iter().map(WorkflowStats::from).collect(),
            days: figures.days.iter().map(DayStats::from).collect(),
            unread_conversations,
        }
    }
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct StageStats {
    stage: String,
    runs: usize,
    pass_at_1: Option<f64>,
    pass_at_3: Option<f64>,
    failures: usize,
    repairs: usize,
    median_ms: Option<i64>,
    p90_ms: Option<i64>,
    tokens: u64,
    cost_usd: f64,
}

impl From<&StageStatistics> for StageStats {
    fn from(stage: &StageStatistics) -> Self {
        Self {
            stage: stage.stage.clone(),
            runs: stage.runs,
            pass_at_1: stage.pass_at_1,
            pass_at_3: stage.pass_at_3,
            failures: stage.failures,
            repairs: stage.repairs,
            median_ms: stage.median,
            p90_ms: stage.p90,
            tokens: stage.spending.tokens.total(),
            cost_usd: stage.spending.cost.usd,
        }
    }
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct AgentStats {
    agent: String,
    runs: usize,
    errors: usize,
    median_ms: Option<i64>,
    tokens: u64,
    cost_usd: f64,
}

impl From<&AgentStatistics> for AgentStats {
    fn from(agent: &AgentStatistics) -> Self {
        Self {
            agent: agent.agent.clone(),
            runs: agent.runs,
            errors: agent.errors,
            median_ms: agent.median,
            tokens: agent.spending.tokens.total(),
            cost_usd: agent.spending.cost.usd,
        }
    }
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct WorkflowStats {
    workflow: String,
    started: usize,
    completed: usize,
    aborted: usize,
    median_ms: Option<i64>,
    tokens: u64,
    cost_usd: f64,
}

impl From<&WorkflowStatistics> for WorkflowStats {
    fn from(workflow: &WorkflowStatistics) -> Self {
        Self {
            workflow: workflow.workflow.clone(),
            started: workflow.started,
            completed: workflow.completed,
            aborted: workflow.aborted,
            median_ms: workflow.median,
            tokens: workflow.spending.tokens.total(),
            cost_usd: workflow.spending.cost.usd,
        }
    }
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct DayStats {
    day: String,
    started: usize,
    completed: usize,
    aborted: usize,
    pass_at_1: Option<f64>,
    failures: usize,
    tokens: u64,
    cost_usd: f64,
}

impl From<&DayStatistics> for DayStats {
    fn from(day: &DayStatistics) -> Self {
        Self {
            day: day.day.clone(),
            started: day.started,
            completed: day.completed,
            aborted: day.aborted,
            pass_at_1: day.pass_at_1,
            failures: day.failures,
            tokens: day.spending.tokens.total(),
            cost_usd: day.spending.cost.usd,
        }
    }
}

#[derive(Debug, Serialize)]
pub(crate) struct SpecsResponse {
    pub(crate) projects: Vec<ProjectFeatures>,
}

#[derive(Debug, Serialize)]
pub(crate) struct ProjectFeatures {
    pub(crate) project: PathBuf,
    pub(crate) name: String,
    pub(crate) shelves: Shelves,
}

/// The features on each shelf, in the order of [`Shelf::ALL`].
#[derive(Debug, Serialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) struct Shelves {
    in_progress: Vec<FeatureResponse>,
    paused: Vec<FeatureResponse>,
    backlog: Vec<FeatureResponse>,
    archive: Vec<FeatureResponse>,
}

impl Shelves {
    pub(crate) fn new(features: &[Feature]) -> Self {
        let on_shelf = |shelf: Shelf| {
            let features = features.iter().filter(|feature| feature.shelf == shelf);
            features.map(FeatureResponse::from).collect()
        };
        Self {
            in_progress: on_shelf(Shelf::InProgress),
            paused: on_shelf(Shelf::Paused),
            backlog: on_shelf(Shelf::Backlog),
            archive: on_shelf(Shelf::Archive),
        }
    }
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct FeatureResponse {
    name: String,
    workflow: Option<String>,
    checked: usize,
    total: usize,
    created: Option<String>,
    /// The date at the beginning of an archived feature's name.
    archived_at: Option<String>,
}

impl From<&Feature> for FeatureResponse {
    fn from(feature: &Feature) -> Self {
        let (checked, total) = match &feature.tasks {
            Some(tasks) => (tasks.checked, tasks.total),
            None => (0, 0),
        };
        let is_archived = feature.shelf == Shelf::Archive;
        Self {
            name: feature.name.clone(),
            workflow: feature.workflow.clone(),
            checked,
            total,
            created: feature.created.clone(),
            archived_at: is_archived.then(|| feature.name.chars().take(10).collect()),
        }
    }
}

#[derive(Debug, Serialize)]
pub(crate) struct MovedFeatureResponse {
    pub(crate) ok: bool,
    pub(crate) feature: FeatureResponse,
}

#[derive(Debug, Serialize)]
pub(crate) struct InstinctResponse {
    pub(crate) projects: Vec<ProjectLessons>,
}

#[derive(Debug, Serialize)]
pub(crate) struct ProjectLessons {
    pub(crate) project: PathBuf,
    pub(crate) name: String,
    pub(crate) lessons: Vec<LessonResponse>,
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct LessonResponse {
    id: String,
    kind: &'static str,
    trigger: String,
    action: String,
    confidence: f64,
    count: u32,
    applied: bool,
    updated_at: Option<String>,
}

impl From<&Lesson> for LessonResponse {
    fn from(lesson: &Lesson) -> Self {
        Self {
            id: lesson.id.clone(),
            kind: lesson.kind.key(),
            trigger: lesson.trigger.clone(),
            action: lesson.lesson.clone(),
            confidence: lesson.confidence.fraction(),
            count: lesson.count,
            applied: lesson.confidence.is_applicable(),
            updated_at: lesson.last_seen.map(clock::to_iso),
        }
    }
}

#[derive(Debug, Serialize)]
pub(crate) struct JudgedLessonResponse {
    pub(crate) ok: bool,
    pub(crate) lesson: LessonResponse,
}

#[cfg(test)]
mod tests;
