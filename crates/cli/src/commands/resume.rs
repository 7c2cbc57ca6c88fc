//! `overtone resume`: continues a stopped or aborted workflow.

use clap::Args;
use overtone_core::engine::commands::Refusal;
use overtone_core::messages::cli as words;
use overtone_session::control::ControlCommand;
use overtone_session::hooks::accept_edit;
use overtone_store::Session;

use super::control::{OutcomeTexts, find_session, print_outcome, run_control_command, send_command};
use crate::args::SessionArgs;
use crate::context::Context;
use crate::ui::error::{CommandError, CommandResult};

const EXAMPLES: &str = "\
Examples:
  overtone resume                after the retry limit, this allows new attempts
  overtone resume --session 3c4d
  overtone resume --accept-edit  use a workflow.json that you have edited

Without --session it resumes only a session of this folder. Overtone uses only
what it wrote itself: a workflow.json that another program changed is set aside
as workflow.edited.json until you accept it.";

/// Continue a stopped or aborted workflow
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct ResumeArgs {
    /// Use the state that another program, such as your editor, wrote to workflow.json
    #[arg(long)]
    accept_edit: bool,
    #[command(flatten)]
    session: SessionArgs,
}

pub(crate) fn run(context: &Context, args: &ResumeArgs) -> CommandResult {
    if args.accept_edit {
        return run_accept_edit(context, &args.session);
    }
    let lang = context.lang;
    let texts = OutcomeTexts { changed: words::resumed(lang), unchanged: words::running_already(lang) };
    run_control_command(context, &args.session, &texts, &ControlCommand::Resume)
}

fn run_accept_edit(context: &Context, args: &SessionArgs) -> CommandResult {
    let lang = context.lang;
    let session = find_session(context, args)?;
    let is_accepted = match &session {
        Some(session) => accept(context, session)?,
        None => false,
    };
    let line = match &session {
        Some(session) if is_accepted => describe(context, session)?,
        _ => words::no_edit(lang),
    };
    print_outcome(context, args, session.as_ref(), is_accepted, &line)
}

fn accept(context: &Context, session: &Session) -> CommandResult<bool> {
    match accept_edit(context.home()?, session, context.command_initiator(session)) {
        Ok(None) => Ok(false),
        Ok(Some(problems)) if problems.is_empty() => Ok(true),
        Ok(Some(problems)) => Err(CommandError::problems(context.lang, &problems)),
        Err(error) => Err(CommandError::driver(context.lang, error.as_ref())),
    }
}

/// Continues the loop if it is stopped, and returns what happened.
fn describe(context: &Context, session: &Session) -> CommandResult<String> {
    let refusal = send_command(context, session, &ControlCommand::Resume)?;
    let accepted = words::edit_accepted(context.lang);
    Ok(match refusal {
        None => format!("{accepted} {}", words::resumed(context.lang)),
        Some(Refusal::Completed) => format!("{accepted} {}", words::already_complete(context.lang)),
        Some(_) => accepted,
    })
}
