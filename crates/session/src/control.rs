//! Controls a session from outside. The command line, the dashboard, `top`, Telegram and other machines all use
//! [`Controller`], so that the same command has the same effect and the same timeline events everywhere.

use std::error::Error;

use overtone_core::economy::Budget;
use overtone_core::engine::commands::{self, MESSAGE_UNITS, Refusal, Undeliverable};
use overtone_core::engine::settings::Settings;
use overtone_core::engine::{Outcome, Snapshot};
use overtone_core::messages::{Lang, budget, cli, dashboard};
use overtone_store::specs::Shelf;
use overtone_store::{Home, Session, clock};

use crate::hooks::{DocumentMode, move_feature, update_session};

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ControlCommand {
    Stop,
    Resume,
    /// Stops the loop and moves the feature to the shelf of paused features.
    Pause,
    /// Raises the limits of the budget; without amounts, the one that was reached.
    RaiseBudget {
        amounts: Option<Budget>,
    },
    /// Delivers a message of the user to the main agent.
    Message {
        text: String,
    },
    /// Hands the session over to another machine. This machine delegates nothing for it afterwards.
    HandOver {
        to: String,
    },
}

impl ControlCommand {
    pub const fn name(&self) -> &'static str {
        match self {
            Self::Stop => "stop",
            Self::Resume => "resume",
            Self::Pause => "pause",
            Self::RaiseBudget { .. } => "raise-budget",
            Self::Message { .. } => "message",
            Self::HandOver { .. } => "hand-over",
        }
    }

    /// Parses the commands that have no parameters.
    pub fn from_name(name: &str) -> Option<Self> {
        [Self::Stop, Self::Resume, Self::Pause].into_iter().find(|command| command.name() == name)
    }
}

/// Why a command had no effect.
#[derive(Debug, thiserror::Error)]
pub enum ControlError {
    /// The session's state does not allow the command.
    #[error(transparent)]
    Refused(#[from] Refusal),
    /// The state could not be read or written.
    #[error("{0}")]
    Failed(#[source] Box<dyn Error>),
    /// The state was changed, but something that belongs to the command failed.
    #[error("{}", .0.join("; "))]
    Incomplete(Vec<String>),
}

impl ControlError {
    /// The message for the user.
    pub fn message(&self, lang: Lang) -> String {
        match self {
            Self::Refused(refusal) => refusal_message(lang, refusal),
            Self::Failed(_) | Self::Incomplete(_) => self.to_string(),
        }
    }
}

/// Runs commands on the sessions of one home.
#[derive(Debug)]
pub struct Controller<'a> {
    pub home: &'a Home,
    pub settings: &'a Settings,
    pub lang: Lang,
}

impl Controller<'_> {
    /// Carries out a command. `by` says who gave it and is recorded in the timeline.
    pub fn run(&self, session: &Session, command: &ControlCommand, by: &str) -> Result<(), ControlError> {
        self.run_as(session, command, |_| by)
    }

    /// Like [`run`](Self::run), but `by` is derived from the session's state.
    pub fn run_as<'by>(
        &self,
        session: &Session,
        command: &ControlCommand,
        by: impl FnOnce(&Snapshot) -> &'by str,
    ) -> Result<(), ControlError> {
        let decide = |snapshot: &Snapshot| self.decide(snapshot, command, by(snapshot));
        match update_session(self.home, session, None, DocumentMode::Update, decide) {
            Ok(warnings) if warnings.is_empty() => {}
            Ok(warnings) => return Err(ControlError::Incomplete(warnings)),
            Err(error) => match error.downcast::<Refusal>() {
                // If the loop is stopped already, the feature can still be paused.
                Ok(refusal) if *refusal == Refusal::NothingToDo && *command == ControlCommand::Pause => {}
                Ok(refusal) => return Err(ControlError::Refused(*refusal)),
                Err(error) => return Err(ControlError::Failed(error)),
            },
        }
        let moved = match command {
            ControlCommand::Pause => move_feature(session, Shelf::InProgress, Shelf::Paused),
            ControlCommand::Resume => move_feature(session, Shelf::Paused, Shelf::InProgress),
            _ => Ok(()),
        };
        moved.map_err(|error| ControlError::Incomplete(vec![error]))
    }

    fn decide(&self, snapshot: &Snapshot, command: &ControlCommand, by: &str) -> Result<Outcome, Refusal> {
        let now = clock::now();
        match command {
            ControlCommand::Stop | ControlCommand::Pause => commands::stop(snapshot, by, now),
            ControlCommand::Resume => commands::resume(snapshot, self.settings, by, now),
            ControlCommand::RaiseBudget { amounts } => {
                commands::raise_budget(snapshot, amounts.as_ref(), by, now)
            }
            ControlCommand::Message { text } => commands::message(snapshot, text, by, self.lang, now),
            ControlCommand::HandOver { to } => commands::hand_over(snapshot, to, now),
        }
    }
}

fn refusal_message(lang: Lang, refusal: &Refusal) -> String {
    match refusal {
        Refusal::NoWorkflow => cli::no_workflow(lang),
        Refusal::Completed => cli::already_complete(lang),
        Refusal::OverBudget => budget::next_raise(lang),
        Refusal::NotLimited => budget::not_limited(lang),
        Refusal::Moved { to } => cli::moved_to(lang, to),
        Refusal::NothingToDo | Refusal::Running { .. } => dashboard::nothing_to_do(lang),
        Refusal::Message(Undeliverable::Empty) => cli::message_empty(lang),
        Refusal::Message(Undeliverable::TooLong { units }) => {
            cli::message_too_long(lang, *units, MESSAGE_UNITS)
        }
        Refusal::Message(Undeliverable::TooManyWaiting) => cli::message_too_many(lang),
    }
}
