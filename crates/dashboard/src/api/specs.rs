//! The features of every project that a session has worked in.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;
use overtone_messages::dashboard as words;
use overtone_store::specs::{Feature, Shelf, Specs};
use serde::Deserialize;
use serde_json::{Map, Value, json};

use super::{Shared, aside};
use crate::actions;
use crate::app::App;
use crate::error::{Answer, ApiError};

pub(super) async fn list(State(app): Shared) -> Answer<Json<Value>> {
    let shared = Arc::clone(&app);
    let projects = aside(move || projects(&shared).iter().map(|path| of_project(path)).collect::<Vec<_>>());
    Ok(Json(json!({ "projects": projects.await? })))
}

/// Every project that a session has worked in, as long as it is there. Those of other machines are not.
pub(super) fn projects(app: &App) -> BTreeSet<PathBuf> {
    if app.fleet.is_shown() {
        return BTreeSet::new();
    }
    let index = app.index();
    let all = index.entries().filter_map(|entry| entry.summary.origin.project.clone());
    all.collect::<BTreeSet<_>>().into_iter().filter(|path| path.is_dir()).collect()
}

pub(super) fn name_of(project: &Path) -> String {
    project.file_name().unwrap_or_default().to_string_lossy().into_owned()
}

fn of_project(project: &Path) -> Value {
    // Specs that cannot be read are passed over.
    let features = Specs::new(project).list().unwrap_or_default();
    let on = |shelf: Shelf| {
        let there = features.iter().filter(|feature| feature.shelf == shelf);
        Value::Array(there.map(of_feature).collect())
    };
    let shelves: Map<String, Value> =
        Shelf::ALL.iter().map(|shelf| (shelf.folder().to_owned(), on(*shelf))).collect();
    json!({ "project": project, "name": name_of(project), "shelves": shelves })
}

fn of_feature(feature: &Feature) -> Value {
    let tasks = feature.tasks.clone().unwrap_or_default();
    let archived =
        (feature.shelf == Shelf::Archive).then(|| feature.name.chars().take(10).collect::<String>());
    json!({
        "name": feature.name, "workflow": feature.workflow, "checked": tasks.checked, "total": tasks.total,
        "created": feature.created, "archivedAt": archived,
    })
}

#[derive(Debug, Deserialize)]
pub(super) struct Move {
    project: PathBuf,
    feature: String,
    to: String,
}

pub(super) async fn shift(State(app): Shared, Json(wanted): Json<Move>) -> Answer<Json<Value>> {
    let lang = app.lang;
    let to = Shelf::from_folder(&wanted.to);
    let Some(to) = to.filter(|_| projects(&app).contains(&wanted.project)) else {
        return Err(ApiError::new(StatusCode::BAD_REQUEST, words::bad_move(lang)));
    };
    let shared = Arc::clone(&app);
    let moved = aside(move || {
        let done = Specs::new(&wanted.project).shift(&wanted.feature, to);
        done.inspect(|feature| actions::feature_moved(&shared, &wanted.project, &feature.name, to.folder()))
    });
    match moved.await? {
        Ok(feature) => Ok(Json(json!({ "ok": true, "feature": of_feature(&feature) }))),
        Err(error) => {
            let told = ApiError::new(StatusCode::CONFLICT, error.to_string());
            Err(match error.hint() {
                Some(hint) => told.hint(hint),
                None => told,
            })
        }
    }
}
