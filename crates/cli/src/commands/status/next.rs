//! What comes next, in words for the user.

use overtone_engine::commands;
use overtone_engine::state::{LoopState, WorkflowState};
use overtone_messages::cli as words;
use overtone_view::Condition;

use crate::context::Context;

/// `None` when nothing is left to do.
pub(super) fn next_words(
    context: &Context,
    workflow: &WorkflowState,
    looping: Option<&LoopState>,
) -> Option<String> {
    let (lang, settings) = (context.lang, context.settings());
    match Condition::new(workflow, looping, &settings) {
        Condition::Completed => return None,
        Condition::Stopped => return Some(words::resume_to_go_on(lang)),
        Condition::SessionEnded => return Some(words::next_reopen(lang, &workflow.session_id)),
        _ => {}
    }
    Some(commands::next_words(workflow, &settings, lang))
}
