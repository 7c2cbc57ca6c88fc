//! `.claude.json`, the client's global state file. It grows with every project, far beyond the size limit of settings.

use std::fs;
use std::path::Path;

use jsonc_edit::{Document, SettingsFile};
use serde_json::{Map, Value};

/// Larger files are not read.
const MAX_BYTES: u64 = 64 * 1024 * 1024;
/// The keys that are kept of a large file.
const KEYS: [&str; 5] = ["env", "apiKeyHelper", "primaryApiKey", "oauthAccount", "customApiKeyResponses"];

/// Reads the file. Of a large file only the relevant keys are returned, without their line numbers. Returns `None` for
/// a file that cannot be read.
pub(crate) fn read(path: &Path) -> Option<Document> {
    SettingsFile::at(path).read().ok().or_else(|| read_large(path))
}

fn read_large(path: &Path) -> Option<Document> {
    let metadata = fs::metadata(path).ok()?;
    if !metadata.is_file() || metadata.len() > MAX_BYTES {
        return None;
    }
    let mut state: Map<String, Value> = serde_json::from_slice(&fs::read(path).ok()?).ok()?;
    state.retain(|key, _| KEYS.contains(&key.as_str()));
    Document::parse(path, &Value::Object(state).to_string()).ok()
}
