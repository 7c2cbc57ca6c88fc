//! The sessions, one or two lines each.

use overtone_engine::state::WorkflowState;
use overtone_messages::{cli, page};
use overtone_view::{Skipped, State as Condition};
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
pub(super) const NEEDS_PERSON: &str = "!";
pub(super) const STOPPED: &str = "■";
pub(super) const NO_WORKFLOW: &str = "○";

/// Where the second line of a session begins.
const INDENT: &str = "    ";
/// Before what follows the stages.
const GAP: &str = "   ";
/// `12/12`.
const PROGRESS: usize = 5;

/// How wide the columns are that hold names.
struct Columns {
    project: usize,
    workflow: usize,
}

impl Columns {
    fn of(rows: &[&Row], columns: usize) -> Self {
        let widest = |name: &dyn Fn(&Row) -> String| rows.iter().map(|row| clean(&name(row)).width()).max();
        let most = (columns / 5).clamp(8, 28);
        Self {
            project: widest(&Row::name).unwrap_or(0).min(most),
            workflow: widest(&workflow).unwrap_or(0).min(13),
        }
    }
}

/// As many sessions as there is room for; `marked` shows which one is selected.
pub(super) fn lines(state: &State, size: Size, marked: bool) -> Vec<Line<'static>> {
    let wanted = state.wanted();
    if wanted.is_empty() {
        return vec![empty(state, size.width.into())];
    }
    let rows: Vec<&Row> = wanted.iter().map(AsRef::as_ref).collect();
    let columns = Columns::of(&rows, size.width.into());
    let shown = rows.into_iter().skip(state.first()).take(size.height.into());
    let lines = shown.flat_map(|row| {
        let is_selected = marked && state.is_selected(row);
        let mut facts = facts::facts(row, &state.look, state.now);
        let first = first(state, row, &columns, size.width.into(), is_selected, &mut facts);
        let second = row.is_tall().then(|| second(state, row, size.width.into(), facts));
        std::iter::once(first).chain(second)
    });
    lines.take(size.height.into()).collect()
}

fn empty(state: &State, columns: usize) -> Line<'static> {
    let lang = state.look.lang;
    let text = if state.rows().is_empty() { cli::no_sessions(lang) } else { page::no_match(lang) };
    Line::from(Tone::Faint.paint(fit(&format!("  {text}"), columns), state.look.colours))
}

fn first(
    state: &State,
    row: &Row,
    columns: &Columns,
    width: usize,
    selected: bool,
    facts: &mut Vec<Fact>,
) -> Line<'static> {
    let colours = state.look.colours;
    let (mark, tone) = mark(row);
    let name = column(&row.name(), columns.project);
    let rest = format!(" {} {:>PROGRESS$} ", column(&workflow(row), columns.workflow), progress(row));
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
    spans.extend(facts::take(facts, &state.look, width.saturating_sub(taken)).spans);
    Line::from(spans)
}

/// How far the stages are, or what is wrong with the files; and facts that had no room, where there is some here.
fn second(state: &State, row: &Row, width: usize, facts: Vec<Fact>) -> Line<'static> {
    let room = width.saturating_sub(INDENT.width());
    let mut line = Line::from(Span::raw(INDENT));
    match (row.summary.skipped.first(), row.workflow()) {
        (Some(skipped), _) => {
            line.push_span(Tone::Bad.paint(fit(&problem(row, skipped), room), state.look.colours));
        }
        (None, Some(workflow)) => line.spans.extend(pipeline::line(workflow, &state.look, room).spans),
        (None, None) => {}
    }
    let room = width.saturating_sub(width_of(&line) + GAP.width());
    let mut facts: Vec<_> = facts.into_iter().filter(|fact| fact.width() <= room).collect();
    if !facts.is_empty() {
        line.push_span(Span::raw(GAP));
        line.spans.extend(facts::take(&mut facts, &state.look, room).spans);
    }
    line
}

/// The folder is the session's own and would take the room of what matters.
pub(super) fn problem(row: &Row, skipped: &Skipped) -> String {
    skipped.problem.replace(&format!("{}/", row.summary.session.dir().display()), "")
}

fn mark(row: &Row) -> (&'static str, Tone) {
    match row.summary.state {
        Condition::Running => (pipeline::ACTIVE, Tone::Busy),
        Condition::Broken => (pipeline::FAILED, Tone::Bad),
        _ if row.summary.needs_person() => (NEEDS_PERSON, Tone::Warning),
        Condition::Completed => (pipeline::DONE, Tone::Good),
        Condition::None => (NO_WORKFLOW, Tone::Faint),
        Condition::Stopped | Condition::Aborted => (STOPPED, Tone::Plain),
    }
}

fn workflow(row: &Row) -> String {
    row.summary.workflow_name().unwrap_or("–").to_owned()
}

fn progress(row: &Row) -> String {
    let of = |workflow: &WorkflowState| format!("{}/{}", workflow.resolved_count(), workflow.stages.len());
    row.workflow().map(of).unwrap_or_default()
}
