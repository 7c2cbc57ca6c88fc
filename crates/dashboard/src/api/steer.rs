//! Changing a session: stop, resume, pause, a message to its main agent, delete. Where the whole fleet is shown, the
//! session's own machine is asked to do it.

use std::sync::Arc;

use axum::Json;
use axum::body::Bytes;
use axum::extract::{Path, State};
use axum::http::StatusCode;
use overtone_fleet::Deed;
use overtone_messages::dashboard as words;
use serde::Deserialize;
use serde_json::{Value, json};

use super::{Shared, aside, session};
use crate::actions::{self, Action, Refused};
use crate::app::App;
use crate::error::{Answer, ApiError};
use crate::fleet;

pub(super) async fn change(
    State(app): Shared,
    Path((id, action)): Path<(String, String)>,
    body: Bytes,
) -> Answer<Json<Value>> {
    let action = wanted(&app, &action, &body)?;
    let session = session(&app, &Path(id))?;
    if app.fleet.is_shown() {
        let (name, deed) = (action.name(), deed(action));
        fleet::order(&app, session.id().as_str(), deed).await?;
        actions::ordered(&app, &session, name);
        return Ok(Json(json!({ "ok": true })));
    }
    let shared = Arc::clone(&app);
    let done = aside(move || actions::change(&shared, &session, &action, "dashboard")).await?;
    match done {
        Ok(()) => Ok(Json(json!({ "ok": true }))),
        Err(Refused::Not(reason)) => Err(ApiError::new(StatusCode::CONFLICT, reason)),
        Err(Refused::Failed(problem)) => Err(ApiError::new(StatusCode::INTERNAL_SERVER_ERROR, problem)),
    }
}

fn wanted(app: &App, action: &str, body: &[u8]) -> Answer<Action> {
    #[derive(Deserialize)]
    struct Said {
        text: String,
    }
    let lang = app.lang;
    let missing = || ApiError::new(StatusCode::NOT_FOUND, words::no_such_path(lang, action));
    if action == "message" {
        let said = serde_json::from_slice::<Said>(body);
        let said = said.map_err(|_| ApiError::new(StatusCode::BAD_REQUEST, words::no_text(lang)))?;
        return Ok(Action::Message { text: said.text });
    }
    Action::from_name(action).ok_or_else(missing)
}

fn deed(action: Action) -> Deed {
    match action {
        Action::Stop => Deed::Stop,
        Action::Resume => Deed::Resume,
        Action::Pause => Deed::Pause,
        Action::Message { text } => Deed::Message { text },
    }
}

pub(super) async fn delete(State(app): Shared, id: Path<String>) -> Answer<Json<Value>> {
    let session = session(&app, &id)?;
    if app.fleet.is_shown() {
        return Err(ApiError::new(StatusCode::CONFLICT, words::only_at_home(app.lang)));
    }
    let shared = Arc::clone(&app);
    let done = aside(move || actions::delete(&shared, &session)).await?;
    done.map_err(|error| ApiError::internal(&error))?;
    Ok(Json(json!({ "ok": true })))
}
