//! The payload of a status line. Every field may be missing or of another type.

use std::io::{self, IsTerminal};

use overtone_claude::stdin;
use overtone_store::SessionId;
use serde_json::Value;

#[allow(clippy::disallowed_methods, reason = "nothing is read from it")]
fn stdin_is_terminal() -> bool {
    io::stdin().is_terminal()
}

#[derive(Debug)]
pub(super) struct Input(Value);

impl Input {
    /// Reads the payload. Returns `None` if it is not an object, or if stdin is a terminal, where the user would have to
    /// type it.
    pub(super) fn read() -> Option<Self> {
        if stdin_is_terminal() {
            return None;
        }
        let bytes = stdin::read(stdin::TIMEOUT).ok()?;
        serde_json::from_slice(&bytes).ok().filter(Value::is_object).map(Self)
    }

    pub(super) fn session(&self) -> Option<SessionId> {
        self.0["session_id"].as_str().and_then(SessionId::parse)
    }

    pub(super) fn model(&self) -> Option<&str> {
        let model = &self.0["model"];
        model["display_name"].as_str().or_else(|| model["id"].as_str()).filter(|name| !name.is_empty())
    }

    pub(super) fn context_percent(&self) -> Option<u32> {
        let percent = self.0["context_window"]["used_percentage"].as_f64()?;
        #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "clamped to 0..=100")]
        Some(percent.round().clamp(0.0, 100.0) as u32)
    }

    pub(super) fn cost(&self) -> Option<f64> {
        self.0["cost"]["total_cost_usd"].as_f64().filter(|dollars| *dollars > 0.0)
    }

    /// The width of a row in the list of agents.
    pub(super) fn columns(&self) -> Option<usize> {
        usize::try_from(self.0["columns"].as_u64()?).ok()
    }

    /// The rows of the list of agents.
    pub(super) fn tasks(&self) -> &[Value] {
        self.0["tasks"].as_array().map(Vec::as_slice).unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn percent(text: &str) -> Option<u32> {
        Input(serde_json::from_str(text).unwrap()).context_percent()
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
