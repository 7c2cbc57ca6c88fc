//! What a person does from here, and the trace that it leaves: in the session's timeline, and in a log of its own
//! for what has none.

use std::error::Error;
use std::path::Path;

use overtone_engine::Record;
use overtone_engine::commands::{Refusal, message, resume, stop};
use overtone_fleet::refusal_words;
use overtone_hooks::{Documented, act, shift_feature};
use overtone_registry::EventKind;
use overtone_store::specs::Shelf;
use overtone_store::{Session, StoreError, clock, files, timeline};
use serde_json::{Value, json};

use crate::app::App;
use crate::instance::actions_file;

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Action {
    Stop,
    Resume,
    /// Stops the loop and puts the feature aside.
    Pause,
    /// To the main agent.
    Message {
        text: String,
    },
}

impl Action {
    pub(crate) fn from_name(name: &str) -> Option<Self> {
        match name {
            "stop" => Some(Self::Stop),
            "resume" => Some(Self::Resume),
            "pause" => Some(Self::Pause),
            _ => None,
        }
    }

    pub(crate) const fn name(&self) -> &'static str {
        match self {
            Self::Stop => "stop",
            Self::Resume => "resume",
            Self::Pause => "pause",
            Self::Message { .. } => "message",
        }
    }
}

/// Why nothing was changed.
#[derive(Debug)]
pub(crate) enum Refused {
    /// The workflow is not in a state for it.
    Not(String),
    Failed(String),
}

pub(crate) fn change(app: &App, session: &Session, action: &Action, by: &str) -> Result<(), Refused> {
    let decided = act(&app.home, session, None, Documented::Continued, |snapshot| match action {
        Action::Stop | Action::Pause => stop(snapshot, by, clock::now()),
        Action::Resume => resume(snapshot, &app.settings, by, clock::now()),
        Action::Message { text } => message(snapshot, text, by, app.lang, clock::now()),
    });
    let shifted = match decided {
        Ok(problems) if problems.is_empty() => shift(session, action),
        Ok(problems) => return Err(Refused::Failed(problems.join("; "))),
        // A stopped loop can still be put aside.
        Err(error) if *action == Action::Pause && is_nothing_to_do(error.as_ref()) => shift(session, action),
        Err(error) => return Err(refused(app, error)),
    };
    log(app, action.name(), by, &json!({ "session": session.id().as_str() }));
    shifted.map_err(Refused::Failed)
}

fn is_nothing_to_do(error: &(dyn Error + 'static)) -> bool {
    error.downcast_ref::<Refusal>() == Some(&Refusal::NothingToDo)
}

fn refused(app: &App, error: Box<dyn Error>) -> Refused {
    match error.downcast::<Refusal>() {
        Ok(refusal) => Refused::Not(refusal_words(app.lang, &refusal)),
        Err(error) => Refused::Failed(error.to_string()),
    }
}

fn shift(session: &Session, action: &Action) -> Result<(), String> {
    match action {
        Action::Pause => shift_feature(session, Shelf::InProgress, Shelf::Paused),
        Action::Resume => shift_feature(session, Shelf::Paused, Shelf::InProgress),
        _ => Ok(()),
    }
}

/// Another machine has done it.
pub(crate) fn ordered(app: &App, session: &Session, action: &str) {
    log(app, action, "dashboard", &json!({ "session": session.id().as_str() }));
}

pub(crate) fn delete(app: &App, session: &Session) -> Result<(), StoreError> {
    session.remove()?;
    log(app, "delete", "dashboard", &json!({ "session": session.id().as_str() }));
    Ok(())
}

pub(crate) fn feature_moved(app: &App, project: &Path, feature: &str, to: &str) {
    let fields = [("reason", "feature-moved"), ("by", "dashboard"), ("feature", feature), ("to", to)];
    tell_sessions(app, project, &fields);
    log(app, "move", "dashboard", &json!({ "project": project, "feature": feature, "to": to }));
}

pub(crate) fn lesson_judged(app: &App, project: &Path, lesson: &str, signal: &str) {
    let fields = [("reason", "lesson-judged"), ("by", "dashboard"), ("lesson", lesson), ("signal", signal)];
    tell_sessions(app, project, &fields);
    log(app, signal, "dashboard", &json!({ "project": project, "lesson": lesson }));
}

/// Into the timelines of the project's sessions at work.
fn tell_sessions(app: &App, project: &Path, fields: &[(&'static str, &str)]) {
    let sessions: Vec<Session> = {
        let index = app.index();
        let here = index.entries().map(|entry| &entry.summary);
        let here = here.filter(|summary| summary.state.is_open() && summary.project() == Some(project));
        here.map(|summary| summary.session.clone()).collect()
    };
    let record = fields
        .iter()
        .fold(Record::new(EventKind::SystemWarning), |record, (name, value)| record.with(name, *value));
    for session in sessions {
        // The log has it in any case.
        let Ok(_lock) = session.lock() else { continue };
        let _ = timeline::append(&session.timeline_file(), &[&record], clock::now());
    }
}

fn log(app: &App, action: &str, by: &str, about: &Value) {
    let line = json!({ "ts": clock::to_iso(clock::now()), "action": action, "by": by, "about": about });
    if let Err(error) = files::append_lines(&actions_file(&app.home), &format!("{line}\n")) {
        eprintln!("[overtone/dashboard] cannot write {}: {error}", actions_file(&app.home).display());
    }
}
