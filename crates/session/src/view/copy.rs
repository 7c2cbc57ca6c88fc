//! Copies of sessions that are on other machines.
//!
//! Their projects, conversations and supervisors are not on this machine, and paths that another machine names are not
//! followed. What would be read from there is taken from the summary that the session's own machine has published.

use overtone_core::engine::settings::Settings;
use overtone_store::{Session, files};
use serde::Serialize;
use serde_json::Value;

use crate::view::summary::{Tasks, to_value};
use crate::view::{Summary, Supervision};

/// The file in the folder of a copy with the summary that the session's own machine has published.
pub const COPY_SUMMARY_FILE: &str = "summary.json";

impl Summary {
    /// Reads the summary of a copy. What only the session's own machine can know is taken from what that machine has
    /// published.
    pub fn load_copy(session: &Session) -> Self {
        let mut summary = Self::load_without_project(session);
        summary.origin.transcript = None;
        if summary.state.is_open() {
            summary.tasks = tasks(&read_json(session, COPY_SUMMARY_FILE));
        }
        summary
    }
}

/// The machine that a copied session is on.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Machine {
    pub id: String,
    pub name: String,
}

/// The JSON of a copied session, like [`session_json`](crate::view::session_json), with its machine.
pub fn copied_session_json(summary: &Summary, settings: &Settings) -> Value {
    let mut json = summary.to_json(settings);
    json["supervisor"] = to_value(&supervision(&read_json(&summary.session, COPY_SUMMARY_FILE)));
    json["machine"] = to_value(&machine_of_copy(&summary.session));
    json
}

/// The machine that the copied session is on. `None` if the file that says it cannot be read.
pub fn machine_of_copy(session: &Session) -> Option<Machine> {
    let origin = read_json(session, "session.json");
    let machine = &origin["machine"];
    let (id, name) = (machine["id"].as_str()?, machine["name"].as_str()?);
    Some(Machine { id: id.to_owned(), name: name.to_owned() })
}

/// Returns `null` for a file that is missing or cannot be read.
fn read_json(session: &Session, name: &str) -> Value {
    match files::read_small(&session.dir().join(name)) {
        Ok(Some(text)) => serde_json::from_str(&text).unwrap_or_default(),
        Ok(None) | Err(_) => Value::Null,
    }
}

fn tasks(published: &Value) -> Option<Tasks> {
    let tasks = &published["tasks"];
    let number = |name: &str| tasks[name].as_u64().and_then(|number| usize::try_from(number).ok());
    let feature = tasks["name"].as_str()?.to_owned();
    Some(Tasks { feature, checked: number("checked")?, total: number("total")?, pending: Vec::new() })
}

fn supervision(published: &Value) -> Option<Supervision> {
    let supervisor = &published["supervisor"];
    let rounds = usize::try_from(supervisor["rounds"].as_u64()?).ok()?;
    Some(Supervision { rounds, last: supervisor["last"].as_str().map(str::to_owned) })
}

#[cfg(test)]
mod tests {
    use overtone_store::{Home, SessionId};
    use serde_json::json;

    use super::*;

    #[test]
    fn a_copy_uses_the_published_summary_and_opens_no_path_of_another_machine() {
        let dir = tempfile::tempdir().unwrap();
        let session = Home::at(dir.path().join("home")).session(&SessionId::parse("s").unwrap());
        session.create().unwrap();
        let project = dir.path().join("project");
        let tasks = project.join("specs/features/in-progress/door/tasks.md");
        overtone_store::create_private_dir(tasks.parent().unwrap()).unwrap();
        files::write_atomic(&tasks, b"- [x] here\n", 0o600).unwrap();
        let write = |name: &str, value: &Value| {
            files::write_atomic(&session.dir().join(name), value.to_string().as_bytes(), 0o600).unwrap();
        };
        write(
            "workflow.json",
            &json!({
                "sessionId": "s", "workflowType": "quick", "createdAt": "2026-01-01T00:00:00.000Z", "featureName": "door",
                "currentStage": "DEV", "stages": { "DEV": { "status": "pending" } }, "activeAgents": {},
            }),
        );
        write(
            "session.json",
            &json!({
                "project": project, "transcript": "/etc/passwd", "machine": { "id": "1", "name": "box", "more": 1 },
            }),
        );
        write(
            COPY_SUMMARY_FILE,
            &json!({
                "tasks": { "name": "door", "checked": 1, "total": 7 }, "supervisor": { "rounds": 2, "last": "allow" },
            }),
        );
        let summary = Summary::load_copy(&session);
        assert_eq!(summary.origin.transcript, None);
        let json = copied_session_json(&summary, &Settings::default());
        assert_eq!(json["tasks"], json!({ "name": "door", "checked": 1, "total": 7 }));
        assert_eq!(json["supervisor"], json!({ "rounds": 2, "last": "allow" }));
        assert_eq!(json["machine"], json!({ "id": "1", "name": "box" }));
        write(COPY_SUMMARY_FILE, &json!({ "tasks": 7, "supervisor": [], "machine": "x" }));
        let json = copied_session_json(&Summary::load_copy(&session), &Settings::default());
        assert_eq!((&json["tasks"], &json["supervisor"]), (&Value::Null, &Value::Null));
    }
}
