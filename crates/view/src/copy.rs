//! Copies of sessions that are on other machines. Their projects, conversations and supervisors are not here, and a path
//! that another machine names is not followed: what is known of them is what their machine has said.

use overtone_engine::settings::Settings;
use overtone_store::{Session, files};
use serde_json::{Value, json};

use crate::Summary;
use crate::summary::Tasks;

/// In the folder of a copy: the session as its own machine lists it.
pub const TOLD_FILE: &str = "summary.json";

impl Summary {
    /// A copy. What only its own machine can know is as that machine has said.
    pub fn load_copy(session: &Session) -> Self {
        let mut summary = Self::load_without_project(session);
        summary.origin.transcript = None;
        summary.tasks =
            Some(read(session, TOLD_FILE)).filter(|_| summary.state.is_open()).as_ref().and_then(tasks);
        summary
    }
}

/// A copy in a list for programs: with its machine.
pub fn copied(summary: &Summary, settings: &Settings) -> Value {
    let mut json = summary.to_json(settings);
    json["supervisor"] = supervisor(&read(&summary.session, TOLD_FILE));
    json["machine"] = machine(&summary.session);
    json
}

/// The machine that a copy is of.
pub fn machine(session: &Session) -> Value {
    let origin = read(session, "session.json");
    let machine = &origin["machine"];
    match (machine["id"].as_str(), machine["name"].as_str()) {
        (Some(id), Some(name)) => json!({ "id": id, "name": name }),
        _ => Value::Null,
    }
}

fn read(session: &Session, name: &str) -> Value {
    let text = files::read_small(&session.dir().join(name)).ok().flatten();
    text.and_then(|text| serde_json::from_str(&text).ok()).unwrap_or_default()
}

fn tasks(told: &Value) -> Option<Tasks> {
    let tasks = &told["tasks"];
    let number = |name: &str| tasks[name].as_u64().and_then(|number| usize::try_from(number).ok());
    let feature = tasks["name"].as_str()?.to_owned();
    Some(Tasks { feature, checked: number("checked")?, total: number("total")?, pending: Vec::new() })
}

fn supervisor(told: &Value) -> Value {
    let supervisor = &told["supervisor"];
    match supervisor["rounds"].as_u64() {
        Some(rounds) => json!({ "rounds": rounds, "last": supervisor["last"].as_str() }),
        None => Value::Null,
    }
}

#[cfg(test)]
mod tests {
    use overtone_store::{Home, SessionId};

    use super::*;

    #[test]
    fn a_copy_says_what_its_machine_said_and_opens_no_path_of_it() {
        let dir = tempfile::tempdir().unwrap();
        let session = Home::at(dir.path().join("home")).session(&SessionId::parse("s").unwrap());
        session.create().unwrap();
        let project = dir.path().join("project");
        let tasks = project.join("specs/features/in-progress/door/tasks.md");
        overtone_store::create_private_dir(tasks.parent().unwrap()).unwrap();
        files::write_atomic(&tasks, b"- [x] here\n", 0o600).unwrap();
        let put = |name: &str, value: &Value| {
            files::write_atomic(&session.dir().join(name), value.to_string().as_bytes(), 0o600).unwrap();
        };
        put(
            "workflow.json",
            &json!({
                "sessionId": "s", "workflowType": "quick", "createdAt": "2026-01-01T00:00:00.000Z", "featureName": "door",
                "currentStage": "DEV", "stages": { "DEV": { "status": "pending" } }, "activeAgents": {},
            }),
        );
        put(
            "session.json",
            &json!({
                "project": project, "transcript": "/etc/passwd", "machine": { "id": "1", "name": "box", "more": 1 },
            }),
        );
        put(
            TOLD_FILE,
            &json!({
                "tasks": { "name": "door", "checked": 1, "total": 7 }, "supervisor": { "rounds": 2, "last": "allow" },
            }),
        );
        let summary = Summary::load_copy(&session);
        assert_eq!(summary.origin.transcript, None);
        let json = copied(&summary, &Settings::default());
        assert_eq!(json["tasks"], json!({ "name": "door", "checked": 1, "total": 7 }));
        assert_eq!(json["supervisor"], json!({ "rounds": 2, "last": "allow" }));
        assert_eq!(json["machine"], json!({ "id": "1", "name": "box" }));
        put(TOLD_FILE, &json!({ "tasks": 7, "supervisor": [], "machine": "x" }));
        let json = copied(&Summary::load_copy(&session), &Settings::default());
        assert_eq!((&json["tasks"], &json["supervisor"]), (&Value::Null, &Value::Null));
    }
}
