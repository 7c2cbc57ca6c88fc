//! Sessions: a list of them, and one of them whole.

use std::collections::HashMap;
use std::sync::Arc;

use axum::Json;
use axum::extract::{Path, Query, State};
use axum::http::{StatusCode, header};
use axum::response::{IntoResponse, Response};
use overtone_engine::commands::next_words;
use overtone_messages::dashboard as words;
use overtone_store::files;
use overtone_view::{AgentRun, AgentUsage, Seen, Skipped, State as Stage, Summary, Tokens, agent_usage};
use overtone_view::{
    agent_conversation, agent_conversations, machine, read_page, rounds, spans, supervisor_switch,
};
use serde::Deserialize;
use serde_json::{Value, json};

use super::{Shared, aside, session};
use crate::app::{App, lock};
use crate::error::{Answer, ApiError};
use crate::index::{Entry, Kind};

const DEFAULT_LIMIT: usize = 50;
const MAX_LIMIT: usize = 500;
/// How much of the end of a timeline the chart is made from.
const CHARTED: usize = 5_000;

#[derive(Debug, Deserialize)]
pub(super) struct Wanted {
    state: Option<String>,
    workflow: Option<String>,
    project: Option<String>,
    q: Option<String>,
    limit: Option<usize>,
    cursor: Option<String>,
}

impl Wanted {
    fn passes(&self, entry: &Entry) -> bool {
        let summary = &entry.summary;
        let project = summary.project().map(|path| path.to_string_lossy().into_owned());
        let same = |wanted: &Option<String>, own: Option<&str>| {
            wanted.as_deref().is_none_or(|wanted| wanted.is_empty() || own == Some(wanted))
        };
        self.has_state(summary.state)
            && same(&self.workflow, summary.workflow_name())
            && same(&self.project, project.as_deref())
            && self.has_words(entry, project.as_deref())
    }

    fn has_state(&self, state: Stage) -> bool {
        match self.state.as_deref() {
            None | Some("") => true,
            Some("open") => state.is_open(),
            Some(wanted) => wanted == state.key(),
        }
    }

    fn has_words(&self, entry: &Entry, project: Option<&str>) -> bool {
        let Some(words) = self.q.as_deref().map(str::to_lowercase) else { return true };
        let summary = &entry.summary;
        let feature = summary.workflow.as_ref().and_then(|workflow| workflow.feature_name.as_deref());
        let machine = entry.json.get("machine").and_then(|machine| machine["name"].as_str());
        let texts = [Some(summary.id()), project, summary.workflow_name(), feature, machine];
        texts.into_iter().flatten().any(|text| text.to_lowercase().contains(&words))
    }
}

/// The last active first; two at the same time by their ids. It is also where the next page begins.
fn place(entry: &Entry) -> (i64, String) {
    (-entry.summary.last_activity.0, entry.summary.id().to_owned())
}

fn parse_place(cursor: &str) -> Option<(i64, String)> {
    let (at, id) = cursor.split_once('~')?;
    Some((at.parse().ok()?, id.to_owned()))
}

pub(super) async fn list(State(app): Shared, Query(wanted): Query<Wanted>) -> Json<Value> {
    let index = app.index();
    let mut found: Vec<_> = index.entries().filter(|entry| wanted.passes(entry)).collect();
    found.sort_by_cached_key(|entry| place(entry));
    let running = index.entries().filter(|entry| entry.summary.state == Stage::Running).count();
    let total = found.len();
    if let Some(after) = wanted.cursor.as_deref().and_then(parse_place) {
        found.retain(|entry| place(entry) > after);
    }
    let limit = wanted.limit.unwrap_or(DEFAULT_LIMIT).clamp(1, MAX_LIMIT);
    let has_more = found.len() > limit;
    found.truncate(limit);
    let next = found.last().filter(|_| has_more).map(|entry| place(entry));
    let sessions: Vec<&Value> = found.iter().map(|entry| &*entry.json).collect();
    Json(json!({
        "sessions": sessions,
        "next": next.map(|(at, id)| format!("{at}~{id}")),
        "total": total,
        "running": running,
        "skipped": index.skipped().iter().map(Skipped::to_json).collect::<Vec<_>>(),
    }))
}

pub(super) async fn show(State(app): Shared, id: Path<String>) -> Answer<Json<Value>> {
    let session = session(&app, &id)?;
    let shared = Arc::clone(&app);
    let kind = app.index().kind();
    aside(move || detail(&shared, kind, &kind.load(&session))).await.map(Json)
}

fn detail(app: &App, kind: Kind, summary: &Summary) -> Value {
    let (settings, id) = (&app.settings, summary.session.id());
    let mut object = summary.to_json(settings);
    let events = last_events(summary);
    let rounds = if kind == Kind::Own { rounds(id) } else { Vec::new() };
    let workflow = summary.workflow.as_ref();
    let count = |count: Option<u32>, limit: u32| json!({ "count": count.unwrap_or(0), "limit": limit });
    object["failures"] = count(workflow.map(|w| w.fail_count), settings.max_failures);
    object["rejections"] = count(workflow.map(|w| w.reject_count), settings.max_rejections);
    object["retros"] = count(workflow.map(|w| w.retro_count), settings.max_retros);
    let looping = summary.looping.as_ref();
    object["next"] = json!(workflow.and_then(|workflow| next_words(workflow, looping, settings, app.lang)));
    object["feature"] = json!(summary.tasks.as_ref().map(|tasks| {
        json!({ "name": tasks.feature, "checked": tasks.checked, "total": tasks.total, "pending": tasks.pending })
    }));
    object["handoffs"] = Value::Array(handoffs(kind, summary));
    let switch = if kind == Kind::Own { supervisor_switch(id) } else { None };
    let is_known = !rounds.is_empty() || switch.is_some();
    object["supervisor"] =
        if is_known { json!({ "enabled": switch, "rounds": rounds }) } else { Value::Null };
    if kind == Kind::Copies {
        object["machine"] = machine(&summary.session);
    }
    object["usage"] = usage(app, summary);
    object["spans"] = Value::Array(spans(&events));
    object["compactionsAt"] = Value::Array(times_of(&events, "session:compact"));
    object
}

