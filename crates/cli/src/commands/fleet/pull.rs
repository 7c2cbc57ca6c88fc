//! `overtone fleet pull`: moves a session from another machine to this one.

use std::path::Path;

use overtone_core::engine::text::printable;
use overtone_core::messages::{cli, fleet as words};
use overtone_fleet::{FleetSnapshot, Pull, PullError, PullSummary, repository_name};
use overtone_store::{AdoptError, SessionId};
use serde::Serialize;

use super::connection::{FleetConnection, find_session};
use super::order::GONE;
use crate::args::PullArgs;
use crate::context::Context;
use crate::ui::error::{CommandError, CommandResult, note, warn};
use crate::ui::out;

pub(super) fn run(context: &Context, args: &PullArgs) -> CommandResult {
    let project = context.project(args.project.as_deref())?;
    let connection = FleetConnection::open_as_member(context)?;
    let snapshot = connection.snapshot()?;
    let session = resolve_session(context, &snapshot, &args.session)?;
    let repository = snapshot.find(session.as_str()).first().and_then(|state| state.repository.clone());
    warn_of_other_repository(context, repository.as_deref(), &project);
    let user = FleetConnection::user();
    let pull = Pull {
        home: context.home()?,
        machine: &connection.machine,
        session: &session,
        project: &project,
        user: &user,
        take_over: args.take_over,
    };
    let pulled = connection.wait_for(Box::pin(pull.run(&connection.link)))?;
    let pulled = pulled.map_err(|reason| pull_failure(context, &connection, &session, reason))?;
    report(context, args, &session, &project, &pulled)
}

/// The session to pull. After an interrupted pull no machine lists it, so its complete id is accepted as well.
fn resolve_session(context: &Context, snapshot: &FleetSnapshot, name: &str) -> CommandResult<SessionId> {
    let found = match (snapshot.find(name).is_empty(), SessionId::parse(name)) {
        (true, Some(id)) => return Ok(id),
        _ => find_session(context, snapshot, name)?,
    };
    let bad = || CommandError::new(cli::bad_session_id(context.lang, &found.session));
    SessionId::parse(&found.session).ok_or_else(bad)
}

fn warn_of_other_repository(context: &Context, theirs: Option<&str>, project: &Path) {
    let ours = repository_name(project);
    if let Some(theirs) = theirs
        && ours.as_deref() != Some(theirs)
    {
        let here = ours.unwrap_or_else(|| project.display().to_string());
        warn(&words::other_repository(context.lang, &printable(theirs), &here));
    }
}

/// The output of `overtone fleet pull --json`.
#[derive(Serialize)]
struct PulledJson<'a> {
    session: &'a str,
    from: &'a str,
    events: usize,
    handoffs: usize,
    full: bool,
    cut: bool,
    feature: Option<&'a str>,
    project: &'a Path,
    next: &'a str,
    kept: Option<&'a Path>,
}

fn report(
    context: &Context,
    args: &PullArgs,
    session: &SessionId,
    project: &Path,
    pulled: &PullSummary,
) -> CommandResult {
    let (lang, command) = (context.lang, format!("claude --session-id {session}"));
    if args.output.json {
        return out::json(&PulledJson {
            session: session.as_str(),
            from: &pulled.from,
            events: pulled.events,
            handoffs: pulled.handoffs,
            full: pulled.is_full,
            cut: pulled.is_cut,
            feature: pulled.feature.as_deref(),
            project,
            next: &command,
            kept: pulled.backup.as_deref(),
        });
    }
    out::print(&words::pulled(lang, session.as_str(), &pulled.from, pulled.events, pulled.handoffs))?;
    if !pulled.is_full {
        note(&words::pulled_without_texts(lang));
    }
    if pulled.is_cut {
        note(&words::pulled_cut(lang));
    }
    if let Some(backup) = &pulled.backup {
        note(&words::pulled_kept(lang, &backup.display().to_string()));
    }
    out::print(&format!("→ {}\n", words::pulled_next(lang, &project.display().to_string(), &command)))
}

fn pull_failure(
    context: &Context,
    connection: &FleetConnection,
    session: &SessionId,
    reason: PullError,
) -> CommandError {
    let (lang, id) = (context.lang, session.as_str());
    match reason {
        PullError::Unknown => {
            CommandError::new(words::unknown_session(lang, id)).hint(words::unknown_session_hint(lang))
        }
        PullError::AlreadyHere => {
            CommandError::new(words::pull_here(lang)).hint(words::pull_here_hint(lang, id))
        }
        PullError::Gone { name } => CommandError::new(words::machine_gone(lang, &name))
            .hint(words::pull_gone_hint(lang, id))
            .with_exit_code(GONE),
        PullError::Refused { name, reason } => {
            CommandError::new(words::refused(lang, &name, &reason)).hint(words::refused_hint(lang, id))
        }
        PullError::NoAnswer { name } => {
            CommandError::new(words::no_answer(lang, &name)).hint(words::no_answer_hint(lang, &name))
        }
        PullError::Lost { name } => {
            CommandError::new(words::pull_lost(lang, &name)).hint(words::pull_lost_hint(lang))
        }
        PullError::Changed { name } => {
            CommandError::new(words::pull_changed(lang, &name)).hint(words::pull_changed_hint(lang))
        }
        PullError::Occupied(AdoptError::Exists(_)) => {
            CommandError::new(words::pull_occupied(lang)).hint(words::pull_occupied_hint(lang, id))
        }
        PullError::Occupied(error) => {
            CommandError::new(error.to_string()).hint(words::server_failed_hint(lang))
        }
        PullError::Fleet(error) => {
            let (what, hint) = connection.describe_error(&error);
            CommandError::new(what).hint(hint)
        }
    }
}
