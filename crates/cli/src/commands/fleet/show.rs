//! `overtone fleet show`: the details of one session of any machine.

use overtone_core::engine::text::printable;
use overtone_core::messages::{cli, fleet as words};
use overtone_fleet::{FleetSnapshot, SessionState, fetch_timeline};
use overtone_store::timeline::Entry;
use serde_json::Value;

use super::connection::{FleetConnection, find_session};
use super::format::{cost, printable_or_dash, project, stages, state_cell, summary_text};
use super::list::{last_seen, report_unreadable, session_object};
use crate::args::FleetSessionArgs;
use crate::commands::timeline::line;
use crate::context::Context;
use crate::ui::error::CommandResult;
use crate::ui::out;
use crate::ui::table::{ARROW, Cell, Fields};
use overtone_hook::ansi::Tone;

/// How many of the last events are shown.
const SHOWN_EVENTS: usize = 10;

pub(super) fn run(context: &Context, args: &FleetSessionArgs) -> CommandResult {
    let connection = FleetConnection::open(context)?;
    let snapshot = connection.snapshot()?;
    let state = find_session(context, &snapshot, &args.session)?;
    let batches =
        connection.wait(Box::pin(fetch_timeline(&connection.link, &state.machine, &state.session)))?;
    let lines: Vec<_> = batches.iter().flat_map(|batch| &batch.lines).collect();
    let last: Vec<_> = lines
        .iter()
        .skip(lines.len().saturating_sub(SHOWN_EVENTS))
        .filter_map(|line| Entry::parse(line))
        .collect();
    if args.output.json {
        let mut object = session_object(&snapshot, state);
        object["events"] = lines.len().into();
        object["lastEvents"] = last.into_iter().map(|entry| Value::Object(entry.fields)).collect();
        return out::json(&object);
    }
    out::print(&fields(context, &snapshot, state).render(context.palette))?;
    let width = line::label_width(context.lang);
    if !last.is_empty() {
        out::print("\n")?;
    }
    for entry in &last {
        out::print(&line::render(context, entry, width))?;
    }
    report_unreadable(context, &snapshot);
    Ok(())
}

fn fields(context: &Context, snapshot: &FleetSnapshot, state: &SessionState) -> Fields {
    let lang = context.lang;
    let mut fields = Fields::default();
    fields.add(cli::label_session(lang), Cell::new(printable(&state.session)).tone(Tone::Strong));
    fields.add(words::head_machine(lang), machine(context, snapshot, state));
    fields.add(words::head_project(lang), project_and_repository(state));
    fields.add(cli::label_workflow(lang), printable_or_dash(summary_text(state, "workflow").as_deref()));
    fields.add(cli::head_state(lang), state_cell(lang, state));
    let stages = stages(state);
    if !stages.is_empty() {
        fields.add_chain(cli::label_progress(lang), stages.join(ARROW));
    }
    let looping = &state.summary["loop"];
    if looping.is_object() {
        let number = |name: &str| looping[name].as_u64().unwrap_or_default();
        fields.add(cli::label_loop(lang), format!("{}/{}", number("iterations"), number("limit")));
    }
    let supervisor = &state.summary["supervisor"];
    if supervisor.is_object() {
        let last = printable(supervisor["last"].as_str().unwrap_or("–"));
        let rounds = supervisor["rounds"].as_u64().unwrap_or_default();
        fields.add(words::label_supervisor(lang), words::supervised(lang, rounds, &last));
    }
    fields.add(cli::label_feature(lang), printable_or_dash(state.feature.as_deref()));
    fields.add(words::head_cost(lang), cost(state));
    if let Some(at) = summary_text(state, "lastActivity") {
        fields.add(cli::head_activity(lang), last_seen(context, &at));
    }
    let shared = if state.is_full { words::shared_full(lang) } else { words::shared_state(lang) };
    fields.add(words::label_shared(lang), shared);
    fields
}

fn machine(context: &Context, snapshot: &FleetSnapshot, state: &SessionState) -> String {
    let lang = context.lang;
    let is_present = snapshot.is_present(&state.machine);
    format!("{} ({})", state.machine_name, if is_present { words::present(lang) } else { words::gone(lang) })
}

fn project_and_repository(state: &SessionState) -> String {
    match &state.repository {
        Some(repository) => {
            format!("{} · {}", printable_or_dash(project(state).as_deref()), printable(repository))
        }
        None => printable_or_dash(project(state).as_deref()),
    }
}
