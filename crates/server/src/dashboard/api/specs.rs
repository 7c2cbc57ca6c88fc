//! The features of the projects that sessions have worked in.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;
use overtone_core::messages::dashboard as messages;
use overtone_store::specs::{Feature, Shelf, Specs, SpecsError};
use serde::Deserialize;

use super::responses::{FeatureResponse, MovedFeatureResponse, ProjectFeatures, Shelves, SpecsResponse};
use super::{AppState, run_blocking};
use crate::dashboard::actions;
use crate::dashboard::app::App;
use crate::dashboard::error::{ApiError, ApiResult};

pub(super) async fn list(State(app): AppState) -> ApiResult<Json<SpecsResponse>> {
    let shared = Arc::clone(&app);
    let projects =
        run_blocking(move || projects(&shared).iter().map(|path| project_features(path)).collect());
    Ok(Json(SpecsResponse { projects: projects.await? }))
}

/// The existing projects that sessions have worked in; none if the sessions belong to other machines.
pub(super) fn projects(app: &App) -> BTreeSet<PathBuf> {
    if app.fleet.shows_all_machines() {
        return BTreeSet::new();
    }
    let index = app.index();
    let all = index.entries().filter_map(|entry| entry.summary.origin.project.clone());
    all.collect::<BTreeSet<_>>().into_iter().filter(|path| path.is_dir()).collect()
}

pub(super) fn project_name(project: &Path) -> String {
    project.file_name().unwrap_or_default().to_string_lossy().into_owned()
}

fn project_features(project: &Path) -> ProjectFeatures {
    // Unreadable specs are shown as empty.
    let features = Specs::new(project).list().unwrap_or_default();
    ProjectFeatures {
        project: project.to_owned(),
        name: project_name(project),
        shelves: Shelves::new(&features),
    }
}

#[derive(Debug, Deserialize)]
pub(super) struct MoveFeatureRequest {
    project: PathBuf,
    feature: String,
    to: String,
}

pub(super) async fn move_feature(
    State(app): AppState,
    Json(request): Json<MoveFeatureRequest>,
) -> ApiResult<Json<MovedFeatureResponse>> {
    let bad_move = || ApiError::new(StatusCode::BAD_REQUEST, messages::bad_move(app.lang));
    let to = Shelf::from_folder(&request.to).ok_or_else(bad_move)?;
    if !projects(&app).contains(&request.project) {
        return Err(bad_move());
    }
    let shared = Arc::clone(&app);
    let moved = run_blocking(move || -> Result<Feature, SpecsError> {
        let feature = Specs::new(&request.project).shift(&request.feature, to)?;
        actions::feature_moved(&shared, &request.project, &feature.name, to.folder());
        Ok(feature)
    });
    match moved.await? {
        Ok(feature) => Ok(Json(MovedFeatureResponse { ok: true, feature: FeatureResponse::from(&feature) })),
        Err(error) => {
            let conflict = ApiError::new(StatusCode::CONFLICT, error.to_string());
            Err(match error.hint() {
                Some(hint) => conflict.hint(hint),
                None => conflict,
            })
        }
    }
}
