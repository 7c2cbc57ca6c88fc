//! The supervisor's reviews of a session, as a summary.

use overtone_core::engine::settings::Settings;
use overtone_store::SessionId;
use overtone_store::supervision::{StateFolder, is_session_enabled, read_rounds};
use serde::Serialize;
use serde_json::Value;

use crate::view::Summary;
use crate::view::summary::to_value;

#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Supervision {
    pub rounds: usize,
    /// How the last round ended: `allow`, `block`, `not_reviewed`.
    pub last: Option<String>,
}

impl Supervision {
    /// Reads the reviews of an open session. Returns `None` for other sessions, and if there are no reviews.
    pub fn load(summary: &Summary) -> Option<Self> {
        if !summary.state.is_open() {
            return None;
        }
        let rounds = supervision_rounds(summary.session.id());
        let last = rounds.last()?["outcome"].as_str().map(str::to_owned);
        Some(Self { rounds: rounds.len(), last })
    }
}

/// The JSON of a session as the API and `--json` print it: its summary and its supervision.
pub fn session_json(summary: &Summary, supervision: Option<&Supervision>, settings: &Settings) -> Value {
    let mut json = summary.to_json(settings);
    json["supervisor"] = to_value(&supervision);
    json
}

/// Whether the supervisor was switched on or off for this session. `None` if it was not switched.
pub fn supervisor_switch(id: &SessionId) -> Option<bool> {
    is_session_enabled(&StateFolder::from_process()?, id).ok()?
}

/// All review rounds of a session, the oldest first. Empty if there are none or they cannot be read.
pub fn supervision_rounds(id: &SessionId) -> Vec<Value> {
    let Some(folder) = StateFolder::from_process() else { return Vec::new() };
    match read_rounds(&folder, id) {
        Ok(Some(rounds)) => rounds,
        Ok(None) | Err(_) => Vec::new(),
    }
}
