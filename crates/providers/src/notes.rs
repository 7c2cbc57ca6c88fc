//! `.claude.json`, in which the client keeps its notes. It grows with every project, far beyond what settings may have.

use std::fs;
use std::path::Path;

use overtone_settings::{Document, SettingsFile};
use serde_json::{Map, Value};

/// Larger notes are not read.
const MAX_BYTES: u64 = 64 * 1024 * 1024;
/// What of large notes concerns us.
const KEYS: [&str; 5] = ["env", "apiKeyHelper", "primaryApiKey", "oauthAccount", "customApiKeyResponses"];

/// The notes; of large ones only what concerns us, and without their lines.
pub(crate) fn read(path: &Path) -> Option<Document> {
    SettingsFile::at(path).read().ok().or_else(|| read_large(path))
}

fn read_large(path: &Path) -> Option<Document> {
    let about = fs::metadata(path).ok()?;
    if !about.is_file() || about.len() > MAX_BYTES {
        return None;
    }
    let mut notes: Map<String, Value> = serde_json::from_slice(&fs::read(path).ok()?).ok()?;
    notes.retain(|key, _| KEYS.contains(&key.as_str()));
    Document::parse(path, &Value::Object(notes).to_string()).ok()
}
