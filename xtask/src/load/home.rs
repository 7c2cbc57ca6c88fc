//! A home with many sessions that have come to their end, as a busy team leaves it.

use std::fmt::Write;
use std::path::Path;

use serde_json::json;

use super::Load;
use crate::error::Result;
use crate::shell::write_file;

pub(super) fn make(folder: &Path, load: &Load) -> Result<()> {
    for number in 0..load.sessions {
        let session = folder.join("overtone/sessions").join(name(number));
        for (file, text) in [
            ("workflow.json", workflow(number)),
            ("loop.json", r#"{"iteration":3,"stopped":true,"consecutiveErrors":0}"#.to_owned()),
            ("session.json", r#"{"project":"/nonexistent/project"}"#.to_owned()),
            ("timeline.jsonl", timeline(load.events_each)),
        ] {
            write_file(&session.join(file), text.as_bytes())?;
        }
    }
    Ok(())
}

pub(super) fn name(number: usize) -> String {
    format!("load-{number:04}")
}

fn workflow(number: usize) -> String {
    let done = |result: &str| json!({"status": "completed", "result": result, "attempts": 1});
    let workflow = json!({
        "sessionId": name(number), "workflowType": "quick", "createdAt": "2026-01-01T00:00:00.000Z",
        "currentStage": "REVIEW", "stages": {"DEV": done("pass"), "REVIEW": done("pass"), "TEST": done("pass")},
        "ending": "completed",
    });
    workflow.to_string()
}

fn timeline(count: usize) -> String {
    let kinds = ["stage:start", "agent:delegate", "agent:complete", "stage:complete", "tool:failure"];
    let mut text = String::new();
    for (number, kind) in (0..count).zip(kinds.iter().cycle()) {
        let category = kind.split(':').next().unwrap_or_default();
        // Writing into a text cannot fail.
        let _ = writeln!(
            text,
            r#"{{"ts":"2026-01-01T00:{:02}:{:02}.000Z","type":"{kind}","category":"{category}","label":"x","stage":"DEV","agent":"developer","result":"pass","durationMs":{number}}}"#,
            number / 60 % 60,
            number % 60,
        );
    }
    text
}
