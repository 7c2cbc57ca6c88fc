//! What was learned in each project, and a person's word on it.

use std::path::PathBuf;
use std::sync::Arc;

use axum::Json;
use axum::extract::{Path, State};
use axum::http::StatusCode;
use overtone_engine::instinct::Signal;
use overtone_messages::dashboard as words;
use overtone_store::clock;
use overtone_store::instincts::{Lesson, Memory};
use serde::Deserialize;
use serde_json::{Value, json};

use super::specs::{name_of, projects};
use super::{Shared, aside};
use crate::actions;
use crate::error::{Answer, ApiError};

pub(super) async fn list(State(app): Shared) -> Answer<Json<Value>> {
    let shared = Arc::clone(&app);
    let all = aside(move || {
        let now = clock::now();
        let of_project = |project: &PathBuf| {
            let lessons = Memory::of(&shared.home, project).lessons(now).unwrap_or_default();
            let lessons: Vec<_> = lessons.iter().map(of_lesson).collect();
            (!lessons.is_empty())
                .then(|| json!({ "project": project, "name": name_of(project), "lessons": lessons }))
        };
        projects(&shared).iter().filter_map(of_project).collect::<Vec<_>>()
    });
    Ok(Json(json!({ "projects": all.await? })))
}

fn of_lesson(lesson: &Lesson) -> Value {
    json!({
        "id": lesson.id, "kind": lesson.kind.key(), "trigger": lesson.trigger, "action": lesson.lesson,
        "confidence": lesson.confidence.fraction(), "count": lesson.count,
        "applied": lesson.confidence.is_applicable(), "updatedAt": lesson.last_seen.map(clock::to_iso),
    })
}

#[derive(Debug, Deserialize)]
pub(super) struct About {
    project: PathBuf,
}

pub(super) async fn judge(
    State(app): Shared,
    Path((id, action)): Path<(String, String)>,
    Json(about): Json<About>,
) -> Answer<Json<Value>> {
    let lang = app.lang;
    let missing = || ApiError::new(StatusCode::NOT_FOUND, words::no_such_lesson(lang));
    let signal = match action.as_str() {
        "confirm" => Signal::Confirm,
        "contradict" => Signal::Contradict,
        _ => return Err(missing()),
    };
    // Only projects that are shown; a path from outside leads nowhere.
    if !projects(&app).contains(&about.project) {
        return Err(missing());
    }
    let shared = Arc::clone(&app);
    let judged = aside(move || {
        let judged = Memory::of(&shared.home, &about.project).judge(&id, signal, clock::now());
        if let Ok(Some(lesson)) = &judged {
            actions::lesson_judged(&shared, &about.project, &lesson.id, &action);
        }
        judged
    });
    let lesson = judged.await?.map_err(|error| ApiError::internal(&error))?.ok_or_else(missing)?;
    Ok(Json(json!({ "ok": true, "lesson": of_lesson(&lesson) })))
}
