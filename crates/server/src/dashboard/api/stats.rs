//! Statistics over all sessions. Results are cached until a file has changed.

use std::collections::HashMap;
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
use overtone_session::view::{Filter, History, SessionUsage, Statistics, Summary, statistics};
use overtone_store::config::Config;
use overtone_store::{Session, clock};
use serde::Deserialize;
use tokio::sync::Mutex;

use super::responses::StatsResponse;
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
        SessionUsage::version(&summary.session).hash(&mut hasher);
    }
    hasher.finish()
}

fn all_sessions(app: &App) -> Vec<Summary> {
    let mut sessions: Vec<_> = app.index().entries().map(|entry| entry.summary.clone()).collect();
    sessions.sort_unstable_by(|a, b| a.id().cmp(b.id()));
    sessions
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

/// The statistics, and how many sessions with conversations could not be read in time.
fn compute(app: &App, query: &StatsQuery, summaries: &[Summary]) -> (Statistics, usize) {
    let sessions: Vec<Session> = summaries.iter().map(|summary| summary.session.clone()).collect();
    if query.project.is_none() {
        app.usages.retain(&sessions);
    }
    let shared = app.histories.update_all(&sessions);
    let readers: Vec<_> = shared.iter().map(|reader| lock(reader)).collect();
    let histories: Vec<&History> = readers.iter().map(|reader| reader.history()).collect();
    let (usages, unread) = usages(app, &sessions, &histories);
    let since = query.days.map(|days| Millis(clock::now().0 - i64::from(days) * DAY_MS));
    let workflow = query.workflow.clone().filter(|name| !name.is_empty());
    let filter = Filter { since, workflow };
    let used = histories.into_iter().zip(usages.iter().map(|usage| &*usage.entries));
    (statistics(used, &filter, &Config::load_or_default(&app.home).prices()), unread)
}

/// What each session has used, and how many sessions are still to be read.
fn usages(app: &App, sessions: &[Session], histories: &[&History]) -> (Vec<Arc<SessionUsage>>, usize) {
    let started = Instant::now();
    let mut unread = 0;
    let mut read = |(session, history): (&Session, &&History)| {
        let usage = app.usages.get(session, history, started.elapsed() < MAX_READING_TIME);
        usage.unwrap_or_else(|| {
            unread += 1;
            Arc::default()
        })
    };
    let usages = sessions.iter().zip(histories).map(&mut read).collect();
    (usages, unread)
}
