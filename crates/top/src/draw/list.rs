//! The list of sessions, with one or two lines each.

use overtone_core::messages::{cli, page};
use overtone_session::view::{SessionState, SkippedFile};
use ratatui::layout::Size;
use ratatui::style::Modifier;
use ratatui::text::{Line, Span};
use unicode_width::UnicodeWidthStr;

use super::facts::{self, Fact};
use super::text::{clean, column, fit};
use super::tone::Tone;
use super::{pipeline, width_of};
use crate::sessions::Row;
use crate::state::State;

pub(super) const SELECTED: &str = "›";
pub(super) const NEEDS_USER: &str = "!";
pub(super) const STOPPED: &str = "■";
pub(super) const NO_WORKFLOW: &str = "○";

/// The indentation of the second line of a session.
const INDENT: &str = "    ";
/// Separates the stages from the facts.
const GAP: &str = "   ";
/// The width of a text such as `12/12`.
const PROGRESS_WIDTH: usize = 5;

/// The widths of the columns with names.
struct Columns {
    project: usize,
    workflow: usize,
}

impl Columns {
    fn measure(rows: &[&Row], width: usize) -> Self {
        let widest = |name: &dyn Fn(&Row) -> String| rows.iter().map(|row| clean(&name(row)).width()).max();
        let limit = (width / 5).clamp(8, 28);
        Self {
            project: widest(&Row::name).unwrap_or(0).min(limit),
            workflow: widest(&workflow_name).unwrap_or(0).min(13),
        }
    }
}

/// As many sessions as fit. `marks_selected` says whether the selected one is highlighted.
pub(super) fn lines(state: &State, size: Size, marks_selected: bool) -> Vec<Line<'static>> {
    let matching = state.matching_rows();
    if matching.is_empty() {
        return vec![empty_line(state, size.width.into())];
    }
    let rows: Vec<&Row> = matching.iter().map(AsRef::as_ref).collect();
    let columns = Columns::measure(&rows, size.width.into());
    let shown = rows.into_iter().skip(state.first_visible()).take(size.height.into());
    let lines = shown.flat_map(|row| {
        let is_selected = marks_selected && state.is_selected(row);
        let mut facts = facts::facts(row, &state.display, state.now);
        let first = first_line(state, row, &columns, size.width.into(), is_selected, &mut facts);
        let second = row.is_tall().then(|| second_line(state, row, size.width.into(), facts));
        std::iter::once(first).chain(second)
    });
    lines.take(size.height.into()).collect()
}

fn empty_line(state: &State, columns: usize) -> Line<'static> {
    let lang = state.display.lang;
    let text = if state.rows().is_empty() { cli::no_sessions(lang) } else { page::no_match(lang) };
    Line::from(Tone::Faint.paint(fit(&format!("  {text}"), columns), state.display.colours))
}

fn first_line(
    state: &State,
    row: &Row,
    columns: &Columns,
    width: usize,
    selected: bool,
    facts: &mut Vec<Fact>,
) -> Line<'static> {
    let colours = state.display.colours;
    let (mark, tone) = mark(row);
    let name = column(&row.name(), columns.project);
    let rest =
        format!(" {} {:>PROGRESS_WIDTH$} ", column(&workflow_name(row), columns.workflow), progress(row));
    let marker = if selected { SELECTED } else { " " };
    let mut spans = vec![
        Tone::Busy.paint(marker, colours),
        tone.paint(mark, colours),
        Span::raw(" "),
        Tone::Strong.paint(name, colours),
        Span::raw(rest),
    ];
    if selected {
        for span in &mut spans[3..] {
            span.style = span.style.add_modifier(Modifier::REVERSED);
        }
    }
    spans.push(Span::raw(" "));
    let taken: usize = spans.iter().map(|span| span.content.width()).sum();
    spans.extend(facts::take_fitting(facts, &state.display, width.saturating_sub(taken)).spans);
    Line::from(spans)
}

/// The stages, or the error of a file, and then facts that did not fit on the first line.
fn second_line(state: &State, row: &Row, width: usize, facts: Vec<Fact>) -> Line<'static> {
    let room = width.saturating_sub(INDENT.width());
    let mut line = Line::from(Span::raw(INDENT));
    match (row.summary.skipped.first(), row.workflow()) {
        (Some(skipped), _) => {
            line.push_span(Tone::Bad.paint(fit(&error_text(row, skipped), room), state.display.colours));
        }
        (None, Some(workflow)) => line.spans.extend(pipeline::line(workflow, &state.display, room).spans),
        (None, None) => {}
    }
    let room = width.saturating_sub(width_of(&line) + GAP.width());
    let mut facts: Vec<_> = facts.into_iter().filter(|fact| fact.width() <= room).collect();
    if !facts.is_empty() {
        line.push_span(Span::raw(GAP));
        line.spans.extend(facts::take_fitting(&mut facts, &state.display, room).spans);
    }
    line
}

/// The error without the path of the session's folder, which would take the space of the message.
pub(super) fn error_text(row: &Row, skipped: &SkippedFile) -> String {
    skipped.error.replace(&format!("{}/", row.summary.session.dir().display()), "")
}

fn mark(row: &Row) -> (&'static str, Tone) {
    match row.summary.state {
        SessionState::Running => (pipeline::ACTIVE, Tone::Busy),
        SessionState::Broken => (pipeline::FAILED, Tone::Bad),
        _ if row.summary.needs_user() => (NEEDS_USER, Tone::Warning),
        SessionState::Completed => (pipeline::DONE, Tone::Good),
        SessionState::None => (NO_WORKFLOW, Tone::Faint),
        SessionState::Stopped | SessionState::Aborted => (STOPPED, Tone::Plain),
    }
}

fn workflow_name(row: &Row) -> String {
    row.summary.workflow_name().unwrap_or("–").to_owned()
}

fn progress(row: &Row) -> String {
    match row.workflow() {
        Some(workflow) => format!("{}/{}", workflow.resolved_count(), workflow.stages.len()),
        None => String::new(),
    }
}
