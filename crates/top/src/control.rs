//! Stops and resumes a session, with the same effect as `overtone stop` and `overtone resume`.

use overtone_core::engine::commands::Refusal;
use overtone_core::messages::{cli, top as words};
use overtone_session::control::{ControlCommand, ControlError, Controller};
use overtone_store::{Home, SessionId};

use crate::state::{Action, DisplayOptions};

/// Recorded in the timeline as the one who gave the command.
const BY: &str = "user";

/// Carries out an action and returns the message for the user.
pub(crate) fn run_action(home: &Home, display: &DisplayOptions, action: Action, id: &SessionId) -> String {
    let session = home.session(id);
    // The command would create the folder of a deleted session again.
    if !session.exists() {
        return cli::no_such_session(display.lang, id.as_str());
    }
    let (command, done, nothing_to_do) = match action {
        Action::Stop => {
            (ControlCommand::Stop, cli::stopped(display.lang), cli::stopped_already(display.lang))
        }
        Action::Resume => {
            (ControlCommand::Resume, cli::resumed(display.lang), cli::running_already(display.lang))
        }
    };
    let controller = Controller { home, settings: &display.settings, lang: display.lang };
    match controller.run(&session, &command, BY) {
        Ok(()) => done,
        Err(ControlError::Refused(Refusal::NothingToDo | Refusal::Running { .. })) => nothing_to_do,
        Err(error @ ControlError::Refused(_)) => error.message(display.lang),
        Err(error) => words::failed(display.lang, &error.to_string()),
    }
}
