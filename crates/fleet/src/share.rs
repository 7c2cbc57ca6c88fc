//! Redacts what a session shares. Without `fleet.share = "full"`, events and state leave the machine, but no prompts, no
//! code, no texts of agents or users, and no paths.

use overtone_store::Session;
use overtone_store::files;
use serde_json::{Map, Value};

use crate::config::Share;

/// The state files of a session. Its timeline and its handoffs are shared separately.
pub(crate) const STATE_FILES: [&str; 5] =
    ["workflow.json", "loop.json", "session.json", "context.json", "compact-count.json"];

/// Fields that the general redaction removes, but that the team may see.
const TEAM_FIELDS: [&str; 3] = ["by", "feature", "featureName"];

/// A line of a timeline as other machines may see it.
pub(crate) fn redact_line(share: Share, line: &str) -> String {
    if share == Share::Full {
        return line.to_owned();
    }
    let redacted = overtone_core::replay::redact(line.as_bytes());
    let (Ok(Value::Object(mut shown)), Ok(Value::Object(original))) =
        (serde_json::from_str(&redacted), serde_json::from_str::<Value>(line))
    else {
        return redacted;
    };
    for name in TEAM_FIELDS {
        if let Some(value) = original.get(name).filter(|value| value.is_string()) {
            shown.insert(name.to_owned(), value.clone());
        }
    }
    Value::Object(shown).to_string()
}

/// The state files as other machines may see them, by name. Unreadable files are left out.
pub(crate) fn shared_files(share: Share, session: &Session) -> Map<String, Value> {
    let read = |name: &'static str| {
        let text = files::read_small(&session.dir().join(name)).ok()??;
        let Value::Object(fields) = serde_json::from_str(&text).ok()? else { return None };
        let fields = if share == Share::Full { fields } else { redact_file(name, fields) };
        Some((name.to_owned(), Value::Object(fields)))
    };
    STATE_FILES.into_iter().filter_map(read).collect()
}

fn redact_file(name: &str, mut fields: Map<String, Value>) -> Map<String, Value> {
    match name {
        // Notices are texts for the main agent.
        "workflow.json" => {
            fields.shift_remove("notices");
        }
        // Paths are reduced to the name of the project's folder.
        "session.json" => {
            let mut redacted = Map::new();
            if let Some(path) = fields.get("project").and_then(Value::as_str) {
                let name = path.rsplit('/').next().unwrap_or_default();
                redacted.insert("project".to_owned(), Value::String(name.to_owned()));
            }
            fields = redacted;
        }
        _ => {}
    }
    fields
}

#[cfg(test)]
mod tests {
    use overtone_store::{Home, SessionId};
    use serde_json::json;

    use super::*;

    const SECRET: &str = "fn secret() { }";

    #[test]
    fn lines_keep_what_the_team_needs_and_lose_texts() {
        let event = json!({
            "ts": "2026-01-01T00:00:00.000Z", "type": "tool:failure", "category": "tool", "label": "x",
            "error": SECRET, "by": "fleet: ann", "featureName": "login", "strange": SECRET,
        });
        let shown = redact_line(Share::State, &event.to_string());
        assert!(!shown.contains("secret"), "{shown}");
        let shown: Value = serde_json::from_str(&shown).unwrap();
        assert_eq!((&shown["by"], &shown["featureName"]), (&json!("fleet: ann"), &json!("login")));
        assert_eq!(shown["type"], "tool:failure");
        assert_eq!(redact_line(Share::Full, &event.to_string()), event.to_string());
        assert!(!redact_line(Share::State, "no JSON, but secret").contains("secret"));
        let taken =
            json!({ "type": "system:warning", "reason": "feature-taken", "by": "laptop" }).to_string();
        assert!(redact_line(Share::State, &taken).contains("feature-taken"));
    }

    #[test]
    fn files_lose_texts_and_paths() {
        let dir = tempfile::tempdir().unwrap();
        let session = Home::at(dir.path().to_owned()).session(&SessionId::parse("s").unwrap());
        session.create().unwrap();
        let write = |name: &str, value: &Value| {
            files::write_atomic(&session.dir().join(name), value.to_string().as_bytes(), 0o600).unwrap();
        };
        write("workflow.json", &json!({ "workflowType": "quick", "notices": [SECRET] }));
        write("session.json", &json!({ "project": "/home/ann/shop", "transcript": "/home/ann/t.jsonl" }));
        let shown = shared_files(Share::State, &session);
        assert_eq!(shown["workflow.json"], json!({ "workflowType": "quick" }));
        assert_eq!(shown["session.json"], json!({ "project": "shop" }));
        assert_eq!(shared_files(Share::Full, &session)["workflow.json"]["notices"], json!([SECRET]));
    }
}
