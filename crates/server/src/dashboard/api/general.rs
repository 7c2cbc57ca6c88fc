//! The server's own state, and the tables and texts that the page uses.

use std::sync::atomic::Ordering;

use axum::Json;
use axum::extract::{Query, State};
use axum::http::header;
use axum::response::{IntoResponse, Response};
use overtone_core::messages::{Lang, page};
use overtone_session::view::SkippedFile;
use overtone_store::clock;
use serde::Deserialize;
use serde_json::Value;

use super::AppState;
use super::responses::{HealthResponse, StatusResponse, TextResponse};

/// The description of the API. A test compares it with the response types.
pub(super) const OPENAPI: &str = include_str!("openapi.json");

/// The health check. It needs no authorization and reveals nothing about sessions.
pub(super) async fn health(State(app): AppState) -> Json<HealthResponse> {
    Json(HealthResponse { ok: true, version: app.version })
}

/// The state of the server.
pub(super) async fn status(State(app): AppState) -> Json<StatusResponse> {
    let index = app.index();
    Json(StatusResponse {
        version: app.version,
        pid: std::process::id(),
        started_at: clock::to_iso(app.started),
        sessions: index.len(),
        clients: app.hub.listeners(),
        events: app.hub.published(),
        watching: app.is_watching,
        statistics_computed: app.statistics_computed.load(Ordering::Relaxed),
        skipped: index.skipped().iter().map(SkippedFile::to_json).collect(),
        fleet: app.fleet.health(),
    })
}

#[derive(Debug, Deserialize)]
pub(super) struct LanguageQuery {
    lang: Option<String>,
}

impl LanguageQuery {
    fn lang_or(&self, configured: Lang) -> Lang {
        self.lang.as_deref().and_then(Lang::from_tag).unwrap_or(configured)
    }
}

pub(super) async fn registry(State(app): AppState, Query(query): Query<LanguageQuery>) -> Json<Value> {
    let mut registry = overtone_session::view::registry(query.lang_or(app.lang), app.version);
    if app.fleet.shows_all_machines() {
        // The page then shows machines, and offers only what can be requested from another machine.
        registry["fleet"] = true.into();
    }
    Json(registry)
}

pub(super) async fn text(State(app): AppState, Query(query): Query<LanguageQuery>) -> Json<TextResponse> {
    let lang = query.lang_or(app.lang);
    let text = page::texts(lang).into_iter().map(|(name, text)| (name, Value::String(text))).collect();
    Json(TextResponse { lang: lang.tag(), text })
}

pub(super) async fn openapi() -> Response {
    ([(header::CONTENT_TYPE, "application/json")], OPENAPI).into_response()
}
