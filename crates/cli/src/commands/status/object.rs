//! The state of a session as an object for programs. Names and shapes are stable.

use overtone_engine::Feature;
use overtone_engine::state::{
    ActiveAgent, Ending, LoopState, Millis, StageResult, StageState, StoppedBy, WorkflowState,
};
use overtone_store::clock;
use serde_json::{Value, json};

use super::View;
use super::next::next_words;
use crate::context::Context;

pub(crate) fn object(context: &Context, view: Option<&View>) -> Value {
    let workflow = view.and_then(|view| view.workflow.as_ref());
    json!({
        "session": view.map(|view| view.session.id().as_str()),
        "project": view.and_then(|view| view.session.origin().project),
        "workflow": view.zip(workflow).map(|(view, workflow)| workflow_object(context, workflow, view.now)),
        "loop": view.and_then(|view| view.looping.as_ref()).map(|looping| loop_object(context, looping)),
        "feature": view.and_then(|view| view.feature.as_ref()).map(feature_object),
        "compactions": view.map(|view| {
            json!({ "auto": view.compactions.automatic, "manual": view.compactions.manual })
        }),
        "contextPercent": view.and_then(|view| view.context_percent),
        "next": view.zip(workflow)
            .and_then(|(view, workflow)| next_words(context, workflow, view.looping.as_ref())),
    })
}

fn workflow_object(context: &Context, workflow: &WorkflowState, now: Millis) -> Value {
    let settings = context.settings();
    json!({
        "type": workflow.workflow_type,
        "createdAt": iso(workflow.created_at),
        "ending": workflow.ending.map(Ending::key),
        "currentStage": workflow.current_stage.map(|key| key.to_string()),
        "done": workflow.resolved_count(),
        "total": workflow.stages.len(),
        "stages": workflow.stages.iter().map(stage_object).collect::<Vec<_>>(),
        "activeAgents": workflow.active_agents.iter().map(|agent| agent_object(agent, now)).collect::<Vec<_>>(),
        "failures": { "count": workflow.fail_count, "limit": settings.max_failures },
        "rejections": { "count": workflow.reject_count, "limit": settings.max_rejections },
        "retros": { "count": workflow.retro_count, "limit": settings.max_retros },
        "featureName": workflow.feature_name,
        "movedTo": workflow.moved_to,
    })
}

fn stage_object(stage: &StageState) -> Value {
    json!({
        "key": stage.key.to_string(),
        "status": stage.status.key(),
        "result": stage.result.as_ref().map(StageResult::text),
        "mode": stage.mode.map(overtone_registry::TestMode::key),
        "attempts": stage.attempts,
        "startedAt": iso(stage.started_at),
        "completedAt": iso(stage.completed_at),
        "handoff": stage.handoff,
    })
}

fn agent_object(agent: &ActiveAgent, now: Millis) -> Value {
    json!({
        "agent": agent.name(),
        "slot": agent.slot,
        "stage": agent.stage.map(|key| key.to_string()),
        "startedAt": iso(agent.started_at),
        "elapsedMs": agent.started_at.map(|at| now.since(at)),
        "background": agent.background,
    })
}

fn loop_object(context: &Context, looping: &LoopState) -> Value {
    let settings = context.settings();
    json!({
        "iterations": looping.iterations,
        "limit": settings.max_iterations,
        "stopped": looping.stopped,
        "stoppedBy": looping.stopped_by.map(StoppedBy::key),
        "consecutiveErrors": looping.consecutive_errors,
    })
}

fn feature_object(feature: &Feature) -> Value {
    json!({
        "name": feature.name, "checked": feature.checked, "total": feature.total, "pending": feature.pending,
    })
}

fn iso(at: Option<Millis>) -> Value {
    json!(at.map(clock::to_iso))
}
