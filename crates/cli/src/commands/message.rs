//! `overtone message`: a message from the user to the main agent, delivered by the next hook that can. It fails if the
//! message cannot be delivered.

use clap::Args;
use overtone_core::engine::commands::{MESSAGE_UNITS, Refusal, Undeliverable};
use overtone_core::messages::cli as words;
use overtone_session::control::ControlCommand;
use overtone_store::Session;

use super::control::{find_session, moved_error, print_outcome, send_command};
use crate::args::SessionArgs;
use crate::context::Context;
use crate::ui::error::{CommandError, CommandResult};

const EXAMPLES: &str = "\
Examples:
  overtone message 'fix the login first'
  overtone message --session 3c4d 'the database is back'

The message is delivered to the main agent exactly once: with the next prompt,
when an agent reports back, or when the loop continues. The timeline records
that there was a message, but not its text.";

/// Send a message to the main agent of a session; it arrives with the agent's next step
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct MessageArgs {
    /// The text of the message
    #[arg(value_name = "TEXT", required = true)]
    text: Vec<String>,
    #[command(flatten)]
    session: SessionArgs,
}

pub(crate) fn run(context: &Context, args: &MessageArgs) -> CommandResult {
    let (lang, text) = (context.lang, args.text.join(" "));
    let Some(session) = find_session(context, &args.session)? else {
        return Err(refusal_error(context, None, &Refusal::NoWorkflow));
    };
    match send_command(context, &session, &ControlCommand::Message { text })? {
        None => print_outcome(context, &args.session, Some(&session), true, &words::message_left(lang)),
        Some(refusal) => Err(refusal_error(context, Some(&session), &refusal)),
    }
}

fn refusal_error(context: &Context, session: Option<&Session>, refusal: &Refusal) -> CommandError {
    let lang = context.lang;
    match refusal {
        Refusal::Moved { to } => moved_error(context, session, to),
        Refusal::Message(problem) => undeliverable_error(context, *problem),
        _ => CommandError::new(words::no_workflow_to_tell(lang)).hint(words::how_to_start(lang)),
    }
}

fn undeliverable_error(context: &Context, problem: Undeliverable) -> CommandError {
    let lang = context.lang;
    let (message, hint) = match problem {
        Undeliverable::Empty => (words::message_empty(lang), words::message_empty_hint(lang)),
        Undeliverable::TooLong { units } => {
            (words::message_too_long(lang, units, MESSAGE_UNITS), words::message_too_long_hint(lang))
        }
        Undeliverable::TooManyWaiting => (words::message_too_many(lang), words::message_too_many_hint(lang)),
    };
    CommandError::new(message).hint(hint)
}
