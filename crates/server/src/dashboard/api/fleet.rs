//! The machines of the fleet and the features they work on.

use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;
use overtone_core::messages::dashboard as messages;
use serde_json::Value;

use super::AppState;
use crate::dashboard::error::{ApiError, ApiResult};

pub(super) async fn show(State(app): AppState) -> ApiResult<Json<Value>> {
    let missing = || ApiError::new(StatusCode::NOT_FOUND, messages::one_machine_only(app.lang));
    app.fleet.overview().map(Json).ok_or_else(missing)
}
