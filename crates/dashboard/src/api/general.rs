//! About the server itself, and the tables and texts that the page is made from.

use std::sync::atomic::Ordering;

use axum::Json;
use axum::extract::{Query, State};
use axum::http::header;
use axum::response::{IntoResponse, Response};
use overtone_messages::{Lang, page};
use overtone_store::clock;
use overtone_view::Skipped;
use serde::Deserialize;
use serde_json::{Map, Value, json};

use super::Shared;

const OPENAPI: &str = include_str!("openapi.json");

/// For everybody on this machine: that a server is here, and nothing of what it knows.
pub(super) async fn health(State(app): Shared) -> Json<Value> {
    Json(json!({ "ok": true, "version": app.version }))
}

/// How the server is doing.
pub(super) async fn status(State(app): Shared) -> Json<Value> {
    let index = app.index();
    let mut status = json!({
        "version": app.version,
        "pid": std::process::id(),
        "startedAt": clock::to_iso(app.started),
        "sessions": index.len(),
        "clients": app.hub.listeners(),
        "events": app.hub.told(),
        "watching": app.is_told,
        "statisticsComputed": app.computed.load(Ordering::Relaxed),
        "skipped": index.skipped().iter().map(Skipped::to_json).collect::<Vec<_>>(),
    });
    if let Some(fleet) = app.fleet.health() {
        status["fleet"] = fleet;
    }
    Json(status)
}

#[derive(Debug, Deserialize)]
pub(super) struct Language {
    lang: Option<String>,
}

impl Language {
    fn or(&self, configured: Lang) -> Lang {
        self.lang.as_deref().and_then(Lang::from_tag).unwrap_or(configured)
    }
}

pub(super) async fn registry(State(app): Shared, Query(language): Query<Language>) -> Json<Value> {
    let mut registry = overtone_view::registry(language.or(app.lang), app.version);
    if app.fleet.is_shown() {
        // The page shows machines, then, and offers only what another machine can be asked for.
        registry["fleet"] = json!(true);
    }
    Json(registry)
}

pub(super) async fn text(State(app): Shared, Query(language): Query<Language>) -> Json<Value> {
    let lang = language.or(app.lang);
    let texts: Map<String, Value> =
        page::texts(lang).into_iter().map(|(name, text)| (name, Value::String(text))).collect();
    Json(json!({ "lang": lang.tag(), "text": texts }))
}

pub(super) async fn openapi() -> Response {
    ([(header::CONTENT_TYPE, "application/json")], OPENAPI).into_response()
}
