//! `overtone fleet pull`: a session from another machine goes on here.

use std::path::Path;

use overtone_engine::text::printable;
use overtone_fleet::{NotPulled, Picture, Pull, Pulled, repository_of};
use overtone_messages::{cli, fleet as words};
use overtone_store::{AdoptError, SessionId};
use serde_json::json;

use super::desk::{Desk, one};
use super::order::GONE;
use crate::args::PullArgs;
use crate::context::Context;
use crate::ui::error::{Done, Failure, say, warn};
use crate::ui::out;

pub(super) fn run(context: &Context, args: &PullArgs) -> Done {
    let project = context.project(args.project.as_deref())?;
    let desk = Desk::open_as_member(context)?;
    let picture = desk.picture()?;
    let session = which(context, &picture, &args.session)?;
    let repository = picture.find(session.as_str()).first().and_then(|state| state.repository.clone());
    warn_of_other_repository(context, repository.as_deref(), &project);
    let user = Desk::user();
    let pull = Pull {
        home: context.home()?,
        machine: &desk.machine,
        session: &session,
        project: &project,
        user: &user,
        take_over: args.take_over,
    };
    let pulled = desk.wait_for(Box::pin(pull.run(&desk.link)))?;
    let pulled = pulled.map_err(|reason| refused(context, &desk, &session, reason))?;
    report(context, args, &session, &project, &pulled)
}

/// One that was left half-way is ours already, and shown by nobody: then the whole id is needed.
fn which(context: &Context, picture: &Picture, name: &str) -> Result<SessionId, Failure> {
    let found = match (picture.find(name).is_empty(), SessionId::parse(name)) {
        (true, Some(id)) => return Ok(id),
        _ => one(context, picture, name)?,
    };
    let bad = || Failure::new(cli::bad_session_id(context.lang, &found.session));
    SessionId::parse(&found.session).ok_or_else(bad)
}

fn warn_of_other_repository(context: &Context, theirs: Option<&str>, project: &Path) {
    let ours = repository_of(project);
    if let Some(theirs) = theirs.filter(|theirs| ours.as_deref() != Some(*theirs)) {
        let here = ours.unwrap_or_else(|| project.display().to_string());
        warn(&words::other_repository(context.lang, &printable(theirs), &here));
    }
}

fn report(context: &Context, args: &PullArgs, session: &SessionId, project: &Path, pulled: &Pulled) -> Done {
    let (lang, command) = (context.lang, format!("claude --session-id {session}"));
    if args.output.json {
        return out::json(&json!({
            "session": session.as_str(), "from": pulled.from, "events": pulled.events,
            "handoffs": pulled.handoffs, "full": pulled.is_full, "cut": pulled.is_cut,
            "feature": pulled.feature, "project": project, "next": command, "kept": pulled.kept,
        }));
    }
    out::print(&words::pulled(lang, session.as_str(), &pulled.from, pulled.events, pulled.handoffs))?;
    if !pulled.is_full {
        say(&words::pulled_without_texts(lang));
    }
    if pulled.is_cut {
        say(&words::pulled_cut(lang));
    }
    if let Some(kept) = &pulled.kept {
        say(&words::pulled_kept(lang, &kept.display().to_string()));
    }
    out::print(&format!("→ {}\n", words::pulled_next(lang, &project.display().to_string(), &command)))
}

fn refused(context: &Context, desk: &Desk, session: &SessionId, reason: NotPulled) -> Failure {
    let (lang, id) = (context.lang, session.as_str());
    match reason {
        NotPulled::Unknown => {
            Failure::new(words::unknown_session(lang, id)).hint(words::unknown_session_hint(lang))
        }
        NotPulled::Here => Failure::new(words::pull_here(lang)).hint(words::pull_here_hint(lang, id)),
        NotPulled::Gone { name } => Failure::Coded {
            code: GONE,
            message: words::machine_gone(lang, &name),
            hint: words::pull_gone_hint(lang, id),
        },
        NotPulled::Refused { name, reason } => {
            Failure::new(words::refused(lang, &name, &reason)).hint(words::refused_hint(lang, id))
        }
        NotPulled::NoAnswer { name } => {
            Failure::new(words::no_answer(lang, &name)).hint(words::no_answer_hint(lang, &name))
        }
        NotPulled::Lost { name } => {
            Failure::new(words::pull_lost(lang, &name)).hint(words::pull_lost_hint(lang))
        }
        NotPulled::Changed { name } => {
            Failure::new(words::pull_changed(lang, &name)).hint(words::pull_changed_hint(lang))
        }
        NotPulled::Occupied(AdoptError::Exists(_)) => {
            Failure::new(words::pull_occupied(lang)).hint(words::pull_occupied_hint(lang, id))
        }
        NotPulled::Occupied(error) => Failure::new(error.to_string()).hint(words::server_failed_hint(lang)),
        NotPulled::Fleet(error) => {
            let (what, hint) = desk.told(&error);
            Failure::new(what).hint(hint)
        }
    }
}
