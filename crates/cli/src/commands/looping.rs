//! What `stop` and `resume` share: both change the loop of the session's workflow, and both are content when there
//! is nothing to change.

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
    // A session without a folder has no workflow, and asking must not make one.
    let session = context.session(args.id.as_deref())?.filter(Session::exists);
    let refusal = match &session {
        Some(session) => apply(context, session, decide)?,
        None => Some(Refusal::NoWorkflow),
    };
    let line = match refusal {
        None => lines.done.clone(),
        Some(Refusal::NothingToDo | Refusal::Running { .. }) => lines.nothing.clone(),
        Some(Refusal::Completed) => words::already_complete(context.lang),
        Some(Refusal::NoWorkflow) => words::no_workflow(context.lang),
    };
    if args.output.json {
        let id = session.as_ref().map(|session| session.id().as_str());
        return out::json(&json!({ "session": id, "changed": refusal.is_none(), "message": line }));
    }
    out::print(&line)?;
    match session {
        Some(session) => out::print(&status::progress(context, &View::load(context, &session)?)),
        None => Ok(()),
    }
}

fn apply(
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
