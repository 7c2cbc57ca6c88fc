//! Changes that a user makes from the dashboard. Each is recorded in the timelines of the sessions concerned and in the
//! dashboard's own log.

use std::path::Path;

use overtone_core::engine::Record;
use overtone_core::registry::WarningReason;
use overtone_session::control::{ControlCommand, ControlError, Controller};
use overtone_store::{Session, StoreError, clock, files, timeline};
use serde::Serialize;

use crate::dashboard::app::App;
use crate::dashboard::instance::actions_file;

/// Runs a command on a session of this machine and logs it.
pub(crate) fn control(
    app: &App,
    session: &Session,
    command: &ControlCommand,
    by: &str,
) -> Result<(), ControlError> {
    let controller = Controller { home: &app.home, settings: &app.settings, lang: app.lang };
    controller.run(session, command, by)?;
    log(app, command.name(), by, &AboutSession { session: session.id().as_str() });
    Ok(())
}

/// Logs a command that another machine has carried out.
pub(crate) fn log_forwarded(app: &App, session: &Session, command: &ControlCommand) {
    log(app, command.name(), "dashboard", &AboutSession { session: session.id().as_str() });
}

pub(crate) fn delete(app: &App, session: &Session) -> Result<(), StoreError> {
    session.remove()?;
    log(app, "delete", "dashboard", &AboutSession { session: session.id().as_str() });
    Ok(())
}

pub(crate) fn feature_moved(app: &App, project: &Path, feature: &str, to: &str) {
    let record = Record::warning(WarningReason::FeatureMoved);
    record_in_sessions(app, project, &record.with("by", "dashboard").with("feature", feature).with("to", to));
    log(app, "move", "dashboard", &AboutFeature { project, feature, to });
}

pub(crate) fn lesson_judged(app: &App, project: &Path, lesson: &str, signal: &str) {
    let record = Record::warning(WarningReason::LessonJudged);
    record_in_sessions(
        app,
        project,
        &record.with("by", "dashboard").with("lesson", lesson).with("signal", signal),
    );
    log(app, signal, "dashboard", &AboutLesson { project, lesson });
}

/// Adds a record to the timelines of the project's open sessions.
fn record_in_sessions(app: &App, project: &Path, record: &Record) {
    let sessions: Vec<Session> = {
        let index = app.index();
        let summaries = index.entries().map(|entry| &entry.summary);
        let open = summaries.filter(|summary| summary.state.is_open() && summary.project() == Some(project));
        open.map(|summary| summary.session.clone()).collect()
    };
    for session in sessions {
        // A busy session is skipped; the log has the change in any case.
        let Ok(_lock) = session.lock() else { continue };
        let _ = timeline::append(&session.timeline_file(), &[record], clock::now());
    }
}

/// A line of the dashboard's log.
#[derive(Serialize)]
struct LogLine<'a, T> {
    ts: String,
    action: &'a str,
    by: &'a str,
    about: &'a T,
}

#[derive(Serialize)]
struct AboutSession<'a> {
    session: &'a str,
}

#[derive(Serialize)]
struct AboutFeature<'a> {
    project: &'a Path,
    feature: &'a str,
    to: &'a str,
}

#[derive(Serialize)]
struct AboutLesson<'a> {
    project: &'a Path,
    lesson: &'a str,
}

fn log(app: &App, action: &str, by: &str, about: &impl Serialize) {
    let file = actions_file(&app.home);
    let line = LogLine { ts: clock::to_iso(clock::now()), action, by, about };
    let written = match serde_json::to_string(&line) {
        Ok(text) => files::append_lines(&file, &format!("{text}\n")),
        Err(error) => Err(error.into()),
    };
    if let Err(error) = written {
        eprintln!("[overtone/dashboard] cannot write {}: {error}", file.display());
    }
}
