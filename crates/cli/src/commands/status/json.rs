//! The state of a session as JSON. Names and shapes are stable.

use std::path::PathBuf;

use overtone_core::engine::Feature;
use overtone_core::engine::state::{
    ActiveAgent, Ending, LoopState, Millis, StageResult, StageState, StoppedBy, WorkflowState,
};
use overtone_core::registry::TestMode;
use overtone_store::clock;
use serde::Serialize;

use super::{SessionStatus, next_step};
use crate::context::Context;

/// The output of `overtone status --json`. Without a session, every field is null.
#[derive(Default, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct StatusJson<'a> {
    session: Option<&'a str>,
    project: Option<PathBuf>,
    workflow: Option<WorkflowJson<'a>>,
    #[serde(rename = "loop")]
    looping: Option<LoopJson>,
    feature: Option<FeatureJson<'a>>,
    compactions: Option<CompactionsJson>,
    context_percent: Option<u32>,
    checks: Option<ChecksJson<'a>>,
    running_check: Option<RunningCheckJson<'a>>,
    next: Option<String>,
}

/// The checks that the workflow is bound to.
#[derive(Serialize)]
struct ChecksJson<'a> {
    names: Vec<&'a str>,
    trusted: bool,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct RunningCheckJson<'a> {
    name: &'a str,
    started_at: String,
    elapsed_ms: i64,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct WorkflowJson<'a> {
    #[serde(rename = "type")]
    workflow_type: &'a str,
    created_at: Option<String>,
    ending: Option<&'static str>,
    current_stage: Option<String>,
    done: usize,
    total: usize,
    stages: Vec<StageJson<'a>>,
    active_agents: Vec<AgentJson<'a>>,
    failures: CountJson,
    rejections: CountJson,
    retros: CountJson,
    feature_name: Option<&'a str>,
    moved_to: Option<&'a str>,
}

#[derive(Serialize)]
struct CountJson {
    count: u32,
    limit: u32,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct StageJson<'a> {
    key: String,
    status: &'static str,
    result: Option<&'a str>,
    mode: Option<&'static str>,
    attempts: u32,
    started_at: Option<String>,
    completed_at: Option<String>,
    handoff: Option<&'a str>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct AgentJson<'a> {
    agent: &'a str,
    slot: &'a str,
    stage: Option<String>,
    started_at: Option<String>,
    elapsed_ms: Option<i64>,
    background: bool,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct LoopJson {
    iterations: u32,
    limit: u32,
    stopped: bool,
    stopped_by: Option<&'static str>,
    consecutive_errors: u32,
}

#[derive(Serialize)]
struct FeatureJson<'a> {
    name: &'a str,
    checked: usize,
    total: usize,
    pending: &'a [String],
}

#[derive(Serialize)]
struct CompactionsJson {
    auto: u32,
    manual: u32,
}

impl<'a> StatusJson<'a> {
    pub(crate) fn new(context: &Context, status: &'a SessionStatus) -> Self {
        let looping = status.looping.as_ref();
        let (workflow, next) = match &status.workflow {
            Some(workflow) => (
                Some(WorkflowJson::new(context, workflow, status.now)),
                next_step(context, workflow, looping),
            ),
            None => (None, None),
        };
        Self {
            session: Some(status.session.id().as_str()),
            project: status.session.origin().project,
            workflow,
            looping: looping.map(|looping| LoopJson::new(context, looping)),
            feature: status.feature.as_ref().map(FeatureJson::new),
            compactions: Some(CompactionsJson {
                auto: status.compactions.automatic,
                manual: status.compactions.manual,
            }),
            context_percent: status.context_percent,
            checks: status.checks.as_ref().map(|pinned| ChecksJson {
                names: pinned.checks.iter().map(|check| check.name.as_str()).collect(),
                trusted: pinned.is_trusted,
            }),
            running_check: status.running_check.as_ref().map(|running| RunningCheckJson {
                name: &running.name,
                started_at: clock::to_iso(running.started_at),
                elapsed_ms: status.now.since(running.started_at),
            }),
            next,
        }
    }
}

impl<'a> WorkflowJson<'a> {
    fn new(context: &Context, workflow: &'a WorkflowState, now: Millis) -> Self {
        let settings = context.settings();
        Self {
            workflow_type: &workflow.workflow_type,
            created_at: workflow.created_at.map(clock::to_iso),
            ending: workflow.ending.map(Ending::key),
            current_stage: workflow.current_stage.map(|key| key.to_string()),
            done: workflow.resolved_count(),
            total: workflow.stages.len(),
            stages: workflow.stages.iter().map(StageJson::new).collect(),
            active_agents: workflow.active_agents.iter().map(|agent| AgentJson::new(agent, now)).collect(),
            failures: CountJson { count: workflow.fail_count, limit: settings.max_failures },
            rejections: CountJson { count: workflow.reject_count, limit: settings.max_rejections },
            retros: CountJson { count: workflow.retro_count, limit: settings.max_retros },
            feature_name: workflow.feature_name.as_deref(),
            moved_to: workflow.moved_to.as_deref(),
        }
    }
}

impl<'a> StageJson<'a> {
    fn new(stage: &'a StageState) -> Self {
        Self {
            key: stage.key.to_string(),
            status: stage.status.key(),
            result: stage.result.as_ref().map(StageResult::as_str),
            mode: stage.mode.map(TestMode::key),
            attempts: stage.attempts,
            started_at: stage.started_at.map(clock::to_iso),
            completed_at: stage.completed_at.map(clock::to_iso),
            handoff: stage.handoff.as_deref(),
        }
    }
}

impl<'a> AgentJson<'a> {
    fn new(agent: &'a ActiveAgent, now: Millis) -> Self {
        Self {
            agent: agent.name(),
            slot: &agent.slot,
            stage: agent.stage.map(|key| key.to_string()),
            started_at: agent.started_at.map(clock::to_iso),
            elapsed_ms: agent.started_at.map(|at| now.since(at)),
            background: agent.background,
        }
    }
}

impl LoopJson {
    fn new(context: &Context, looping: &LoopState) -> Self {
        Self {
            iterations: looping.iterations,
            limit: context.settings().max_iterations,
            stopped: looping.stopped,
            stopped_by: looping.stopped_by.map(StoppedBy::key),
            consecutive_errors: looping.consecutive_errors,
        }
    }
}

impl<'a> FeatureJson<'a> {
    fn new(feature: &'a Feature) -> Self {
        let Feature { name, checked, total, pending, .. } = feature;
        Self { name, checked: *checked, total: *total, pending }
    }
}
