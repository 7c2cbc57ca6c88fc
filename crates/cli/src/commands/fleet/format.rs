//! Formats the states of other machines. Their fields may be missing, too long, or not printable.

use std::borrow::Cow;

use overtone_core::engine::text::printable;
use overtone_core::messages::{Lang, cli};
use overtone_fleet::SessionState;
use serde_json::Value;

use crate::ui::quantity::or_dash;
use crate::ui::table::Cell;
use overtone_hook::ansi::Tone;

/// How many characters of a session id are shown.
const SHORT_ID_CHARS: usize = 8;

pub(super) fn short(id: &str) -> String {
    printable(id).chars().take(SHORT_ID_CHARS).collect()
}

/// A printable text of the summary; `None` if it is missing or empty.
pub(super) fn summary_text<'a>(state: &'a SessionState, name: &str) -> Option<Cow<'a, str>> {
    state.summary[name].as_str().filter(|text| !text.is_empty()).map(printable)
}

pub(super) fn printable_or_dash(text: Option<&str>) -> String {
    or_dash(text.map(|text| printable(text).into_owned()))
}

/// The name of the project.
pub(super) fn project(state: &SessionState) -> Option<Cow<'_, str>> {
    summary_text(state, "projectName").or_else(|| summary_text(state, "project"))
}

pub(super) fn progress(state: &SessionState) -> String {
    match (state.summary["done"].as_u64(), state.summary["total"].as_u64()) {
        (Some(done), Some(total)) if total > 0 => format!("{done}/{total}"),
        _ => "–".to_owned(),
    }
}

pub(super) fn cost(state: &SessionState) -> String {
    or_dash(state.summary["costUsd"].as_f64().map(|dollars| format!("${dollars:.2}")))
}

pub(super) fn is_running(state: &SessionState) -> bool {
    state.summary["state"] == "running"
}

pub(super) fn state_cell(lang: Lang, state: &SessionState) -> Cell {
    let needs_user = state.summary["needsPerson"] == true;
    let (text, tone) = match summary_text(state, "state").as_deref().unwrap_or("none") {
        "running" if needs_user => (format!("✋ {}", cli::state_running(lang)), Tone::Warning),
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
    stages
        .iter()
        .map(|stage| format!("{} {}", mark(stage), printable(stage["key"].as_str().unwrap_or("?"))))
        .collect()
}

fn mark(stage: &Value) -> &'static str {
    match (stage["status"].as_str().unwrap_or_default(), stage["result"].as_str()) {
        ("active", _) => "🔄",
        ("completed", Some("fail" | "reject")) => "❌",
        ("completed", Some("blocked")) => "✋",
        ("completed", Some("skipped")) => "⏩",
        ("completed", _) => "✅",
        _ => "⬜",
    }
}
