//! The timeline of a session, page by page.

use axum::Json;
use axum::extract::{Path, Query as Parameters, State};
use overtone_session::view::{Direction, Query, TimelineEvent, read_page};
use serde::Deserialize;
use serde_json::{Map, Value};

use super::responses::TimelineResponse;
use super::{AppState, find_session, run_blocking};
use crate::dashboard::error::{ApiError, ApiResult};

const DEFAULT_LIMIT: usize = 200;
const MAX_LIMIT: usize = 2_000;

#[derive(Debug, Deserialize)]
pub(super) struct TimelineQuery {
    cursor: Option<u64>,
    direction: Option<String>,
    limit: Option<usize>,
    r#type: Option<String>,
    category: Option<String>,
    q: Option<String>,
}

impl TimelineQuery {
    fn into_query(self) -> Query {
        let types = self.r#type.unwrap_or_default();
        let types = types.split(',').map(str::trim).filter(|name| !name.is_empty());
        Query {
            cursor: self.cursor,
            direction: if self.direction.as_deref() == Some("newer") {
                Direction::Newer
            } else {
                Direction::Older
            },
            limit: self.limit.unwrap_or(DEFAULT_LIMIT).clamp(1, MAX_LIMIT),
            types: types.map(str::to_owned).collect(),
            category: self.category.filter(|name| !name.is_empty()),
            text: self.q,
        }
    }
}

pub(super) async fn page(
    State(app): AppState,
    id: Path<String>,
    Parameters(query): Parameters<TimelineQuery>,
) -> ApiResult<Json<TimelineResponse>> {
    let path = find_session(&app, &id)?.timeline_file();
    let query = query.into_query();
    let page = run_blocking(move || read_page(&path, &query)).await?;
    let page = page.map_err(|error| ApiError::internal(&error))?;
    Ok(Json(TimelineResponse {
        events: page.events.iter().map(event_json).collect(),
        older: page.older,
        newer: page.newer,
        scanned: page.scanned,
        skipped: page.skipped,
    }))
}

/// The event as it was recorded, with its offset as id.
fn event_json(event: &TimelineEvent) -> Value {
    let mut object = Map::from_iter([("id".to_owned(), event.offset.into())]);
    let recorded = event.fields.iter().filter(|(name, _)| *name != "id");
    object.extend(recorded.map(|(name, value)| (name.clone(), value.clone())));
    Value::Object(object)
}
