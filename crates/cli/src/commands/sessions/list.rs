//! `overtone sessions list`.

use overtone_core::messages::cli as words;
use overtone_hook::ansi::Tone;
use overtone_store::clock;
use serde::Serialize;

use super::summary::{self, Summary, SummaryJson};
use crate::args::OutputArgs;
use crate::context::Context;
use crate::ui::error::CommandResult;
use crate::ui::out;
use crate::ui::quantity::{age, size};
use crate::ui::table::{Cell, Table};

/// The output of `overtone sessions list --json`.
#[derive(Serialize)]
struct SessionsJson<'a> {
    sessions: Vec<SummaryJson<'a>>,
}

pub(super) fn run(context: &Context, output: &OutputArgs) -> CommandResult {
    let sessions = summary::all(context)?;
    if output.json {
        return out::json(&SessionsJson { sessions: sessions.iter().map(Summary::to_json).collect() });
    }
    if sessions.is_empty() {
        return out::print(&words::no_sessions(context.lang));
    }
    out::print(&table(context, &sessions).render(context.palette))
}

/// A star marks the current session.
pub(super) fn table(context: &Context, sessions: &[Summary]) -> Table {
    let lang = context.lang;
    let now = clock::now();
    let mut table = Table::with_head([
        String::new(),
        words::head_session(lang),
        words::head_project(lang),
        words::label_workflow(lang),
        words::label_progress(lang),
        words::head_state(lang),
        words::head_activity(lang),
        words::head_size(lang),
    ]);
    for session in sessions {
        let (done, total) = session.progress;
        let progress = if total > 0 { format!("{done}/{total}") } else { "–".to_owned() };
        table.row([
            Cell::new(if session.current { "*" } else { " " }).tone(Tone::Good),
            session.id().into(),
            session.project_name().as_deref().unwrap_or("–").into(),
            session.workflow.as_deref().unwrap_or("–").into(),
            Cell::new(progress).right(),
            Cell::new(summary::label(session, lang)).tone(summary::tone(session)),
            words::ago(lang, &age(now.since(session.last_activity))).into(),
            Cell::new(size(session.bytes)).right(),
        ]);
    }
    table
}
