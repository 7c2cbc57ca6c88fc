//! The selected session: its stages, the next step, and the last events.

use overtone_core::engine::commands::describe_next_step;
use overtone_core::engine::state::Millis;
use overtone_core::messages::{event_label, top as words};
use overtone_core::registry::{EventKind, EventTone};
use overtone_session::view::TimelineEvent;
use overtone_store::clock;
use ratatui::layout::Size;
use ratatui::text::{Line, Span};
use serde_json::Value;
use unicode_width::UnicodeWidthStr;

use super::list::error_text;
use super::text::{age, clean, column, fit};
use super::tone::Tone;
use super::{bars, facts, pipeline};
use crate::sessions::Row;
use crate::state::State;

/// The fields of an event that are shown, in this order.
const SHOWN_FIELDS: [&str; 12] = [
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
/// The list has this many columns less for the stages. The same width is used here, so that both break the same lines.
const LIST_OFFSET: usize = 3;
/// How many open tasks are listed if the session fills the screen.
const MAX_TASKS: usize = 5;

pub(super) fn lines(state: &State, size: Size) -> Vec<Line<'static>> {
    let Some(row) = state.selected() else { return Vec::new() };
    if size.height <= 1 {
        return Vec::new();
    }
    let (width, height) = (usize::from(size.width), usize::from(size.height));
    let mut lines = vec![bars::rule(state, &title(row), width)];
    lines.extend(session_lines(state, row, width.saturating_sub(INDENT.width())).into_iter().map(indented));
    lines.truncate(height);
    let room = height - lines.len();
    // A blank line before the events, if there is enough space.
    if room > 4 {
        lines.push(Line::default());
    }
    lines.extend(event_lines(state, width, height - lines.len()));
    lines
}

fn indented(mut line: Line<'static>) -> Line<'static> {
    line.spans.insert(0, Span::raw(INDENT));
    line
}

fn title(row: &Row) -> String {
    match row.workflow().and_then(|workflow| workflow.feature_name.as_deref()) {
        Some(feature) => format!("{} · {feature}", row.title()),
        None => row.title(),
    }
}

fn session_lines(state: &State, row: &Row, width: usize) -> Vec<Line<'static>> {
    let display = &state.display;
    let mut lines = Vec::new();
    if state.is_detailed {
        lines.push(Line::from(Tone::Faint.paint(fit(&id_and_project(row), width), display.colours)));
    }
    for skipped in &row.summary.skipped {
        lines.push(Line::from(Tone::Bad.paint(fit(&error_text(row, skipped), width), display.colours)));
    }
    if let Some(workflow) = row.workflow() {
        let stages = pipeline::lines(workflow, display, width.saturating_sub(LIST_OFFSET));
        // The list right above shows the stages already if they fit in one line.
        let is_in_list = row.is_tall() && stages.len() == 1 && !state.is_detailed;
        if !is_in_list {
            lines.extend(stages);
        }
    }
    let mut all = facts::facts(row, display, state.now);
    all.extend(facts::counters(row, display));
    lines.extend(facts::lines(all, display, width));
    if let Some(text) = next_step(state, row) {
        lines.push(Line::from(Tone::Strong.paint(fit(&text, width), display.colours)));
    }
    if state.is_detailed {
        lines.extend(open_tasks(state, row, width));
    }
    lines
}

fn id_and_project(row: &Row) -> String {
    match row.summary.project() {
        Some(path) => format!("{}  {}", row.summary.id(), path.display()),
        None => row.summary.id().to_owned(),
    }
}

fn next_step(state: &State, row: &Row) -> Option<String> {
    if row.is_complete() {
        return None;
    }
    let workflow = row.workflow()?;
    let looping = row.summary.looping.as_ref();
    describe_next_step(workflow, looping, &state.display.settings, state.display.lang)
        .map(|text| format!("→ {text}"))
}

fn open_tasks(state: &State, row: &Row, width: usize) -> Vec<Line<'static>> {
    let pending = row.summary.tasks.iter().flat_map(|tasks| &tasks.pending).take(MAX_TASKS);
    let text = |task: &String| fit(&words::open_task(state.display.lang, task), width);
    pending.map(|task| Line::from(Tone::Plain.paint(text(task), state.display.colours))).collect()
}

/// As many of the last events as fit, the newest at the bottom.
fn event_lines(state: &State, width: usize, room: usize) -> Vec<Line<'static>> {
    let events = state.events();
    if events.is_empty() {
        let text = fit(&words::no_events(state.display.lang), width.saturating_sub(1));
        let line = Line::from(Tone::Faint.paint(text, state.display.colours));
        return std::iter::once(indented(line)).take(room).collect();
    }
    let shown = &events[events.len().saturating_sub(room)..];
    let labels = shown.iter().map(|event| label(state, event).0.width()).max().unwrap_or(0);
    shown.iter().map(|event| event_line(state, event, labels, width)).collect()
}

fn event_line(state: &State, event: &TimelineEvent, labels: usize, width: usize) -> Line<'static> {
    let colours = state.display.colours;
    let (label, tone) = label(state, event);
    let at = clock::from_iso(text_field(event, "ts").as_str());
    let since = at.map(|at: Millis| age(state.now.since(at))).unwrap_or_default();
    let head = format!("{INDENT}{since:>4}  ");
    let room = width.saturating_sub(head.width() + labels + 2);
    Line::from(vec![
        Tone::Faint.paint(head, colours),
        tone.paint(column(&label, labels), colours),
        Span::raw("  "),
        Span::raw(fit(&event_details(event), room)),
    ])
}

fn label(state: &State, event: &TimelineEvent) -> (String, Tone) {
    let name = text_field(event, "type");
    match EventKind::from_name(&name) {
        Ok(kind) => (event_label(state.display.lang, kind).to_owned(), tone(kind)),
        // An event of another version.
        Err(_) => (clean(&name), Tone::Plain),
    }
}

fn tone(kind: EventKind) -> Tone {
    match kind.tone() {
        EventTone::Bad => Tone::Bad,
        EventTone::Warning => Tone::Warning,
        EventTone::Good => Tone::Good,
        EventTone::Plain if kind == EventKind::AgentDelegate => Tone::Busy,
        EventTone::Plain => Tone::Plain,
    }
}

fn event_details(event: &TimelineEvent) -> String {
    let values =
        SHOWN_FIELDS.iter().filter_map(|name| event.fields.get(*name)).filter(|value| !value.is_null());
    values.map(value_text).filter(|text| !text.is_empty()).collect::<Vec<_>>().join(" · ")
}

fn value_text(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Array(list) => list.iter().map(value_text).collect::<Vec<_>>().join(" "),
        other => other.to_string(),
    }
}

fn text_field(event: &TimelineEvent, name: &str) -> String {
    event.fields.get(name).and_then(Value::as_str).unwrap_or_default().to_owned()
}
