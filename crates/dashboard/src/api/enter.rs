//! Lets a page in: by the code of a one-time link, or by the token that somebody pasted.

use std::sync::Arc;

use axum::Json;
use axum::extract::State;
use axum::http::header;
use axum::response::{IntoResponse, Response};
use serde::Deserialize;
use serde_json::json;

use super::{Shared, aside};
use crate::app::App;
use crate::error::{Answer, ApiError};
use crate::guard::unauthorized;
use crate::links::use_link;

#[derive(Debug, Deserialize)]
pub(super) struct Shown {
    code: Option<String>,
    token: Option<String>,
}

pub(super) async fn enter(State(app): Shared, Json(shown): Json<Shown>) -> Answer<Response> {
    let shared = Arc::clone(&app);
    let is_right = aside(move || is_right(&shared, &shown)).await?;
    if !is_right {
        return Err(unauthorized(app.lang));
    }
    let entry = app.door.access.admit().map_err(|error| ApiError::internal(&error))?;
    app.touch();
    Ok(([(header::SET_COOKIE, entry.cookie)], Json(json!({ "key": entry.key }))).into_response())
}

fn is_right(app: &App, shown: &Shown) -> bool {
    match (&shown.code, &shown.token) {
        (Some(code), _) => use_link(&app.home, code, &app.instance),
        (None, Some(token)) => app.door.access.is_token(token.trim()),
        (None, None) => false,
    }
}
