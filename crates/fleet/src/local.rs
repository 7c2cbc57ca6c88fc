//! Executes the orders of other machines on the sessions of this one.

use overtone_core::engine::commands::Refusal;
use overtone_core::engine::settings::Settings;
use overtone_core::messages::Lang;
use overtone_session::control::{ControlCommand, ControlError, Controller};
use overtone_store::{Home, Session, files};

use crate::message::OrderCommand;

/// How many bytes at the end of a timeline are searched for the id of an order.
const SEARCHED_BYTES: usize = 256 * 1024;

#[derive(Debug)]
pub(crate) struct LocalController<'a> {
    pub(crate) home: &'a Home,
    pub(crate) settings: &'a Settings,
    pub(crate) lang: Lang,
}

impl LocalController<'_> {
    /// Executes an order, or returns the reason for refusing it, as a message for the user who sent it.
    pub(crate) fn apply(&self, session: &Session, order: &OrderCommand, by: &str) -> Result<(), String> {
        let Some(command) = order.to_control(by) else { return Ok(()) };
        let controller = Controller { home: self.home, settings: self.settings, lang: self.lang };
        match controller.run(session, &command, by) {
            // The session already is in the requested state.
            Err(ControlError::Refused(Refusal::NothingToDo)) => Ok(()),
            // A session without a workflow has nothing that could continue on two machines.
            Err(ControlError::Refused(Refusal::NoWorkflow))
                if matches!(command, ControlCommand::HandOver { .. }) =>
            {
                Ok(())
            }
            result => result.map_err(|error| error.message(self.lang)),
        }
    }

    /// Marks a session as handed over to another machine.
    pub(crate) fn hand_over(&self, session: &Session, to: &str) -> Result<(), String> {
        self.apply(session, &OrderCommand::HandOver, to)
    }
}

/// Whether the timeline contains the id of an order. If so, the order was executed, and the process ended before it
/// recorded that.
pub(crate) fn is_in_timeline(session: &Session, order: &str) -> bool {
    match files::read_tail(&session.timeline_file(), SEARCHED_BYTES) {
        Ok(Some((bytes, _))) => String::from_utf8_lossy(&bytes).contains(order),
        _ => false,
    }
}
