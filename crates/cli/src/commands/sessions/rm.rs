//! `overtone sessions rm`: removes what is named, after a person agreed.

use overtone_messages::cli as words;
use overtone_store::Session;
use serde_json::json;

use super::list;
use overtone_view::State;

use super::summary::Summary;
use crate::args::OutputArgs;
use crate::context::Context;
use crate::ui::error::{Done, Failure};
use crate::ui::{out, terminal};

pub(super) fn run(context: &Context, ids: &[String], yes: bool, output: &OutputArgs) -> Done {
    // First: whoever was killed and tries again may be told that the session is gone.
    context.home()?.sweep_removed();
    let doomed = find(context, ids)?;
    let doomed = if yes || agreed(context, &doomed)? { doomed } else { Vec::new() };
    for session in &doomed {
        remove(context, &session.session)?;
    }
    let names: Vec<_> = doomed.iter().map(Summary::id).collect();
    if output.json {
        return out::json(&json!({ "removed": names }));
    }
    out::print(&match names.len() {
        0 => words::nothing_removed(context.lang),
        count => words::removed(context.lang, count, &names.join(", ")),
    })
}

/// All of them, each once; nothing is removed when one name is wrong.
fn find(context: &Context, ids: &[String]) -> Result<Vec<Summary>, Failure> {
    let own = context.own_sessions()?;
    let mut found: Vec<Summary> = Vec::new();
    for id in ids {
        let session = context.existing_session(id)?;
        if !found.iter().any(|other| other.session.id() == session.id()) {
            found.push(Summary::of(&session, own.contains(session.id())));
        }
    }
    Ok(found)
}

fn agreed(context: &Context, doomed: &[Summary]) -> Result<bool, Failure> {
    let lang = context.lang;
    if !terminal::can_ask() {
        return Err(Failure::new(words::not_agreed(lang)).hint(words::not_agreed_hint(lang)));
    }
    let table = list::table(context, doomed).render(context.palette);
    let running = doomed.iter().filter(|session| session.state == State::Running).count();
    let question = match running {
        0 => words::ask_remove(lang, doomed.len()),
        _ => words::ask_remove_running(lang, doomed.len(), running),
    };
    Ok(terminal::confirm(&(table + &question)))
}

/// Removes a session and, if it was the last one started, the pointer to it. The pointer first: whoever is killed in
/// between can do the same again.
pub(super) fn remove(context: &Context, session: &Session) -> Done {
    let home = context.home()?;
    let is_current = home.current_session().as_ref() == Some(session.id());
    // A pointer to a session that is gone is harmless: it counts as a session without a workflow.
    let _ = home.clear_current_session(session.id());
    session.remove().map_err(|error| {
        if is_current {
            // The session stays, and so does what led to it.
            let _ = home.point_current_session(session.id());
        }
        Failure::store(context.lang, &error)
    })
}
