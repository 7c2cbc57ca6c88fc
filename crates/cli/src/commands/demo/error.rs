//! Why the demo failed.

use overtone_core::engine::text::printable;
use overtone_core::messages::{Lang, demo as words};

use super::process::TIMEOUT;
use crate::ui::error::CommandError;

#[derive(Debug)]
pub(super) enum DemoError {
    Hook(HookError),
    Interrupted,
    /// The output could not be written.
    Output(CommandError),
}

impl From<HookError> for DemoError {
    fn from(error: HookError) -> Self {
        Self::Hook(error)
    }
}

impl From<CommandError> for DemoError {
    fn from(error: CommandError) -> Self {
        Self::Output(error)
    }
}

/// An unexpected result of a process.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum HookError {
    CannotStart { program: String, error: String },
    NoAnswer { name: String },
    BadExit { name: String, status: String },
    Complained { name: String, text: String },
    NotJson { name: String, text: String },
    OtherAnswer { name: String, expected: String, answer: String },
    OtherState { expected: String, found: String },
}

impl HookError {
    pub(super) fn describe(&self, lang: Lang) -> String {
        match self {
            Self::CannotStart { program, error } => words::cannot_start(lang, program, error),
            Self::NoAnswer { name } => words::no_answer(lang, name, TIMEOUT.as_secs()),
            Self::BadExit { name, status } => words::bad_exit(lang, name, status),
            Self::Complained { name, text } => words::complained(lang, name, &short(text)),
            Self::NotJson { name, text } => words::not_json(lang, name, &short(text)),
            Self::OtherAnswer { name, expected, answer } => {
                words::other_answer(lang, name, expected, &short(answer))
            }
            Self::OtherState { expected, found } => words::other_state(lang, expected, found),
        }
    }
}

/// Shortens a text to one line, since an answer may be a page long.
fn short(text: &str) -> String {
    let line: String = printable(text.trim()).chars().take(240).collect();
    if line.is_empty() { "–".to_owned() } else { line }
}
