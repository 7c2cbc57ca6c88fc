//! `overtone sessions rm`: removes the given sessions, after the user has confirmed.

use overtone_core::messages::cli as words;
use overtone_session::view::SessionState;
use overtone_store::Session;
use serde::Serialize;

use super::list;
use super::summary::Summary;
use crate::args::OutputArgs;
use crate::context::Context;
use crate::ui::error::{CommandError, CommandResult};
use crate::ui::{out, terminal};

/// The output of `overtone sessions rm --json`.
#[derive(Serialize)]
struct RemovedJson<'a> {
    removed: Vec<&'a str>,
}

pub(super) fn run(context: &Context, ids: &[String], yes: bool, output: &OutputArgs) -> CommandResult {
    // First, because a retry after an interrupted removal may fail below with "no such session".
    context.home()?.sweep_removed();
    let selected = find(context, ids)?;
    let selected = if yes || confirm_removal(context, &selected)? { selected } else { Vec::new() };
    for session in &selected {
        remove(context, &session.session)?;
    }
    let names: Vec<_> = selected.iter().map(Summary::id).collect();
    if output.json {
        return out::json(&RemovedJson { removed: names });
    }
    out::print(&match names.len() {
        0 => words::nothing_removed(context.lang),
        count => words::removed(context.lang, count, &names.join(", ")),
    })
}

/// Every session once. One wrong name is an error, so that nothing is removed.
fn find(context: &Context, ids: &[String]) -> CommandResult<Vec<Summary>> {
    let own = context.own_sessions()?;
    let mut found: Vec<Summary> = Vec::new();
    for id in ids {
        let session = context.existing_session(id)?;
        if !found.iter().any(|other| other.session.id() == session.id()) {
            found.push(Summary::read(&session, own.contains(session.id())));
        }
    }
    Ok(found)
}

fn confirm_removal(context: &Context, selected: &[Summary]) -> CommandResult<bool> {
    let lang = context.lang;
    if !terminal::can_ask() {
        return Err(CommandError::new(words::not_agreed(lang)).hint(words::not_agreed_hint(lang)));
    }
    let table = list::table(context, selected).render(context.palette);
    let running = selected.iter().filter(|session| session.state == SessionState::Running).count();
    let question = match running {
        0 => words::ask_remove(lang, selected.len()),
        _ => words::ask_remove_running(lang, selected.len(), running),
    };
    Ok(terminal::confirm(&(table + &question)))
}

/// Removes a session and, if it was the last one started, the pointer to it. The pointer goes first, so that an
/// interrupted removal can be repeated.
pub(super) fn remove(context: &Context, session: &Session) -> CommandResult {
    let home = context.home()?;
    let is_current = home.current_session().as_ref() == Some(session.id());
    // A pointer to a session that is gone is harmless: it counts as a session without a workflow.
    let _ = home.clear_current_session(session.id());
    session.remove().map_err(|error| {
        if is_current {
            // The session stays, so the pointer stays too.
            let _ = home.set_current_session(session.id());
        }
        CommandError::store(context.lang, &error)
    })
}
