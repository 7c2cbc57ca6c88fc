//! The selected session: where it stands, what comes next, and what happened last.

use overtone_engine::commands::next_words;
use overtone_engine::state::Millis;
use overtone_messages::{event_label, top as words};
use overtone_registry::EventKind;
use overtone_store::clock;
use overtone_view::Seen;
use ratatui::layout::Size;
use ratatui::text::{Line, Span};
use serde_json::Value;
use unicode_width::UnicodeWidthStr;

use super::list::problem;
use super::text::{age, clean, column, fit};
use super::tone::Tone;
use super::{bars, facts, pipeline};
use crate::sessions::Row;
use crate::state::State;

/// What tells most about an event, in this order.
const TELLING: [&str; 12] = [
    "workflowType",
    "stage",
    "group",
    "stages",
    "agent",
    "result",
    "tool",
    "task",
    "feature",
    "reason",
    "by",
    "error",
];
const INDENT: &str = " ";
/// By how much the list has less room for the stages.
const SHORTER: usize = 3;
/// How many open tasks are named on a whole screen.
const TASKS: usize = 5;

pub(super) fn lines(state: &State, size: Size) -> Vec<Line<'static>> {
    let Some(row) = state.selected().filter(|_| size.height > 1) else { return Vec::new() };
    let (width, height) = (usize::from(size.width), usize::from(size.height));
    let mut lines = vec![bars::rule(state, &title(row), width)];
    lines.extend(about(state, row, width.saturating_sub(INDENT.width())).into_iter().map(indented));
    lines.truncate(height);
    let room = height - lines.len();
    // A blank line before the events, where it costs none of the last ones.
    if room > 4 {
        lines.push(Line::default());
    }
    lines.extend(last(state, width, height - lines.len()));
    lines
}

fn indented(mut line: Line<'static>) -> Line<'static> {
    line.spans.insert(0, Span::raw(INDENT));
    line
}

fn title(row: &Row) -> String {
    let feature = row.workflow().and_then(|workflow| workflow.feature_name.clone());
    std::iter::once(row.title()).chain(feature).collect::<Vec<_>>().join(" · ")
}

fn about(state: &State, row: &Row, width: usize) -> Vec<Line<'static>> {
    let look = &state.look;
    let mut lines = Vec::new();
    if state.is_detailed {
        lines.push(Line::from(Tone::Faint.paint(fit(&whereabouts(row), width), look.colours)));
    }
    for skipped in &row.summary.skipped {
        lines.push(Line::from(Tone::Bad.paint(fit(&problem(row, skipped), width), look.colours)));
    }
    if let Some(workflow) = row.workflow() {
        let stages = pipeline::lines(workflow, look, width.saturating_sub(SHORTER));
        // The list has it already, right above.
        let is_told = row.is_tall() && stages.len() == 1 && !state.is_detailed;
        lines.extend(stages.into_iter().filter(|_| !is_told));
    }
    let mut all = facts::facts(row, look, state.now);
    all.extend(facts::counters(row, look));
    lines.extend(facts::lines(all, look, width));
    lines
        .extend(next(state, row).map(|text| Line::from(Tone::Strong.paint(fit(&text, width), look.colours))));
    if state.is_detailed {
        lines.extend(open_tasks(state, row, width));
    }
    lines
}

fn whereabouts(row: &Row) -> String {
    let project = row.summary.project().map(|path| path.display().to_string());
    [Some(row.summary.id().to_owned()), project].into_iter().flatten().collect::<Vec<_>>().join("  ")
}

fn next(state: &State, row: &Row) -> Option<String> {
    let workflow = row.workflow().filter(|_| !row.is_complete())?;
    let looping = row.summary.looping.as_ref();
    next_words(workflow, looping, &state.look.settings, state.look.lang).map(|text| format!("→ {text}"))
}

fn open_tasks(state: &State, row: &Row, width: usize) -> Vec<Line<'static>> {
    let pending = row.summary.tasks.iter().flat_map(|tasks| &tasks.pending).take(TASKS);
    let text = |task: &String| fit(&words::open_task(state.look.lang, task), width);
    pending.map(|task| Line::from(Tone::Plain.paint(text(task), state.look.colours))).collect()
}

/// The last events that there is room for, the newest at the bottom.
fn last(state: &State, width: usize, room: usize) -> Vec<Line<'static>> {
    let events = state.events();
    if events.is_empty() {
        let text = fit(&words::no_events(state.look.lang), width.saturating_sub(1));
        let line = Line::from(Tone::Faint.paint(text, state.look.colours));
        return std::iter::once(indented(line)).take(room).collect();
    }
    let shown = &events[events.len().saturating_sub(room)..];
    let labels = shown.iter().map(|event| label(state, event).0.width()).max().unwrap_or(0);
    shown.iter().map(|event| event_line(state, event, labels, width)).collect()
}

fn event_line(state: &State, event: &Seen, labels: usize, width: usize) -> Line<'static> {
    let colours = state.look.colours;
    let (label, tone) = label(state, event);
    let at = clock::from_iso(text_of(event, "ts").as_str());
    let since = at.map(|at: Millis| age(state.now.since(at))).unwrap_or_default();
    let head = format!("{INDENT}{since:>4}  ");
    let room = width.saturating_sub(head.width() + labels + 2);
    Line::from(vec![
        Tone::Faint.paint(head, colours),
        tone.paint(column(&label, labels), colours),
        Span::raw("  "),
        Span::raw(fit(&telling(event), room)),
    ])
}

fn label(state: &State, event: &Seen) -> (String, Tone) {
    let name = text_of(event, "type");
    match EventKind::from_name(&name) {
        Ok(kind) => (event_label(state.look.lang, kind).to_owned(), tone(kind)),
        // Written by another version.
        Err(_) => (clean(&name), Tone::Plain),
    }
}

fn tone(kind: EventKind) -> Tone {
    match kind {
        EventKind::ErrorFatal | EventKind::AgentError | EventKind::ToolFailure | EventKind::WorkflowAbort => {
            Tone::Bad
        }
        EventKind::StageRetry | EventKind::SystemWarning | EventKind::SessionCompactSuggestion => {
            Tone::Warning
        }
        EventKind::StageComplete | EventKind::WorkflowComplete | EventKind::LoopComplete => Tone::Good,
        EventKind::AgentDelegate => Tone::Busy,
        _ => Tone::Plain,
    }
}

fn telling(event: &Seen) -> String {
    let values = TELLING.iter().filter_map(|name| event.fields.get(*name)).filter(|value| !value.is_null());
    values.map(words_of).filter(|text| !text.is_empty()).collect::<Vec<_>>().join(" · ")
}

fn words_of(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Array(list) => list.iter().map(words_of).collect::<Vec<_>>().join(" "),
        other => other.to_string(),
    }
}

fn text_of(event: &Seen, name: &str) -> String {
    event.fields.get(name).and_then(Value::as_str).unwrap_or_default().to_owned()
}
