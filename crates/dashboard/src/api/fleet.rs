//! The machines of the fleet, and who works on what.

use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;
use overtone_messages::dashboard as words;
use serde_json::Value;

use super::Shared;
use crate::error::{Answer, ApiError};

pub(super) async fn show(State(app): Shared) -> Answer<Json<Value>> {
    let missing = || ApiError::new(StatusCode::NOT_FOUND, words::one_machine_only(app.lang));
    app.fleet.to_json().map(Json).ok_or_else(missing)
}
