//! The endpoints below `/api`, and the page.

mod control;
mod events;
mod fleet;
mod general;
mod instinct;
mod login;
mod responses;
mod sessions;
mod specs;
mod stats;
mod timeline;
mod usage_response;

use std::sync::Arc;

use axum::Router;
use axum::extract::{DefaultBodyLimit, Path, State};
use axum::http::{StatusCode, Uri};
use axum::middleware;
use axum::routing::{delete, get, post};
use overtone_core::messages::dashboard as messages;
use overtone_store::{Session, SessionId};

use crate::dashboard::app::App;
use crate::dashboard::error::{ApiError, ApiResult};
use crate::dashboard::{assets, guard};

pub(crate) use responses::ErrorResponse;
pub(crate) use stats::SharedStatisticsCache;

/// No request needs a larger body.
const MAX_BODY_BYTES: usize = 64 * 1024;

type AppState = State<Arc<App>>;

pub(crate) fn router(app: Arc<App>) -> Router {
    let reading = Router::new()
        .route("/api/health", get(general::health))
        .route("/api/status", get(general::status))
        .route("/api/registry", get(general::registry))
        .route("/api/text", get(general::text))
        .route("/api/openapi.json", get(general::openapi))
        .route("/api/sessions", get(sessions::list))
        .route("/api/sessions/{id}", get(sessions::show))
        .route("/api/sessions/{id}/timeline", get(timeline::page))
        .route("/api/sessions/{id}/handoffs/{file}", get(sessions::handoff))
        .route("/api/fleet", get(fleet::show))
        .route("/api/stats", get(stats::stats))
        .route("/api/specs", get(specs::list))
        .route("/api/instinct", get(instinct::list))
        .route("/api/events", get(events::events));
    let changing = Router::new()
        .route("/api/enter", post(login::login))
        .route("/api/sessions/{id}", delete(control::delete))
        .route("/api/sessions/{id}/{action}", post(control::run_command))
        .route("/api/instinct/{id}/{action}", post(instinct::judge))
        .route("/api/specs/move", post(specs::move_feature));
    Router::new()
        .route("/", get(assets::index))
        .route("/assets/{*name}", get(assets::asset))
        .merge(reading)
        .merge(changing)
        .fallback(not_found)
        .layer(DefaultBodyLimit::max(MAX_BODY_BYTES))
        .layer(middleware::from_fn_with_state(Arc::clone(&app), guard::guard))
        .with_state(app)
}

async fn not_found(State(app): AppState, uri: Uri) -> ApiError {
    let path: String = uri.path().chars().filter(|c| !c.is_control()).take(80).collect();
    ApiError::new(StatusCode::NOT_FOUND, messages::no_such_path(app.lang, &path))
}

/// The session with this id. The id is checked like in the hooks.
fn find_session(app: &App, Path(id): &Path<String>) -> ApiResult<Session> {
    let missing = || ApiError::new(StatusCode::NOT_FOUND, messages::no_such_session(app.lang));
    let id = SessionId::parse(id).ok_or_else(missing)?;
    let session = app.home.session(&id);
    if session.exists() { Ok(session) } else { Err(missing()) }
}

/// Runs work that reads files on another thread, because all requests share one.
async fn run_blocking<T: Send + 'static>(work: impl FnOnce() -> T + Send + 'static) -> ApiResult<T> {
    tokio::task::spawn_blocking(work).await.map_err(|error| ApiError::internal(&error))
}
