//! `loop.json`. Like in `workflow.json`, fields of other versions survive.

use std::path::Path;

use overtone_core::engine::state::{LoopState, Pause, StoppedBy, Turn};
use serde_json::{Map, Value, json};

use crate::StoreError;
use crate::workflow_doc::{count, iso, time};

/// The loop with the document it came from.
#[derive(Debug, Clone, Default)]
pub struct LoopDoc {
    document: Map<String, Value>,
    pub state: LoopState,
}

impl LoopDoc {
    pub fn parse(path: &Path, text: &str) -> Result<Self, StoreError> {
        let document: Map<String, Value> =
            serde_json::from_str(text).map_err(|error| StoreError::broken(path, error.to_string()))?;
        let text = |name: &str| document.get(name).and_then(Value::as_str);
        let flag = |name: &str| document.get(name).and_then(Value::as_bool).unwrap_or(false);
        let state = LoopState {
            iterations: count(&document, "iterations"),
            stopped: flag("stopped"),
            stopped_by: text("stoppedBy").and_then(StoppedBy::from_key),
            consecutive_errors: count(&document, "consecutiveErrors"),
            fingerprint: text("fingerprint").map(str::to_owned),
            announced: flag("announced"),
            paused: text("paused").and_then(Pause::from_key),
            turn: text("turn").and_then(Turn::from_key),
            asked: text("asked").map(str::to_owned),
            prompt_id: text("promptId").map(str::to_owned),
            started_at: time(&document, "startedAt"),
        };
        Ok(Self { document, state })
    }

    #[must_use]
    pub fn with(mut self, next: LoopState) -> Self {
        let old = &self.state;
        let document = &mut self.document;
        // A value that reads as none may be one that only another version knows, so it is not overwritten.
        let mut put = |name: &str, differs: bool, value: Value| {
            if differs || !document.contains_key(name) {
                document.insert(name.to_owned(), value);
            }
        };
        put("iterations", old.iterations != next.iterations, json!(next.iterations));
        put("stopped", old.stopped != next.stopped, json!(next.stopped));
        let errors = next.consecutive_errors;
        put("consecutiveErrors", old.consecutive_errors != errors, json!(errors));
        put("stoppedBy", old.stopped_by != next.stopped_by, json!(next.stopped_by.map(StoppedBy::key)));
        put("fingerprint", old.fingerprint != next.fingerprint, json!(next.fingerprint));
        put("announced", old.announced != next.announced, json!(next.announced));
        if old.paused != next.paused {
            put("paused", true, json!(next.paused.map(Pause::key)));
        }
        if old.turn != next.turn {
            put("turn", true, json!(next.turn.map(Turn::key)));
        }
        if old.asked != next.asked {
            put("asked", true, json!(next.asked));
        }
        if old.prompt_id != next.prompt_id {
            put("promptId", true, json!(next.prompt_id));
        }
        if old.started_at != next.started_at {
            put("startedAt", true, iso(next.started_at));
        }
        self.state = next;
        self
    }

    pub fn to_json(&self) -> Result<Vec<u8>, StoreError> {
        let mut bytes = serde_json::to_vec_pretty(&self.document)
            .map_err(|error| StoreError::broken(Path::new("loop.json"), error.to_string()))?;
        bytes.push(b'\n');
        Ok(bytes)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stopping_keeps_everything_else() {
        let doc = LoopDoc::parse(Path::new("l"), r#"{"iterations":7,"stopped":false,"custom":"x"}"#).unwrap();
        let mut next = doc.state.clone();
        next.stop(StoppedBy::SessionEnd);
        let written: Value = serde_json::from_slice(&doc.with(next).to_json().unwrap()).unwrap();
        assert_eq!(written["iterations"], 7);
        assert_eq!(written["stopped"], true);
        assert_eq!(written["custom"], "x");
    }
}
