//! The list of sessions, and the details of one.

use std::sync::Arc;

use axum::Json;
use axum::extract::{Path, Query, State};
use axum::http::{StatusCode, header};
use axum::response::{IntoResponse, Response};
use overtone_core::engine::commands::describe_next_step;
use overtone_core::messages::dashboard as messages;
use overtone_session::view::{
    History, SessionState, SkippedFile, Summary, TimelineEvent, WorkflowEvidence, machine_of_copy, read_page,
    spans, supervision_rounds, supervisor_switch,
};
use overtone_store::config::Config;
use overtone_store::files;
use serde::Deserialize;
use serde_json::Value;

use super::responses::{
    CountWithLimit, EvidenceResponse, FeatureTasks, Handoff, SessionListResponse, SessionResponse,
    SupervisorRounds,
};
use super::usage_response::SessionUsage;
use super::{AppState, find_session, run_blocking};
use crate::dashboard::app::{App, lock};
use crate::dashboard::error::{ApiError, ApiResult};
use crate::dashboard::index::{Entry, SessionOrigin};
use crate::file_length::file_length;

const DEFAULT_LIMIT: usize = 50;
const MAX_LIMIT: usize = 500;
/// How many of the last events the chart shows.
const CHART_EVENTS: usize = 5_000;

#[derive(Debug, Deserialize)]
pub(super) struct SessionListQuery {
    state: Option<String>,
    workflow: Option<String>,
    project: Option<String>,
    q: Option<String>,
    limit: Option<usize>,
    cursor: Option<String>,
}

impl SessionListQuery {
    fn matches(&self, entry: &Entry) -> bool {
        let summary = &entry.summary;
        let project = summary.project().map(|path| path.to_string_lossy().into_owned());
        self.matches_state(summary.state)
            && is_unset_or_equal(self.workflow.as_deref(), summary.workflow_name())
            && is_unset_or_equal(self.project.as_deref(), project.as_deref())
            && self.matches_text(entry, project.as_deref())
    }

    fn matches_state(&self, state: SessionState) -> bool {
        match self.state.as_deref() {
            None | Some("") => true,
            Some("open") => state.is_open(),
            Some(key) => key == state.key(),
        }
    }

    fn matches_text(&self, entry: &Entry, project: Option<&str>) -> bool {
        let Some(search) = self.q.as_deref().map(str::to_lowercase) else { return true };
        let summary = &entry.summary;
        let feature = summary.workflow.as_ref().and_then(|workflow| workflow.feature_name.as_deref());
        let machine = entry.json.get("machine").and_then(|machine| machine["name"].as_str());
        let texts = [Some(summary.id()), project, summary.workflow_name(), feature, machine];
        texts.into_iter().flatten().any(|text| text.to_lowercase().contains(&search))
    }
}

fn is_unset_or_equal(filter: Option<&str>, value: Option<&str>) -> bool {
    match filter {
        None | Some("") => true,
        Some(filter) => value == Some(filter),
    }
}

/// Sorts the most recently active session first, and equal ones by id. It is also the cursor of the next page.
fn sort_key(entry: &Entry) -> (i64, String) {
    (-entry.summary.last_activity.0, entry.summary.id().to_owned())
}

fn parse_cursor(cursor: &str) -> Option<(i64, String)> {
    let (at, id) = cursor.split_once('~')?;
    Some((at.parse().ok()?, id.to_owned()))
}

pub(super) async fn list(
    State(app): AppState,
    Query(query): Query<SessionListQuery>,
) -> Json<SessionListResponse> {
    let index = app.index();
    let mut found: Vec<_> = index.entries().filter(|entry| query.matches(entry)).collect();
    found.sort_by_cached_key(|entry| sort_key(entry));
    let running = index.entries().filter(|entry| entry.summary.state == SessionState::Running).count();
    let total = found.len();
    if let Some(after) = query.cursor.as_deref().and_then(parse_cursor) {
        found.retain(|entry| sort_key(entry) > after);
    }
    let limit = query.limit.unwrap_or(DEFAULT_LIMIT).clamp(1, MAX_LIMIT);
    let has_more = found.len() > limit;
    found.truncate(limit);
    let last = if has_more { found.last() } else { None };
    let next = last.map(|entry| {
        let (at, id) = sort_key(entry);
        format!("{at}~{id}")
    });
    Json(SessionListResponse {
        sessions: found.iter().map(|entry| Value::clone(&entry.json)).collect(),
        next,
        total,
        running,
        skipped: index.skipped().iter().map(SkippedFile::to_json).collect(),
    })
}

pub(super) async fn show(State(app): AppState, id: Path<String>) -> ApiResult<Json<SessionResponse>> {
    let session = find_session(&app, &id)?;
    let shared = Arc::clone(&app);
    let origin = app.index().origin();
    run_blocking(move || detail(&shared, origin, &origin.load(&session))).await.map(Json)
}

