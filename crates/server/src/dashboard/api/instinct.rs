//! The lessons learned in each project, which the user can confirm or contradict.

use std::path::PathBuf;
use std::sync::Arc;

use axum::Json;
use axum::extract::{Path, State};
use axum::http::StatusCode;
use overtone_core::engine::instinct::Signal;
use overtone_core::messages::dashboard as messages;
use overtone_store::clock;
use overtone_store::instincts::Memory;
use serde::Deserialize;

use super::responses::{InstinctResponse, JudgedLessonResponse, LessonResponse, ProjectLessons};
use super::specs::{project_name, projects};
use super::{AppState, run_blocking};
use crate::dashboard::actions;
use crate::dashboard::error::{ApiError, ApiResult};

pub(super) async fn list(State(app): AppState) -> ApiResult<Json<InstinctResponse>> {
    let shared = Arc::clone(&app);
    let all = run_blocking(move || {
        let now = clock::now();
        let mut all = Vec::new();
        for project in projects(&shared) {
            let lessons = Memory::for_project(&shared.home, &project).lessons(now).unwrap_or_default();
            if !lessons.is_empty() {
                all.push(ProjectLessons {
                    name: project_name(&project),
                    project,
                    lessons: lessons.iter().map(LessonResponse::from).collect(),
                });
            }
        }
        all
    });
    Ok(Json(InstinctResponse { projects: all.await? }))
}

#[derive(Debug, Deserialize)]
pub(super) struct JudgeLessonRequest {
    project: PathBuf,
}

pub(super) async fn judge(
    State(app): AppState,
    Path((id, action)): Path<(String, String)>,
    Json(request): Json<JudgeLessonRequest>,
) -> ApiResult<Json<JudgedLessonResponse>> {
    let lang = app.lang;
    let missing = || ApiError::new(StatusCode::NOT_FOUND, messages::no_such_lesson(lang));
    let signal = match action.as_str() {
        "confirm" => Signal::Confirm,
        "contradict" => Signal::Contradict,
        _ => return Err(missing()),
    };
    // Only projects that are shown are accepted, not arbitrary paths.
    if !projects(&app).contains(&request.project) {
        return Err(missing());
    }
    let shared = Arc::clone(&app);
    let judged = run_blocking(move || {
        let judged = Memory::for_project(&shared.home, &request.project).judge(&id, signal, clock::now());
        if let Ok(Some(lesson)) = &judged {
            actions::lesson_judged(&shared, &request.project, &lesson.id, &action);
        }
        judged
    });
    let lesson = judged.await?.map_err(|error| ApiError::internal(&error))?.ok_or_else(missing)?;
    Ok(Json(JudgedLessonResponse { ok: true, lesson: LessonResponse::from(&lesson) }))
}
