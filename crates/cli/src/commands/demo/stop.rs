//! Why the story did not come to its end.

use overtone_engine::text::printable;
use overtone_messages::{Lang, demo as words};

use super::process::DEADLINE;
use crate::ui::error::Failure;

#[derive(Debug)]
pub(super) enum Stop {
    Failed(Problem),
    Interrupted,
    /// Nobody reads any more.
    Output(Failure),
}

impl From<Problem> for Stop {
    fn from(problem: Problem) -> Self {
        Self::Failed(problem)
    }
}

impl From<Failure> for Stop {
    fn from(failure: Failure) -> Self {
        Self::Output(failure)
    }
}

/// What a process did other than it should.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Problem {
    CannotStart { program: String, error: String },
    NoAnswer { name: String },
    BadExit { name: String, status: String },
    Complained { name: String, text: String },
    NotJson { name: String, text: String },
    OtherAnswer { name: String, wanted: String, answer: String },
    OtherState { wanted: String, found: String },
}

impl Problem {
    pub(super) fn told(&self, lang: Lang) -> String {
        match self {
            Self::CannotStart { program, error } => words::cannot_start(lang, program, error),
            Self::NoAnswer { name } => words::no_answer(lang, name, DEADLINE.as_secs()),
            Self::BadExit { name, status } => words::bad_exit(lang, name, status),
            Self::Complained { name, text } => words::complained(lang, name, &short(text)),
            Self::NotJson { name, text } => words::not_json(lang, name, &short(text)),
            Self::OtherAnswer { name, wanted, answer } => {
                words::other_answer(lang, name, wanted, &short(answer))
            }
            Self::OtherState { wanted, found } => words::other_state(lang, wanted, found),
        }
    }
}

/// One line that a terminal can hold: an answer may be a page.
fn short(text: &str) -> String {
    let line: String = printable(text.trim()).chars().take(240).collect();
    if line.is_empty() { "–".to_owned() } else { line }
}
