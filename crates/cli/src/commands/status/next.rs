//! What comes next, in words for the user.

use overtone_engine::commands;
use overtone_engine::state::{LoopState, WorkflowState};

use crate::context::Context;

/// `None` when nothing is left to do.
pub(super) fn next_words(
    context: &Context,
    workflow: &WorkflowState,
    looping: Option<&LoopState>,
) -> Option<String> {
    commands::next_words(workflow, looping, &context.settings(), context.lang)
}
