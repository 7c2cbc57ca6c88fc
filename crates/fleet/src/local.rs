//! What other machines may have done to a session of this one, and the trace that it leaves in its timeline.

use std::error::Error;

use overtone_engine::commands::{self, MESSAGE_UNITS, Refusal, Undeliverable};
use overtone_engine::settings::Settings;
use overtone_hooks::{Documented, act, shift_feature};
use overtone_messages::{Lang, cli, dashboard};
use overtone_store::specs::Shelf;
use overtone_store::{Home, Session, clock, files};

use crate::message::Deed;

/// How much of a timeline's end is searched for an order.
const TAIL: usize = 256 * 1024;

#[derive(Debug)]
pub(crate) struct Here<'a> {
    pub(crate) home: &'a Home,
    pub(crate) settings: &'a Settings,
    pub(crate) lang: Lang,
}

impl Here<'_> {
    /// Does it, or says why not.
    pub(crate) fn apply(&self, session: &Session, deed: &Deed, by: &str) -> Result<(), String> {
        let now = clock::now();
        let decided = act(self.home, session, None, Documented::Continued, |snapshot| match deed {
            Deed::Stop | Deed::Pause => commands::stop(snapshot, by, now),
            Deed::Resume => commands::resume(snapshot, self.settings, by, now),
            Deed::Message { text } => commands::message(snapshot, text, by, self.lang, now),
            Deed::HandOver => commands::step_aside(snapshot, by, now),
            Deed::Ping => Ok(overtone_engine::Outcome::default()),
        });
        match decided {
            Ok(problems) if problems.is_empty() => shift(session, deed),
            Ok(problems) => Err(problems.join("; ")),
            Err(error) => self.refused(session, deed, error),
        }
    }

    /// What is so already needs no doing.
    fn refused(&self, session: &Session, deed: &Deed, error: Box<dyn Error>) -> Result<(), String> {
        match error.downcast::<Refusal>() {
            Ok(refusal) => match (*refusal, deed) {
                (Refusal::NothingToDo, Deed::Pause) => shift(session, deed),
                // A session without a workflow has nothing that could go on in two places.
                (Refusal::NothingToDo, _) | (Refusal::NoWorkflow, Deed::HandOver) => Ok(()),
                (refusal, _) => Err(refusal_words(self.lang, &refusal)),
            },
            Err(error) => Err(error.to_string()),
        }
    }

    /// Another machine goes on with this session.
    pub(crate) fn step_aside(&self, session: &Session, to: &str) -> Result<(), String> {
        self.apply(session, &Deed::HandOver, to)
    }
}

/// Why a session is left as it is, for people.
pub fn refusal_words(lang: Lang, refusal: &Refusal) -> String {
    match refusal {
        Refusal::NoWorkflow => cli::no_workflow(lang),
        Refusal::Completed => cli::already_complete(lang),
        Refusal::Moved { to } => cli::moved_to(lang, to),
        Refusal::NothingToDo | Refusal::Running { .. } => dashboard::nothing_to_do(lang),
        Refusal::Message(Undeliverable::Empty) => cli::message_empty(lang),
        Refusal::Message(Undeliverable::TooLong { units }) => {
            cli::message_too_long(lang, *units, MESSAGE_UNITS)
        }
        Refusal::Message(Undeliverable::TooManyWaiting) => cli::message_too_many(lang),
    }
}

fn shift(session: &Session, deed: &Deed) -> Result<(), String> {
    match deed {
        Deed::Pause => shift_feature(session, Shelf::InProgress, Shelf::Paused),
        Deed::Resume => shift_feature(session, Shelf::Paused, Shelf::InProgress),
        _ => Ok(()),
    }
}

/// Whether an order has left its trace already: it was done, and the one who did it ended before saying so.
pub(crate) fn is_traced(session: &Session, order: &str) -> bool {
    let tail = files::read_tail(&session.timeline_file(), TAIL).ok().flatten();
    tail.is_some_and(|(bytes, _)| String::from_utf8_lossy(&bytes).contains(order))
}
