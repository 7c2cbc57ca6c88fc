//! Statistics over all sessions. They are computed once for everybody who asks, as long as nothing has changed.

use std::collections::{HashMap, HashSet};
use std::hash::{DefaultHasher, Hash, Hasher};
use std::os::unix::fs::MetadataExt;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use axum::extract::{Query, State};
use axum::http::header;
use axum::response::{IntoResponse, Response};
use bytes::Bytes;
use overtone_engine::state::Millis;
use overtone_store::{Session, clock};
use overtone_view::{
    AgentFigures, AgentRun, DayFigures, Figures, Filter, History, StageFigures, Summary, Tokens,
    WorkflowFigures, agent_conversations, figures,
};
use serde::Deserialize;
use serde_json::{Value, json};
use tokio::sync::Mutex;

use super::sessions::used;
use super::{Shared, aside};
use crate::app::{App, lock};
use crate::error::Answer;

const DAY: i64 = 24 * 60 * 60 * 1000;
/// How old "the last days" may be.
const MINUTE: i64 = 60 * 1000;
/// The conversations of agents may be many gigabytes: one answer reads them for so long, the next one goes on.
const READING_TIME: Duration = Duration::from_millis(250);
/// Questions whose answers are kept.
const MAX_ANSWERS: usize = 64;

#[derive(Debug, Clone, PartialEq, Eq, Hash, Deserialize)]
pub(super) struct Wanted {
    days: Option<u32>,
    workflow: Option<String>,
    project: Option<String>,
}

/// Whoever computes holds it; the others wait without keeping a thread.
pub(crate) type SharedAnswers = Arc<Mutex<Answers>>;

/// What was answered, and for which state of the files.
#[derive(Debug, Default)]
pub(crate) struct Answers {
    state: u64,
    /// As JSON.
    known: HashMap<Wanted, Bytes>,
}

pub(super) async fn stats(State(app): Shared, Query(wanted): Query<Wanted>) -> Answer<Response> {
    let shared = Arc::clone(&app);
    // Moved into the work, so that it is held to its end even if the client has gone.
    let mut answers = Arc::clone(&app.answers).lock_owned().await;
    let answer = aside(move || answers.find_or_compute(&shared, &wanted)).await?;
    Ok(([(header::CONTENT_TYPE, "application/json")], answer).into_response())
}

impl Answers {
    fn find_or_compute(&mut self, app: &App, wanted: &Wanted) -> Bytes {
        let summaries = chosen(app, wanted);
        let state = state_of(app);
        if self.state != state || self.known.len() >= MAX_ANSWERS {
            self.known.clear();
            self.state = state;
        }
        if let Some(known) = self.known.get(wanted) {
            return known.clone();
        }
        app.computed.fetch_add(1, Ordering::Relaxed);
        let (figures, unread) = compute(app, wanted, &summaries);
        let answer = Bytes::from(object(&figures, unread).to_string());
        if unread == 0 {
            self.known.insert(wanted.clone(), answer.clone());
        }
        answer
    }
}

/// Changes with every file that the statistics are made from, and every minute.
fn state_of(app: &App) -> u64 {
    let mut hasher = DefaultHasher::new();
    (clock::now().0 / MINUTE).hash(&mut hasher);
    for summary in all(app) {
        summary.id().hash(&mut hasher);
        summary.project().hash(&mut hasher);
        if let Ok(about) = summary.session.timeline_file().symlink_metadata() {
            (about.dev(), about.ino(), about.len(), about.mtime(), about.mtime_nsec()).hash(&mut hasher);
        }
        conversations(&summary).hash(&mut hasher);
    }
    hasher.finish()
}

fn all(app: &App) -> Vec<Summary> {
    let mut all: Vec<_> = app.index().entries().map(|entry| entry.summary.clone()).collect();
    all.sort_unstable_by(|a, b| a.id().cmp(b.id()));
    all
}

fn conversations(summary: &Summary) -> Vec<(String, u64)> {
    summary.origin.transcript.as_deref().map(agent_conversations).unwrap_or_default()
}

fn chosen(app: &App, wanted: &Wanted) -> Vec<Summary> {
    let mut chosen = all(app);
    if let Some(project) = wanted.project.as_deref().filter(|project| !project.is_empty()) {
        chosen.retain(|summary| summary.project().is_some_and(|own| own.to_string_lossy() == project));
    }
    chosen
}

/// The figures, and how many conversations could not be read in time.
fn compute(app: &App, wanted: &Wanted, summaries: &[Summary]) -> (Figures, usize) {
    let sessions: Vec<Session> = summaries.iter().map(|summary| summary.session.clone()).collect();
    let shared = app.histories.update_all(&sessions);
    let readers: Vec<_> = shared.iter().map(|reader| lock(reader)).collect();
    let histories: Vec<&History> = readers.iter().map(|reader| reader.history()).collect();
    let (spent, unread) = spent(app, summaries, &histories);
    let since = wanted.days.map(|days| Millis(clock::now().0 - i64::from(days) * DAY));
    let workflow = wanted.workflow.clone().filter(|name| !name.is_empty());
    let filter = Filter { since, workflow };
    let known = |run: &AgentRun| spent.get(run.id.as_deref()?).copied();
    (figures(histories, &filter, &known), unread)
}

/// What every agent has used, by its id, and how many conversations are still to be read.
fn spent<'a>(
    app: &App,
    summaries: &[Summary],
    histories: &[&'a History],
) -> (HashMap<&'a str, Tokens>, usize) {
    let begun = Instant::now();
    let (mut spent, mut unread) = (HashMap::new(), 0);
    for (summary, history) in summaries.iter().zip(histories) {
        let conversations = conversations(summary);
        if conversations.is_empty() {
            continue;
        }
        let ids: HashSet<&str> = history.agents.iter().filter_map(|run| run.id.as_deref()).collect();
        for (id, length) in &conversations {
            let Some(id) = ids.get(id.as_str()) else { continue };
            match used(app, summary, id, *length, begun.elapsed() < READING_TIME) {
                Some(usage) => drop(spent.insert(*id, usage.tokens)),
                None => unread += 1,
            }
        }
    }
    (spent, unread)
}

fn object(figures: &Figures, unread: usize) -> Value {
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
        "unreadConversations": unread,
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
