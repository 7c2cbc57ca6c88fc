//! What of a session leaves the machine. Without `fleet.share = "full"`: what happened and where it stands, but no
//! prompts, no code, no texts of agents or people, and no paths.

use overtone_store::Session;
use overtone_store::files;
use serde_json::{Map, Value};

use crate::config::Share;

/// The files that make a session what it is, beside its timeline and its agents' messages.
pub(crate) const STATE_FILES: [&str; 5] =
    ["workflow.json", "loop.json", "session.json", "context.json", "compact-count.json"];

/// What a team may know of an event although a stranger may not.
const TEAM_FIELDS: [&str; 3] = ["by", "feature", "featureName"];

/// A line of a timeline as others may see it.
pub(crate) fn line(share: Share, line: &str) -> String {
    if share == Share::Full {
        return line.to_owned();
    }
    let redacted = overtone_replay::redact(line.as_bytes());
    let (Ok(Value::Object(mut shown)), Ok(Value::Object(whole))) =
        (serde_json::from_str(&redacted), serde_json::from_str::<Value>(line))
    else {
        return redacted;
    };
    for name in TEAM_FIELDS {
        if let Some(value) = whole.get(name).filter(|value| value.is_string()) {
            shown.insert(name.to_owned(), value.clone());
        }
    }
    Value::Object(shown).to_string()
}

/// The state files as others may see them. One that cannot be read is left out.
pub(crate) fn files(share: Share, session: &Session) -> Map<String, Value> {
    let read = |name: &'static str| {
        let text = files::read_small(&session.dir().join(name)).ok()??;
        let Value::Object(fields) = serde_json::from_str(&text).ok()? else { return None };
        let fields = if share == Share::Full { fields } else { without_texts(name, fields) };
        Some((name.to_owned(), Value::Object(fields)))
    };
    STATE_FILES.into_iter().filter_map(read).collect()
}

fn without_texts(name: &str, mut fields: Map<String, Value>) -> Map<String, Value> {
    match name {
        // Texts that wait for the main agent.
        "workflow.json" => {
            fields.shift_remove("notices");
        }
        // Of the paths, only what the project is called.
        "session.json" => {
            let project = fields.get("project").and_then(Value::as_str);
            let called = project.and_then(|path| path.rsplit('/').next()).map(str::to_owned);
            fields = called.map(|name| ("project".to_owned(), Value::String(name))).into_iter().collect();
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
        let shown = line(Share::State, &event.to_string());
        assert!(!shown.contains("secret"), "{shown}");
        let shown: Value = serde_json::from_str(&shown).unwrap();
        assert_eq!((&shown["by"], &shown["featureName"]), (&json!("fleet: ann"), &json!("login")));
        assert_eq!(shown["type"], "tool:failure");
        assert_eq!(line(Share::Full, &event.to_string()), event.to_string());
        assert!(!line(Share::State, "no JSON, but secret").contains("secret"));
        let taken = json!({ "type": "system:warning", "reason": "feature-taken", "by": "desk" }).to_string();
        assert!(line(Share::State, &taken).contains("feature-taken"));
    }

    #[test]
    fn files_lose_texts_and_paths() {
        let dir = tempfile::tempdir().unwrap();
        let session = Home::at(dir.path().to_owned()).session(&SessionId::parse("s").unwrap());
        session.create().unwrap();
        let put = |name: &str, value: &Value| {
            files::write_atomic(&session.dir().join(name), value.to_string().as_bytes(), 0o600).unwrap();
        };
        put("workflow.json", &json!({ "workflowType": "quick", "notices": [SECRET] }));
        put("session.json", &json!({ "project": "/home/ann/shop", "transcript": "/home/ann/t.jsonl" }));
        let shown = super::files(Share::State, &session);
        assert_eq!(shown["workflow.json"], json!({ "workflowType": "quick" }));
        assert_eq!(shown["session.json"], json!({ "project": "shop" }));
        assert_eq!(super::files(Share::Full, &session)["workflow.json"]["notices"], json!([SECRET]));
    }
}
