//! What the client says about itself. Everything may be missing or of another shape.

use overtone_store::SessionId;
use serde_json::Value;

use crate::ui::terminal;

#[derive(Debug)]
pub(super) struct Input(Value);

impl Input {
    /// `None` when it is not one object, or when a person at a terminal would have to type it.
    pub(super) fn read() -> Option<Self> {
        if terminal::stdin_is_terminal() {
            return None;
        }
        let bytes = overtone_hooks::read_stdin()?;
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

    /// How wide a row of the agents' list is.
    pub(super) fn columns(&self) -> Option<usize> {
        usize::try_from(self.0["columns"].as_u64()?).ok()
    }

    /// The rows of the agents' list.
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
    fn odd_numbers_are_taken_calmly() {
        assert_eq!(percent(r#"{"context_window":{"used_percentage":42.6}}"#), Some(43));
        assert_eq!(percent(r#"{"context_window":{"used_percentage":-3}}"#), Some(0));
        assert_eq!(percent(r#"{"context_window":{"used_percentage":1e30}}"#), Some(100));
        assert_eq!(percent(r#"{"context_window":{"used_percentage":null}}"#), None);
        assert_eq!(percent(r#"{"context_window":7}"#), None);
    }
}
