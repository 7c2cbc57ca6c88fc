//! How what others say of themselves is shown: nothing of it is trusted to be there or to be short.

use overtone_fleet::SessionState;
use overtone_messages::{Lang, cli};
use serde_json::Value;

use crate::ui::style::Tone;
use crate::ui::table::Cell;

/// Enough to tell sessions apart, as a rule.
const SHORT: usize = 8;

pub(super) fn short(id: &str) -> String {
    id.chars().take(SHORT).collect()
}

pub(super) fn text<'a>(state: &'a SessionState, name: &str) -> Option<&'a str> {
    state.summary[name].as_str().filter(|text| !text.is_empty())
}

pub(super) fn or_dash(text: Option<&str>) -> String {
    text.unwrap_or("–").to_owned()
}

/// What the project is called; where it is there is nobody's business.
pub(super) fn project(state: &SessionState) -> Option<&str> {
    text(state, "projectName").or_else(|| text(state, "project"))
}

pub(super) fn progress(state: &SessionState) -> String {
    match (state.summary["done"].as_u64(), state.summary["total"].as_u64()) {
        (Some(done), Some(total)) if total > 0 => format!("{done}/{total}"),
        _ => "–".to_owned(),
    }
}

pub(super) fn cost(state: &SessionState) -> String {
    state.summary["costUsd"].as_f64().map_or_else(|| "–".to_owned(), |dollars| format!("${dollars:.2}"))
}

pub(super) fn is_running(state: &SessionState) -> bool {
    state.summary["state"] == "running"
}

pub(super) fn state_cell(lang: Lang, state: &SessionState) -> Cell {
    let needs_person = state.summary["needsPerson"] == true;
    let (text, tone) = match text(state, "state").unwrap_or("none") {
        "running" if needs_person => (format!("✋ {}", cli::state_running(lang)), Tone::Warning),
        "running" => (cli::state_running(lang), Tone::Strong),
        "stopped" => (cli::state_stopped(lang), Tone::Warning),
        "completed" => (cli::state_completed(lang), Tone::Good),
        "aborted" => (cli::state_aborted(lang), Tone::Bad),
        "broken" => (cli::state_broken(lang), Tone::Bad),
        "none" => ("–".to_owned(), Tone::Faint),
        other => (other.to_owned(), Tone::Plain),
    };
    Cell::new(text).tone(tone)
}

/// `✅ DEV → 🔄 REVIEW → ⬜ TEST`.
pub(super) fn stages(state: &SessionState) -> Vec<String> {
    let stages = state.summary["stages"].as_array().cloned().unwrap_or_default();
    stages.iter().map(|stage| format!("{} {}", mark(stage), stage["key"].as_str().unwrap_or("?"))).collect()
}

fn mark(stage: &Value) -> &'static str {
    match (stage["status"].as_str().unwrap_or_default(), stage["result"].as_str()) {
        ("active", _) => "🔄",
        ("completed", Some("fail" | "reject")) => "❌",
        ("completed", Some("blocked")) => "✋",
        ("completed", _) => "✅",
        _ => "⬜",
    }
}
