//! Commands for a session: stop, resume, pause, a message to its main agent, delete. If the sessions of all machines are
//! shown, the command is sent to the session's own machine.

use std::sync::Arc;

use axum::Json;
use axum::body::Bytes;
use axum::extract::{Path, State};
use axum::http::StatusCode;
use overtone_core::messages::dashboard as messages;
use overtone_session::control::{ControlCommand, ControlError};
use serde::Deserialize;

use super::responses::DoneResponse;
use super::{AppState, find_session, run_blocking};
use crate::dashboard::actions;
use crate::dashboard::app::App;
use crate::dashboard::error::{ApiError, ApiResult};
use crate::dashboard::fleet::OrderError;

pub(super) async fn run_command(
    State(app): AppState,
    Path((id, action)): Path<(String, String)>,
    body: Bytes,
) -> ApiResult<Json<DoneResponse>> {
    let command = parse_command(&app, &action, &body)?;
    let session = find_session(&app, &Path(id))?;
    if app.fleet.shows_all_machines() {
        app.fleet.send(session.id().as_str(), &command).await.map_err(order_error)?;
        actions::log_forwarded(&app, &session, &command);
        return Ok(Json(DoneResponse::OK));
    }
    let shared = Arc::clone(&app);
    let result = run_blocking(move || {
        let result = actions::control(&shared, &session, &command, "dashboard");
        result.map_err(|error| ApiError::new(control_status(&error), error.message(shared.lang)))
    });
    result.await??;
    Ok(Json(DoneResponse::OK))
}

fn control_status(error: &ControlError) -> StatusCode {
    match error {
        ControlError::Refused(_) => StatusCode::CONFLICT,
        ControlError::Failed(_) | ControlError::Incomplete(_) => StatusCode::INTERNAL_SERVER_ERROR,
    }
}

fn order_error(error: OrderError) -> ApiError {
    match error {
        OrderError::Refused(reason) => ApiError::new(StatusCode::CONFLICT, reason),
        OrderError::Unavailable { message, hint } => {
            let error = ApiError::new(StatusCode::SERVICE_UNAVAILABLE, message);
            match hint {
                Some(hint) => error.hint(hint),
                None => error,
            }
        }
    }
}

fn parse_command(app: &App, action: &str, body: &[u8]) -> ApiResult<ControlCommand> {
    #[derive(Deserialize)]
    struct MessageRequest {
        text: String,
    }
    let lang = app.lang;
    let missing = || ApiError::new(StatusCode::NOT_FOUND, messages::no_such_path(lang, action));
    if action == "message" {
        return match serde_json::from_slice::<MessageRequest>(body) {
            Ok(request) => Ok(ControlCommand::Message { text: request.text }),
            Err(_) => Err(ApiError::new(StatusCode::BAD_REQUEST, messages::no_text(lang))),
        };
    }
    ControlCommand::from_name(action).ok_or_else(missing)
}

pub(super) async fn delete(State(app): AppState, id: Path<String>) -> ApiResult<Json<DoneResponse>> {
    let session = find_session(&app, &id)?;
    if app.fleet.shows_all_machines() {
        return Err(ApiError::new(StatusCode::CONFLICT, messages::only_at_home(app.lang)));
    }
    let shared = Arc::clone(&app);
    let deleted = run_blocking(move || actions::delete(&shared, &session)).await?;
    deleted.map_err(|error| ApiError::internal(&error))?;
    Ok(Json(DoneResponse::OK))
}
