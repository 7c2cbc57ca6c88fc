//! The timeline of a session, page by page.

use axum::Json;
use axum::extract::{Path, Query as Parameters, State};
use overtone_view::{Direction, Query, Seen, read_page};
use serde::Deserialize;
use serde_json::{Map, Value, json};

use super::{Shared, aside, session};
use crate::error::{Answer, ApiError};

const DEFAULT_LIMIT: usize = 200;
const MAX_LIMIT: usize = 2_000;

#[derive(Debug, Deserialize)]
pub(super) struct Wanted {
    cursor: Option<u64>,
    direction: Option<String>,
    limit: Option<usize>,
    r#type: Option<String>,
    category: Option<String>,
    q: Option<String>,
}

impl Wanted {
    fn query(self) -> Query {
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
            words: self.q,
        }
    }
}

pub(super) async fn page(
    State(app): Shared,
    id: Path<String>,
    Parameters(wanted): Parameters<Wanted>,
) -> Answer<Json<Value>> {
    let path = session(&app, &id)?.timeline_file();
    let query = wanted.query();
    let page = aside(move || read_page(&path, &query)).await?;
    let page = page.map_err(|error| ApiError::internal(&error))?;
    Ok(Json(json!({
        "events": page.events.iter().map(event).collect::<Vec<_>>(),
        "older": page.older,
        "newer": page.newer,
        "scanned": page.scanned,
        "skipped": page.skipped,
    })))
}

/// The event as it was recorded, with its place for an id.
fn event(seen: &Seen) -> Value {
    let mut object = Map::from_iter([("id".to_owned(), json!(seen.place))]);
    let recorded = seen.fields.iter().filter(|(name, _)| *name != "id");
    object.extend(recorded.map(|(name, value)| (name.clone(), value.clone())));
    Value::Object(object)
}
