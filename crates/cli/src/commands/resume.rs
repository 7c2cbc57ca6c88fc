//! `overtone resume`: continues a stopped or aborted workflow.

use overtone_core::messages::cli as words;
use overtone_session::control::ControlCommand;

use super::control::{OutcomeTexts, run_control_command};
use crate::args::SessionArgs;
use crate::context::Context;
use crate::ui::error::CommandResult;

pub(crate) const EXAMPLES: &str = "\
Examples:
  overtone resume                after the retry limit, this allows new attempts
  overtone resume --session 3c4d

Without --session it resumes only a session of this folder.";

pub(crate) fn run(context: &Context, args: &SessionArgs) -> CommandResult {
    let lang = context.lang;
    let texts = OutcomeTexts { changed: words::resumed(lang), unchanged: words::running_already(lang) };
    run_control_command(context, args, &texts, &ControlCommand::Resume)
}
