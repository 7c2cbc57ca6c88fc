//! The payload of a status line. Every field may be missing or of another type.

use std::io::{self, IsTerminal};

use overtone_claude::stdin;
use overtone_store::SessionId;
use serde::Deserialize;
use serde_json::Value;

#[allow(clippy::disallowed_methods, reason = "nothing is read from it")]
fn stdin_is_terminal() -> bool {
    io::stdin().is_terminal()
}

/// The fields that are shown. The client sends three times as many, which are not kept.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Input {
    session_id: Value,
    model: Value,
    context_window: Value,
    cost: Value,
    columns: Value,
    tasks: Value,
}

impl Input {
    /// Reads the payload. Returns `None` if it is not an object, or if stdin is a terminal, where the user would have to
    /// type it.
    pub(super) fn read() -> Option<Self> {
        if stdin_is_terminal() {
            return None;
        }
        Self::parse(&stdin::read(stdin::TIMEOUT).ok()?)
    }

    fn parse(bytes: &[u8]) -> Option<Self> {
        // Without this test, serde would accept an array and read the fields from its elements.
        if bytes.trim_ascii_start().first() != Some(&b'{') {
            return None;
        }
        serde_json::from_slice(bytes).ok()
    }

    pub(super) fn session(&self) -> Option<SessionId> {
        self.session_id.as_str().and_then(SessionId::parse)
    }

    pub(super) fn model(&self) -> Option<&str> {
        let model = &self.model;
        model["display_name"].as_str().or_else(|| model["id"].as_str()).filter(|name| !name.is_empty())
    }

    pub(super) fn context_percent(&self) -> Option<u32> {
        let percent = self.context_window["used_percentage"].as_f64()?;
        #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "clamped to 0..=100")]
        Some(percent.round().clamp(0.0, 100.0) as u32)
    }

    pub(super) fn cost(&self) -> Option<f64> {
        self.cost["total_cost_usd"].as_f64().filter(|dollars| *dollars > 0.0)
    }

    /// The width of a row in the list of agents.
    pub(super) fn columns(&self) -> Option<usize> {
        usize::try_from(self.columns.as_u64()?).ok()
    }

    /// The rows of the list of agents.
    pub(super) fn tasks(&self) -> &[Value] {
        self.tasks.as_array().map(Vec::as_slice).unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn percent(text: &str) -> Option<u32> {
        Input::parse(text.as_bytes()).unwrap().context_percent()
    }

    #[test]
    fn only_an_object_is_a_payload() {
        assert!(Input::parse(b" {\"session_id\":7,\"new\":[]}").unwrap().session().is_none());
        for text in ["", "[]", "[1,2,3,4,5,6]", "7", "{", "null"] {
            assert!(Input::parse(text.as_bytes()).is_none(), "{text}");
        }
    }

    #[test]
    fn percentages_are_rounded_and_clamped() {
        assert_eq!(percent(r#"{"context_window":{"used_percentage":42.6}}"#), Some(43));
        assert_eq!(percent(r#"{"context_window":{"used_percentage":-3}}"#), Some(0));
        assert_eq!(percent(r#"{"context_window":{"used_percentage":1e30}}"#), Some(100));
        assert_eq!(percent(r#"{"context_window":{"used_percentage":null}}"#), None);
        assert_eq!(percent(r#"{"context_window":7}"#), None);
    }
}
