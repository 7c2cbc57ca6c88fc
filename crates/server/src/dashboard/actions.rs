//! Changes that a user makes from the dashboard. Each is recorded in the timelines of the sessions concerned and in the
//! dashboard's own log.

use std::path::Path;

use overtone_core::engine::Record;
use overtone_core::registry::WarningReason;
use overtone_session::control::{ControlCommand, ControlError, Controller};
use overtone_store::{Session, StoreError, clock, files, timeline};
use serde_json::{Value, json};

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
    log(app, command.name(), by, &json!({ "session": session.id().as_str() }));
    Ok(())
}

/// Logs a command that another machine has carried out.
pub(crate) fn log_forwarded(app: &App, session: &Session, command: &ControlCommand) {
    log(app, command.name(), "dashboard", &json!({ "session": session.id().as_str() }));
}

pub(crate) fn delete(app: &App, session: &Session) -> Result<(), StoreError> {
    session.remove()?;
    log(app, "delete", "dashboard", &json!({ "session": session.id().as_str() }));
    Ok(())
}

pub(crate) fn feature_moved(app: &App, project: &Path, feature: &str, to: &str) {
    let record = Record::warning(WarningReason::FeatureMoved);
    record_in_sessions(app, project, &record.with("by", "dashboard").with("feature", feature).with("to", to));
    log(app, "move", "dashboard", &json!({ "project": project, "feature": feature, "to": to }));
}

pub(crate) fn lesson_judged(app: &App, project: &Path, lesson: &str, signal: &str) {
    let record = Record::warning(WarningReason::LessonJudged);
    record_in_sessions(
        app,
        project,
        &record.with("by", "dashboard").with("lesson", lesson).with("signal", signal),
    );
    log(app, signal, "dashboard", &json!({ "project": project, "lesson": lesson }));
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

fn log(app: &App, action: &str, by: &str, about: &Value) {
    let line = json!({ "ts": clock::to_iso(clock::now()), "action": action, "by": by, "about": about });
    if let Err(error) = files::append_lines(&actions_file(&app.home), &format!("{line}\n")) {
        eprintln!("[overtone/dashboard] cannot write {}: {error}", actions_file(&app.home).display());
    }
}
