//! `overtone message`: a person's word to the main agent, delivered by the next hook that can. What cannot be delivered
//! is a failure: nobody would hear it.

use overtone_engine::Snapshot;
use overtone_engine::commands::{MESSAGE_UNITS, Refusal, Undeliverable, message};
use overtone_messages::cli as words;
use overtone_store::{Session, clock};

use super::looping::{apply, found, moved, tell};
use crate::args::MessageArgs;
use crate::context::Context;
use crate::ui::error::{Done, Failure};

pub(crate) fn run(context: &Context, args: &MessageArgs) -> Done {
    let (lang, text) = (context.lang, args.text.join(" "));
    let Some(session) = found(context, &args.session)? else {
        return Err(refused(context, None, &Refusal::NoWorkflow));
    };
    let send =
        |snapshot: &Snapshot| message(snapshot, &text, context.initiator(snapshot), lang, clock::now());
    match apply(context, &session, send)? {
        None => tell(context, &args.session, Some(&session), true, &words::message_left(lang)),
        Some(refusal) => Err(refused(context, Some(&session), &refusal)),
    }
}

fn refused(context: &Context, session: Option<&Session>, refusal: &Refusal) -> Failure {
    let lang = context.lang;
    match refusal {
        Refusal::Moved { to } => moved(context, session, to),
        Refusal::Message(problem) => undeliverable(context, *problem),
        _ => Failure::new(words::no_workflow_to_tell(lang)).hint(words::how_to_start(lang)),
    }
}

fn undeliverable(context: &Context, problem: Undeliverable) -> Failure {
    let lang = context.lang;
    let (message, hint) = match problem {
        Undeliverable::Empty => (words::message_empty(lang), words::message_empty_hint(lang)),
        Undeliverable::TooLong { units } => {
            (words::message_too_long(lang, units, MESSAGE_UNITS), words::message_too_long_hint(lang))
        }
        Undeliverable::TooManyWaiting => (words::message_too_many(lang), words::message_too_many_hint(lang)),
    };
    Failure::new(message).hint(hint)
}
