//! The first line, the last line, and the rules between.

use overtone_messages::top as words;
use overtone_store::SessionId;
use overtone_view::State as Condition;
use ratatui::style::Modifier;
use ratatui::text::{Line, Span};
use unicode_width::UnicodeWidthStr;

use super::list::NEEDS_PERSON;
use super::pipeline::ACTIVE;
use super::text::fit;
use super::tone::Tone;
use super::width_of;
use crate::state::{Action, Filter, Prompt, State};

/// How many there are of what, and which of them are shown.
pub(super) fn header(state: &State, width: usize) -> Line<'static> {
    let (lang, colours) = (state.look.lang, state.look.colours);
    let count = |tone: Tone, mark: &str, n: usize, text: String| {
        let tone = if n == 0 { Tone::Faint } else { tone };
        tone.paint(format!("  {mark}{text}"), colours)
    };
    let running = state.rows().iter().filter(|row| row.summary.state == Condition::Running).count();
    let waiting = state.rows().iter().filter(|row| row.summary.needs_person()).count();
    let mut line = Line::from(vec![
        Tone::Strong.paint(" Overtone", colours),
        count(Tone::Busy, &format!("{ACTIVE} "), running, words::running(lang, running)),
        count(Tone::Warning, &format!("{NEEDS_PERSON} "), waiting, words::needs_you(lang, waiting)),
        count(Tone::Plain, "", state.rows().len(), words::total(lang, state.rows().len())),
    ]);
    let shown = shown(state);
    let gap = width.saturating_sub(width_of(&line) + shown.width() + 1);
    if gap > 1 && !shown.is_empty() {
        line.push_span(Span::raw(" ".repeat(gap)));
        line.push_span(Tone::Strong.paint(shown, colours));
    }
    line
}

/// Which sessions are wanted, unless it is all.
fn shown(state: &State) -> String {
    let lang = state.look.lang;
    let filter = match state.filter {
        Filter::All => None,
        Filter::Open => Some(words::filter_open(lang)),
        Filter::NeedsPerson => Some(words::filter_needs_you(lang)),
    };
    let search = (!state.search.is_empty()).then(|| format!("/{}", fit(&state.search, 16)));
    let count = (filter.is_some() || search.is_some()).then(|| words::matching(lang, state.wanted().len()));
    [filter, search, count].into_iter().flatten().collect::<Vec<_>>().join("  ")
}

/// A line across the screen, with a title in it.
pub(super) fn rule(state: &State, title: &str, width: usize) -> Line<'static> {
    let colours = state.look.colours;
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

/// A question, what came of the last key, or what the keys do.
pub(super) fn footer(state: &State, width: usize) -> Line<'static> {
    let colours = state.look.colours;
    match (&state.prompt, state.note()) {
        (Some(Prompt::Ask(action, session)), _) => {
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
        (_, None) => hints(state, width),
    }
}

/// About the session that was selected then; the list may have changed.
fn question(state: &State, action: Action, session: &SessionId) -> String {
    let row = state.rows().iter().find(|row| row.id() == session);
    let name = row.map_or_else(|| session.to_string(), |row| row.title());
    match action {
        Action::Stop => words::ask_stop(state.look.lang, &name),
        Action::Resume => words::ask_resume(state.look.lang, &name),
    }
}

/// As many as fit, the most needed first.
fn hints(state: &State, width: usize) -> Line<'static> {
    let lang = state.look.lang;
    let enter =
        if state.is_detailed { ("←", words::key_back(lang)) } else { ("Enter", words::key_details(lang)) };
    let keys = [
        ("q", words::key_quit(lang)),
        ("?", words::key_help(lang)),
        ("↑↓", words::key_select(lang)),
        enter,
        ("f", words::key_filter(lang)),
        ("/", words::key_search(lang)),
        ("s", words::key_stop(lang)),
        ("r", words::key_resume(lang)),
    ];
    let mut line = Line::default();
    for (key, word) in keys {
        if width_of(&line) + key.width() + word.width() + 3 <= width {
            line.push_span(Tone::Strong.paint(format!(" {key} "), state.look.colours));
            line.push_span(Tone::Faint.paint(format!("{word} "), state.look.colours));
        }
    }
    line
}
