//! Logs a page in with the code of a one-time link, or with the token that the user entered.

use std::sync::Arc;

use axum::Json;
use axum::extract::State;
use axum::http::header;
use axum::response::{IntoResponse, Response};
use serde::Deserialize;

use super::responses::LoginResponse;
use super::{AppState, run_blocking};
use crate::dashboard::app::App;
use crate::dashboard::error::{ApiError, ApiResult};
use crate::dashboard::guard::unauthorized;
use crate::dashboard::links::redeem_link;

#[derive(Debug, Deserialize)]
pub(super) struct LoginRequest {
    code: Option<String>,
    token: Option<String>,
}

pub(super) async fn login(State(app): AppState, Json(request): Json<LoginRequest>) -> ApiResult<Response> {
    let shared = Arc::clone(&app);
    if !run_blocking(move || is_authorized(&shared, &request)).await? {
        return Err(unauthorized(app.lang));
    }
    let page = app.endpoint.access.add_page().map_err(|error| ApiError::internal(&error))?;
    app.touch();
    Ok(([(header::SET_COOKIE, page.cookie)], Json(LoginResponse { key: page.key })).into_response())
}

fn is_authorized(app: &App, request: &LoginRequest) -> bool {
    match (&request.code, &request.token) {
        (Some(code), _) => redeem_link(&app.home, code, &app.instance),
        (None, Some(token)) => app.endpoint.access.is_token(token.trim()),
        (None, None) => false,
    }
}
