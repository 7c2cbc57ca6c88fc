//! What `stop`, `resume` and `message` share: they change the workflow of a session. `stop` and `resume` succeed if there
//! is nothing to change. A session that continues on another machine cannot be changed here.

use overtone_core::engine::commands::Refusal;
use overtone_core::messages::{budget, cli as words};
use overtone_session::control::{ControlCommand, ControlError, Controller};
use overtone_store::Session;
use serde::Serialize;

use super::status::{self, SessionStatus};
use crate::args::SessionArgs;
use crate::context::Context;
use crate::ui::error::{CommandError, CommandResult};
use crate::ui::out;

/// What is printed when the workflow was changed, and when there was nothing to change.
pub(super) struct OutcomeTexts {
    pub(super) changed: String,
    pub(super) unchanged: String,
}

/// The JSON output of these commands.
#[derive(Serialize)]
struct OutcomeJson<'a> {
    session: Option<&'a str>,
    changed: bool,
    message: &'a str,
}

pub(super) fn run_control_command(
    context: &Context,
    args: &SessionArgs,
    texts: &OutcomeTexts,
    command: &ControlCommand,
) -> CommandResult {
    let session = find_session(context, args)?;
    let refusal = match &session {
        Some(session) => send_command(context, session, command)?,
        None => Some(Refusal::NoWorkflow),
    };
    let line = match &refusal {
        None => texts.changed.clone(),
        Some(Refusal::Completed) => words::already_complete(context.lang),
        Some(Refusal::NoWorkflow) => words::no_workflow(context.lang),
        Some(Refusal::OverBudget) => {
            return Err(CommandError::new(budget::is_reached(context.lang)).hint("overtone budget raise"));
        }
        Some(Refusal::Moved { to }) => return Err(moved_error(context, session.as_ref(), to)),
        Some(_) => texts.unchanged.clone(),
    };
    print_outcome(context, args, session.as_ref(), refusal.is_none(), &line)
}

/// The session to change. A session without a folder has no workflow, and no folder is created for it.
pub(super) fn find_session(context: &Context, args: &SessionArgs) -> CommandResult<Option<Session>> {
    let Some(chosen) = context.session_to_change(args.id.as_deref())? else { return Ok(None) };
    if !chosen.session.exists() {
        return Ok(None);
    }
    if !args.output.json {
        chosen.announce(context);
    }
    Ok(Some(chosen.session))
}

pub(super) fn moved_error(context: &Context, session: Option<&Session>, to: &str) -> CommandError {
    let id = match session {
        Some(session) => session.id().as_str(),
        None => "<id>",
    };
    CommandError::new(words::moved_to(context.lang, to)).hint(words::moved_hint(context.lang, id))
}

pub(super) fn print_outcome(
    context: &Context,
    args: &SessionArgs,
    session: Option<&Session>,
    changed: bool,
    line: &str,
) -> CommandResult {
    if args.output.json {
        let id = session.map(|session| session.id().as_str());
        return out::json(&OutcomeJson { session: id, changed, message: line });
    }
    out::print(line)?;
    match session {
        Some(session) => out::print(&status::progress(context, &SessionStatus::load(context, session)?)),
        None => Ok(()),
    }
}

/// Executes a command. A refusal is returned, since each command has its own text for it.
pub(super) fn send_command(
    context: &Context,
    session: &Session,
    command: &ControlCommand,
) -> CommandResult<Option<Refusal>> {
    let settings = context.settings();
    let controller = Controller { home: context.home()?, settings: &settings, lang: context.lang };
    match controller.run_as(session, command, |snapshot| context.initiator(snapshot)) {
        Ok(()) => Ok(None),
        Err(ControlError::Refused(refusal)) => Ok(Some(refusal)),
        Err(ControlError::Incomplete(problems)) => Err(CommandError::problems(context.lang, &problems)),
        Err(ControlError::Failed(error)) => Err(CommandError::driver(context.lang, error.as_ref())),
    }
}
