//! The help page: the meaning of the keys and the marks.

use overtone_core::messages::top as words;
use ratatui::text::{Line, Span};
use unicode_width::UnicodeWidthStr;

use super::list::{NEEDS_USER, NO_WORKFLOW, STOPPED};
use super::pipeline::{ACTIVE, DONE, FAILED, PENDING};
use super::text::{column, fit};
use super::tone::Tone;
use super::width_of;
use crate::state::State;

const INDENT: &str = "  ";

pub(super) fn lines(state: &State, width: usize) -> Vec<Line<'static>> {
    let lang = state.display.lang;
    let keys = [
        ("↑ ↓  j k", words::help_select(lang)),
        ("Enter  →", words::help_details(lang)),
        ("f", words::help_filter(lang)),
        ("/", words::help_search(lang)),
        ("s", words::help_stop(lang)),
        ("r", words::help_resume(lang)),
        ("q", words::help_quit(lang)),
    ];
    let mut lines = vec![heading(state, &words::help_title(lang))];
    lines.extend(keys.iter().map(|(key, text)| key_line(state, key, text, width)));
    lines.push(heading(state, &words::help_marks(lang)));
    lines.extend(marks(state, width));
    lines
}

fn heading(state: &State, text: &str) -> Line<'static> {
    Line::from(Tone::Faint.paint(format!(" {text}"), state.display.colours))
}

fn key_line(state: &State, key: &str, text: &str, width: usize) -> Line<'static> {
    let key = format!("{INDENT}{}", column(key, 10));
    let room = width.saturating_sub(key.width());
    Line::from(vec![Tone::Strong.paint(key, state.display.colours), Span::raw(fit(text, room))])
}

fn marks(state: &State, width: usize) -> Vec<Line<'static>> {
    let lang = state.display.lang;
    let marks = [
        (ACTIVE, Tone::Busy, words::mark_active(lang)),
        (DONE, Tone::Good, words::mark_done(lang)),
        (FAILED, Tone::Bad, words::mark_failed(lang)),
        (PENDING, Tone::Faint, words::mark_pending(lang)),
        (NEEDS_USER, Tone::Warning, words::mark_needs_you(lang)),
        (STOPPED, Tone::Plain, words::mark_stopped(lang)),
        (NO_WORKFLOW, Tone::Faint, words::mark_none(lang)),
        ("[ | ]", Tone::Faint, words::mark_parallel(lang)),
    ];
    let mut lines: Vec<Line<'static>> = Vec::new();
    for (mark, tone, text) in marks {
        let spans =
            [tone.paint(format!("{INDENT}{mark}"), state.display.colours), Span::raw(format!(" {text}"))];
        let needed: usize = spans.iter().map(|span| span.content.width()).sum();
        match lines.last_mut() {
            Some(line) if width_of(line) + needed <= width => line.spans.extend(spans),
            _ => lines.push(Line::from(spans.to_vec())),
        }
    }
    lines
}