fn detail(app: &App, origin: SessionOrigin, summary: &Summary) -> SessionResponse {
    let (settings, id) = (&app.settings, summary.session.id());
    let (workflow, looping) = (summary.workflow.as_ref(), summary.looping.as_ref());
    let mut fields = summary.to_json(settings);
    fields["failures"] = CountWithLimit::failures(workflow, settings).to_json();
    fields["rejections"] = CountWithLimit::rejections(workflow, settings).to_json();
    let feature = summary.tasks.as_ref().map(|tasks| FeatureTasks {
        name: tasks.feature.clone(),
        checked: tasks.checked,
        total: tasks.total,
        pending: tasks.pending.clone(),
    });
    // The supervisor's files of a mirrored session are on its own machine.
    let (enabled, rounds) = match origin {
        SessionOrigin::Local => (supervisor_switch(id), supervision_rounds(id)),
        SessionOrigin::Mirrored => (None, Vec::new()),
    };
    let is_supervised = enabled.is_some() || !rounds.is_empty();
    let machine = match origin {
        SessionOrigin::Local => None,
        SessionOrigin::Mirrored => {
            Some(serde_json::to_value(machine_of_copy(&summary.session)).unwrap_or_default())
        }
    };
    let events = last_events(summary);
    let shared = app.histories.update(&summary.session);
    let reader = lock(&shared);
    SessionResponse {
        summary: fields,
        retros: CountWithLimit::retros(workflow, settings),
        next: workflow.and_then(|workflow| describe_next_step(workflow, looping, settings, app.lang)),
        feature,
        handoffs: handoffs(origin, summary),
        supervisor: is_supervised.then_some(SupervisorRounds { enabled, rounds }),
        machine,
        evidence: evidence(summary, reader.history()),
        usage: usage(app, summary, reader.history()),
        spans: spans(&events),
        compactions_at: event_times(&events, "session:compact"),
    }
}

fn last_events(summary: &Summary) -> Vec<TimelineEvent> {
    read_page(&summary.session.timeline_file(), &overtone_session::view::Query::last(CHART_EVENTS))
        .map(|page| page.events)
        .unwrap_or_default()
}

fn event_times(events: &[TimelineEvent], kind: &str) -> Vec<Value> {
    let mut times = Vec::new();
    for event in events {
        if event.fields.get("type").and_then(Value::as_str) == Some(kind) {
            times.extend(event.fields.get("ts").cloned());
        }
    }
    times
}

/// The handoffs of the workflow. Those that another machine has not sent are omitted.
fn handoffs(origin: SessionOrigin, summary: &Summary) -> Vec<Handoff> {
    let Some(workflow) = &summary.workflow else { return Vec::new() };
    let of_stages = workflow.stages.iter().filter_map(|stage| {
        let file = stage.handoff.as_deref()?;
        Some((file, Some(stage.key.to_string()), Some(stage.key.stage.agent().name())))
    });
    let others = workflow.other_handoffs.iter().map(|file| (file.as_str(), None, None));
    let handoff = |(file, stage, agent): (&str, Option<String>, Option<&'static str>)| {
        let bytes = file_length(&summary.session.dir().join(file));
        Handoff { file: file.rsplit('/').next().unwrap_or(file).to_owned(), stage, agent, bytes }
    };
    let is_available =
        |file: &str| origin == SessionOrigin::Local || summary.session.dir().join(file).is_file();
    of_stages.chain(others).filter(|(file, _, _)| is_available(file)).map(handoff).collect()
}

/// The evidence for the workflow. Receipts that cannot be read are left out; those of a mirrored session are on its own
/// machine.
fn evidence(summary: &Summary, history: &History) -> Option<EvidenceResponse> {
    let workflow = summary.workflow.as_ref()?;
    let receipts = summary.session.receipts().unwrap_or_default();
    let evidence = WorkflowEvidence::new(workflow, &history.evidence, receipts);
    Some(EvidenceResponse::new(&summary.session, &evidence))
}

/// The tokens and costs of the session by agent and by stage, and their sum.
fn usage(app: &App, summary: &Summary, history: &History) -> SessionUsage {
    let used = app.usages.get(&summary.session, history, true).unwrap_or_default();
    SessionUsage::new(&used.entries, &Config::load_or_default(&app.home).prices())
}

/// An agent's last message. Only files that the workflow refers to are served.
pub(super) async fn handoff(
    State(app): AppState,
    Path((id, file)): Path<(String, String)>,
) -> ApiResult<Response> {
    let session = find_session(&app, &Path(id))?;
    let missing = || ApiError::new(StatusCode::NOT_FOUND, messages::no_such_file(app.lang));
    let workflow = session.workflow().ok().flatten().ok_or_else(missing)?.state;
    let of_stages = workflow.stages.iter().filter_map(|stage| stage.handoff.as_deref());
    let mut paths = of_stages.chain(workflow.other_handoffs.iter().map(String::as_str));
    let path = paths.find(|path| path.rsplit('/').next() == Some(file.as_str())).ok_or_else(missing)?;
    let is_inside =
        std::path::Path::new(path).components().all(|part| matches!(part, std::path::Component::Normal(_)));
    let text = if is_inside { files::read_small(&session.dir().join(path)).ok().flatten() } else { None };
    let text = text.ok_or_else(missing)?;
    Ok(([(header::CONTENT_TYPE, "text/plain; charset=utf-8")], text).into_response())
}
