//! `overtone fleet show`: one session of any machine.

use overtone_fleet::{Picture, SessionState, timeline};
use overtone_messages::{cli, fleet as words};
use overtone_store::timeline::Entry;
use serde_json::{Value, json};

use super::desk::{Desk, one};
use super::list::{seen, session_object, tell_foreign};
use super::shown::{cost, or_dash, project, stages, state_cell, text};
use crate::args::OfSessionArgs;
use crate::commands::timeline::line;
use crate::context::Context;
use crate::ui::error::Done;
use crate::ui::out;
use crate::ui::style::Tone;
use crate::ui::table::{ARROW, Cell, Fields};

/// How much of what happened is shown.
const EVENTS: usize = 10;

pub(super) fn run(context: &Context, args: &OfSessionArgs) -> Done {
    let desk = Desk::open(context)?;
    let picture = desk.picture()?;
    let state = one(context, &picture, &args.session)?;
    let batches = desk.wait(Box::pin(timeline(&desk.link, &state.machine, &state.session)))?;
    let lines: Vec<_> = batches.iter().flat_map(|batch| &batch.lines).collect();
    let last: Vec<_> =
        lines.iter().skip(lines.len().saturating_sub(EVENTS)).filter_map(|line| Entry::parse(line)).collect();
    if args.output.json {
        let mut object = session_object(&picture, state);
        object["events"] = json!(lines.len());
        object["lastEvents"] = last.into_iter().map(|entry| Value::Object(entry.fields)).collect();
        return out::json(&object);
    }
    out::print(&fields(context, &picture, state).render(context.palette))?;
    let width = line::label_width(context.lang);
    if !last.is_empty() {
        out::print("\n")?;
    }
    for entry in &last {
        out::print(&line::render(context, entry, width))?;
    }
    tell_foreign(context, &picture);
    Ok(())
}

fn fields(context: &Context, picture: &Picture, state: &SessionState) -> Fields {
    let lang = context.lang;
    let mut fields = Fields::default();
    fields.add(cli::label_session(lang), Cell::new(&state.session).tone(Tone::Strong));
    fields.add(words::head_machine(lang), machine(context, picture, state));
    fields.add(words::head_project(lang), place(state));
    fields.add(cli::label_workflow(lang), or_dash(text(state, "workflow")));
    fields.add(cli::head_state(lang), state_cell(lang, state));
    let stages = stages(state);
    if !stages.is_empty() {
        fields.add_chain(cli::label_progress(lang), stages.join(ARROW));
    }
    let looping = &state.summary["loop"];
    if looping.is_object() {
        fields.add(cli::label_loop(lang), format!("{}/{}", looping["iterations"], looping["limit"]));
    }
    let supervisor = &state.summary["supervisor"];
    if supervisor.is_object() {
        let last = supervisor["last"].as_str().unwrap_or("–");
        let rounds = supervisor["rounds"].as_u64().unwrap_or_default();
        fields.add(words::label_supervisor(lang), words::supervised(lang, rounds, last));
    }
    fields.add(cli::label_feature(lang), or_dash(state.feature.as_deref()));
    fields.add(words::head_cost(lang), cost(state));
    if let Some(at) = text(state, "lastActivity") {
        fields.add(cli::head_activity(lang), seen(context, at));
    }
    let shared = if state.is_full { words::shared_full(lang) } else { words::shared_state(lang) };
    fields.add(words::label_shared(lang), shared);
    fields
}

fn machine(context: &Context, picture: &Picture, state: &SessionState) -> String {
    let lang = context.lang;
    let is_present = picture.is_present(&state.machine);
    format!("{} ({})", state.machine_name, if is_present { words::present(lang) } else { words::gone(lang) })
}

fn place(state: &SessionState) -> String {
    match &state.repository {
        Some(repository) => format!("{} · {repository}", or_dash(project(state))),
        None => or_dash(project(state)),
    }
}
