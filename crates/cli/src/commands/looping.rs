//! What `stop`, `resume` and `message` share: they change the session's workflow. The first two are content when there
//! is nothing to change; of a session that goes on elsewhere, nothing can be changed here.

use overtone_engine::commands::Refusal;
use overtone_engine::{Outcome, Snapshot};
use overtone_hooks::{Documented, act};
use overtone_messages::cli as words;
use overtone_store::Session;
use serde_json::json;

use super::status::{self, View};
use crate::args::SessionArgs;
use crate::context::Context;
use crate::ui::error::{Done, Failure};
use crate::ui::out;

/// What is told when something was done, and when nothing had to be.
pub(super) struct Lines {
    pub(super) done: String,
    pub(super) nothing: String,
}

pub(super) fn change(
    context: &Context,
    args: &SessionArgs,
    lines: &Lines,
    decide: impl FnOnce(&Snapshot) -> Result<Outcome, Refusal>,
) -> Done {
    let session = found(context, args)?;
    let refusal = match &session {
        Some(session) => apply(context, session, decide)?,
        None => Some(Refusal::NoWorkflow),
    };
    let line = match &refusal {
        None => lines.done.clone(),
        Some(Refusal::Completed) => words::already_complete(context.lang),
        Some(Refusal::NoWorkflow) => words::no_workflow(context.lang),
        Some(Refusal::Moved { to }) => return Err(moved(context, session.as_ref(), to)),
        Some(_) => lines.nothing.clone(),
    };
    tell(context, args, session.as_ref(), refusal.is_none(), &line)
}

/// The session that is meant. One without a folder has no workflow, and asking must not make one.
pub(super) fn found(context: &Context, args: &SessionArgs) -> Result<Option<Session>, Failure> {
    let Some(chosen) = context.session_to_change(args.id.as_deref())? else { return Ok(None) };
    if !chosen.session.exists() {
        return Ok(None);
    }
    if !args.output.json {
        chosen.announce(context);
    }
    Ok(Some(chosen.session))
}

pub(super) fn moved(context: &Context, session: Option<&Session>, to: &str) -> Failure {
    let id = session.map_or("<id>", |session| session.id().as_str());
    Failure::new(words::moved_to(context.lang, to)).hint(words::moved_hint(context.lang, id))
}

pub(super) fn tell(
    context: &Context,
    args: &SessionArgs,
    session: Option<&Session>,
    changed: bool,
    line: &str,
) -> Done {
    if args.output.json {
        let id = session.map(|session| session.id().as_str());
        return out::json(&json!({ "session": id, "changed": changed, "message": line }));
    }
    out::print(line)?;
    match session {
        Some(session) => out::print(&status::progress(context, &View::load(context, session)?)),
        None => Ok(()),
    }
}

pub(super) fn apply(
    context: &Context,
    session: &Session,
    decide: impl FnOnce(&Snapshot) -> Result<Outcome, Refusal>,
) -> Result<Option<Refusal>, Failure> {
    match act(context.home()?, session, None, Documented::Continued, decide) {
        Ok(problems) if problems.is_empty() => Ok(None),
        Ok(problems) => Err(Failure::problems(context.lang, &problems)),
        Err(error) => match error.downcast::<Refusal>() {
            Ok(refusal) => Ok(Some(*refusal)),
            Err(error) => Err(Failure::driver(context.lang, error.as_ref())),
        },
    }
}
