//! Changing a session: stop, resume, pause, delete.

use std::sync::Arc;

use axum::Json;
use axum::extract::{Path, State};
use axum::http::StatusCode;
use overtone_messages::dashboard as words;
use serde_json::{Value, json};

use super::{Shared, aside, session};
use crate::actions::{self, Action, Refused};
use crate::error::{Answer, ApiError};

pub(super) async fn change(
    State(app): Shared,
    Path((id, action)): Path<(String, String)>,
) -> Answer<Json<Value>> {
    let lang = app.lang;
    let Some(action) = Action::from_name(&action) else {
        return Err(ApiError::new(StatusCode::NOT_FOUND, words::no_such_path(lang, &action)));
    };
    let session = session(&app, &Path(id))?;
    let shared = Arc::clone(&app);
    let done = aside(move || actions::change(&shared, &session, action, "dashboard")).await?;
    match done {
        Ok(()) => Ok(Json(json!({ "ok": true }))),
        Err(Refused::Not(reason)) => Err(ApiError::new(StatusCode::CONFLICT, reason)),
        Err(Refused::Failed(problem)) => Err(ApiError::new(StatusCode::INTERNAL_SERVER_ERROR, problem)),
    }
}

pub(super) async fn delete(State(app): Shared, id: Path<String>) -> Answer<Json<Value>> {
    let session = session(&app, &id)?;
    let shared = Arc::clone(&app);
    let done = aside(move || actions::delete(&shared, &session)).await?;
    done.map_err(|error| ApiError::internal(&error))?;
    Ok(Json(json!({ "ok": true })))
}