fn last_events(summary: &Summary) -> Vec<Seen> {
    read_page(&summary.session.timeline_file(), &overtone_view::Query::last(CHARTED))
        .map(|page| page.events)
        .unwrap_or_default()
}

fn times_of(events: &[Seen], kind: &str) -> Vec<Value> {
    let of_kind = events.iter().filter(|event| event.fields.get("type").is_some_and(|name| name == kind));
    of_kind.filter_map(|event| event.fields.get("ts").cloned()).collect()
}

/// What another machine keeps to itself is not offered.
fn handoffs(kind: Kind, summary: &Summary) -> Vec<Value> {
    let Some(workflow) = &summary.workflow else { return Vec::new() };
    let of_stages = workflow.stages.iter().filter_map(|stage| {
        let file = stage.handoff.as_deref()?;
        Some((file, Some(stage.key.to_string()), Some(stage.key.stage.agent().name())))
    });
    let others = workflow.other_handoffs.iter().map(|file| (file.as_str(), None, None));
    let object = |(file, stage, agent): (&str, Option<String>, Option<&str>)| {
        let bytes = summary.session.dir().join(file).symlink_metadata().map_or(0, |about| about.len());
        let name = file.rsplit('/').next().unwrap_or(file);
        json!({ "file": name, "stage": stage, "agent": agent, "bytes": bytes })
    };
    let is_here = |file: &str| kind == Kind::Own || summary.session.dir().join(file).is_file();
    of_stages.chain(others).filter(|(file, _, _)| is_here(file)).map(object).collect()
}

/// What each agent of the session has used, and all of them together.
fn usage(app: &App, summary: &Summary) -> Value {
    let conversations: HashMap<_, _> = summary
        .origin
        .transcript
        .as_deref()
        .map(agent_conversations)
        .unwrap_or_default()
        .into_iter()
        .collect();
    let shared = app.histories.update(&summary.session);
    let reader = lock(&shared);
    let mut total = Tokens::default();
    let mut agents = Vec::new();
    for run in &reader.history().agents {
        let Some((id, length)) = run.id.as_deref().and_then(|id| Some((id, *conversations.get(id)?))) else {
            continue;
        };
        if let Some(used) = used(app, summary, id, length, true) {
            total.add(used.tokens);
            agents.push(of_agent(run, &used));
        }
    }
    json!({ "agents": agents, "total": tokens(&total) })
}

fn of_agent(run: &AgentRun, used: &AgentUsage) -> Value {
    let mut object = tokens(&used.tokens);
    object["agent"] = json!(&*run.agent);
    object["stage"] = json!(run.stage.as_deref());
    object["agentId"] = json!(run.id);
    object["model"] = json!(used.model);
    object["messages"] = json!(used.messages);
    object
}

fn tokens(tokens: &Tokens) -> Value {
    json!({
        "inputTokens": tokens.input, "outputTokens": tokens.output, "cacheReadTokens": tokens.cache_read,
        "cacheWriteTokens": tokens.cache_write, "costUsd": tokens.cost_usd,
    })
}

/// What the agent with this id has used. A conversation that has not grown is not read again; `None` when it would have
/// to be read and `may_read` is false. One that cannot be read counts as unused.
pub(super) fn used(
    app: &App,
    summary: &Summary,
    id: &str,
    length: u64,
    may_read: bool,
) -> Option<AgentUsage> {
    let transcript = summary.origin.transcript.as_deref()?;
    let file = agent_conversation(transcript, id)?;
    if let Some((_, usage)) = lock(&app.usages).get(&file).filter(|(known, _)| *known == length) {
        return Some(usage.clone());
    }
    if !may_read {
        return None;
    }
    let usage = agent_usage(transcript, id).ok().flatten().unwrap_or_default();
    lock(&app.usages).insert(file, (length, usage.clone()));
    Some(usage)
}

/// An agent's last message. Only files that the workflow names are given away.
pub(super) async fn handoff(
    State(app): Shared,
    Path((id, file)): Path<(String, String)>,
) -> Answer<Response> {
    let session = session(&app, &Path(id))?;
    let missing = || ApiError::new(StatusCode::NOT_FOUND, words::no_such_file(app.lang));
    let workflow = session.workflow().ok().flatten().ok_or_else(missing)?.state;
    let of_stages = workflow.stages.iter().filter_map(|stage| stage.handoff.as_deref());
    let mut named = of_stages.chain(workflow.other_handoffs.iter().map(String::as_str));
    let path = named.find(|path| path.rsplit('/').next() == Some(file.as_str())).ok_or_else(missing)?;
    let is_inside =
        std::path::Path::new(path).components().all(|part| matches!(part, std::path::Component::Normal(_)));
    let text = if is_inside { files::read_small(&session.dir().join(path)).ok().flatten() } else { None };
    let text = text.ok_or_else(missing)?;
    Ok(([(header::CONTENT_TYPE, "text/plain; charset=utf-8")], text).into_response())
}
