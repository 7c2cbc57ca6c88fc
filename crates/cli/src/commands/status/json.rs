//! The state of a session as JSON. Names and shapes are stable.

use overtone_core::engine::Feature;
use overtone_core::engine::state::{
    ActiveAgent, Ending, LoopState, Millis, StageResult, StageState, StoppedBy, WorkflowState,
};
use overtone_store::clock;
use serde_json::{Value, json};

use super::{SessionStatus, next_step};
use crate::context::Context;

pub(crate) fn to_json(context: &Context, status: Option<&SessionStatus>) -> Value {
    let Some(status) = status else {
        return json!({
            "session": null, "project": null, "workflow": null, "loop": null, "feature": null,
            "compactions": null, "contextPercent": null, "next": null,
        });
    };
    let (workflow, looping) = (status.workflow.as_ref(), status.looping.as_ref());
    json!({
        "session": status.session.id().as_str(),
        "project": status.session.origin().project,
        "workflow": workflow.map(|workflow| workflow_json(context, workflow, status.now)),
        "loop": looping.map(|looping| loop_json(context, looping)),
        "feature": status.feature.as_ref().map(feature_json),
        "compactions": { "auto": status.compactions.automatic, "manual": status.compactions.manual },
        "contextPercent": status.context_percent,
        "next": workflow.and_then(|workflow| next_step(context, workflow, looping)),
    })
}

fn workflow_json(context: &Context, workflow: &WorkflowState, now: Millis) -> Value {
    let settings = context.settings();
    json!({
        "type": workflow.workflow_type,
        "createdAt": iso(workflow.created_at),
        "ending": workflow.ending.map(Ending::key),
        "currentStage": workflow.current_stage.map(|key| key.to_string()),
        "done": workflow.resolved_count(),
        "total": workflow.stages.len(),
        "stages": workflow.stages.iter().map(stage_json).collect::<Vec<_>>(),
        "activeAgents": workflow.active_agents.iter().map(|agent| agent_json(agent, now)).collect::<Vec<_>>(),
        "failures": { "count": workflow.fail_count, "limit": settings.max_failures },
        "rejections": { "count": workflow.reject_count, "limit": settings.max_rejections },
        "retros": { "count": workflow.retro_count, "limit": settings.max_retros },
        "featureName": workflow.feature_name,
        "movedTo": workflow.moved_to,
    })
}

fn stage_json(stage: &StageState) -> Value {
    json!({
        "key": stage.key.to_string(),
        "status": stage.status.key(),
        "result": stage.result.as_ref().map(StageResult::as_str),
        "mode": stage.mode.map(overtone_core::registry::TestMode::key),
        "attempts": stage.attempts,
        "startedAt": iso(stage.started_at),
        "completedAt": iso(stage.completed_at),
        "handoff": stage.handoff,
    })
}

fn agent_json(agent: &ActiveAgent, now: Millis) -> Value {
    json!({
        "agent": agent.name(),
        "slot": agent.slot,
        "stage": agent.stage.map(|key| key.to_string()),
        "startedAt": iso(agent.started_at),
        "elapsedMs": agent.started_at.map(|at| now.since(at)),
        "background": agent.background,
    })
}

fn loop_json(context: &Context, looping: &LoopState) -> Value {
    let settings = context.settings();
    json!({
        "iterations": looping.iterations,
        "limit": settings.max_iterations,
        "stopped": looping.stopped,
        "stoppedBy": looping.stopped_by.map(StoppedBy::key),
        "consecutiveErrors": looping.consecutive_errors,
    })
}

fn feature_json(feature: &Feature) -> Value {
    json!({
        "name": feature.name, "checked": feature.checked, "total": feature.total, "pending": feature.pending,
    })
}

fn iso(at: Option<Millis>) -> Value {
    json!(at.map(clock::to_iso))
}
