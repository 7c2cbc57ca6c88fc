//! Figures over all sessions.

use std::collections::HashMap;
use std::sync::Arc;

use axum::Json;
use axum::extract::{Query, State};
use overtone_engine::state::Millis;
use overtone_store::{SessionId, clock};
use overtone_view::{
    AgentFigures, AgentRun, DayFigures, Figures, Filter, StageFigures, Summary, Tale, Tokens,
    WorkflowFigures, figures, read_tale,
};
use serde::Deserialize;
use serde_json::{Value, json};

use super::sessions::used;
use super::{Shared, aside};
use crate::app::{App, lock};
use crate::error::Answer;

const DAY: i64 = 24 * 60 * 60 * 1000;

#[derive(Debug, Deserialize)]
pub(super) struct Wanted {
    days: Option<u32>,
    workflow: Option<String>,
    project: Option<String>,
}

pub(super) async fn stats(State(app): Shared, Query(wanted): Query<Wanted>) -> Answer<Json<Value>> {
    let shared = Arc::clone(&app);
    aside(move || object(&compute(&shared, &wanted))).await.map(Json)
}

fn compute(app: &App, wanted: &Wanted) -> Figures {
    let project = wanted.project.as_deref().filter(|project| !project.is_empty());
    let of_project = |summary: &Summary| {
        project.is_none_or(|project| summary.project().is_some_and(|own| own.to_string_lossy() == project))
    };
    let summaries: Vec<Summary> = {
        let index = app.index();
        let chosen = index.entries().map(|entry| &entry.summary).filter(|summary| of_project(summary));
        chosen.cloned().collect()
    };
    let tales: Vec<_> = summaries.iter().map(|summary| tale(app, summary)).collect();
    let since = wanted.days.map(|days| Millis(clock::now().0 - i64::from(days) * DAY));
    let workflow = wanted.workflow.clone().filter(|name| !name.is_empty());
    let filter = Filter { since, workflow };
    let spent = spent(app, &summaries, &tales);
    let known = |run: &AgentRun| spent.get(run.id.as_deref()?).copied();
    figures(tales.iter().map(|tale| &**tale), &filter, &known)
}

/// What every agent has used, by its id.
fn spent<'a>(app: &App, summaries: &[Summary], tales: &'a [Arc<Tale>]) -> HashMap<&'a str, Tokens> {
    let runs = summaries
        .iter()
        .zip(tales)
        .flat_map(|(summary, tale)| tale.agents.iter().map(move |run| (summary, run)));
    let known = runs.filter_map(|(summary, run)| {
        let id = run.id.as_deref()?;
        Some((id, used(app, summary, run)?.tokens))
    });
    known.collect()
}

/// A timeline that has not grown is not read again.
fn tale(app: &App, summary: &Summary) -> Arc<Tale> {
    let id: &SessionId = summary.session.id();
    let path = summary.session.timeline_file();
    let length = path.metadata().map_or(0, |about| about.len());
    if let Some((_, tale)) = lock(&app.tales).get(id).filter(|(known, _)| *known == length) {
        return Arc::clone(tale);
    }
    let tale = Arc::new(read_tale(&path).unwrap_or_default());
    lock(&app.tales).insert(id.clone(), (length, Arc::clone(&tale)));
    tale
}

fn object(figures: &Figures) -> Value {
    json!({
        "sessions": figures.sessions,
        "started": figures.started,
        "completed": figures.completed,
        "aborted": figures.aborted,
        "passAt1": figures.pass_at_1,
        "passAt3": figures.pass_at_3,
        "failures": figures.failures,
        "stages": figures.stages.iter().map(of_stage).collect::<Vec<_>>(),
        "agents": figures.agents.iter().map(of_agent).collect::<Vec<_>>(),
        "workflows": figures.workflows.iter().map(of_workflow).collect::<Vec<_>>(),
        "days": figures.days.iter().map(of_day).collect::<Vec<_>>(),
    })
}

fn of_stage(stage: &StageFigures) -> Value {
    json!({
        "stage": stage.stage, "runs": stage.runs, "passAt1": stage.pass_at_1, "passAt3": stage.pass_at_3,
        "failures": stage.failures, "medianMs": stage.median, "p90Ms": stage.p90,
        "tokens": stage.tokens.total(), "costUsd": stage.tokens.cost_usd,
    })
}

fn of_agent(agent: &AgentFigures) -> Value {
    json!({
        "agent": agent.agent, "runs": agent.runs, "errors": agent.errors, "medianMs": agent.median,
        "tokens": agent.tokens.total(), "costUsd": agent.tokens.cost_usd,
    })
}

fn of_workflow(workflow: &WorkflowFigures) -> Value {
    json!({
        "workflow": workflow.workflow, "started": workflow.started, "completed": workflow.completed,
        "aborted": workflow.aborted, "medianMs": workflow.median, "tokens": workflow.tokens.total(),
        "costUsd": workflow.tokens.cost_usd,
    })
}

fn of_day(day: &DayFigures) -> Value {
    json!({
        "day": day.day, "started": day.started, "completed": day.completed, "aborted": day.aborted,
        "passAt1": day.pass_at_1, "failures": day.failures, "tokens": day.tokens.total(),
        "costUsd": day.tokens.cost_usd,
    })
}
