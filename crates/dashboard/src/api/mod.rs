//! Everything below `/api`, and the page.

mod enter;
mod events;
mod fleet;
mod general;
mod instinct;
mod sessions;
mod specs;
mod stats;
mod steer;
mod timeline;

use std::sync::Arc;

use axum::Router;
use axum::extract::{DefaultBodyLimit, Path, State};
use axum::http::{StatusCode, Uri};
use axum::middleware;
use axum::routing::{delete, get, post};
use overtone_messages::dashboard as words;
use overtone_store::{Session, SessionId};

use crate::app::App;
use crate::error::{Answer, ApiError};
use crate::{assets, guard};

pub(crate) use stats::SharedAnswers;

/// No request has more to say.
const MAX_BODY: usize = 64 * 1024;

type Shared = State<Arc<App>>;

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
    let steering = Router::new()
        .route("/api/enter", post(enter::enter))
        .route("/api/sessions/{id}", delete(steer::delete))
        .route("/api/sessions/{id}/{action}", post(steer::change))
        .route("/api/instinct/{id}/{action}", post(instinct::judge))
        .route("/api/specs/move", post(specs::shift));
    Router::new()
        .route("/", get(assets::index))
        .route("/assets/{*name}", get(assets::asset))
        .merge(reading)
        .merge(steering)
        .fallback(nothing)
        .layer(DefaultBodyLimit::max(MAX_BODY))
        .layer(middleware::from_fn_with_state(Arc::clone(&app), guard::guard))
        .with_state(app)
}

async fn nothing(State(app): Shared, uri: Uri) -> ApiError {
    let path: String = uri.path().chars().filter(|c| !c.is_control()).take(80).collect();
    ApiError::new(StatusCode::NOT_FOUND, words::no_such_path(app.lang, &path))
}

/// The session of a path; its id is checked as in the hooks.
fn session(app: &App, Path(id): &Path<String>) -> Answer<Session> {
    let missing = || ApiError::new(StatusCode::NOT_FOUND, words::no_such_session(app.lang));
    let id = SessionId::parse(id).ok_or_else(missing)?;
    Some(app.home.session(&id)).filter(Session::exists).ok_or_else(missing)
}

/// Runs something that reads files, beside the one thread that answers.
async fn aside<T: Send + 'static>(work: impl FnOnce() -> T + Send + 'static) -> Answer<T> {
    tokio::task::spawn_blocking(work).await.map_err(|error| ApiError::internal(&error))
}
