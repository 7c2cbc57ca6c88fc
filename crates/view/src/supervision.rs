//! What the supervisor made of a session, in short.

use overtone_engine::settings::Settings;
use overtone_store::SessionId;
use overtone_supervisor::{StateFolder, audit, switched};
use serde_json::{Value, json};

use crate::Summary;

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Supervision {
    pub rounds: usize,
    /// How the last round ended: `allow`, `block`, `not_reviewed`.
    pub last: Option<String>,
}

impl Supervision {
    /// Only a session that is still open is worth a look.
    pub fn load(summary: &Summary) -> Option<Self> {
        let rounds = if summary.state.is_open() { rounds(summary.session.id()) } else { Vec::new() };
        let last = rounds.last()?["outcome"].as_str().map(str::to_owned);
        Some(Self { rounds: rounds.len(), last })
    }

    fn to_json(&self) -> Value {
        json!({ "rounds": self.rounds, "last": self.last })
    }
}

/// The session in a list for programs.
pub fn supervised(summary: &Summary, supervision: Option<&Supervision>, settings: &Settings) -> Value {
    let mut json = summary.to_json(settings);
    json["supervisor"] = supervision.map_or(Value::Null, Supervision::to_json);
    json
}

/// Whether somebody has switched the supervisor on or off in this session.
pub fn supervisor_switch(id: &SessionId) -> Option<bool> {
    StateFolder::from_process().and_then(|folder| switched(&folder, id).ok().flatten())
}

/// Every round of a session.
pub fn rounds(id: &SessionId) -> Vec<Value> {
    let folder = StateFolder::from_process();
    folder.and_then(|folder| audit(&folder, id).ok().flatten()).unwrap_or_default()
}
