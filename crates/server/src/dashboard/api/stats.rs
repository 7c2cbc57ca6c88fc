//! Statistics over all sessions. Results are cached until a file has changed.

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
use overtone_core::engine::state::Millis;
use overtone_session::view::{
    AgentRun, Filter, History, Statistics, Summary, Tokens, agent_conversations, statistics,
};
use overtone_store::{Session, clock};
use serde::Deserialize;
use tokio::sync::Mutex;

use super::responses::StatsResponse;
use super::sessions::cached_usage;
use super::{AppState, run_blocking};
use crate::dashboard::app::{App, lock};
use crate::dashboard::error::{ApiError, ApiResult};

const DAY_MS: i64 = 24 * 60 * 60 * 1000;
/// Cached results are valid for a minute at most, because "the last days" move on.
const MINUTE_MS: i64 = 60 * 1000;
/// Conversations of agents may take many gigabytes: one request reads them for this long, the next one continues.
const MAX_READING_TIME: Duration = Duration::from_millis(250);
const MAX_CACHED_RESULTS: usize = 64;

#[derive(Debug, Clone, PartialEq, Eq, Hash, Deserialize)]
pub(super) struct StatsQuery {
    days: Option<u32>,
    workflow: Option<String>,
    project: Option<String>,
}

/// Locked while statistics are computed; other requests wait without blocking a thread.
pub(crate) type SharedStatisticsCache = Arc<Mutex<StatisticsCache>>;

/// The results for one state of the files.
#[derive(Debug, Default)]
pub(crate) struct StatisticsCache {
    fingerprint: u64,
    /// The results as JSON.
    results: HashMap<StatsQuery, Bytes>,
}

pub(super) async fn stats(State(app): AppState, Query(query): Query<StatsQuery>) -> ApiResult<Response> {
    let shared = Arc::clone(&app);
    // The lock is moved into the work, so that it is held to the end even if the client disconnects.
    let mut cache = Arc::clone(&app.statistics).lock_owned().await;
    let result = run_blocking(move || cache.get_or_compute(&shared, &query)).await?;
    let result = result.map_err(|error| ApiError::internal(&error))?;
    Ok(([(header::CONTENT_TYPE, "application/json")], result).into_response())
}

impl StatisticsCache {
    fn get_or_compute(&mut self, app: &App, query: &StatsQuery) -> serde_json::Result<Bytes> {
        let summaries = matching_sessions(app, query);
        let fingerprint = fingerprint(app);
        if self.fingerprint != fingerprint || self.results.len() >= MAX_CACHED_RESULTS {
            self.results.clear();
            self.fingerprint = fingerprint;
        }
        if let Some(result) = self.results.get(query) {
            return Ok(result.clone());
        }
        app.statistics_computed.fetch_add(1, Ordering::Relaxed);
        let (figures, unread) = compute(app, query, &summaries);
        let result = Bytes::from(serde_json::to_vec(&StatsResponse::new(&figures, unread))?);
        if unread == 0 {
            self.results.insert(query.clone(), result.clone());
        }
        Ok(result)
    }
}

/// A hash that changes with every file the statistics depend on, and every minute.
fn fingerprint(app: &App) -> u64 {
    let mut hasher = DefaultHasher::new();
    (clock::now().0 / MINUTE_MS).hash(&mut hasher);
    for summary in all_sessions(app) {
        summary.id().hash(&mut hasher);
        summary.project().hash(&mut hasher);
        if let Ok(file) = summary.session.timeline_file().symlink_metadata() {
            (file.dev(), file.ino(), file.len(), file.mtime(), file.mtime_nsec()).hash(&mut hasher);
        }
        conversations(&summary).hash(&mut hasher);
    }
    hasher.finish()
}

fn all_sessions(app: &App) -> Vec<Summary> {
    let mut sessions: Vec<_> = app.index().entries().map(|entry| entry.summary.clone()).collect();
    sessions.sort_unstable_by(|a, b| a.id().cmp(b.id()));
    sessions
}

/// The conversations of the session's agents, with their lengths.
fn conversations(summary: &Summary) -> Vec<(String, u64)> {
    summary.origin.transcript.as_deref().map(agent_conversations).unwrap_or_default()
}

fn matching_sessions(app: &App, query: &StatsQuery) -> Vec<Summary> {
    let mut sessions = all_sessions(app);
    if let Some(project) = query.project.as_deref().filter(|project| !project.is_empty()) {
        sessions.retain(|summary| match summary.project() {
            Some(own) => own.to_string_lossy() == project,
            None => false,
        });
    }
    sessions
}

/// The statistics, and how many conversations could not be read in time.
fn compute(app: &App, query: &StatsQuery, summaries: &[Summary]) -> (Statistics, usize) {
    let sessions: Vec<Session> = summaries.iter().map(|summary| summary.session.clone()).collect();
    let shared = app.histories.update_all(&sessions);
    let readers: Vec<_> = shared.iter().map(|reader| lock(reader)).collect();
    let histories: Vec<&History> = readers.iter().map(|reader| reader.history()).collect();
    let (tokens, unread) = tokens_by_agent(app, summaries, &histories);
    let since = query.days.map(|days| Millis(clock::now().0 - i64::from(days) * DAY_MS));
    let workflow = query.workflow.clone().filter(|name| !name.is_empty());
    let filter = Filter { since, workflow };
    let known = |run: &AgentRun| tokens.get(run.id.as_deref()?).copied();
    (statistics(histories, &filter, &known), unread)
}

/// The tokens of every agent by its id, and how many conversations are still to be read.
fn tokens_by_agent<'a>(
    app: &App,
    summaries: &[Summary],
    histories: &[&'a History],
) -> (HashMap<&'a str, Tokens>, usize) {
    let started = Instant::now();
    let (mut tokens, mut unread) = (HashMap::new(), 0);
    for (summary, history) in summaries.iter().zip(histories) {
        let conversations = conversations(summary);
        if conversations.is_empty() {
            continue;
        }
        let ids: HashSet<&str> = history.agents.iter().filter_map(|run| run.id.as_deref()).collect();
        for (id, length) in &conversations {
            let Some(id) = ids.get(id.as_str()) else { continue };
            match cached_usage(app, summary, id, *length, started.elapsed() < MAX_READING_TIME) {
                Some(usage) => drop(tokens.insert(*id, usage.tokens)),
                None => unread += 1,
            }
        }
    }
    (tokens, unread)
}
