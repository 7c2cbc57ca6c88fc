//! `overtone stop`: stops the loop, so that the session can end; the workflow is kept.

use overtone_core::messages::cli as words;
use overtone_session::control::ControlCommand;

use super::control::{OutcomeTexts, run_control_command};
use crate::args::SessionArgs;
use crate::context::Context;
use crate::ui::error::CommandResult;

pub(crate) const EXAMPLES: &str = "\
Examples:
  overtone stop                  and later: overtone resume
  overtone stop --session 3c4d   a session of another folder

Without --session it stops only a session of this folder.";

pub(crate) fn run(context: &Context, args: &SessionArgs) -> CommandResult {
    let lang = context.lang;
    let texts = OutcomeTexts { changed: words::stopped(lang), unchanged: words::stopped_already(lang) };
    run_control_command(context, args, &texts, &ControlCommand::Stop)
}
