//! The header, the footer and the rules.

use overtone_core::messages::top as words;
use overtone_session::view::SessionState;
use overtone_store::SessionId;
use ratatui::style::Modifier;
use ratatui::text::{Line, Span};
use unicode_width::UnicodeWidthStr;

use super::list::NEEDS_USER;
use super::pipeline::ACTIVE;
use super::text::fit;
use super::tone::Tone;
use super::width_of;
use crate::state::{Action, Filter, Prompt, State};

/// The header: how many sessions there are, and which of them are listed.
pub(super) fn header(state: &State, width: usize) -> Line<'static> {
    let (lang, colours) = (state.display.lang, state.display.colours);
    let count = |tone: Tone, mark: &str, n: usize, text: String| {
        let tone = if n == 0 { Tone::Faint } else { tone };
        tone.paint(format!("  {mark}{text}"), colours)
    };
    let running = state.rows().iter().filter(|row| row.summary.state == SessionState::Running).count();
    let waiting = state.rows().iter().filter(|row| row.summary.needs_user()).count();
    let mut line = Line::from(vec![
        Tone::Strong.paint(" Overtone", colours),
        count(Tone::Busy, &format!("{ACTIVE} "), running, words::running(lang, running)),
        count(Tone::Warning, &format!("{NEEDS_USER} "), waiting, words::needs_you(lang, waiting)),
        count(Tone::Plain, "", state.rows().len(), words::total(lang, state.rows().len())),
    ]);
    let filter = filter_text(state);
    let gap = width.saturating_sub(width_of(&line) + filter.width() + 1);
    if gap > 1 && !filter.is_empty() {
        line.push_span(Span::raw(" ".repeat(gap)));
        line.push_span(Tone::Strong.paint(filter, colours));
    }
    line
}

/// Describes the filter and the search. Empty if all sessions are listed.
fn filter_text(state: &State) -> String {
    let lang = state.display.lang;
    let mut parts = Vec::new();
    match state.filter {
        Filter::All => {}
        Filter::Open => parts.push(words::filter_open(lang)),
        Filter::NeedsUser => parts.push(words::filter_needs_you(lang)),
    }
    if !state.search.is_empty() {
        parts.push(format!("/{}", fit(&state.search, 16)));
    }
    if !parts.is_empty() {
        parts.push(words::matching(lang, state.matching_rows().len()));
    }
    parts.join("  ")
}

/// A horizontal line with an optional title.
pub(super) fn rule(state: &State, title: &str, width: usize) -> Line<'static> {
    let colours = state.display.colours;
    if title.is_empty() {
        return Line::from(Tone::Faint.paint("─".repeat(width), colours));
    }
    let title = fit(title, width.saturating_sub(6));
    let rest = width.saturating_sub(title.width() + 4);
    Line::from(vec![
        Tone::Faint.paint("── ", colours),
        Tone::Strong.paint(title, colours),
        Tone::Faint.paint(format!(" {}", "─".repeat(rest)), colours),
    ])
}

/// The footer: a question, the note, or the meaning of the keys.
pub(super) fn footer(state: &State, width: usize) -> Line<'static> {
    let colours = state.display.colours;
    match (&state.prompt, state.note()) {
        (Some(Prompt::Confirm(action, session)), _) => {
            let question = fit(&question(state, *action, session), width.saturating_sub(7));
            Line::from(vec![
                Tone::Warning.paint(format!(" {question} "), colours),
                Tone::Strong.paint("y/n", colours),
            ])
        }
        (Some(Prompt::Search), _) => Line::from(vec![
            Tone::Strong.paint(format!(" /{}", fit(&state.search, width.saturating_sub(4))), colours),
            Span::styled(" ", Tone::Plain.style(colours).add_modifier(Modifier::REVERSED)),
        ]),
        (_, Some(note)) => Line::from(Tone::Warning.paint(fit(&format!(" {note}"), width), colours)),
        (_, None) => key_hints(state, width),
    }
}

/// The question names the session that was selected when the key was pressed, because the list may have changed since.
fn question(state: &State, action: Action, session: &SessionId) -> String {
    let row = state.rows().iter().find(|row| row.id() == session);
    let name = match row {
        Some(row) => row.title(),
        None => session.to_string(),
    };
    match action {
        Action::Stop => words::ask_stop(state.display.lang, &name),
        Action::Resume => words::ask_resume(state.display.lang, &name),
    }
}

/// The meaning of the keys, as many as fit, the most important first.
fn key_hints(state: &State, width: usize) -> Line<'static> {
    let lang = state.display.lang;
    let details =
        if state.is_detailed { ("←", words::key_back(lang)) } else { ("Enter", words::key_details(lang)) };
    let keys = [
        ("q", words::key_quit(lang)),
        ("?", words::key_help(lang)),
        ("↑↓", words::key_select(lang)),
        details,
        ("f", words::key_filter(lang)),
        ("/", words::key_search(lang)),
        ("s", words::key_stop(lang)),
        ("r", words::key_resume(lang)),
    ];
    let mut line = Line::default();
    for (key, meaning) in keys {
        if width_of(&line) + key.width() + meaning.width() + 3 <= width {
            line.push_span(Tone::Strong.paint(format!(" {key} "), state.display.colours));
            line.push_span(Tone::Faint.paint(format!("{meaning} "), state.display.colours));
        }
    }
    line
}
